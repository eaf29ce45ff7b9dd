//! Linear models whose weights change with the stage of the game: large patterns and counts of the
//! position that a move leads to ([`Patterns`], which says what a position is worth), or the
//! context of a move on the board as it stands ([`MovePredictor`], which says how good each move is).
//!
//! Both add up one weight for each thing they [`Look`] at; what they look at, and so how a learner
//! reads a decision, is written once.

mod counts;
mod look;
mod shapes;
mod stages;

pub use counts::Count;
pub use look::{AfterstateFeatures, ContextFeatures, Look, TooMany};
pub use shapes::{classic, whole_board};
pub use stages::Stages;

use crate::layout::LANES;
use crate::{Evaluate, Policy};
use outflank_games::Side;
use outflank_games::othello::kernel::{self, Kernel, Task};
use outflank_games::othello::{Board, Othello, Square};
use std::cell::RefCell;

/// What a position is worth, by its patterns and counts, the one who just moved seen as Black.
#[derive(Clone, Debug)]
pub struct Patterns(Tables<AfterstateFeatures>);

/// How good a move is in its context, the one to move seen as Black.
#[derive(Clone, Debug)]
pub struct MovePredictor(Tables<ContextFeatures>);

/// A look, and the weights of each stage with the zero behind them.
#[derive(Clone, Debug)]
struct Tables<L> {
    look: L,
    stages: Stages,
    weights: Vec<Vec<f32>>,
}

impl<L: Look> Tables<L> {
    fn new(look: L, stages: Stages, mut weights: Vec<Vec<f32>>) -> Option<Tables<L>> {
        let sound = weights.len() == stages.count()
            && weights.iter().all(|stage| {
                stage.len() == look.weights() && stage.iter().all(|weight| weight.is_finite())
            });
        weights.iter_mut().for_each(|stage| stage.push(0.0));
        sound.then_some(Tables { look, stages, weights })
    }

    fn stage(&self, stage: usize) -> &[f32] {
        self.weights.get(stage).map_or(&[], |weights| &weights[..self.look.weights()])
    }

    /// The worth of each move.
    fn score(&self, board: Board, moves: &[Square], out: &mut Vec<f32>) {
        struct Rows<'a, L> {
            look: &'a L,
            board: Board,
            moves: u64,
            rows: &'a mut Vec<i32>,
        }
        impl<L: Look> Task for Rows<'_, L> {
            type Output = ();

            #[inline(always)]
            fn run<K: Kernel>(self, kernel: K) {
                let count = self.moves.count_ones() as usize;
                self.rows.resize(count * self.look.width(), 0);
                self.look.rows(kernel, self.board, self.moves, self.rows, self.look.width());
            }
        }
        out.clear();
        let discs = 64 - board.empty().count_ones() + 1;
        let weights = &self.weights[self.stages.of(discs)];
        let bits = moves.iter().fold(0, |bits, square| bits | square.bit());
        ROWS.with_borrow_mut(|rows| {
            kernel::run(Rows { look: &self.look, board, moves: bits, rows });
            let width = self.look.width();
            out.extend(moves.iter().map(|square| {
                // Rows are in the order of squares, whatever the order of the moves.
                let place = (bits & (square.bit() - 1)).count_ones() as usize;
                sum(weights, &rows[place * width..][..width])
            }));
        });
    }
}

thread_local! {
    /// Room for rows, one for each thread, so that no call allocates.
    static ROWS: RefCell<Vec<i32>> = const { RefCell::new(Vec::new()) };
}

/// The sum of the weights of a row, always in the same order.
#[inline(always)]
#[must_use]
pub fn sum(weights: &[f32], row: &[i32]) -> f32 {
    let mut sums = [0f32; LANES];
    for chunk in row.as_chunks::<LANES>().0 {
        for lane in 0..LANES {
            sums[lane] += weights[chunk[lane] as usize];
        }
    }
    ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
}

/// What both models have.
macro_rules! staged {
    ($model:ident, $look:ident) => {
        impl $model {
            /// A model with these weights for each stage; `None` when their number is wrong or one
            /// is not finite.
            #[must_use]
            pub fn new(look: $look, stages: Stages, weights: Vec<Vec<f32>>) -> Option<$model> {
                Tables::new(look, stages, weights).map($model)
            }

            /// A model with all weights zero.
            #[must_use]
            pub fn zero(look: $look, stages: Stages) -> $model {
                let weights = vec![vec![0.0; look.weights() + 1]; stages.count()];
                $model(Tables { look, stages, weights })
            }

            /// What it looks at.
            #[must_use]
            pub fn look(&self) -> &$look {
                &self.0.look
            }

            /// When its weights change.
            #[must_use]
            pub fn stages(&self) -> Stages {
                self.0.stages
            }

            /// The weights of a stage; none if there is no such stage.
            #[must_use]
            pub fn weights(&self, stage: usize) -> &[f32] {
                self.0.stage(stage)
            }
        }
    };
}
staged!(Patterns, AfterstateFeatures);
staged!(MovePredictor, ContextFeatures);

impl Evaluate<Othello> for Patterns {
    fn value(&self, position: &Othello, side: Side) -> f32 {
        struct Row<'a> {
            look: &'a AfterstateFeatures,
            own: u64,
            other: u64,
            row: &'a mut Vec<i32>,
        }
        impl Task for Row<'_> {
            type Output = ();

            #[inline(always)]
            fn run<K: Kernel>(self, kernel: K) {
                self.row.resize(self.look.width(), 0);
                self.look.row(kernel, self.own, self.other, self.row);
            }
        }
        let Tables { look, stages, weights } = &self.0;
        let (own, other) = (position.discs(side), position.discs(side.other()));
        let weights = &weights[stages.of((own | other).count_ones())];
        ROWS.with_borrow_mut(|row| {
            kernel::run(Row { look, own, other, row });
            sum(weights, &row[..look.width()])
        })
    }

    fn after_moves(&self, position: &Othello, moves: &[Square], out: &mut Vec<f32>) {
        self.0.score(position.board(), moves, out);
    }
}

impl Policy<Othello> for MovePredictor {
    fn score(&self, position: &Othello, moves: &[Square], out: &mut Vec<f32>) {
        self.0.score(position.board(), moves, out);
    }
}
