//! MLPs for online learning: predictions, gradients and weight updates.
//!
//! The prediction for a position is f = tanh(z), where z is the value that [`Mlp`] returns. An
//! update adds a weighted sum of gradients of any number of positions:
//!
//! ```text
//! w += sum over t of step(t) grad f(x(t))
//! ```
//!
//! [`Gradient`] computes it by backpropagation.

use super::Mlp;
use super::architecture::Architecture;
use super::gradient::Gradient;
use super::inference::{Inference, add_row};
use super::tanh::tanh;
use super::weight_layout::LANES;
use crate::AfterstateValues;
use outflank_games::othello::kernel::{self, Kernel, Task};
use outflank_games::othello::{Board, Square, Squares};

/// The pre-activations of the first layer for a board seen by one side, updated move by move.
#[derive(Clone, Debug)]
pub struct Accumulator {
    board: Board,
    sums: Vec<f32>,
}

/// An MLP with mutable weights.
#[derive(Clone, Debug)]
pub struct TrainableMlp {
    inference: Inference,
    activations: Vec<f32>,
    /// The positions of the last call of [`TrainableMlp::predict`].
    boards: Vec<Board>,
    /// Their predictions.
    predictions: Vec<f32>,
    /// Their activations, one block per position.
    batch_activations: Vec<f32>,
    gradient: Gradient,
}

impl TrainableMlp {
    /// Copies the weights of a network.
    #[must_use]
    pub fn new(net: &Mlp) -> TrainableMlp {
        let inference = net.inference.clone();
        let gradient = Gradient::new(&inference.layout);
        let activations = vec![0.0; inference.layout.activations];
        let (boards, predictions, batch_activations) = (Vec::new(), Vec::new(), Vec::new());
        TrainableMlp { inference, activations, boards, predictions, batch_activations, gradient }
    }

    /// Returns the architecture.
    #[must_use]
    pub fn architecture(&self) -> &Architecture {
        &self.inference.layout.architecture
    }

    /// Returns the current weights in file order.
    #[must_use]
    pub fn weights(&self) -> Vec<f32> {
        self.inference.layout.unpad(&self.inference.weights)
    }

    /// Returns whether all weights are finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.inference.weights.iter().all(|weight| weight.is_finite())
    }

    /// Creates an accumulator for a board, seen by the owner of `board.own`.
    #[must_use]
    pub fn accumulator(&self, board: Board) -> Accumulator {
        let mut accumulator = Accumulator { board, sums: vec![0.0; self.inference.layout.width] };
        self.refresh(&mut accumulator, board);
        accumulator
    }

    /// Recomputes an accumulator for another board.
    pub fn refresh(&self, accumulator: &mut Accumulator, board: Board) {
        accumulator.board = board;
        kernel::run(Refresh { inference: &self.inference, accumulator });
    }

    /// Updates an accumulator by a move. `by_own_side` means that the accumulator's side
    /// makes the move.
    pub fn advance(
        &self,
        accumulator: &mut Accumulator,
        square: Square,
        flips: u64,
        by_own_side: bool,
    ) {
        kernel::run(Advance {
            inference: &self.inference,
            accumulator,
            square,
            flips,
            by_own_side,
        });
    }

    /// Evaluates the moves of the accumulator's side.
    pub fn move_values(
        &mut self,
        accumulator: &Accumulator,
        moves: u64,
        out: &mut AfterstateValues,
    ) {
        out.clear();
        let (inference, activations, moves) =
            (&self.inference, &mut self.activations, Squares(moves));
        let push = |square, flips, value: f32| out.push(square, flips, f64::from(value));
        kernel::run(EvaluateMoves {
            inference,
            activations,
            board: accumulator.board,
            sums: &accumulator.sums,
            moves,
            push,
        });
    }

    /// Predicts the outcome of positions, each seen by the side that just moved (`own`).
    ///
    /// Stores the activations for [`TrainableMlp::backward`].
    pub fn predict(&mut self, boards: &[Board]) -> &[f32] {
        kernel::run(Predict { net: self, boards });
        &self.predictions
    }

    /// Accumulates `steps[i]` times the gradient of the i-th of the last predictions.
    pub fn backward(&mut self, steps: &[f32]) {
        kernel::run(Backward { net: self, steps });
    }

    /// Applies the accumulated updates to the weights.
    pub fn step(&mut self) {
        kernel::run(Step { net: self });
    }
}

struct Refresh<'a> {
    inference: &'a Inference,
    accumulator: &'a mut Accumulator,
}

impl Task for Refresh<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) {
        self.inference.accumulate(self.accumulator.board, &mut self.accumulator.sums);
    }
}

struct Advance<'a> {
    inference: &'a Inference,
    accumulator: &'a mut Accumulator,
    square: Square,
    flips: u64,
    by_own_side: bool,
}

impl Task for Advance<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) {
        let before = self.accumulator.board;
        // `play_with_flips` also swaps the sides.
        self.accumulator.board = if self.by_own_side {
            before.play_with_flips(self.square, self.flips).pass()
        } else {
            before.pass().play_with_flips(self.square, self.flips)
        };
        // With symmetry removal every position is evaluated from scratch.
        if !self.inference.layout.architecture.removes_symmetry() {
            self.inference.update(before, self.accumulator.board, &mut self.accumulator.sums);
        }
    }
}

/// Computes the values after moves of the owner of `board.own`.
pub(super) struct EvaluateMoves<'a, I, F> {
    pub inference: &'a Inference,
    pub activations: &'a mut [f32],
    pub board: Board,
    /// Pre-activations of the first layer on the board.
    pub sums: &'a [f32],
    pub moves: I,
    pub push: F,
}

impl<I: Iterator<Item = Square>, F: FnMut(Square, u64, f32)> Task for EvaluateMoves<'_, I, F> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(mut self, kernel: K) {
        let EvaluateMoves { inference, activations, board, .. } = self;
        let width = inference.layout.width;
        for square in self.moves {
            let flips = kernel.flips(board.own, board.other, square);
            let value = if inference.layout.architecture.removes_symmetry() {
                let after = inference.canonical(board.play_with_flips(square, flips).pass());
                inference.accumulate(after, &mut activations[..width]);
                inference.forward_in_place(activations)
            } else {
                inference.value_after(self.sums, square, flips, activations)
            };
            (self.push)(square, flips, value);
        }
    }
}

struct Predict<'a> {
    net: &'a mut TrainableMlp,
    boards: &'a [Board],
}

impl Task for Predict<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) {
        let TrainableMlp { inference, boards, predictions, batch_activations, gradient, .. } =
            self.net;
        let (size, from_scratch) =
            (inference.layout.activations, inference.layout.architecture.removes_symmetry());
        boards.clear();
        predictions.clear();
        batch_activations.resize(batch_activations.len().max(size * self.boards.len()), 0.0);
        let sums = &mut gradient.errors;
        for (&board, activations) in
            self.boards.iter().zip(batch_activations.chunks_exact_mut(size))
        {
            let board = inference.canonical(board);
            match boards.last() {
                Some(&before) if !from_scratch => inference.update(before, board, sums),
                _ => inference.accumulate(board, sums),
            }
            boards.push(board);
            predictions.push(tanh(inference.forward(sums, activations)));
        }
    }
}

struct Backward<'a> {
    net: &'a mut TrainableMlp,
    steps: &'a [f32],
}

impl Task for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) {
        let TrainableMlp { inference, boards, predictions, batch_activations, gradient, .. } =
            self.net;
        gradient.running.fill(0.0);
        let mut before = Board { own: 0, other: 0 };
        let batch_activations = batch_activations.chunks_exact(inference.layout.activations);
        for (((&board, &f), &step), activations) in
            boards.iter().zip(predictions.iter()).zip(self.steps).zip(batch_activations)
        {
            gradient.flush_changes(inference.layout.width, before, board);
            gradient.backward(inference, activations, step * (1.0 - f * f));
            add_row(&mut gradient.running, &gradient.errors);
            before = board;
        }
        gradient.flush_changes(inference.layout.width, before, Board { own: 0, other: 0 });
        add_row(&mut gradient.total, &gradient.running);
    }
}

struct Step<'a> {
    net: &'a mut TrainableMlp,
}

impl Task for Step<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) {
        let TrainableMlp { inference, gradient, .. } = self.net;
        if inference.layout.row.is_multiple_of(LANES) {
            gradient.update_first_layer::<LANES>(inference);
        } else {
            gradient.update_first_layer::<{ LANES / 2 }>(inference);
        }
        let later = inference.layout.first_biases() + inference.layout.row;
        for (weight, step) in inference.weights[later..].iter_mut().zip(&gradient.weights[later..])
        {
            *weight += step;
        }
        gradient.clear();
        inference.rebuild_tables();
    }
}

#[cfg(test)]
impl TrainableMlp {
    /// Runs one training step with a given kernel.
    pub(super) fn train_with<K: Kernel>(&mut self, kernel: K, boards: &[Board], steps: &[f32]) {
        kernel.run(Predict { net: self, boards });
        kernel.run(Backward { net: self, steps });
        kernel.run(Step { net: self });
    }
}
