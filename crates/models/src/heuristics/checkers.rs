//! The features of checkers.
//!
//! | feature | counts, for one side | scale |
//! |---|---|---|
//! | men | men | of 12 |
//! | kings | kings | of 12 |
//! | back row | men still on the row behind which the opponent is crowned | of 4 |
//! | centre | men and kings on the eight squares 10, 11, 14, 15, 18, 19, 22, 23 | of 8 |
//! | advancement | rows that men have advanced | share of both sides' |
//! | mobility | ways to move, jumps where capturing is forced | share |

use super::{NamedFeatures, Row, excess, share};
use outflank_games::Side;
use outflank_games::checkers::Checkers;

const CENTRE: u32 = 0x0066_6600;

impl NamedFeatures for Checkers {
    const FEATURES: &'static [&'static str] =
        &["men", "kings", "back row", "centre", "advancement", "mobility"];

    fn features(&self, side: Side) -> Row {
        let (own, other) = (Seen::by(self, side), Seen::by(self, side.other()));
        [
            excess(own.men.count_ones(), other.men.count_ones(), 12.0),
            excess(own.kings, other.kings, 12.0),
            excess((own.men & 0xf).count_ones(), (other.men & 0xf).count_ones(), 4.0),
            excess(own.centre, other.centre, 8.0),
            share(advanced(own.men), advanced(other.men)),
            share(self.mobility(side), self.mobility(side.other())),
            0.0,
            0.0,
        ]
    }
}

/// One side's pieces, its own back row being the first four bits.
struct Seen {
    men: u32,
    kings: u32,
    centre: u32,
}

impl Seen {
    #[inline]
    fn by(position: &Checkers, side: Side) -> Seen {
        let (men, kings) = (position.men(side), position.kings(side));
        let centre = ((men | kings) & CENTRE).count_ones();
        // Turning the board round reverses the bits and keeps the centre.
        let men = if side == Side::Black { men } else { men.reverse_bits() };
        Seen { men, kings: kings.count_ones(), centre }
    }
}

/// The rows that these men have left behind them, all together.
#[inline]
fn advanced(men: u32) -> u32 {
    // The row's number in binary is how often its men count: once, twice and four times.
    (men & 0xf0f0_f0f0).count_ones()
        + 2 * (men & 0xff00_ff00).count_ones()
        + 4 * (men & 0xffff_0000).count_ones()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_once_for_each_row() {
        for row in 0..8 {
            for bit in 0..4 {
                assert_eq!(advanced(1 << (4 * row + bit)), row);
            }
        }
        assert_eq!(advanced(u32::MAX), 4 * 28);
        let centre = [10, 11, 14, 15, 18, 19, 22, 23].iter().fold(0, |all, n| all | 1 << (n - 1));
        assert_eq!(CENTRE, centre);
    }

    #[test]
    fn a_position_counted_by_hand() {
        // Black has men on 1 and 15, which have come 0 and 3 rows, and a king on 32. White has men
        // on 31, 27 and 12, which have come 0, 1 and 5 rows. Black must capture, and the only jump
        // is 32x23; White could play 31-26, 27-23, 27-24 and 12-8.
        let position: Checkers = "B:W31,27,12:B1,15,K32".parse().unwrap();
        let features = position.features(Side::Black);
        let expected =
            [-1.0 / 12.0, 1.0 / 12.0, 0.0, 1.0 / 8.0, (3.0 - 6.0) / 9.0, (1.0 - 4.0) / 5.0];
        for (feature, expected) in features.iter().zip(expected) {
            assert!((feature - expected).abs() < 1e-6, "{features:?}");
        }
    }
}
