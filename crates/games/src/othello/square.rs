//! Squares of the Othello board, which are also the moves.

use std::fmt;
use std::str::FromStr;

/// A square of the board, 0 (a1) to 63 (h8), row by row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Square(u8);

impl Square {
    /// Returns the square with this index, or `None` if it is 64 or more.
    #[must_use]
    pub const fn new(index: u8) -> Option<Square> {
        if index < 64 { Some(Square(index)) } else { None }
    }

    /// Returns the square in a column (0 is a) and a row (0 is 1), or `None` outside the board.
    #[must_use]
    pub const fn at(column: u8, row: u8) -> Option<Square> {
        if column < 8 && row < 8 { Some(Square(row * 8 + column)) } else { None }
    }

    /// Returns the lowest square of a bitboard, or `None` if it is empty.
    #[must_use]
    pub const fn lowest(bits: u64) -> Option<Square> {
        if bits == 0 { None } else { Some(Square(bits.trailing_zeros() as u8)) }
    }

    /// Returns the index, 0 to 63.
    #[must_use]
    #[inline]
    pub const fn index(self) -> usize {
        (self.0 & 63) as usize
    }

    /// Returns the bitboard with only this square set.
    #[must_use]
    #[inline]
    pub const fn bit(self) -> u64 {
        1 << (self.0 & 63)
    }

    /// Returns the column, 0 (a) to 7 (h).
    #[must_use]
    pub const fn column(self) -> u8 {
        self.0 % 8
    }

    /// Returns the row, 0 (1) to 7 (8).
    #[must_use]
    pub const fn row(self) -> u8 {
        self.0 / 8
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", char::from(b'a' + self.column()), char::from(b'1' + self.row()))
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Square {
    type Err = String;

    /// Parses a column letter, in upper or lower case, and a row digit.
    fn from_str(text: &str) -> Result<Square, String> {
        match text.as_bytes() {
            [column, row @ b'1'..=b'8'] if column.to_ascii_lowercase().wrapping_sub(b'a') < 8 => {
                Ok(Square((row - b'1') * 8 + (column.to_ascii_lowercase() - b'a')))
            }
            _ => Err(format!("'{text}' is not a square; squares are a1 to h8")),
        }
    }
}

/// Iterator over the squares of a bitboard, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Squares(pub u64);

impl Iterator for Squares {
    type Item = Square;

    #[inline]
    fn next(&mut self) -> Option<Square> {
        let square = Square::lowest(self.0)?;
        self.0 &= self.0 - 1;
        Some(square)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.0.count_ones() as usize;
        (count, Some(count))
    }
}

impl ExactSizeIterator for Squares {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn all_squares_round_trip() {
        let names = (0..64).filter_map(Square::new).map(|square| {
            assert_eq!(square.to_string().parse(), Ok(square));
            assert_eq!(square.to_string().to_uppercase().parse(), Ok(square));
            assert_eq!(Square::at(square.column(), square.row()), Some(square));
            assert_eq!(Square::lowest(square.bit()), Some(square));
            square.to_string()
        });
        let names: Vec<_> = names.collect();
        assert_eq!((names.len(), &*names[0], &*names[1], &*names[63]), (64, "a1", "b1", "h8"));
        assert_eq!((Square::new(64), Square::at(8, 0), Square::at(0, 8)), (None, None, None));
        assert_eq!(Square::lowest(0), None);
    }

    proptest! {
        #[test]
        fn only_square_names_are_parsed(text in ".{0,3}") {
            let expected = (0..64).filter_map(Square::new).find(|s| s.to_string() == text.to_lowercase());
            // The lower case of a non-ASCII character may be ASCII, e.g. of the Kelvin sign.
            prop_assert_eq!(text.parse::<Square>().ok(), expected.filter(|_| text.is_ascii()));
        }

        #[test]
        fn squares_list_the_bits(bits: u64) {
            let squares = Squares(bits);
            prop_assert_eq!(squares.len(), bits.count_ones() as usize);
            prop_assert!(squares.is_sorted());
            prop_assert_eq!(squares.fold(0, |all, s| all | s.bit()), bits);
        }
    }
}
