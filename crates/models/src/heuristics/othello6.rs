//! Features of Othello on 6x6 squares.
//!
//! | feature | count for one side | scale |
//! |---|---|---|
//! | discs | discs | relative |
//! | mobility | legal moves | relative |
//! | corners | discs in a corner | / 4 |
//! | x squares | discs diagonally adjacent to a corner | / 4 |
//! | edges | discs on the other edge squares | / 16 |
//!
//! A relative feature is (own - other) / (own + other).

use super::{FeatureVector, Heuristic, NamedFeatures, relative_difference, scaled_difference};
use outflank_games::Side;
use outflank_games::othello6::{BOARD, Othello6};

const CORNERS: u64 = 0x0000_2100_0000_0021;
const X_SQUARES: u64 = 0x0000_0012_0000_1200;
const INNER: u64 = 0x0000_001e_1e1e_1e00;

impl NamedFeatures for Othello6 {
    const FEATURES: &'static [&'static str] =
        &["discs", "mobility", "corners", "x squares", "edges"];

    fn features(&self, side: Side) -> FeatureVector {
        let (own, other) = (self.discs(side), self.discs(side.other()));
        let on = |squares: u64, max| {
            scaled_difference((own & squares).count_ones(), (other & squares).count_ones(), max)
        };
        [
            relative_difference(own.count_ones(), other.count_ones()),
            relative_difference(self.mobility(side), self.mobility(side.other())),
            on(CORNERS, 4.0),
            on(X_SQUARES, 4.0),
            on(BOARD & !INNER & !CORNERS, 16.0),
            0.0,
            0.0,
            0.0,
        ]
    }
}

/// Returns a heuristic for 6x6 Othello with weights chosen by hand: corners first, then mobility.
#[must_use]
pub fn corners() -> Heuristic<Othello6> {
    Heuristic::new(&[0.1, 1.0, 4.0, -1.0, 0.5]).unwrap_or_else(Heuristic::zero)
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::Position;

    #[test]
    fn features_of_a_sample_position() {
        // Black has a1, b2 and c4; White has d4, d3 and f6, which is a corner.
        let text = "X----- -X---- ---O-- --XO-- ------ -----O X";
        let position: Othello6 = text.parse().unwrap();
        let features = position.features(Side::Black);
        let moves = |side| position.mobility(side) as f32;
        let (own, other) = (moves(Side::Black), moves(Side::White));
        let mobility = (own - other) / (own + other);
        assert_eq!(features[..5], [0.0, mobility, 0.0, 0.25, 0.0]);
        assert_eq!(Othello6::start().features(Side::White)[..5], [0.0; 5]);
        assert_eq!(CORNERS & X_SQUARES, 0);
        assert_eq!((BOARD & !INNER & !CORNERS).count_ones(), 16);
        assert!(corners().weights().iter().any(|&weight| weight != 0.0));
    }
}
