//! Inference compared with an independent implementation, MCMC, numerical integration and finite
//! differences; reproducibility and resume of the learner.
//!
//! `cases/ep.json` was computed with NumPy and SciPy by algorithms 3.5, 3.6 and 5.2 of Rasmussen &
//! Williams in the space of pairs; only the model is the same as in this crate. `cases/mcmc.json`
//! holds the moments of three of these cases from 400 chains of elliptical slice sampling with
//! 4,000 steps each, and their evidence from 8 million samples of the prior.

mod active_learning;
mod inference;
mod robustness;

use super::ep::{Comparison, EpConfig, Sites};
use super::kernel::Kernel;
use super::posterior::Posterior;
use outflank_runs::{Rng, RngExt};

const EXACT: EpConfig = EpConfig { tolerance: 1e-12, max_iterations: 2000, seed: 3 };

fn infer_exactly(logs: &[f64], points: &[Vec<f64>], comparisons: &[Comparison]) -> Posterior {
    let mut sites = Sites::default();
    Posterior::infer(&Kernel::from_logs(logs), points, comparisons, &mut sites, &EXACT).unwrap()
}

fn random_points(count: usize, dimensions: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
    let mut point = || (0..dimensions).map(|_| 2.0 * rng.unit() - 1.0).collect();
    (0..count).map(|_| point()).collect()
}

/// Compares random pairs by a strength that is linear in the weights, with noise.
fn random_comparisons(points: &[Vec<f64>], count: usize, rng: &mut Rng) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    while comparisons.len() < count {
        let first = rng.below(points.len() as u32) as usize;
        let second = rng.below(points.len() as u32) as usize;
        if first != second {
            let strength = |at: usize| -> f64 { points[at].iter().sum() };
            let difference = strength(first) - strength(second) + 0.3 * rng.normal();
            let (winner, loser) = if difference > 0.0 { (first, second) } else { (second, first) };
            comparisons.push(Comparison { winner, loser });
        }
    }
    comparisons
}
