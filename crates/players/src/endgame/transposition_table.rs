//! The lock-free transposition table of the endgame solver.
//!
//! An entry consists of three words: the two bitboards, each XORed with the third word, which holds
//! the bounds (Hyatt & Mann, 2002). A torn entry, written by two threads, does not match the board
//! and counts as absent.

use outflank_games::othello::Board;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The proven bounds of one board, for its side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Lower bound of the score.
    pub lower: i8,
    /// Upper bound of the score.
    pub upper: i8,
    /// The best move or the one that caused the cutoff; 64 for none.
    pub best: u8,
    /// Number of empty squares. Entries with fewer empty squares are replaced first.
    empties: u8,
}

impl Entry {
    const UNKNOWN: Entry = Entry { lower: -64, upper: 64, best: 64, empties: 0 };

    fn encode(self) -> u64 {
        let bytes = [self.lower as u8, self.upper as u8, self.best, self.empties, 1, 0, 0, 0];
        u64::from_le_bytes(bytes)
    }

    fn decode(word: u64) -> Entry {
        let [lower, upper, best, empties, ..] = word.to_le_bytes();
        Entry { lower: lower as i8, upper: upper as i8, best, empties }
    }
}

/// A slot for an entry. An all-zero slot is empty.
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
        (same && word != 0).then(|| Entry::decode(word))
    }

    #[inline(always)]
    fn write(&self, board: Board, entry: Entry) {
        let word = entry.encode();
        self.own.store(board.own ^ word, Relaxed);
        self.other.store(board.other ^ word, Relaxed);
        self.word.store(word, Relaxed);
    }
}

/// A transposition table of fixed size. Entries store whole boards, so there are no hash
/// collisions.
pub(super) struct TranspositionTable {
    slots: Vec<Slot>,
    shift: u32,
}

impl TranspositionTable {
    /// Creates a table of `2^bits` entries of 24 bytes.
    pub fn new(bits: u32) -> TranspositionTable {
        let bits = bits.clamp(1, 28);
        TranspositionTable {
            slots: (0..1u32 << bits).map(|_| Slot::default()).collect(),
            shift: 64 - bits,
        }
    }

    /// Clears all entries.
    pub fn clear(&mut self) {
        self.slots.fill_with(Slot::default);
    }

    /// Clears all entries of a table that threads share. No search may run.
    pub fn clear_shared(&self) {
        for slot in &self.slots {
            slot.own.store(0, Relaxed);
            slot.other.store(0, Relaxed);
            slot.word.store(0, Relaxed);
        }
    }

    /// Returns the two slots of a board; their indices differ in the last bit.
    #[inline(always)]
    fn bucket(&self, board: Board) -> Option<[&Slot; 2]> {
        let mixed = board.own.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ board.other.wrapping_mul(0xc2b2_ae3d_27d4_eb4f).rotate_left(32);
        let index = (mixed.wrapping_mul(0xd6e8_feb8_6659_fd93) >> self.shift) as usize;
        Some([self.slots.get(index)?, self.slots.get(index ^ 1)?])
    }

    /// Returns the entry of a board.
    #[inline(always)]
    pub fn get(&self, board: Board) -> Option<Entry> {
        let [first, second] = self.bucket(board)?;
        first.read(board).or_else(|| second.read(board))
    }

    /// Stores the score that a search with the window (alpha, beta) returned.
    #[inline(always)]
    pub fn put(&self, board: Board, empties: u32, (alpha, beta): (i32, i32), score: i32, best: u8) {
        let Some([first, second]) = self.bucket(board) else { return };
        let size = |slot: &Slot| Entry::decode(slot.word.load(Relaxed)).empties;
        let (slot, old) = match (first.read(board), second.read(board)) {
            (Some(entry), _) => (first, entry),
            (_, Some(entry)) => (second, entry),
            _ => (if size(second) < size(first) { second } else { first }, Entry::UNKNOWN),
        };
        let mut entry = Entry { empties: empties as u8, ..old };
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
