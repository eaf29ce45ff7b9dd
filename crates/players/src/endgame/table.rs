//! What the solver remembers: proved bounds of positions it has met.
//!
//! Several threads may read and write it at once without waiting for each other. An entry is three
//! words: the two of the board, each crossed with the third, which holds the bounds. Words that were
//! written by different threads do not give back the board that is asked for, so a torn entry counts
//! as absent.

use outflank_games::othello::Board;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The bounds proved for one board, from the side of its mover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The score is at least this.
    pub lower: i8,
    /// The score is at most this.
    pub upper: i8,
    /// The move that did best or caused the cut, 64 for none.
    pub best: u8,
    /// How many squares were empty: larger trees are worth keeping longer.
    empties: u8,
}

impl Entry {
    const UNKNOWN: Entry = Entry { lower: -64, upper: 64, best: 64, empties: 0 };

    fn word(self) -> u64 {
        let bytes = [self.lower as u8, self.upper as u8, self.best, self.empties, 1, 0, 0, 0];
        u64::from_le_bytes(bytes)
    }

    fn read(word: u64) -> Entry {
        let [lower, upper, best, empties, ..] = word.to_le_bytes();
        Entry { lower: lower as i8, upper: upper as i8, best, empties }
    }
}

/// A place for an entry; all zero while it is free, which is no board's entry.
#[derive(Default)]
struct Slot {
    own: AtomicU64,
    other: AtomicU64,
    word: AtomicU64,
}

impl Slot {
    #[inline(always)]
    fn read(&self, board: Board) -> Option<Entry> {
        let word = self.word.load(Relaxed);
        let same = self.own.load(Relaxed) ^ word == board.own
            && self.other.load(Relaxed) ^ word == board.other;
        (same && word != 0).then(|| Entry::read(word))
    }

    #[inline(always)]
    fn write(&self, board: Board, entry: Entry) {
        let word = entry.word();
        self.own.store(board.own ^ word, Relaxed);
        self.other.store(board.other ^ word, Relaxed);
        self.word.store(word, Relaxed);
    }
}

/// A table of fixed size whose entries hold whole boards, so that no two are ever confused.
pub(super) struct Table {
    slots: Vec<Slot>,
    shift: u32,
}

impl Table {
    /// A table of `2^bits` entries of 24 bytes.
    pub fn new(bits: u32) -> Table {
        let bits = bits.clamp(1, 28);
        Table { slots: (0..1u32 << bits).map(|_| Slot::default()).collect(), shift: 64 - bits }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.slots.fill_with(Slot::default);
    }

    /// The first of the two places where a board may lie; the other differs in the last bit.
    #[inline(always)]
    fn places(&self, board: Board) -> Option<[&Slot; 2]> {
        let mixed = board.own.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ board.other.wrapping_mul(0xc2b2_ae3d_27d4_eb4f).rotate_left(32);
        let place = (mixed.wrapping_mul(0xd6e8_feb8_6659_fd93) >> self.shift) as usize;
        Some([self.slots.get(place)?, self.slots.get(place ^ 1)?])
    }

    /// What is known about a board.
    #[inline(always)]
    pub fn get(&self, board: Board) -> Option<Entry> {
        let [first, second] = self.places(board)?;
        first.read(board).or_else(|| second.read(board))
    }

    /// Notes a result found with the window (alpha, beta).
    #[inline(always)]
    pub fn put(&self, board: Board, empties: u32, (alpha, beta): (i32, i32), score: i32, best: u8) {
        let Some([first, second]) = self.places(board) else { return };
        let size = |slot: &Slot| Entry::read(slot.word.load(Relaxed)).empties;
        let (slot, known) = match (first.read(board), second.read(board)) {
            (Some(entry), _) => (first, entry),
            (_, Some(entry)) => (second, entry),
            _ => (if size(second) < size(first) { second } else { first }, Entry::UNKNOWN),
        };
        let mut entry = Entry { empties: empties as u8, ..known };
        if score > alpha {
            entry.lower = entry.lower.max(score as i8);
            entry.best = best;
        } else if entry.best == 64 {
            entry.best = best;
        }
        if score < beta {
            entry.upper = entry.upper.min(score as i8);
        }
        slot.write(board, entry);
    }
}
