//! Which pair to compare next (paper 2, section 3.5).
//!
//! Bayesian active learning by disagreement, Eq. 14: with the worth of a pair believed to be
//! N(μ, s), what a comparison is expected to tell is
//!
//! `h[Φ(μ / √(s + 1))] - C / √(s + C²) · exp(-μ² / (2 (s + C²)))`, `C = √(π ln 2 / 2)`,
//!
//! where h is the entropy in bits (with C the text's natural logarithm would not do). The second
//! term is the expected entropy once the worth is known, h[Φ(x)] being close to exp(-x² / (2 C²)).
//! Plain uncertainty is the first term alone: it also likes pairs that are known to be equal.

use super::ascent::{Limits, climb};
use super::posterior::{Posterior, Prediction};
use super::probit::entropy;
use outflank_runs::{RngExt, Rng};
use rayon::prelude::*;
use std::f64::consts::{LN_2, PI};

/// How the next pair is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// The pair whose comparison tells the most.
    Bald,
    /// Any pair.
    Random,
    /// The pair whose winner is the least certain.
    Uncertainty,
}

/// What a comparison is worth, and its derivatives by the mean and by the variance.
#[must_use]
pub fn interest(of: Prediction, sampling: Sampling) -> (f64, f64, f64) {
    let Prediction { mean, variance } = of;
    let wide = 1.0 + variance;
    let root = libm::sqrt(wide);
    let z = mean / root;
    let (bits, slope) = entropy(z);
    let (by_mean, by_variance) = (slope / root, -slope * z / (2.0 * wide));
    if sampling != Sampling::Bald {
        return (bits, by_mean, by_variance);
    }
    let square = PI * LN_2 / 2.0;
    let spread = variance + square;
    let known = libm::sqrt(square / spread) * libm::exp(-mean * mean / (2.0 * spread));
    let known_by_mean = -known * mean / spread;
    let known_by_variance = known * (mean * mean / spread - 1.0) / (2.0 * spread);
    (bits - known, by_mean - known_by_mean, by_variance - known_by_variance)
}

/// The pair of the greatest interest within the box from -1 to 1, or the opponent of `fixed`.
///
/// Climbs start from the most interesting of many random pairs. What is chosen is new: where every
/// climb ends at a heuristic that was compared before, the best start is taken. Random sampling
/// takes a random pair.
#[must_use]
pub fn choose(
    posterior: &Posterior,
    fixed: Option<&[f64]>,
    dimensions: usize,
    sampling: Sampling,
    restarts: usize,
    rng: &mut Rng,
) -> (Vec<f64>, Vec<f64>) {
    let free = if fixed.is_some() { dimensions } else { 2 * dimensions };
    let mut draw = || -> Vec<f64> { (0..free).map(|_| 2.0 * rng.unit() - 1.0).collect() };
    let split = |drawn: &[f64]| match fixed {
        Some(first) => (first.to_vec(), drawn.to_vec()),
        None => (drawn[..dimensions].to_vec(), drawn[dimensions..].to_vec()),
    };
    if sampling == Sampling::Random {
        return split(&draw());
    }
    let height = |drawn: &[f64]| {
        let (a, b) = split(drawn);
        let sensitive = posterior.sensitive(&a, &b);
        let (value, by_mean, by_variance) = interest(sensitive.prediction, sampling);
        let slope: Vec<f64> = sensitive.mean[2 * dimensions - free..]
            .iter()
            .zip(&sensitive.variance[2 * dimensions - free..])
            .map(|(mean, variance)| by_mean * mean + by_variance * variance)
            .collect();
        Some((value, slope))
    };
    let mut starts: Vec<(f64, Vec<f64>)> = (0..20 * restarts.max(1))
        .map(|_| {
            let drawn = draw();
            let (a, b) = split(&drawn);
            (interest(posterior.predict(&a, &b), sampling).0, drawn)
        })
        .collect();
    // Stable, so that of equals the first drawn comes first.
    starts.sort_by(|a, b| b.0.total_cmp(&a.0));
    starts.truncate(restarts.max(1));
    let likeliest = starts.first().cloned();
    let asks_again = |drawn: &[f64]| {
        let (a, b) = split(drawn);
        (fixed.is_none() && posterior.knows(&a)) || posterior.knows(&b)
    };
    let bounds = vec![(-1.0, 1.0); free];
    let limits = Limits { steps: 60, gain: 1e-7 };
    let tops: Vec<(f64, Vec<f64>)> = starts
        .into_par_iter()
        .map(|(value, drawn)| match climb(height, &drawn, &bounds, limits) {
            Some(top) => (top.value, top.point),
            None => (value, drawn),
        })
        .collect();
    // The top of the greatest interest, the first of equals; one that asks of what is known is
    // passed over, since climbs like to end in the corners of the box.
    let mut best: Option<&(f64, Vec<f64>)> = None;
    for top in tops.iter().filter(|(_, point)| !asks_again(point)) {
        if best.is_none_or(|best| top.0.total_cmp(&best.0).is_gt()) {
            best = Some(top);
        }
    }
    best.or(likeliest.as_ref()).map_or_else(|| split(&draw()), |(_, point)| split(point))
}
