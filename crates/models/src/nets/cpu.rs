//! Networks on the CPU, in single precision.
//!
//! The output of a node for a batch is stored channel by channel: all positions of the first
//! channel, then all of the second. A convolution is then one matrix product over the whole batch,
//! batch normalization processes contiguous memory, and concatenation copies whole blocks.

mod backward;
mod forward;
mod index_maps;
mod layers;
mod winograd;

use super::fold_batch_norm::fold_batch_norm;
use super::{BufferPool, CLASSES, NetGraph, Weights};
use forward::{Mode, PackedWeights, forward};
use rayon::prelude::*;

pub use backward::{Gradient, LossGradient, forward_backward, training_memory_bytes};

/// Number of positions per batch: the outputs of all nodes stay in the cache.
const BATCH: usize = 8;

/// A network prepared for inference, with batch normalization folded and weights packed.
#[derive(Clone, Debug)]
pub struct CpuNet {
    net: NetGraph,
    weights: Weights,
    packed: Vec<PackedWeights>,
}

impl CpuNet {
    /// Prepares a network.
    #[must_use]
    pub fn new(net: &NetGraph, weights: &Weights) -> CpuNet {
        let (net, weights) = fold_batch_norm(net, weights);
        CpuNet::pack(net, weights)
    }

    fn pack(net: NetGraph, weights: Weights) -> CpuNet {
        let mut pool = BufferPool::default();
        let packed = |at: usize| PackedWeights::pack(&net, &weights, at, &mut pool);
        let packed = (0..net.nodes().len()).map(packed).collect();
        CpuNet { net, weights, packed }
    }

    /// Computes the logits, [`CLASSES`] for each position. `words` are the planes of all positions
    /// as encoded by [`Input::encode`](super::Input::encode).
    #[must_use]
    pub fn logits(&self, words: &[u64]) -> Vec<f32> {
        let size = BATCH * self.net.input().planes();
        let batches = words
            .par_chunks(size)
            .map_init(BufferPool::default, |pool, words| self.batch_logits(words, pool));
        batches.flatten_iter().collect()
    }

    /// Computes the logits of one batch.
    fn batch_logits(&self, words: &[u64], pool: &mut BufferPool) -> Vec<f32> {
        let batch = words.len() / self.net.input().planes();
        if batch == 0 {
            return Vec::new();
        }
        let mode = Mode::Inference(&self.packed);
        let mut pass = forward(&self.net, &self.weights, words, &mode, pool);
        let last = pass.outputs.pop().unwrap_or_default();
        let logits = (0..batch * CLASSES).map(|i| last[i % CLASSES * batch + i / CLASSES]);
        let logits = logits.collect();
        pool.release(last);
        logits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nets::{Input, Role, examples};
    use outflank_runs::{RngExt, rng::stream};

    /// Weights with nontrivial scales and shifts.
    fn perturbed(net: &NetGraph) -> Weights {
        let mut weights = Weights::init(net, 3);
        let mut rng = stream(5, &["shaken"]);
        for (param, values) in net.params().iter().zip(weights.values_mut()) {
            for value in values {
                *value += match param.role {
                    Role::Weight => 0.0,
                    Role::RunningVariance => rng.unit() as f32,
                    _ => 0.2 * rng.normal() as f32,
                };
            }
        }
        weights
    }

    #[test]
    fn folding_batch_norm_preserves_the_outputs() {
        for net in examples(Input::PIECES).filter(|net| !net.name().contains("100")) {
            let (name, planes) = (net.name(), net.input().planes());
            let weights = perturbed(&net);
            let mut rng = stream(2, &["boards"]);
            let mut word =
                || (0..64).fold(0u64, |word, bit| word | u64::from(rng.chance(0.4)) << bit);
            let words: Vec<u64> = (0..3 * planes).map(|_| word()).collect();
            let folded = CpuNet::new(&net, &weights).logits(&words);
            let unfolded = CpuNet::pack(net.clone(), weights).logits(&words);
            let size = unfolded.iter().fold(0.0f32, |a, b| a.max(b.abs()));
            for (a, b) in folded.iter().zip(&unfolded) {
                assert!((a - b).abs() <= 1e-4 * size.max(1.0), "{name}: {a} {b}");
            }
        }
    }
}
