//! The weight updates of a stage from a batch.

use super::game::{TrainingTarget, logistic};
use crate::online::StageState;
use outflank_games::othello::kernel::{Kernel, Task};
use outflank_models::patterns::{AfterstateFeatures, MoveFeatures, active_weight_sum};

/// The targets of one stage, in the order of the games.
pub(super) struct StageUpdate<'a, I> {
    pub features: &'a AfterstateFeatures,
    pub state: &'a mut StageState,
    pub targets: I,
    pub learning_rate: f32,
}

impl<'a, I: Iterator<Item = &'a TrainingTarget>> Task for StageUpdate<'a, I> {
    /// The sum of the logistic losses and the number of positions.
    type Output = (f64, u64);

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> (f64, u64) {
        let mut row = vec![0i32; self.features.width()];
        let used = self.features.board_row_len();
        let (mut loss, mut count) = (0.0, 0);
        for &TrainingTarget { board, target } in self.targets {
            self.features.row(kernel, board.own, board.other, &mut row);
            let value = active_weight_sum(&self.state.weights, &row);
            // ln(1 + exp(v)) - target v, in a form that does not overflow.
            let softplus = libm::logf(1.0 + libm::expf(-value.abs())) + value.max(0.0);
            loss += f64::from(softplus - target * value);
            count += 1;
            let gradient = logistic(value) - target;
            self.state.step(
                self.features.tied_weights(),
                &row[..used],
                gradient,
                self.learning_rate,
            );
        }
        (loss, count)
    }
}
