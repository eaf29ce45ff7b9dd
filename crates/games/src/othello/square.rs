//! One of the 64 squares, which is also how a move is written.

use std::fmt;
use std::str::FromStr;

/// A square of the board, 0 (a1) to 63 (h8), row by row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Square(u8);

impl Square {
    /// The square with this number, if there is one.
    #[must_use]
    pub const fn new(index: u8) -> Option<Square> {
        if index < 64 { Some(Square(index)) } else { None }
    }

    /// The square in this column (0 is a) and row (0 is 1), if both are on the board.
    #[must_use]
    pub const fn at(column: u8, row: u8) -> Option<Square> {
        if column < 8 && row < 8 { Some(Square(row * 8 + column)) } else { None }
    }

    /// The lowest square of a bitboard, if it has one.
    #[must_use]
    pub const fn lowest(bits: u64) -> Option<Square> {
        if bits == 0 { None } else { Some(Square(bits.trailing_zeros() as u8)) }
    }

    /// The square's number, always below 64.
    #[must_use]
    #[inline]
    pub const fn index(self) -> usize {
        (self.0 & 63) as usize
    }

    /// The bitboard with this square alone.
    #[must_use]
    #[inline]
    pub const fn bit(self) -> u64 {
        1 << (self.0 & 63)
    }

    /// 0 for column a, 7 for column h.
    #[must_use]
    pub const fn column(self) -> u8 {
        self.0 % 8
    }

    /// 0 for row 1, 7 for row 8.
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

    /// Reads a column letter of either case and a row digit.
    fn from_str(text: &str) -> Result<Square, String> {
        match text.as_bytes() {
            [column, row @ b'1'..=b'8'] if column.to_ascii_lowercase().wrapping_sub(b'a') < 8 => {
                Ok(Square((row - b'1') * 8 + (column.to_ascii_lowercase() - b'a')))
            }
            _ => Err(format!("'{text}' is not a square; squares are a1 to h8")),
        }
    }
}

/// The squares of a bitboard, lowest first.
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
        fn no_other_text_is_a_square(text in ".{0,3}") {
            let known = (0..64).filter_map(Square::new).find(|s| s.to_string() == text.to_lowercase());
            // Lower case of text beyond ASCII may be ASCII, as that of the Kelvin sign is.
            prop_assert_eq!(text.parse::<Square>().ok(), known.filter(|_| text.is_ascii()));
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
