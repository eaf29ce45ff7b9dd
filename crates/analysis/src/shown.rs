//! What a screen needs to draw a position and let a person move in it.

use crate::think::Thinks;
use outflank_games::Side;
use outflank_games::checkers::{self, Checkers};
use outflank_games::othello::{Othello, Square};

/// A game that can be drawn on eight by eight cells.
pub trait Shown: Thinks {
    /// 64 characters from the top left, rows from the top: `X` and `O` for discs or men, `B` and
    /// `W` for kings, `-` for an empty square.
    fn cells(&self) -> String;

    /// The cells that a person points at to make a move, one after the other.
    fn path(mv: Self::Move) -> Vec<u8>;

    /// How many pieces a side has.
    fn count(&self, side: Side) -> u32;
}

impl Shown for Othello {
    fn cells(&self) -> String {
        self.to_string().chars().take(64).collect()
    }

    fn path(mv: Square) -> Vec<u8> {
        vec![mv.index() as u8]
    }

    fn count(&self, side: Side) -> u32 {
        self.discs(side).count_ones()
    }
}

impl Shown for Checkers {
    fn cells(&self) -> String {
        let mut cells = ['-'; 64];
        for square in (1..=32).filter_map(checkers::Square::new) {
            let has = |pieces: u32| pieces & square.bit() != 0;
            cells[cell(square)] = match () {
                () if has(self.men(Side::Black)) => 'X',
                () if has(self.men(Side::White)) => 'O',
                () if has(self.kings(Side::Black)) => 'B',
                () if has(self.kings(Side::White)) => 'W',
                () => '-',
            };
        }
        cells.iter().collect()
    }

    fn path(mv: checkers::Move) -> Vec<u8> {
        std::iter::once(mv.from()).chain(mv.landings()).map(|square| cell(square) as u8).collect()
    }

    fn count(&self, side: Side) -> u32 {
        (self.men(side) | self.kings(side)).count_ones()
    }
}

/// Which of the 64 cells a dark square is.
fn cell(square: checkers::Square) -> usize {
    usize::from(square.row()) * 8 + usize::from(square.column())
}
