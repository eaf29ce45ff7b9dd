//! The bare board: the mover's discs and the opponent's.

use super::{Square, Symmetry, kernel};

/// Two disjoint bitboards, the discs of the player to move first.
///
/// It knows no colours and does not pass by itself: it is for programs that search, count and
/// store. [`Othello`](super::Othello) is the position of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Board {
    /// Discs of the player to move.
    pub own: u64,
    /// Discs of the opponent.
    pub other: u64,
}

impl Board {
    /// The start: e4 and d5 are the mover's.
    pub const START: Board = Board { own: 0x0000_0008_1000_0000, other: 0x0000_0010_0800_0000 };

    /// The squares where the player to move may play.
    #[inline]
    #[must_use]
    pub fn moves(self) -> u64 {
        kernel::moves(self.own, self.other)
    }

    /// The discs that a move to an empty square turns over; none when it is not legal.
    #[inline]
    #[must_use]
    pub fn flips(self, square: Square) -> u64 {
        kernel::flips(self.own, self.other, square)
    }

    /// The board after a legal move, seen from the opponent.
    #[inline]
    #[must_use]
    pub fn play(self, square: Square) -> Board {
        self.play_with_flips(square, self.flips(square))
    }

    /// The board after playing `square` and turning over `flips`, seen from the opponent.
    #[inline]
    #[must_use]
    pub fn play_with_flips(self, square: Square, flips: u64) -> Board {
        Board { own: self.other ^ flips, other: self.own ^ flips ^ square.bit() }
    }

    /// The same board seen from the opponent.
    #[inline]
    #[must_use]
    pub fn pass(self) -> Board {
        Board { own: self.other, other: self.own }
    }

    /// Whether neither player can move.
    #[inline]
    #[must_use]
    pub fn is_over(self) -> bool {
        self.moves() == 0 && self.pass().moves() == 0
    }

    /// The empty squares.
    #[inline]
    #[must_use]
    pub fn empty(self) -> u64 {
        !(self.own | self.other)
    }

    /// Discs of the player to move less those of the opponent.
    #[inline]
    #[must_use]
    pub fn difference(self) -> i32 {
        self.own.count_ones() as i32 - self.other.count_ones() as i32
    }

    /// The board turned or mirrored.
    #[must_use]
    pub fn transform(self, symmetry: Symmetry) -> Board {
        Board { own: symmetry.bits(self.own), other: symmetry.bits(self.other) }
    }

    /// The least of the eight images, and the symmetry that leads to it.
    #[must_use]
    pub fn canonical(self) -> (Board, Symmetry) {
        Symmetry::ALL
            .map(|s| (self.transform(s), s))
            .into_iter()
            .min()
            .unwrap_or((self, Symmetry::IDENTITY))
    }
}
