//! The inner loop of an epoch: one update per choice.

use super::choice_set::Choice;
use super::stage_state::{EpochStats, StageState};
use outflank_games::othello::Squares;
use outflank_games::othello::kernel::{Kernel, Task};
use outflank_models::patterns::{MoveFeatures, active_weight_sum};

/// The loss of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreferenceLoss {
    /// Negative log-likelihood of the softmax of the values.
    Softmax,
    /// Squared hinge loss with a margin of 1 between the chosen move and each other move.
    SquaredHinge,
}

/// Gradients smaller than this are skipped.
const MIN_GRADIENT: f32 = 0.002;

/// Values that differ by less than this are ties. It is larger than the tolerance of play, because the
/// weights are in single precision.
const TIE_TOLERANCE: f32 = 1e-5;

/// Upper limit for legal moves.
const MAX_MOVES: usize = 64;

/// Consecutive choices of an epoch, trained with one learning rate.
pub(super) struct EpochChunk<'a, L> {
    pub features: &'a L,
    pub state: &'a mut StageState,
    pub choices: &'a [Choice],
    /// Indices into `choices`, in training order.
    pub order: &'a [u32],
    pub loss: PreferenceLoss,
    pub learning_rate: f32,
}

impl<L: MoveFeatures> Task for EpochChunk<'_, L> {
    type Output = EpochStats;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> EpochStats {
        let width = self.features.width();
        let mut rows = vec![0i32; MAX_MOVES * width];
        let mut stats = EpochStats::default();
        for &index in self.order {
            let Choice { board, chosen } = self.choices[index as usize];
            let moves = kernel.moves(board.own, board.other);
            self.features.rows(kernel, board, moves, &mut rows, width);
            let mut values = [0f32; MAX_MOVES];
            let count = moves.count_ones() as usize;
            let rows = &rows[..count * width];
            for (value, row) in values.iter_mut().zip(rows.chunks_exact(width)) {
                *value = active_weight_sum(&self.state.weights, row);
            }
            let target = (moves & (chosen.bit() - 1)).count_ones() as usize;
            let values = &mut values[..count];
            stats.choices += 1;
            stats.moves += count as u64;
            stats.hits += hit(values, target);
            stats.loss += self.loss.gradients(values, target);
            for ((square, row), &gradient) in
                Squares(moves).zip(rows.chunks_exact(width)).zip(&*values)
            {
                if gradient.abs() >= MIN_GRADIENT {
                    let row = &row[..self.features.row_len(square)];
                    self.state.step(
                        self.features.tied_weights(),
                        row,
                        gradient,
                        self.learning_rate,
                    );
                }
            }
        }
        stats
    }
}

/// Returns 1 if the target has the highest value, a fraction for a tie, otherwise 0.
#[inline(always)]
fn hit(values: &[f32], target: usize) -> f64 {
    let best = values.iter().copied().fold(f32::MIN, f32::max);
    if values[target] < best - TIE_TOLERANCE {
        return 0.0;
    }
    1.0 / values.iter().filter(|&&value| value >= best - TIE_TOLERANCE).count() as f64
}

impl PreferenceLoss {
    /// Replaces the values by the derivatives of the loss and returns the loss.
    #[inline(always)]
    pub(super) fn gradients(self, values: &mut [f32], target: usize) -> f64 {
        match self {
            PreferenceLoss::Softmax => {
                let best = values.iter().copied().fold(f32::MIN, f32::max);
                let own = values[target] - best;
                let mut total = 0.0;
                for value in values.iter_mut() {
                    // libm, unlike the system library, is bit-identical on all machines.
                    *value = libm::expf(*value - best);
                    total += *value;
                }
                values.iter_mut().for_each(|value| *value /= total);
                values[target] -= 1.0;
                f64::from(libm::logf(total) - own)
            }
            PreferenceLoss::SquaredHinge => {
                let chosen = values[target];
                let (mut loss, mut sum) = (0f32, 0f32);
                for (index, value) in values.iter_mut().enumerate() {
                    let violation = 1.0 - (chosen - *value);
                    let violated = index != target && violation > 0.0;
                    *value = if violated { 2.0 * violation } else { 0.0 };
                    sum += *value;
                    loss += if violated { violation * violation } else { 0.0 };
                }
                values[target] = -sum;
                f64::from(loss)
            }
        }
    }
}
