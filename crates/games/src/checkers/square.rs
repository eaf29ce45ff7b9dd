//! One of the 32 dark squares.

use std::fmt;

/// A dark square, known to players by its number, 1 to 32.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Square(u8);

impl Square {
    /// The square with this number, 1 to 32, if there is one.
    #[must_use]
    pub const fn new(number: u8) -> Option<Square> {
        if number >= 1 && number <= 32 { Some(Square(number - 1)) } else { None }
    }

    /// The square of the lowest five bits of an index.
    #[inline]
    pub(super) const fn from_low_bits(index: u32) -> Square {
        Square((index & 31) as u8)
    }

    /// The number by which players know it, 1 to 32.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0 + 1
    }

    /// One less than its number: always below 32.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        (self.0 & 31) as usize
    }

    /// The bitboard with this square alone.
    #[inline]
    #[must_use]
    pub const fn bit(self) -> u32 {
        1 << (self.0 & 31)
    }

    /// 0 for Black's back row (1 to 4), 7 for White's (29 to 32).
    #[must_use]
    pub const fn row(self) -> u8 {
        self.0 / 4
    }

    /// Its column among all eight, 0 at the left with Black's back row on top: the squares 5, 13,
    /// 21 and 29 lie in column 0.
    #[must_use]
    pub const fn column(self) -> u8 {
        self.0 % 4 * 2 + (self.row() + 1) % 2
    }

    /// The square seen from the other side of the board, 33 less its number.
    #[must_use]
    pub const fn rotate(self) -> Square {
        Square(31 - self.0)
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.number(), f)
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The squares of a bitboard, lowest number first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Squares(pub u32);

impl Iterator for Squares {
    type Item = Square;

    #[inline]
    fn next(&mut self) -> Option<Square> {
        (self.0 != 0).then(|| {
            let square = Square::from_low_bits(self.0.trailing_zeros());
            self.0 &= self.0 - 1;
            square
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.0.count_ones() as usize;
        (count, Some(count))
    }
}

impl ExactSizeIterator for Squares {}
