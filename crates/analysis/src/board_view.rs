//! Positions as 64 cells, for programs that draw a board and let a person move on it.

use crate::evaluate::Analyzable;
use outflank_games::Side;
use outflank_games::checkers::{self, Checkers};
use outflank_games::othello::{Othello, Square};
use outflank_games::othello6::Othello6;
use outflank_records::opening_at;

/// A game that is drawn on a board of eight by eight cells.
pub trait BoardView: Analyzable {
    /// Returns 64 characters, row by row from the top left: `X` and `O` for discs or men, `B` and
    /// `W` for kings, `-` for an empty square.
    fn cells(&self) -> String;

    /// Returns the cells that a person clicks, in order, to make a move.
    fn path(mv: Self::Move) -> Vec<u8>;

    /// Counts the pieces of a side.
    fn count(&self, side: Side) -> u32;

    /// Returns the name of the opening with exactly this position, if it has one.
    fn opening_name(&self) -> Option<&'static str> {
        None
    }
}

impl BoardView for Othello {
    fn cells(&self) -> String {
        self.to_string().chars().take(64).collect()
    }

    fn path(mv: Square) -> Vec<u8> {
        vec![mv.index() as u8]
    }

    fn count(&self, side: Side) -> u32 {
        self.discs(side).count_ones()
    }

    fn opening_name(&self) -> Option<&'static str> {
        opening_at(self).map(|opening| opening.name)
    }
}

impl BoardView for Othello6 {
    /// The board is in the top left corner of the 64 cells.
    fn cells(&self) -> String {
        let [black, white] = Side::BOTH.map(|side| self.discs(side));
        let cell = |bit: u64| match () {
            () if black & bit != 0 => 'X',
            () if white & bit != 0 => 'O',
            () => '-',
        };
        (0..64).map(|index| cell(1 << index)).collect()
    }

    fn path(mv: Square) -> Vec<u8> {
        vec![mv.index() as u8]
    }

    fn count(&self, side: Side) -> u32 {
        self.discs(side).count_ones()
    }
}

impl BoardView for Checkers {
    fn cells(&self) -> String {
        let mut cells = ['-'; 64];
        for square in (1..=32).filter_map(checkers::DarkSquare::new) {
            let has = |pieces: u32| pieces & square.bit() != 0;
            cells[cell_index(square)] = match () {
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
        let squares = std::iter::once(mv.from()).chain(mv.landings());
        squares.map(|square| cell_index(square) as u8).collect()
    }

    fn count(&self, side: Side) -> u32 {
        (self.men(side) | self.kings(side)).count_ones()
    }
}

/// Returns the index of a dark square among the 64 cells.
fn cell_index(square: checkers::DarkSquare) -> usize {
    usize::from(square.row()) * 8 + usize::from(square.column())
}
