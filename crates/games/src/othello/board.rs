//! A board as two bitboards: the mover's discs and the opponent's.

use super::{Square, Symmetry, kernel};

/// The discs of the player to move and of the opponent, as disjoint bitboards.
///
/// A board has no colors and makes no passes; it is meant for search, counting and storage. Use
/// [`Othello`](super::Othello) for the positions of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Board {
    /// Discs of the player to move.
    pub own: u64,
    /// Discs of the opponent.
    pub other: u64,
}

impl Board {
    /// The starting position. The player to move owns e4 and d5.
    pub const START: Board = Board { own: 0x0000_0008_1000_0000, other: 0x0000_0010_0800_0000 };

    /// Returns the legal moves as a bitboard.
    #[inline]
    #[must_use]
    pub fn moves(self) -> u64 {
        kernel::moves(self.own, self.other)
    }

    /// Returns the discs flipped by a move to an empty square; none if the move is illegal.
    #[inline]
    #[must_use]
    pub fn flips(self, square: Square) -> u64 {
        kernel::flips(self.own, self.other, square)
    }

    /// Returns the board after a legal move, from the opponent's view.
    #[inline]
    #[must_use]
    pub fn play(self, square: Square) -> Board {
        self.play_with_flips(square, self.flips(square))
    }

    /// Returns the board after placing a disc on `square` and flipping `flips`, from the opponent's
    /// view.
    #[inline]
    #[must_use]
    pub fn play_with_flips(self, square: Square, flips: u64) -> Board {
        Board { own: self.other ^ flips, other: self.own ^ flips ^ square.bit() }
    }

    /// Returns the board from the opponent's view.
    #[inline]
    #[must_use]
    pub fn pass(self) -> Board {
        Board { own: self.other, other: self.own }
    }

    /// Returns whether neither player can move.
    #[inline]
    #[must_use]
    pub fn is_over(self) -> bool {
        self.moves() == 0 && self.pass().moves() == 0
    }

    /// Returns the empty squares as a bitboard.
    #[inline]
    #[must_use]
    pub fn empty(self) -> u64 {
        !(self.own | self.other)
    }

    /// Returns the discs of the player to move minus those of the opponent.
    #[inline]
    #[must_use]
    pub fn difference(self) -> i32 {
        self.own.count_ones() as i32 - self.other.count_ones() as i32
    }

    /// Returns the board transformed by a symmetry.
    #[must_use]
    pub fn transform(self, symmetry: Symmetry) -> Board {
        Board { own: symmetry.transform_bits(self.own), other: symmetry.transform_bits(self.other) }
    }

    /// Returns the smallest of the eight symmetric boards, and the symmetry that maps this board to
    /// it.
    #[must_use]
    pub fn canonical(self) -> (Board, Symmetry) {
        Symmetry::ALL
            .map(|s| (self.transform(s), s))
            .into_iter()
            .min()
            .unwrap_or((self, Symmetry::IDENTITY))
    }
}
