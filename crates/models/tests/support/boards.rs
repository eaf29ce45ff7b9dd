//! Random boards and weights for tests of networks.

use outflank_models::nets::{CLASSES, NET_STAGES, NetGraph, Role, Weights};
use outflank_runs::{RngExt, rng::stream};

/// Returns random planes (with one-hot stage planes) and targets.
pub fn batch(net: &NetGraph, positions: usize, seed: u64) -> (Vec<u64>, Vec<u8>) {
    let mut rng = stream(seed, &["boards"]);
    let mut word = || (0..64).fold(0u64, |word, bit| word | u64::from(rng.chance(0.4)) << bit);
    let mut words: Vec<u64> = (0..positions * net.input().planes()).map(|_| word()).collect();
    if net.input().stage_planes {
        for (position, words) in words.chunks_mut(net.input().planes()).enumerate() {
            let first = words.len() - NET_STAGES;
            words[first..].fill(0);
            words[first + position % NET_STAGES] = u64::MAX;
        }
    }
    (words, (0..positions).map(|at| (at * 7 % CLASSES) as u8).collect())
}

/// Returns weights with nontrivial scales, shifts and statistics.
pub fn perturbed(net: &NetGraph) -> Weights {
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
