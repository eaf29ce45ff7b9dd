//! The features of Othello.
//!
//! | feature | counts, for one side | scale |
//! |---|---|---|
//! | discs | discs | share of both sides' |
//! | mobility | legal moves | share |
//! | potential mobility | empty squares next to the opponent's discs | share |
//! | corners | discs in a corner | of 4 |
//! | x squares | discs diagonally next to a corner | of 4 |
//! | c squares | discs beside a corner on an edge | of 8 |
//! | edges | discs on the rest of the edges | of 16 |
//! | frontier | discs next to an empty square | share |

use super::{NamedFeatures, Row, dot, excess, share};
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

    fn features(&self, side: Side) -> Row {
        let board = Board { own: self.discs(side), other: self.discs(side.other()) };
        kernel::run(Look(board))
    }

    fn canonical_form(&self) -> Othello {
        self.transform(self.board().canonical().1)
    }

    fn rate(&self, weights: &Row, moves: &[Square], out: &mut Vec<f32>) {
        kernel::run(Rate { board: self.board(), weights, moves, out });
    }
}

/// The squares next to these or among them.
#[inline(always)]
fn around(squares: u64) -> u64 {
    let row = squares | (squares & !COLUMN_H) << 1 | (squares & !COLUMN_A) >> 1;
    row | row << 8 | row >> 8
}

#[inline(always)]
fn look<K: Kernel>(kernel: K, own: u64, other: u64) -> Row {
    let empty = !(own | other);
    let rim = around(empty);
    let within = |squares: u64, most| {
        excess((own & squares).count_ones(), (other & squares).count_ones(), most)
    };
    [
        share(own.count_ones(), other.count_ones()),
        share(kernel.moves(own, other).count_ones(), kernel.moves(other, own).count_ones()),
        share((around(other) & empty).count_ones(), (around(own) & empty).count_ones()),
        within(CORNERS, 4.0),
        within(X_SQUARES, 4.0),
        within(C_SQUARES, 8.0),
        within(EDGES, 16.0),
        share((own & rim).count_ones(), (other & rim).count_ones()),
    ]
}

/// The features of a board as its mover sees them.
struct Look(Board);

impl Task for Look {
    type Output = Row;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> Row {
        look(kernel, self.0.own, self.0.other)
    }
}

/// Rates all moves of a board with one choice of instructions.
struct Rate<'a> {
    board: Board,
    weights: &'a Row,
    moves: &'a [Square],
    out: &'a mut Vec<f32>,
}

impl Task for Rate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let Rate { board, weights, moves, out } = self;
        out.clear();
        for &square in moves {
            // A pass changes nobody's discs, so the bare board will do.
            let after = board.play_with_flips(square, kernel.flips(board.own, board.other, square));
            out.push(dot(weights, &look(kernel, after.other, after.own)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::Position;

    #[test]
    fn the_kinds_of_squares_are_those_of_rows_and_columns() {
        for square in 0..64u64 {
            let (column, row) = (square % 8, square / 8);
            // Distance from the nearest edge, sideways and up or down, in ascending order.
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
            assert_eq!(around(1 << square), next, "square {square}");
        }
    }

    #[test]
    fn a_position_counted_by_hand() {
        // After f5 Black has d5, e5, f5 and e4 and White has d4. Black could move to c3, c4, d3,
        // White to d6, f4, f6. Next to White's disc c3, d3, e3, c4 and c5 are empty; next to
        // Black's discs are c4, c5, c6, d6, e6, f6, g6, g5, g4, f4, f3, e3 and d3.
        let start = Othello::start();
        let after = start.play(start.parse_move("f5").unwrap());
        let expected = [0.6, 0.0, (5.0 - 13.0) / 18.0, 0.0, 0.0, 0.0, 0.0, 0.6];
        for (feature, expected) in after.features(Side::Black).iter().zip(expected) {
            assert!((feature - expected).abs() < 1e-6, "{:?}", after.features(Side::Black));
        }
    }
}
