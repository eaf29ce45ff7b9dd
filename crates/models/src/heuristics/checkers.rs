//! Features of checkers.
//!
//! | feature | count for one side | scale |
//! |---|---|---|
//! | men | men | / 12 |
//! | kings | kings | / 12 |
//! | back row | men on the home row, where the opponent promotes | / 4 |
//! | centre | men and kings on the eight squares 10, 11, 14, 15, 18, 19, 22, 23 | / 8 |
//! | advancement | rows that the men have advanced | relative |
//! | mobility | legal moves of the side (captures are forced) | relative |
//!
//! A relative feature is (own - other) / (own + other).

use super::{FeatureVector, NamedFeatures, relative_difference, scaled_difference};
use outflank_games::Side;
use outflank_games::checkers::Checkers;

const CENTER: u32 = 0x0066_6600;

impl NamedFeatures for Checkers {
    const FEATURES: &'static [&'static str] =
        &["men", "kings", "back row", "centre", "advancement", "mobility"];

    fn features(&self, side: Side) -> FeatureVector {
        let (own, other) = (SidePieces::new(self, side), SidePieces::new(self, side.other()));
        [
            scaled_difference(own.men.count_ones(), other.men.count_ones(), 12.0),
            scaled_difference(own.kings, other.kings, 12.0),
            scaled_difference((own.men & 0xf).count_ones(), (other.men & 0xf).count_ones(), 4.0),
            scaled_difference(own.center, other.center, 8.0),
            relative_difference(advancement(own.men), advancement(other.men)),
            relative_difference(self.mobility(side), self.mobility(side.other())),
            0.0,
            0.0,
        ]
    }
}

/// The pieces of one side; its back row is the four lowest bits.
struct SidePieces {
    men: u32,
    kings: u32,
    center: u32,
}

impl SidePieces {
    #[inline]
    fn new(position: &Checkers, side: Side) -> SidePieces {
        let (men, kings) = (position.men(side), position.kings(side));
        let center = ((men | kings) & CENTER).count_ones();
        // Rotating the board reverses the bits and maps the center onto itself.
        let men = if side == Side::Black { men } else { men.reverse_bits() };
        SidePieces { men, kings: kings.count_ones(), center }
    }
}

/// Returns the total number of rows that the men have advanced.
#[inline]
fn advancement(men: u32) -> u32 {
    // One mask per binary digit of the row number.
    (men & 0xf0f0_f0f0).count_ones()
        + 2 * (men & 0xff00_ff00).count_ones()
        + 4 * (men & 0xffff_0000).count_ones()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advancement_is_the_sum_of_row_numbers() {
        for row in 0..8 {
            for bit in 0..4 {
                assert_eq!(advancement(1 << (4 * row + bit)), row);
            }
        }
        assert_eq!(advancement(u32::MAX), 4 * 28);
        let center = [10, 11, 14, 15, 18, 19, 22, 23].iter().fold(0, |all, n| all | 1 << (n - 1));
        assert_eq!(CENTER, center);
    }

    #[test]
    fn features_of_a_sample_position() {
        // Black has men on 1 and 15, advanced by 0 and 3 rows, and a king on 32. White has men on
        // 31, 27 and 12, advanced by 0, 1 and 5 rows. Black must capture, and the only jump is
        // 32x23; White could play 31-26, 27-23, 27-24 and 12-8.
        let position: Checkers = "B:W31,27,12:B1,15,K32".parse().unwrap();
        let features = position.features(Side::Black);
        let expected =
            [-1.0 / 12.0, 1.0 / 12.0, 0.0, 1.0 / 8.0, (3.0 - 6.0) / 9.0, (1.0 - 4.0) / 5.0];
        for (feature, expected) in features.iter().zip(expected) {
            assert!((feature - expected).abs() < 1e-6, "{features:?}");
        }
    }
}
