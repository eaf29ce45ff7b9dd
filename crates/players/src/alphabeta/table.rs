//! Positions already searched.

use super::worth::Worth;
use crate::hash::hash;
use outflank_games::Position;

/// What a search of a position to a depth has shown, for its side to move.
#[derive(Clone, Copy)]
pub(super) struct Entry<P: Position> {
    position: P,
    search: u32,
    pub depth: u32,
    /// The worth is at least this.
    pub lower: Worth,
    /// The worth is at most this.
    pub upper: Worth,
    pub best: P::Move,
}

/// A table of fixed size. Entries hold whole positions, so no two are ever confused.
pub(super) struct Table<P: Position> {
    entries: Vec<Option<Entry<P>>>,
    bits: u32,
    /// Entries of earlier searches carry other numbers and count as absent.
    search: u32,
}

impl<P: Position> Table<P> {
    /// A table of `2^bits` places, claimed when the first search begins.
    pub fn new(bits: u32) -> Table<P> {
        Table { entries: Vec::new(), bits, search: 0 }
    }

    /// Forgets everything, in no time.
    pub fn clear(&mut self) {
        if self.entries.is_empty() {
            self.entries = vec![None; 1 << self.bits];
        }
        self.search = self.search.wrapping_add(1);
        if self.search == 0 {
            self.entries.fill(None);
        }
    }

    #[inline]
    fn place(&self, position: &P) -> usize {
        (hash(position, 0) >> (64 - self.bits)) as usize
    }

    /// What is known of a position, at whatever depth.
    #[inline]
    pub fn get(&self, position: &P) -> Option<&Entry<P>> {
        let entry = self.entries.get(self.place(position))?.as_ref()?;
        (entry.search == self.search && entry.position == *position).then_some(entry)
    }

    /// Notes what a search with the window (alpha, beta) returned.
    #[inline]
    pub fn put(
        &mut self,
        position: &P,
        depth: u32,
        (alpha, beta): (Worth, Worth),
        worth: Worth,
        best: P::Move,
    ) {
        let (place, search) = (self.place(position), self.search);
        let Some(slot) = self.entries.get_mut(place) else { return };
        let mut entry = match slot {
            Some(old) if old.search == search && old.depth > depth && old.position != *position => {
                return;
            }
            Some(old)
                if old.search == search && old.depth == depth && old.position == *position =>
            {
                *old
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
