//! The belief against another implementation, sampling, integration and difference quotients; the
//! loop against its promises.
//!
//! `cases/ep.json` was computed with NumPy and SciPy by Rasmussen and Williams's algorithms 3.5, 3.6
//! and 5.2, in the space of pairs, whose formulas share nothing with ours but the model.
//! `cases/mcmc.json` holds the moments of three of these cases from 400 chains of elliptical slice
//! sampling with 4,000 steps each, and their evidence from 8 million samples of the prior.

mod belief;
mod hostile;
mod rounds;

use super::ep::{Comparison, Effort, Sites};
use super::kernel::Kernel;
use super::posterior::Posterior;
use outflank_runs::{RngExt, Rng};

const EXACT: Effort = Effort { tolerance: 1e-12, sweeps: 2000, seed: 3 };

fn learned(logs: &[f64], points: &[Vec<f64>], comparisons: &[Comparison]) -> Posterior {
    let mut sites = Sites::default();
    Posterior::infer(&Kernel::from_logs(logs), points, comparisons, &mut sites, &EXACT).unwrap()
}

fn random_points(count: usize, dimensions: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
    let mut point = || (0..dimensions).map(|_| 2.0 * rng.unit() - 1.0).collect();
    (0..count).map(|_| point()).collect()
}

/// Comparisons of random pairs by a strength that is linear in the weights, with some noise.
fn random_comparisons(points: &[Vec<f64>], count: usize, rng: &mut Rng) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    while comparisons.len() < count {
        let first = rng.below(points.len() as u32) as usize;
        let second = rng.below(points.len() as u32) as usize;
        if first != second {
            let strength = |at: usize| -> f64 { points[at].iter().sum() };
            let ahead = strength(first) - strength(second) + 0.3 * rng.normal();
            let (winner, loser) = if ahead > 0.0 { (first, second) } else { (second, first) };
            comparisons.push(Comparison { winner, loser });
        }
    }
    comparisons
}
