//! The inner loop: choices one by one, each moving the weights it reads.

use super::choices::Choice;
use super::state::{State, Tally};
use outflank_games::othello::Squares;
use outflank_games::othello::kernel::{Kernel, Task};
use outflank_models::patterns::{MoveFeatures, sum};

/// What a choice is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The logarithm of its probability, if moves were drawn by the exponential of their worth.
    Softmax,
    /// The squares of what other moves lack to be worth 1 less.
    Margin,
}

/// Gradients smaller than this teach nothing worth the time.
const SMALL: f32 = 0.002;

/// Moves within this of the best are equally good.
const TIE: f32 = 1e-5;

/// No position has more moves.
const MOST_MOVES: usize = 64;

/// Some choices to learn from, in some order.
pub(super) struct Pass<'a, L> {
    pub look: &'a L,
    pub state: &'a mut State,
    pub choices: &'a [Choice],
    pub order: &'a [u32],
    pub loss: Loss,
    pub rate: f32,
}

impl<L: MoveFeatures> Task for Pass<'_, L> {
    type Output = Tally;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> Tally {
        let width = self.look.width();
        let mut rows = vec![0i32; MOST_MOVES * width];
        let mut tally = Tally::default();
        for &at in self.order {
            let Choice { board, chosen } = self.choices[at as usize];
            let moves = kernel.moves(board.own, board.other);
            self.look.rows(kernel, board, moves, &mut rows, width);
            let mut values = [0f32; MOST_MOVES];
            let count = moves.count_ones() as usize;
            let rows = &rows[..count * width];
            for (value, row) in values.iter_mut().zip(rows.chunks_exact(width)) {
                *value = sum(&self.state.weights, row);
            }
            let target = (moves & (chosen.bit() - 1)).count_ones() as usize;
            let values = &mut values[..count];
            tally.choices += 1;
            tally.moves += count as u64;
            tally.hits += hit(values, target);
            tally.loss += self.loss.gradients(values, target);
            for ((square, row), &gradient) in
                Squares(moves).zip(rows.chunks_exact(width)).zip(&*values)
            {
                if gradient.abs() >= SMALL {
                    let row = &row[..self.look.row_len(square)];
                    self.state.step(self.look.tied_weights(), row, gradient, self.rate);
                }
            }
        }
        tally
    }
}

/// Whether the target has the highest value; a share of it if others have it too.
#[inline(always)]
fn hit(values: &[f32], target: usize) -> f64 {
    let best = values.iter().copied().fold(f32::MIN, f32::max);
    if values[target] < best - TIE {
        return 0.0;
    }
    1.0 / values.iter().filter(|&&value| value >= best - TIE).count() as f64
}

impl Loss {
    /// Replaces the values by the derivatives of the loss and returns the loss.
    #[inline(always)]
    pub(super) fn gradients(self, values: &mut [f32], target: usize) -> f64 {
        match self {
            Loss::Softmax => {
                let best = values.iter().copied().fold(f32::MIN, f32::max);
                let own = values[target] - best;
                let mut total = 0.0;
                for value in values.iter_mut() {
                    // The system's own exponential differs between systems.
                    *value = libm::expf(*value - best);
                    total += *value;
                }
                values.iter_mut().for_each(|value| *value /= total);
                values[target] -= 1.0;
                f64::from(libm::logf(total) - own)
            }
            Loss::Margin => {
                let chosen = values[target];
                let (mut loss, mut pull) = (0f32, 0f32);
                for (place, value) in values.iter_mut().enumerate() {
                    let lack = 1.0 - (chosen - *value);
                    let charged = place != target && lack > 0.0;
                    *value = if charged { 2.0 * lack } else { 0.0 };
                    pull += *value;
                    loss += if charged { lack * lack } else { 0.0 };
                }
                values[target] = -pull;
                f64::from(loss)
            }
        }
    }
}
