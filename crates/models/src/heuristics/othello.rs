//! Features of Othello.
//!
//! | feature | count for one side | scale |
//! |---|---|---|
//! | discs | discs | relative |
//! | mobility | legal moves | relative |
//! | potential mobility | empty squares adjacent to the opponent's discs | relative |
//! | corners | discs in a corner | / 4 |
//! | x squares | discs diagonally adjacent to a corner | / 4 |
//! | c squares | edge discs adjacent to a corner | / 8 |
//! | edges | discs on the other edge squares | / 16 |
//! | frontier | discs adjacent to an empty square | relative |
//!
//! A relative feature is (own - other) / (own + other).

use super::{FeatureVector, NamedFeatures, dot, relative_difference, scaled_difference};
use outflank_games::Side;
use outflank_games::othello::kernel::{self, Kernel, Task};
use outflank_games::othello::{Board, Othello, Square};

const CORNERS: u64 = 0x8100_0000_0000_0081;
const X_SQUARES: u64 = 0x0042_0000_0000_4200;
const C_SQUARES: u64 = 0x4281_0000_0000_8142;
const EDGES: u64 = 0x3c00_8181_8181_003c;
const COLUMN_A: u64 = 0x0101_0101_0101_0101;
const COLUMN_H: u64 = COLUMN_A << 7;

impl NamedFeatures for Othello {
    const FEATURES: &'static [&'static str] = &[
        "discs",
        "mobility",
        "potential mobility",
        "corners",
        "x squares",
        "c squares",
        "edges",
        "frontier",
    ];

    fn features(&self, side: Side) -> FeatureVector {
        let board = Board { own: self.discs(side), other: self.discs(side.other()) };
        kernel::run(BoardFeatures(board))
    }

    fn canonical_form(&self) -> Othello {
        self.transform(self.board().canonical().1)
    }

    fn score_moves(&self, weights: &FeatureVector, moves: &[Square], out: &mut Vec<f32>) {
        kernel::run(ScoreMoves { board: self.board(), weights, moves, out });
    }
}

/// Returns the squares and all adjacent ones.
#[inline(always)]
fn dilate(squares: u64) -> u64 {
    let row = squares | (squares & !COLUMN_H) << 1 | (squares & !COLUMN_A) >> 1;
    row | row << 8 | row >> 8
}

/// Computes the features of a board.
#[inline(always)]
fn features<K: Kernel>(kernel: K, own: u64, other: u64) -> FeatureVector {
    let empty = !(own | other);
    let frontier = dilate(empty);
    let on = |squares: u64, max| {
        scaled_difference((own & squares).count_ones(), (other & squares).count_ones(), max)
    };
    [
        relative_difference(own.count_ones(), other.count_ones()),
        relative_difference(
            kernel.moves(own, other).count_ones(),
            kernel.moves(other, own).count_ones(),
        ),
        relative_difference(
            (dilate(other) & empty).count_ones(),
            (dilate(own) & empty).count_ones(),
        ),
        on(CORNERS, 4.0),
        on(X_SQUARES, 4.0),
        on(C_SQUARES, 8.0),
        on(EDGES, 16.0),
        relative_difference((own & frontier).count_ones(), (other & frontier).count_ones()),
    ]
}

/// Computes the features of a board as seen by the owner of `own`.
struct BoardFeatures(Board);

impl Task for BoardFeatures {
    type Output = FeatureVector;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> FeatureVector {
        features(kernel, self.0.own, self.0.other)
    }
}

/// Scores all moves of a board.
struct ScoreMoves<'a> {
    board: Board,
    weights: &'a FeatureVector,
    moves: &'a [Square],
    out: &'a mut Vec<f32>,
}

impl Task for ScoreMoves<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let ScoreMoves { board, weights, moves, out } = self;
        out.clear();
        for &square in moves {
            // A pass does not change the discs, so passes need not be handled.
            let after = board.play_with_flips(square, kernel.flips(board.own, board.other, square));
            out.push(dot(weights, &features(kernel, after.other, after.own)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::Position;

    #[test]
    fn square_masks_match_coordinates() {
        for square in 0..64u64 {
            let (column, row) = (square % 8, square / 8);
            // Distances from the nearest vertical and horizontal edge, in ascending order.
            let (mut near, mut far) = (column.min(7 - column), row.min(7 - row));
            if near > far {
                (near, far) = (far, near);
            }
            let expected = match (near, far) {
                (0, 0) => CORNERS,
                (1, 1) => X_SQUARES,
                (0, 1) => C_SQUARES,
                (0, _) => EDGES,
                _ => 0,
            };
            for kind in [CORNERS, X_SQUARES, C_SQUARES, EDGES] {
                assert_eq!(kind & 1 << square != 0, kind == expected, "square {square}");
            }
            let next = (0..64u64)
                .filter(|s| (s % 8).abs_diff(column) <= 1 && (s / 8).abs_diff(row) <= 1)
                .fold(0, |all, s| all | 1 << s);
            assert_eq!(dilate(1 << square), next, "square {square}");
        }
    }

    #[test]
    fn features_of_a_sample_position() {
        // After f5 Black has d5, e5, f5 and e4 and White has d4. Black could move to c3, c4, d3,
        // White to d6, f4, f6. The empty squares adjacent to White's disc are c3, d3, e3, c4 and
        // c5; those adjacent to Black's discs are c4, c5, c6, d6, e6, f6, g6, g5, g4, f4, f3, e3,
        // d3.
        let start = Othello::start();
        let after = start.play(start.parse_move("f5").unwrap());
        let expected = [0.6, 0.0, (5.0 - 13.0) / 18.0, 0.0, 0.0, 0.0, 0.0, 0.6];
        for (feature, expected) in after.features(Side::Black).iter().zip(expected) {
            assert!((feature - expected).abs() < 1e-6, "{:?}", after.features(Side::Black));
        }
    }
}
