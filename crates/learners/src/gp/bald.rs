//! Selection of the next pair to compare (Yelluri 2015, section 3.5).
//!
//! Bayesian active learning by disagreement (BALD), Eq. 14: if the strength difference of a pair is
//! N(μ, s), the expected information gain of a comparison is
//!
//! `h[Φ(μ / √(s + 1))] - C / √(s + C²) · exp(-μ² / (2 (s + C²)))`, `C = √(π ln 2 / 2)`,
//!
//! where h is the entropy in bits. The second term is the expected entropy given the difference,
//! with the approximation h[Φ(x)] ≈ exp(-x² / (2 C²)). Uncertainty sampling uses the first term
//! alone, which also favors pairs that are certain to be equally strong.
//!
//! Departures from the paper:
//! 1. The entropy is in bits. The paper states natural logarithms, but its constant C is for bits.

use super::lbfgs::{StoppingCriteria, maximize};
use super::posterior::{Posterior, Prediction};
use super::probit::entropy;
use outflank_runs::{Rng, RngExt};
use rayon::prelude::*;
use std::f64::consts::{LN_2, PI};

/// The acquisition function, which selects the next pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acquisition {
    /// The pair with the largest expected information gain.
    Bald,
    /// A random pair.
    Random,
    /// The pair whose outcome has the largest entropy.
    Uncertainty,
}

/// Random pairs evaluated per restart; the best ones are the starting points.
const CANDIDATES_PER_RESTART: usize = 20;

/// Stopping criteria of the search for a pair.
const CRITERIA: StoppingCriteria = StoppingCriteria { max_iterations: 60, relative_gain: 1e-7 };

/// Computes the acquisition function of a pair and its derivatives by the mean and the variance.
#[must_use]
pub fn acquisition_value(prediction: Prediction, acquisition: Acquisition) -> (f64, f64, f64) {
    let Prediction { mean, variance } = prediction;
    let total = 1.0 + variance;
    let root = libm::sqrt(total);
    let z = mean / root;
    let (bits, slope) = entropy(z);
    let (by_mean, by_variance) = (slope / root, -slope * z / (2.0 * total));
    if acquisition != Acquisition::Bald {
        return (bits, by_mean, by_variance);
    }
    let c_squared = PI * LN_2 / 2.0;
    let sum = variance + c_squared;
    let expected = libm::sqrt(c_squared / sum) * libm::exp(-mean * mean / (2.0 * sum));
    let expected_by_mean = -expected * mean / sum;
    let expected_by_variance = expected * (mean * mean / sum - 1.0) / (2.0 * sum);
    (bits - expected, by_mean - expected_by_mean, by_variance - expected_by_variance)
}

/// Selects the pair in the box [-1, 1] that maximizes the acquisition function, or the opponent of
/// `fixed`. [`Acquisition::Random`] returns a random pair.
///
/// The search starts from the best of many random pairs. The result is new: if every search ends at
/// a heuristic that was compared before, the best starting point is returned.
#[must_use]
pub fn select_pair(
    posterior: &Posterior,
    fixed: Option<&[f64]>,
    dimensions: usize,
    acquisition: Acquisition,
    restarts: usize,
    rng: &mut Rng,
) -> (Vec<f64>, Vec<f64>) {
    let free = if fixed.is_some() { dimensions } else { 2 * dimensions };
    let mut draw = || -> Vec<f64> { (0..free).map(|_| 2.0 * rng.unit() - 1.0).collect() };
    let split = |variables: &[f64]| match fixed {
        Some(first) => (first.to_vec(), variables.to_vec()),
        None => (variables[..dimensions].to_vec(), variables[dimensions..].to_vec()),
    };
    if acquisition == Acquisition::Random {
        return split(&draw());
    }
    let function = |variables: &[f64]| {
        let (a, b) = split(variables);
        let differentiated = posterior.predict_with_gradient(&a, &b);
        let (value, by_mean, by_variance) =
            acquisition_value(differentiated.prediction, acquisition);
        let gradient: Vec<f64> = differentiated.mean[2 * dimensions - free..]
            .iter()
            .zip(&differentiated.variance[2 * dimensions - free..])
            .map(|(mean, variance)| by_mean * mean + by_variance * variance)
            .collect();
        Some((value, gradient))
    };
    let mut starts: Vec<(f64, Vec<f64>)> = (0..CANDIDATES_PER_RESTART * restarts.max(1))
        .map(|_| {
            let drawn = draw();
            let (a, b) = split(&drawn);
            (acquisition_value(posterior.predict(&a, &b), acquisition).0, drawn)
        })
        .collect();
    // Stable, so that ties are resolved by the order of drawing.
    starts.sort_by(|a, b| b.0.total_cmp(&a.0));
    starts.truncate(restarts.max(1));
    let best_start = starts.first().cloned();
    let is_repeated = |variables: &[f64]| {
        let (a, b) = split(variables);
        (fixed.is_none() && posterior.contains(&a)) || posterior.contains(&b)
    };
    let bounds = vec![(-1.0, 1.0); free];
    let maxima: Vec<(f64, Vec<f64>)> = starts
        .into_par_iter()
        .map(|(value, start)| match maximize(function, &start, &bounds, CRITERIA) {
            Some(maximum) => (maximum.value, maximum.point),
            None => (value, start),
        })
        .collect();
    // The largest new maximum, the first of equals. Searches often end in a corner of the box,
    // which may have been compared before.
    let mut best: Option<&(f64, Vec<f64>)> = None;
    for maximum in maxima.iter().filter(|(_, point)| !is_repeated(point)) {
        if best.is_none_or(|best| maximum.0.total_cmp(&best.0).is_gt()) {
            best = Some(maximum);
        }
    }
    best.or(best_start.as_ref()).map_or_else(|| split(&draw()), |(_, point)| split(point))
}
