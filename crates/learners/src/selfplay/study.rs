//! What a stage learns from a batch.

use super::play::{Trace, logistic};
use crate::online::State;
use outflank_games::othello::kernel::{Kernel, Task};
use outflank_models::patterns::{AfterstateFeatures, MoveFeatures, sum};

/// The positions of one stage, in the order of the games.
pub(super) struct TrainingSet<'a, I> {
    pub look: &'a AfterstateFeatures,
    pub state: &'a mut State,
    pub lessons: I,
    pub rate: f32,
}

impl<'a, I: Iterator<Item = &'a Trace>> Task for TrainingSet<'a, I> {
    /// The sum of the logarithmic losses, and of how many positions.
    type Output = (f64, u64);

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> (f64, u64) {
        let mut row = vec![0i32; self.look.width()];
        let used = self.look.board_row_len();
        let (mut loss, mut count) = (0.0, 0);
        for &Trace { board, target } in self.lessons {
            self.look.row(kernel, board.own, board.other, &mut row);
            let value = sum(&self.state.weights, &row);
            // ln(1 + exp(v)) - target v, in a form that does not overflow.
            let high = libm::logf(1.0 + libm::expf(-value.abs())) + value.max(0.0);
            loss += f64::from(high - target * value);
            count += 1;
            let gradient = logistic(value) - target;
            self.state.step(self.look.tied_weights(), &row[..used], gradient, self.rate);
        }
        (loss, count)
    }
}
