//! Networks on the CPU, in single precision.
//!
//! What a node holds for a batch lies map by map: all positions of the first map, then all of the
//! second. A convolution is then one product of matrices over the whole batch, a normalisation runs
//! over consecutive numbers, and joining maps is copying them one behind another.

mod backward;
mod forward;
mod layers;
mod places;
mod winograd;

use super::{CLASSES, Net, Space, Weights, folded};
use forward::{Mode, Packed, forward};
use rayon::prelude::*;

pub use backward::{Gradient, Learned, forward_backward, training_memory_bytes};

/// So many positions go through a network together: what its nodes hold for them stays in the cache.
const TOGETHER: usize = 8;

/// A network that is ready to answer: normalisations folded in, nothing left to learn.
#[derive(Clone, Debug)]
pub struct Cpu {
    net: Net,
    weights: Weights,
    packed: Vec<Packed>,
}

impl Cpu {
    /// Prepares a network.
    #[must_use]
    pub fn new(net: &Net, weights: &Weights) -> Cpu {
        let (net, weights) = folded(net, weights);
        Cpu::as_it_is(net, weights)
    }

    fn as_it_is(net: Net, weights: Weights) -> Cpu {
        let mut space = Space::default();
        let packed = |at: usize| Packed::of(&net, &weights, at, &mut space);
        let packed = (0..net.nodes().len()).map(packed).collect();
        Cpu { net, weights, packed }
    }

    /// What it sees of a position.
    #[must_use]
    pub fn input(&self) -> super::Input {
        self.net.input()
    }

    /// The logarithms of the classes' odds, [`CLASSES`] for each position; `words` holds the planes of
    /// each position one behind another, as [`Input::words`](super::Input::words) gives them.
    #[must_use]
    pub fn logits(&self, words: &[u64]) -> Vec<f32> {
        let part = TOGETHER * self.net.input().planes();
        let parts =
            words.par_chunks(part).map_init(Space::default, |space, words| self.part(words, space));
        parts.flatten_iter().collect()
    }

    /// The answers of a few positions.
    fn part(&self, words: &[u64], space: &mut Space) -> Vec<f32> {
        let batch = words.len() / self.net.input().planes();
        if batch == 0 {
            return Vec::new();
        }
        let mode = Mode::Answer(&self.packed);
        let mut pass = forward(&self.net, &self.weights, words, &mode, space);
        let last = pass.values.pop().unwrap_or_default();
        let answers = (0..batch * CLASSES).map(|i| last[i % CLASSES * batch + i / CLASSES]);
        let answers = answers.collect();
        space.release(last);
        answers
    }
}

/// The answers of a network whose normalisations are left as they are, to compare with those of
/// [`Cpu`].
#[must_use]
pub fn unfolded_logits(net: &Net, weights: &Weights, words: &[u64]) -> Vec<f32> {
    Cpu::as_it_is(net.clone(), weights.clone()).logits(words)
}
