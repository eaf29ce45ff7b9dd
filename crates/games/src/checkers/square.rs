//! The 32 dark squares.

use std::fmt;

/// A dark square, numbered 1 to 32 as usual.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DarkSquare(u8);

impl DarkSquare {
    /// Returns the square with this number, or `None` unless it is 1 to 32.
    #[must_use]
    pub const fn new(number: u8) -> Option<DarkSquare> {
        if number >= 1 && number <= 32 { Some(DarkSquare(number - 1)) } else { None }
    }

    /// Returns the square given by the lowest five bits of an index.
    #[inline]
    pub(super) const fn from_low_bits(index: u32) -> DarkSquare {
        DarkSquare((index & 31) as u8)
    }

    /// Returns the number, 1 to 32.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0 + 1
    }

    /// Returns the index, 0 to 31.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        (self.0 & 31) as usize
    }

    /// Returns the bitboard with only this square set.
    #[inline]
    #[must_use]
    pub const fn bit(self) -> u32 {
        1 << (self.0 & 31)
    }

    /// Returns the row, from 0 for Black's back row (1 to 4) to 7 for White's (29 to 32).
    #[must_use]
    pub const fn row(self) -> u8 {
        self.0 / 4
    }

    /// Returns the column, 0 (left) to 7, with Black's back row on top: the squares 5, 13, 21 and
    /// 29 are in column 0.
    #[must_use]
    pub const fn column(self) -> u8 {
        self.0 % 4 * 2 + (self.row() + 1) % 2
    }
}

impl fmt::Display for DarkSquare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.number(), f)
    }
}

impl fmt::Debug for DarkSquare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Iterator over the squares of a bitboard, lowest number first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DarkSquares(pub u32);

impl Iterator for DarkSquares {
    type Item = DarkSquare;

    #[inline]
    fn next(&mut self) -> Option<DarkSquare> {
        (self.0 != 0).then(|| {
            let square = DarkSquare::from_low_bits(self.0.trailing_zeros());
            self.0 &= self.0 - 1;
            square
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.0.count_ones() as usize;
        (count, Some(count))
    }
}

impl ExactSizeIterator for DarkSquares {}
