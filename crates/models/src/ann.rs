//! Multilayer perceptrons in the architectures of Binkley, Seehart & Hagiwara (2007): fully
//! connected, with symmetry removal, with weights shared between the eight symmetries, or with one
//! unit per window of the board.
//!
//! A position is seen by the side that just moved (the first player of section 3.2). All units have
//! tanh activations and biases. The output f lies between -1 and 1. [`Evaluate`] returns the
//! pre-activation of the output, which has the same order and does not saturate.
//!
//! [`Mlp`] is for inference, [`TrainableMlp`] for training.

mod architecture;
mod gradient;
mod inference;
mod tanh;
#[cfg(test)]
mod tests;
mod trainable;
mod weight_layout;

use crate::Evaluate;
use inference::Inference;
use outflank_games::Side;
use outflank_games::othello::kernel::{self, Kernel, Task};
use outflank_games::othello::{Board, Othello, Square};
use outflank_runs::{Rng, RngExt};
use std::cell::RefCell;
use trainable::EvaluateMoves;

pub use architecture::{Architecture, ArchitectureError, FirstLayer, MAX_CONNECTIONS, MAX_HIDDEN};
pub use trainable::{Accumulator, TrainableMlp};

/// A multilayer perceptron for position evaluation.
#[derive(Clone, Debug)]
pub struct Mlp {
    inference: Inference,
    weights: Vec<f32>,
}

/// An error in the weights of a network.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MlpError {
    /// Wrong number of weights.
    #[error("{net} needs {needs} weights, not {given}")]
    Count {
        /// The architecture.
        net: String,
        /// Number of weights of the architecture.
        needs: usize,
        /// Number of weights given.
        given: usize,
    },
    /// A weight is infinite or NaN.
    #[error("weight {index} is {weight}, not a finite number")]
    NotFinite {
        /// Index of the weight, from 0.
        index: usize,
        /// The weight.
        weight: f32,
    },
}

thread_local! {
    /// Buffers for pre-activations and activations, so that evaluation does not allocate.
    static BUFFERS: RefCell<[Vec<f32>; 2]> = const { RefCell::new([Vec::new(), Vec::new()]) };
}

impl Mlp {
    /// Creates a network from its weights, layer by layer: for each input the weights to the units
    /// of the layer, then the biases.
    pub fn new(architecture: &Architecture, weights: Vec<f32>) -> Result<Mlp, MlpError> {
        if weights.len() != architecture.weight_count() {
            let (needs, given) = (architecture.weight_count(), weights.len());
            return Err(MlpError::Count { net: architecture.to_string(), needs, given });
        }
        if let Some(index) = weights.iter().position(|weight| !weight.is_finite()) {
            return Err(MlpError::NotFinite { index, weight: weights[index] });
        }
        Ok(Mlp { inference: Inference::new(architecture, &weights), weights })
    }

    /// Creates a network with weights drawn uniformly from ±1/sqrt(n), where n is the fan-in of the
    /// unit (section 4).
    #[must_use]
    pub fn random(architecture: &Architecture, rng: &mut Rng) -> Mlp {
        let mut inference = Inference::new(architecture, &[]);
        let draw = |fan_in: &usize| ((2.0 * rng.unit() - 1.0) / (*fan_in as f64).sqrt()) as f32;
        let weights: Vec<f32> = inference.layout.fan_in.iter().map(draw).collect();
        inference.weights = inference.layout.pad(&weights);
        inference.rebuild_tables();
        Mlp { inference, weights }
    }

    /// Returns the architecture.
    #[must_use]
    pub fn architecture(&self) -> &Architecture {
        &self.inference.layout.architecture
    }

    /// Returns how much flipping an opponent's disc changes the pre-activation of each unit of the
    /// first layer, by square. With weight sharing there is one entry per set of units.
    pub fn flip_effects(&self) -> impl Iterator<Item = [f32; 64]> {
        let units = self.architecture().hidden().first().copied().unwrap_or(1);
        (0..units)
            .map(|unit| std::array::from_fn(|square| self.inference.flip_effect(square, unit)))
    }

    /// Returns the weights in the order of [`Mlp::new`].
    #[must_use]
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }
}

impl PartialEq for Mlp {
    fn eq(&self, other: &Mlp) -> bool {
        self.architecture() == other.architecture() && self.weights == other.weights
    }
}

impl Evaluate<Othello> for Mlp {
    fn value(&self, position: &Othello, side: Side) -> f32 {
        let board = Board { own: position.discs(side), other: position.discs(side.other()) };
        BUFFERS.with_borrow_mut(|[_, activations]| {
            activations.resize(self.inference.layout.activations, 0.0);
            kernel::run(Value { inference: &self.inference, board, activations })
        })
    }

    fn move_values(&self, position: &Othello, moves: &[Square], out: &mut Vec<f32>) {
        out.clear();
        let (inference, board) = (&self.inference, position.board());
        BUFFERS.with_borrow_mut(|[sums, activations]| {
            activations.resize(inference.layout.activations, 0.0);
            sums.resize(inference.layout.width, 0.0);
            kernel::run(Accumulate { inference, board, sums });
            let push = |_, _, value| out.push(value);
            kernel::run(EvaluateMoves {
                inference,
                activations,
                board,
                sums,
                moves: moves.iter().copied(),
                push,
            });
        });
    }
}

struct Value<'a> {
    inference: &'a Inference,
    board: Board,
    activations: &'a mut [f32],
}

impl Task for Value<'_> {
    type Output = f32;

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) -> f32 {
        let board = self.inference.canonical(self.board);
        self.inference.accumulate(board, &mut self.activations[..self.inference.layout.width]);
        self.inference.forward_in_place(self.activations)
    }
}

struct Accumulate<'a> {
    inference: &'a Inference,
    board: Board,
    sums: &'a mut [f32],
}

impl Task for Accumulate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) {
        self.inference.accumulate(self.board, self.sums);
    }
}
