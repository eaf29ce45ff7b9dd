//! What the solver remembers: proved bounds of positions it has met.

use outflank_games::othello::Board;

/// The bounds proved for one board, from the side of its mover.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    board: Board,
    /// The score is at least this.
    pub lower: i8,
    /// The score is at most this.
    pub upper: i8,
    /// The move that did best or caused the cut, 64 for none.
    pub best: u8,
    /// How many squares were empty: larger trees are worth keeping longer.
    empties: u8,
}

/// No real board has the same disc on both sides, so this one marks a free place.
const FREE: Entry =
    Entry { board: Board { own: 1, other: 1 }, lower: -64, upper: 64, best: 64, empties: 0 };

/// A table of fixed size whose entries hold whole boards, so that no two are ever confused.
pub(super) struct Table {
    entries: Vec<Entry>,
    shift: u32,
}

impl Table {
    /// A table of `2^bits` entries of 24 bytes.
    pub fn new(bits: u32) -> Table {
        let bits = bits.clamp(1, 28);
        Table { entries: vec![FREE; 1 << bits], shift: 64 - bits }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.fill(FREE);
    }

    /// The first of the two places where a board may lie; the other differs in the last bit.
    #[inline(always)]
    fn place(&self, board: Board) -> usize {
        let mixed = board.own.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ board.other.wrapping_mul(0xc2b2_ae3d_27d4_eb4f).rotate_left(32);
        (mixed.wrapping_mul(0xd6e8_feb8_6659_fd93) >> self.shift) as usize
    }

    /// What is known about a board.
    #[inline(always)]
    pub fn get(&self, board: Board) -> Option<Entry> {
        let place = self.place(board);
        [place, place ^ 1]
            .into_iter()
            .filter_map(|at| self.entries.get(at))
            .find(|entry| entry.board == board)
            .copied()
    }

    /// Notes a result found with the window (alpha, beta).
    #[inline(always)]
    pub fn put(
        &mut self,
        board: Board,
        empties: u32,
        (alpha, beta): (i32, i32),
        score: i32,
        best: u8,
    ) {
        let place = self.place(board);
        let at = match (self.entries.get(place), self.entries.get(place ^ 1)) {
            (Some(first), _) if first.board == board => place,
            (_, Some(second)) if second.board == board => place ^ 1,
            (Some(first), Some(second)) if second.empties < first.empties => place ^ 1,
            _ => place,
        };
        let Some(entry) = self.entries.get_mut(at) else { return };
        if entry.board != board {
            *entry = Entry { board, empties: empties as u8, ..FREE };
        }
        if score > alpha {
            entry.lower = entry.lower.max(score as i8);
            entry.best = best;
        } else if entry.best == 64 {
            entry.best = best;
        }
        if score < beta {
            entry.upper = entry.upper.min(score as i8);
        }
    }
}
