//! Linear models with one weight vector per game stage.
//!
//! [`Patterns`] is an evaluation function over patterns and counts of the afterstate.
//! [`MovePredictor`] is a policy over the context of a move on the current board. Both sum the
//! weights of the active [`MoveFeatures`]; learners use the same feature extraction.

mod counts;
mod features;
mod pattern_sets;
mod quantized;
mod stages;

pub use counts::Count;
pub use features::{AfterstateFeatures, ContextFeatures, MoveFeatures, TooManyPlacements};
pub use pattern_sets::{classic, whole_board};
pub use quantized::{PatternState, QuantizedPatterns};
pub use stages::Stages;

use crate::tuple_layout::LANES;
use crate::{Evaluate, Policy};
use outflank_games::Side;
use outflank_games::othello::kernel::{self, Kernel, Task};
use outflank_games::othello::{Board, Othello, Square};
use std::cell::RefCell;

/// An evaluation function over patterns and counts. The side that just moved plays Black's role.
#[derive(Clone, Debug)]
pub struct Patterns(StagedWeights<AfterstateFeatures>);

/// A policy that scores a move in its context. The side to move plays Black's role.
#[derive(Clone, Debug)]
pub struct MovePredictor(StagedWeights<ContextFeatures>);

/// Features and the weights of each stage; a zero for padding follows the weights.
#[derive(Clone, Debug)]
struct StagedWeights<F> {
    features: F,
    stages: Stages,
    weights: Vec<Vec<f32>>,
}

impl<F: MoveFeatures> StagedWeights<F> {
    fn new(features: F, stages: Stages, mut weights: Vec<Vec<f32>>) -> Option<StagedWeights<F>> {
        let valid = weights.len() == stages.count()
            && weights.iter().all(|stage| {
                stage.len() == features.weight_count()
                    && stage.iter().all(|weight| weight.is_finite())
            });
        weights.iter_mut().for_each(|stage| stage.push(0.0));
        valid.then_some(StagedWeights { features, stages, weights })
    }

    fn stage(&self, stage: usize) -> &[f32] {
        self.weights.get(stage).map_or(&[], |weights| &weights[..self.features.weight_count()])
    }

    /// Computes the score of each move.
    fn score(&self, board: Board, moves: &[Square], out: &mut Vec<f32>) {
        struct ComputeRows<'a, F> {
            features: &'a F,
            board: Board,
            moves: u64,
            rows: &'a mut Vec<i32>,
        }
        impl<F: MoveFeatures> Task for ComputeRows<'_, F> {
            type Output = ();

            #[inline(always)]
            fn run<K: Kernel>(self, kernel: K) {
                let (count, width) = (self.moves.count_ones() as usize, self.features.width());
                self.rows.resize(count * width, 0);
                self.features.rows(kernel, self.board, self.moves, self.rows, width);
            }
        }
        out.clear();
        let discs = 64 - board.empty().count_ones() + 1;
        let weights = &self.weights[self.stages.stage_of(discs)];
        let bits = moves.iter().fold(0, |bits, square| bits | square.bit());
        ROWS.with_borrow_mut(|rows| {
            kernel::run(ComputeRows { features: &self.features, board, moves: bits, rows });
            let width = self.features.width();
            out.extend(moves.iter().map(|square| {
                // Rows are in the order of squares, not of `moves`.
                let row = (bits & (square.bit() - 1)).count_ones() as usize;
                active_weight_sum(weights, &rows[row * width..][..width])
            }));
        });
    }
}

thread_local! {
    /// Buffer for feature rows, one per thread, so that evaluation does not allocate.
    static ROWS: RefCell<Vec<i32>> = const { RefCell::new(Vec::new()) };
}

/// Sums the weights of a feature row in a fixed order.
#[inline(always)]
#[must_use]
pub fn active_weight_sum(weights: &[f32], row: &[i32]) -> f32 {
    let mut sums = [0f32; LANES];
    for chunk in row.as_chunks::<LANES>().0 {
        for lane in 0..LANES {
            sums[lane] += weights[chunk[lane] as usize];
        }
    }
    ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
}

/// Constructors and accessors common to both models.
macro_rules! staged_model {
    ($model:ident, $features:ident) => {
        impl $model {
            /// Creates a model from the weights of each stage; `None` if their number is wrong or
            /// one is not finite.
            #[must_use]
            pub fn new(
                features: $features,
                stages: Stages,
                weights: Vec<Vec<f32>>,
            ) -> Option<$model> {
                StagedWeights::new(features, stages, weights).map($model)
            }

            /// Creates a model with all weights zero.
            #[must_use]
            pub fn zero(features: $features, stages: Stages) -> $model {
                let weights = vec![vec![0.0; features.weight_count() + 1]; stages.count()];
                $model(StagedWeights { features, stages, weights })
            }

            /// Returns the features.
            #[must_use]
            pub fn features(&self) -> &$features {
                &self.0.features
            }

            /// Returns the stages of the game.
            #[must_use]
            pub fn stages(&self) -> Stages {
                self.0.stages
            }

            /// Returns the weights of a stage; empty if the stage does not exist.
            #[must_use]
            pub fn weights(&self, stage: usize) -> &[f32] {
                self.0.stage(stage)
            }
        }
    };
}
staged_model!(Patterns, AfterstateFeatures);
staged_model!(MovePredictor, ContextFeatures);

impl Evaluate<Othello> for Patterns {
    fn value(&self, position: &Othello, side: Side) -> f32 {
        struct ComputeRow<'a> {
            features: &'a AfterstateFeatures,
            own: u64,
            other: u64,
            row: &'a mut Vec<i32>,
        }
        impl Task for ComputeRow<'_> {
            type Output = ();

            #[inline(always)]
            fn run<K: Kernel>(self, kernel: K) {
                self.row.resize(self.features.width(), 0);
                self.features.row(kernel, self.own, self.other, self.row);
            }
        }
        let StagedWeights { features, stages, weights } = &self.0;
        let (own, other) = (position.discs(side), position.discs(side.other()));
        let weights = &weights[stages.stage_of((own | other).count_ones())];
        ROWS.with_borrow_mut(|row| {
            kernel::run(ComputeRow { features, own, other, row });
            active_weight_sum(weights, &row[..features.width()])
        })
    }

    fn move_values(&self, position: &Othello, moves: &[Square], out: &mut Vec<f32>) {
        self.0.score(position.board(), moves, out);
    }
}

impl Policy<Othello> for MovePredictor {
    fn score(&self, position: &Othello, moves: &[Square], out: &mut Vec<f32>) {
        self.0.score(position.board(), moves, out);
    }
}
