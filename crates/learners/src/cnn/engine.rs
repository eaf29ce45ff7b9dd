//! What learns: it holds a network's weights and the examples, and takes steps down the gradient.

use super::Optimizer;
use outflank_models::nets::{NetGraph, Weights, class_of};
use outflank_records::ColoredExample;

/// Why an engine cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The device or its library failed.
    #[error(
        "the device failed: {0}; go on from the last checkpoint, if there was one, with --resume"
    )]
    Device(String),
    /// There is not enough memory.
    #[error("the device has not enough memory for this batch ({0}); give a smaller --batch")]
    Memory(String),
    /// There is not enough memory for any batch.
    #[error("there is not enough memory for this network ({0}); choose a smaller one with --net")]
    TooLarge(String),
    /// There is no such device.
    #[error("{0}")]
    Missing(String),
    /// The state does not belong to the network.
    #[error(transparent)]
    NetGraph(#[from] outflank_models::nets::NetError),
    /// The loss or the weights are no numbers any more.
    #[error(
        "after step {0} the loss or the weights are not finite any more; a checkpoint from before would go the \
         same way: begin again with a smaller --rate"
    )]
    Diverged(u64),
}

/// The examples that an engine keeps at hand, and the classes of their moves.
#[derive(Clone, Debug)]
pub struct TrainingSet {
    /// The planes of each base example, one behind another.
    pub words: Vec<u64>,
    /// The class of each base example's move.
    pub targets: Vec<u8>,
    /// The items to learn from: a base example's number times eight, and the symmetry's.
    pub items: Vec<u32>,
}

impl TrainingSet {
    /// What a network sees of these examples.
    #[must_use]
    pub fn new(net: &NetGraph, base: &[ColoredExample], items: Vec<u32>) -> TrainingSet {
        let mut words = Vec::with_capacity(base.len() * net.input().planes());
        let mut targets = Vec::with_capacity(base.len());
        for ColoredExample { example, white } in base {
            net.input().words(example.board(), *white, &mut words);
            // Nobody has ever played in the centre.
            targets.push(class_of(example.chosen()).unwrap_or(0) as u8);
        }
        TrainingSet { words, targets, items }
    }
}

/// All that learning has come to: the weights and what the optimizer remembers.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// How many steps were taken.
    pub step: u64,
    /// The weights.
    pub weights: Weights,
    /// What the optimizer remembers of each weight, once or twice, in the order of the parameters.
    pub moments: Vec<Vec<Vec<f32>>>,
}

impl State {
    /// Where learning begins: these weights, and nothing to remember of any step.
    #[must_use]
    pub fn start(net: &NetGraph, weights: Weights, optimizer: Optimizer) -> State {
        let zeros: Vec<Vec<f32>> = net.params().iter().map(|p| vec![0.0; p.len()]).collect();
        State { step: 0, weights, moments: vec![zeros; optimizer.moments()] }
    }

    /// Whether all of it is finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        let mut blocks =
            std::iter::once(self.weights.values()).chain(self.moments.iter().map(Vec::as_slice));
        blocks.all(|block| block.iter().flatten().all(|value| value.is_finite()))
    }
}

/// What was seen since somebody last asked.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seen {
    /// How many examples.
    pub examples: u64,
    /// The sum of their losses.
    pub loss: f64,
    /// How many moves were on top.
    pub hits: f64,
}

/// What learns.
pub trait Engine: Send {
    /// Takes a step for each rate. `places` says which items are seen, a batch behind another; the
    /// device may still be busy when this returns.
    fn learn(&mut self, places: &[u32], rates: &[f64]) -> Result<(), EngineError>;

    /// How many examples it is best given at a time.
    fn at_a_time(&self) -> usize;

    /// What was seen since the last call; waits for the device.
    fn seen(&mut self) -> Result<Seen, EngineError>;

    /// The logarithms of the classes' odds for positions given by their planes.
    fn logits(&mut self, words: &[u64]) -> Result<Vec<f32>, EngineError>;

    /// All that learning has come to.
    fn state(&mut self) -> Result<State, EngineError>;

    /// Goes on from there.
    fn restore(&mut self, state: &State) -> Result<(), EngineError>;
}
