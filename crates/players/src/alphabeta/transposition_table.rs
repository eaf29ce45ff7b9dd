//! The transposition table of the alpha-beta search.

use super::score::{MAX_SCORE, OrderedScore};
use crate::position_hash::hash;
use outflank_games::Position;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The bounds that a search of a position to some depth has proven, for its side to move.
#[derive(Clone, Copy)]
pub(crate) struct Entry<P: Position> {
    position: P,
    generation: u32,
    pub depth: u32,
    /// Lower bound of the score.
    pub lower: OrderedScore,
    /// Upper bound of the score.
    pub upper: OrderedScore,
    pub best: P::Move,
}

/// A transposition table of fixed size, shared by threads.
///
/// Entries store whole positions, so there are no hash collisions. Each slot has its own lock:
/// contention is rare, and an uncontended lock is cheap compared to a search node.
pub(crate) struct TranspositionTable<P: Position> {
    entries: OnceLock<Vec<Mutex<Option<Entry<P>>>>>,
    bits: u32,
    /// Entries of other generations are stale.
    generation: AtomicU32,
}

impl<P: Position> TranspositionTable<P> {
    /// Creates a table of `2^bits` slots, allocated at first use.
    pub fn new(bits: u32) -> TranspositionTable<P> {
        TranspositionTable { entries: OnceLock::new(), bits, generation: AtomicU32::new(0) }
    }

    fn slots(&self) -> &[Mutex<Option<Entry<P>>>] {
        self.entries.get_or_init(|| (0..1u32 << self.bits).map(|_| Mutex::new(None)).collect())
    }

    /// Invalidates all entries, in constant time except when the generation counter wraps.
    pub fn clear(&self) {
        if self.generation.fetch_add(1, Relaxed) == u32::MAX {
            for slot in self.slots() {
                *lock(slot) = None;
            }
        }
    }

    #[inline]
    fn slot(&self, position: &P) -> Option<&Mutex<Option<Entry<P>>>> {
        self.slots().get((hash(position, 0) >> (64 - self.bits)) as usize)
    }

    /// Returns the entry of a position, of any depth.
    #[inline]
    pub fn get(&self, position: &P) -> Option<Entry<P>> {
        let entry = (*lock(self.slot(position)?))?;
        let current = entry.generation == self.generation.load(Relaxed);
        (current && entry.position == *position).then_some(entry)
    }

    /// Stores the score that a search with the window (alpha, beta) returned.
    #[inline]
    pub fn put(
        &self,
        position: &P,
        depth: u32,
        (alpha, beta): (OrderedScore, OrderedScore),
        score: OrderedScore,
        best: P::Move,
    ) {
        let generation = self.generation.load(Relaxed);
        let Some(slot) = self.slot(position) else { return };
        let mut slot = lock(slot);
        let mut entry = match *slot {
            Some(old)
                if old.generation == generation
                    && old.depth > depth
                    && old.position != *position =>
            {
                return;
            }
            Some(old)
                if old.generation == generation
                    && old.depth == depth
                    && old.position == *position =>
            {
                old
            }
            _ => Entry {
                position: *position,
                generation,
                depth,
                lower: -MAX_SCORE,
                upper: MAX_SCORE,
                best,
            },
        };
        if score > alpha {
            entry.lower = entry.lower.max(score);
            entry.best = best;
        }
        if score < beta {
            entry.upper = entry.upper.min(score);
        }
        *slot = Some(entry);
    }
}

/// Locks a slot. A poisoned slot still holds a complete entry.
fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}
