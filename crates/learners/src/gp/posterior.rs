//! Predictions for any pair of heuristics (Yelluri 2015, Eq. 12 and 13).
//!
//! With `c = k(a, X) - k(b, X)` the strength difference of a pair has the mean `cᵀ α` and the
//! variance `k(pair, pair) - cᵀ R c`; see [`ep`](super::ep) for α and R.

use super::GpError;
use super::ep::{Comparison, EpConfig, LANES, LatentPosterior, Sites, infer, posterior_from_sites};
use super::kernel::Kernel;
use super::lbfgs::{self, StoppingCriteria};
use super::probit::cdf;
use super::space::HeuristicSpace;
use outflank_arena::linalg::dot;

/// The predicted strength difference of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Mean of the strength of the first minus that of the second.
    pub mean: f64,
    /// Variance of the difference.
    pub variance: f64,
}

impl Prediction {
    /// Returns the probability that the first wins.
    #[must_use]
    pub fn probability(&self) -> f64 {
        cdf(self.mean / libm::sqrt(1.0 + self.variance))
    }
}

/// The posterior over strengths, given the compared heuristics.
#[derive(Clone, Debug)]
pub struct Posterior {
    space: HeuristicSpace,
    points: Vec<Vec<f64>>,
    latent: LatentPosterior,
}

/// A prediction and its gradient with respect to the weights of both heuristics.
pub(super) struct PredictionGradient {
    pub prediction: Prediction,
    /// Gradient of the mean: weights of the first, then of the second.
    pub mean: Vec<f64>,
    /// Gradient of the variance, in the same order.
    pub variance: Vec<f64>,
}

impl Posterior {
    /// Runs expectation propagation under a kernel, from the given sites.
    pub fn infer(
        kernel: &Kernel,
        points: &[Vec<f64>],
        comparisons: &[Comparison],
        sites: &mut Sites,
        config: &EpConfig,
    ) -> Result<Posterior, GpError> {
        let latent = infer(kernel, points, comparisons, sites, config)?;
        Ok(Posterior { space: HeuristicSpace::Weights, points: points.to_vec(), latent })
    }

    /// Computes the posterior of converged sites.
    pub fn from_sites(
        kernel: &Kernel,
        points: &[Vec<f64>],
        comparisons: &[Comparison],
        sites: &Sites,
    ) -> Result<Posterior, GpError> {
        let latent = posterior_from_sites(kernel, points, comparisons, sites)?;
        Ok(Posterior { space: HeuristicSpace::Weights, points: points.to_vec(), latent })
    }

    /// Sets the space of the points.
    #[must_use]
    pub fn with_space(mut self, space: HeuristicSpace) -> Posterior {
        self.space = space;
        self
    }

    /// Returns the posterior of the strengths of the compared heuristics.
    #[must_use]
    pub fn latent(&self) -> &LatentPosterior {
        &self.latent
    }

    /// Returns the kernel.
    #[must_use]
    pub fn kernel(&self) -> &Kernel {
        &self.latent.kernel
    }

    /// Predicts the strength difference of a pair.
    #[must_use]
    pub fn predict(&self, a: &[f64], b: &[f64]) -> Prediction {
        let kernel = self.kernel();
        let (a, b) = (&self.space.coordinates(a)[..], &self.space.coordinates(b)[..]);
        let cross: Vec<f64> =
            self.points.iter().map(|x| kernel.covariance(a, x) - kernel.covariance(b, x)).collect();
        let reduced = dot::<LANES>(&cross, &self.latent.reduction.multiply_vector(&cross));
        Prediction {
            mean: dot::<LANES>(&cross, &self.latent.alpha),
            variance: (kernel.pair_variance(a, b) - reduced).max(0.0),
        }
    }

    /// Returns whether this heuristic was compared.
    #[must_use]
    pub fn contains(&self, a: &[f64]) -> bool {
        self.points.contains(&self.space.point(a))
    }

    /// Returns the mean strength of a heuristic, relative to the prior mean.
    #[must_use]
    pub fn strength(&self, a: &[f64]) -> f64 {
        let (kernel, a) = (self.kernel(), self.space.coordinates(a));
        let cross: Vec<f64> = self.points.iter().map(|x| kernel.covariance(&a, x)).collect();
        dot::<LANES>(&cross, &self.latent.alpha)
    }

    /// Predicts the strength difference of a pair, with its gradient.
    pub(super) fn predict_with_gradient(&self, a: &[f64], b: &[f64]) -> PredictionGradient {
        let (kernel, size) = (self.kernel(), a.len());
        let weights = [a, b];
        let (a, b) = (&self.space.coordinates(a)[..], &self.space.coordinates(b)[..]);
        let covariances = |h: &[f64]| -> Vec<f64> {
            self.points.iter().map(|x| kernel.without_jitter(h, x)).collect()
        };
        let (to_a, to_b) = (covariances(a), covariances(b));
        let cross: Vec<f64> = to_a.iter().zip(&to_b).map(|(x, y)| x - y).collect();
        let reduced = self.latent.reduction.multiply_vector(&cross);
        let prediction = Prediction {
            mean: dot::<LANES>(&cross, &self.latent.alpha),
            variance: (kernel.pair_variance(a, b) - dot::<LANES>(&cross, &reduced)).max(0.0),
        };
        let mut by_mean = vec![0.0; 2 * size];
        let mut by_variance = vec![0.0; 2 * size];
        let both = kernel.without_jitter(a, b);
        for (half, (h, covariances, sign)) in
            [(a, to_a, 1.0), (b, to_b, -1.0)].into_iter().enumerate()
        {
            for dimension in 0..size {
                let square = kernel.length_scale(dimension) * kernel.length_scale(dimension);
                let (mut mean, mut variance) = (0.0, 0.0);
                for (at, x) in self.points.iter().enumerate() {
                    let slope = covariances[at] * (x[dimension] - h[dimension]);
                    mean += self.latent.alpha[at] * slope;
                    variance += reduced[at] * slope;
                }
                let prior = both * sign * (a[dimension] - b[dimension]);
                by_mean[half * size + dimension] = sign * mean / square;
                by_variance[half * size + dimension] = 2.0 * (prior - sign * variance) / square;
            }
        }
        for (half, weights) in weights.into_iter().enumerate() {
            let range = half * size..(half + 1) * size;
            self.space.pull_back(weights, &mut by_mean[range.clone()]);
            self.space.pull_back(weights, &mut by_variance[range]);
        }
        PredictionGradient { prediction, mean: by_mean, variance: by_variance }
    }
}

/// Bounds of the logarithm of a length scale, for weights in [-1, 1].
pub const LENGTH_BOUNDS: (f64, f64) = (-2.5, 3.0);
/// Bounds of the logarithm of σ.
pub const SIGNAL_BOUNDS: (f64, f64) = (-2.5, 3.0);

/// Maximizes the log evidence over the kernel parameters, starting at `log_parameters`; the sites
/// follow.
///
/// Parameters whose covariance matrix cannot be factorized are never selected.
pub fn maximize_evidence(
    log_parameters: &[f64],
    points: &[Vec<f64>],
    comparisons: &[Comparison],
    sites: &mut Sites,
    config: &EpConfig,
    criteria: StoppingCriteria,
) -> Result<(Vec<f64>, Posterior), GpError> {
    let mut bounds = vec![LENGTH_BOUNDS; log_parameters.len().saturating_sub(1)];
    bounds.push(SIGNAL_BOUNDS);
    // Each evaluation starts from the sites of the last successful one, to converge quickly.
    let mut last = sites.clone();
    let mut failed = None;
    let maximum = lbfgs::maximize(
        |logs| {
            let mut trial = last.clone();
            match infer(&Kernel::from_logs(logs), points, comparisons, &mut trial, config) {
                Ok(latent) => {
                    last = trial;
                    Some((latent.log_evidence, latent.gradient(points)))
                }
                Err(error) => {
                    failed = Some(error);
                    None
                }
            }
        },
        log_parameters,
        &bounds,
        criteria,
    );
    let Some(maximum) = maximum else {
        return Err(failed.unwrap_or(GpError::Factor { points: points.len() }));
    };
    // Up to the tolerance the posterior depends only on the parameters and the comparisons, not on
    // the path of the search.
    *sites = last;
    let kernel = Kernel::from_logs(&maximum.point);
    let posterior = Posterior::infer(&kernel, points, comparisons, sites, config)?;
    Ok((maximum.point, posterior))
}
