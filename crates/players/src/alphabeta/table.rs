//! Positions already searched.

use super::worth::Worth;
use crate::hash::hash;
use outflank_games::Position;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// What a search of a position to a depth has shown, for its side to move.
#[derive(Clone, Copy)]
pub(crate) struct Entry<P: Position> {
    position: P,
    search: u32,
    pub depth: u32,
    /// The worth is at least this.
    pub lower: Worth,
    /// The worth is at most this.
    pub upper: Worth,
    pub best: P::Move,
}

/// A table of fixed size, which several threads may use at once. Entries hold whole positions, so no
/// two are ever confused. Each place has a lock of its own: a thread hardly ever meets another there,
/// and taking a free lock costs little beside searching a position.
pub(crate) struct Table<P: Position> {
    entries: OnceLock<Vec<Mutex<Option<Entry<P>>>>>,
    bits: u32,
    /// Entries of earlier searches carry other numbers and count as absent.
    search: AtomicU32,
}

impl<P: Position> Table<P> {
    /// A table of `2^bits` places, claimed when the first search begins.
    pub fn new(bits: u32) -> Table<P> {
        Table { entries: OnceLock::new(), bits, search: AtomicU32::new(0) }
    }

    fn slots(&self) -> &[Mutex<Option<Entry<P>>>] {
        self.entries.get_or_init(|| (0..1u32 << self.bits).map(|_| Mutex::new(None)).collect())
    }

    /// Forgets everything, in no time.
    pub fn clear(&self) {
        if self.search.fetch_add(1, Relaxed) == u32::MAX {
            for slot in self.slots() {
                *hold(slot) = None;
            }
        }
    }

    #[inline]
    fn slot(&self, position: &P) -> Option<&Mutex<Option<Entry<P>>>> {
        self.slots().get((hash(position, 0) >> (64 - self.bits)) as usize)
    }

    /// What is known of a position, at whatever depth.
    #[inline]
    pub fn get(&self, position: &P) -> Option<Entry<P>> {
        let entry = (*hold(self.slot(position)?))?;
        let current = entry.search == self.search.load(Relaxed);
        (current && entry.position == *position).then_some(entry)
    }

    /// Notes what a search with the window (alpha, beta) returned.
    #[inline]
    pub fn put(
        &self,
        position: &P,
        depth: u32,
        (alpha, beta): (Worth, Worth),
        worth: Worth,
        best: P::Move,
    ) {
        let search = self.search.load(Relaxed);
        let Some(slot) = self.slot(position) else { return };
        let mut slot = hold(slot);
        let mut entry = match *slot {
            Some(old) if old.search == search && old.depth > depth && old.position != *position => {
                return;
            }
            Some(old)
                if old.search == search && old.depth == depth && old.position == *position =>
            {
                old
            }
            _ => Entry {
                position: *position,
                search,
                depth,
                lower: -super::worth::TOP,
                upper: super::worth::TOP,
                best,
            },
        };
        if worth > alpha {
            entry.lower = entry.lower.max(worth);
            entry.best = best;
        }
        if worth < beta {
            entry.upper = entry.upper.min(worth);
        }
        *slot = Some(entry);
    }
}

/// Whoever panicked while holding a place left a whole entry there.
fn hold<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}
