//! The eight symmetries (rotations and reflections) of the board.

use super::Square;

/// One of the eight symmetries of the square.
///
/// Bit 0 of the index mirrors left and right, bit 1 mirrors top and bottom, bit 2 transposes rows
/// and columns; they are applied in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symmetry(u8);

impl Symmetry {
    /// The identity.
    pub const IDENTITY: Symmetry = Symmetry(0);

    /// All eight symmetries, the identity first.
    pub const ALL: [Symmetry; 8] = [
        Symmetry(0),
        Symmetry(1),
        Symmetry(2),
        Symmetry(3),
        Symmetry(4),
        Symmetry(5),
        Symmetry(6),
        Symmetry(7),
    ];

    /// Returns the index, 0 to 7.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Transforms a bitboard.
    #[inline]
    #[must_use]
    pub fn transform_bits(self, mut bits: u64) -> u64 {
        if self.0 & 1 != 0 {
            bits = mirror_columns(bits);
        }
        if self.0 & 2 != 0 {
            bits = bits.swap_bytes();
        }
        if self.0 & 4 != 0 {
            bits = transpose(bits);
        }
        bits
    }

    /// Transforms a square.
    #[must_use]
    pub fn transform_square(self, square: Square) -> Square {
        let (mut column, mut row) = (square.column(), square.row());
        if self.0 & 1 != 0 {
            column = 7 - column;
        }
        if self.0 & 2 != 0 {
            row = 7 - row;
        }
        if self.0 & 4 != 0 {
            (column, row) = (row, column);
        }
        Square::at(column, row).unwrap_or(square)
    }

    /// Returns the inverse symmetry.
    #[must_use]
    pub fn inverse(self) -> Symmetry {
        // The transposition exchanges the two mirror operations; all others are self-inverse.
        match self.0 {
            5 => Symmetry(6),
            6 => Symmetry(5),
            self_inverse => Symmetry(self_inverse),
        }
    }
}

fn mirror_columns(x: u64) -> u64 {
    let x = ((x >> 1) & 0x5555_5555_5555_5555) | ((x & 0x5555_5555_5555_5555) << 1);
    let x = ((x >> 2) & 0x3333_3333_3333_3333) | ((x & 0x3333_3333_3333_3333) << 2);
    ((x >> 4) & 0x0f0f_0f0f_0f0f_0f0f) | ((x & 0x0f0f_0f0f_0f0f_0f0f) << 4)
}

/// Transposes rows and columns by swapping blocks of increasing size.
fn transpose(x: u64) -> u64 {
    fn swap(x: u64, mask: u64, distance: u32) -> u64 {
        let t = (x ^ (x >> distance)) & mask;
        x ^ t ^ (t << distance)
    }
    let x = swap(x, 0x00aa_00aa_00aa_00aa, 7);
    let x = swap(x, 0x0000_cccc_0000_cccc, 14);
    swap(x, 0x0000_0000_f0f0_f0f0, 28)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::othello::{Board, Squares};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn bits_and_squares_agree(bits: u64) {
            for symmetry in Symmetry::ALL {
                let expected = Squares(bits).fold(0, |all, s| all | symmetry.transform_square(s).bit());
                prop_assert_eq!(symmetry.transform_bits(bits), expected);
            }
        }

        #[test]
        fn inverses_cancel(bits: u64) {
            for symmetry in Symmetry::ALL {
                prop_assert_eq!(symmetry.inverse().transform_bits(symmetry.transform_bits(bits)), bits);
                prop_assert_eq!(symmetry.transform_bits(symmetry.inverse().transform_bits(bits)), bits);
            }
        }

        #[test]
        fn symmetric_boards_have_the_same_canonical_board(a: u64, b: u64) {
            let board = Board { own: a & !b, other: b & !a };
            let (smallest, _) = board.canonical();
            for symmetry in Symmetry::ALL {
                let transformed = board.transform(symmetry);
                let (canonical, to_canonical) = transformed.canonical();
                prop_assert_eq!(canonical, smallest);
                prop_assert_eq!(transformed.transform(to_canonical), smallest);
                prop_assert!(smallest <= transformed);
            }
        }

        #[test]
        fn moves_commute_with_symmetries(a: u64, b: u64) {
            let board = Board { own: a & !b, other: b & !a };
            for symmetry in Symmetry::ALL {
                let transformed = board.transform(symmetry);
                prop_assert_eq!(transformed.moves(), symmetry.transform_bits(board.moves()));
                for square in Squares(board.moves()) {
                    let played = transformed.play(symmetry.transform_square(square));
                    prop_assert_eq!(played, board.play(square).transform(symmetry));
                }
            }
        }
    }

    #[test]
    fn symmetries_form_a_group_of_eight() {
        // Only the identity maps these three squares to themselves.
        let orbit = Symmetry::ALL.map(|s| s.transform_bits(0b1011));
        assert_eq!(orbit.iter().collect::<BTreeSet<_>>().len(), 8);
        for first in Symmetry::ALL {
            for second in Symmetry::ALL {
                assert!(orbit.contains(&second.transform_bits(first.transform_bits(0b1011))));
            }
        }
        assert_eq!(Symmetry::ALL.map(Symmetry::index), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(Symmetry::IDENTITY.transform_bits(0b1011), 0b1011);
    }
}
