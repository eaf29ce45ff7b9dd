//! The engine interface: a network, its optimizer and its training set on a device.

use super::Optimizer;
use outflank_models::nets::{NetGraph, Weights, class_of};
use outflank_records::ColoredExample;

/// An error of an engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The device or its library failed.
    #[error(
        "device error: {0}. Continue from the last checkpoint, if there is one, with --resume."
    )]
    Device(String),
    /// The batch does not fit into the memory of the device.
    #[error("out of device memory for this batch ({0}). Use a smaller --batch-size.")]
    Memory(String),
    /// The network does not fit into memory at any batch size.
    #[error("not enough memory for this network ({0}). Choose a smaller one with --net.")]
    TooLarge(String),
    /// The device does not exist.
    #[error("{0}")]
    Missing(String),
    /// The state does not belong to the network.
    #[error(transparent)]
    NetGraph(#[from] outflank_models::nets::NetError),
    /// The loss or a weight is NaN or infinite.
    #[error(
        "training diverged: the loss or a weight is not finite after step {0}. Start a new run with a \
         smaller --learning-rate; resuming from an earlier checkpoint would diverge again."
    )]
    Diverged(u64),
}

/// The training examples of a network, as an engine stores them.
#[derive(Clone, Debug)]
pub struct TrainingSet {
    /// Input planes of the base examples, concatenated.
    pub words: Vec<u64>,
    /// The class of each base example's move.
    pub targets: Vec<u8>,
    /// The examples to train on: index of a base example times eight, plus the index of a symmetry.
    pub items: Vec<u32>,
}

impl TrainingSet {
    /// Encodes base examples as input planes and classes of `net`.
    #[must_use]
    pub fn new(net: &NetGraph, base: &[ColoredExample], items: Vec<u32>) -> TrainingSet {
        let mut words = Vec::with_capacity(base.len() * net.input().planes());
        let mut targets = Vec::with_capacity(base.len());
        for ColoredExample { example, white_to_move } in base {
            net.input().encode(example.board(), *white_to_move, &mut words);
            // The four center squares have no class, but they are never chosen.
            targets.push(class_of(example.chosen()).unwrap_or(0) as u8);
        }
        TrainingSet { words, targets, items }
    }
}

/// The state of a training run: step, weights and optimizer moments.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainState {
    /// Number of optimizer steps taken.
    pub step: u64,
    /// The weights.
    pub weights: Weights,
    /// The moments of the optimizer (one or two), each in the order of the parameters.
    pub moments: Vec<Vec<Vec<f32>>>,
}

impl TrainState {
    /// Creates the state before the first step: given weights, zero moments.
    #[must_use]
    pub fn start(net: &NetGraph, weights: Weights, optimizer: Optimizer) -> TrainState {
        let zeros: Vec<Vec<f32>> = net.params().iter().map(|p| vec![0.0; p.len()]).collect();
        TrainState { step: 0, weights, moments: vec![zeros; optimizer.moments()] }
    }

    /// Creates a state from the blocks of weights and moments, in the order of the parameters.
    pub fn from_blocks(
        net: &NetGraph,
        optimizer: Optimizer,
        step: u64,
        mut blocks: Vec<Vec<f32>>,
    ) -> Result<TrainState, String> {
        let parameters = net.params().len();
        let expected = parameters * (1 + optimizer.moments());
        if blocks.len() != expected {
            let found = blocks.len();
            return Err(format!("{found} blocks, {expected} expected for {}", net.name()));
        }
        let rest = blocks.split_off(parameters);
        let weights = Weights::new(net, blocks).map_err(|error| error.to_string())?;
        let moments: Vec<Vec<Vec<f32>>> = rest.chunks(parameters).map(<[_]>::to_vec).collect();
        for moment in &moments {
            // Moments have the shapes of the weights, and are finite.
            Weights::new(net, moment.clone()).map_err(|error| error.to_string())?;
        }
        Ok(TrainState { step, weights, moments })
    }

    /// Returns whether all weights and moments are finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        let mut blocks =
            std::iter::once(self.weights.values()).chain(self.moments.iter().map(Vec::as_slice));
        blocks.all(|block| block.iter().flatten().all(|value| value.is_finite()))
    }
}

/// Sums over the training examples processed since the statistics were last read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BatchStats {
    /// Number of examples.
    pub examples: u64,
    /// Sum of their losses.
    pub loss: f64,
    /// Number of examples whose target had the largest logit.
    pub hits: f64,
}

/// A backend that trains and evaluates one network.
pub trait Engine: Send {
    /// Takes one optimizer step per learning rate.
    ///
    /// `indices` are indices into [`TrainingSet::items`], batch after batch. The device may still
    /// be busy when this returns.
    fn train_steps(&mut self, indices: &[u32], learning_rates: &[f64]) -> Result<(), EngineError>;

    /// Returns the preferred number of examples per call of [`Engine::train_steps`].
    fn examples_per_call(&self) -> usize;

    /// Returns the statistics since the last call and resets them. Waits for the device.
    fn take_stats(&mut self) -> Result<BatchStats, EngineError>;

    /// Computes the logits of positions given by their input planes.
    fn logits(&mut self, words: &[u64]) -> Result<Vec<f32>, EngineError>;

    /// Returns the state of the run.
    fn state(&mut self) -> Result<TrainState, EngineError>;

    /// Replaces the state of the run.
    fn restore(&mut self, state: &TrainState) -> Result<(), EngineError>;
}
