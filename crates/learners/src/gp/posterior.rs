//! What has been learned, ready to be asked about any pair (paper 2, Eq. 12 and 13).
//!
//! With `c = k(a, X) - k(b, X)` the worth of a pair has the mean `cᵀ α` and the variance
//! `k(pair, pair) - cᵀ R c`; see [`ep`](super::ep) for α and R.

use super::GpError;
use super::ascent::{self, Limits};
use super::dense::dot;
use super::ep::{Comparison, Effort, Sites, Strengths, infer, recall};
use super::kernel::Kernel;
use super::probit::cdf;
use super::space::Space;

/// What is expected of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// By how much the first is believed stronger.
    pub mean: f64,
    /// How uncertain that is.
    pub variance: f64,
}

impl Prediction {
    /// The probability that the first wins.
    #[must_use]
    pub fn probability(&self) -> f64 {
        cdf(self.mean / libm::sqrt(1.0 + self.variance))
    }
}

/// Heuristics, what was found by comparing them, and the belief that follows.
#[derive(Clone, Debug)]
pub struct Posterior {
    space: Space,
    points: Vec<Vec<f64>>,
    strengths: Strengths,
}

/// A prediction and how it changes with each weight of both heuristics.
pub(super) struct Sensitive {
    pub prediction: Prediction,
    /// By the weights of the first, then of the second.
    pub mean: Vec<f64>,
    pub variance: Vec<f64>,
}

impl Posterior {
    /// Lets the sites settle under a kernel.
    pub fn infer(
        kernel: &Kernel,
        points: &[Vec<f64>],
        comparisons: &[Comparison],
        sites: &mut Sites,
        effort: &Effort,
    ) -> Result<Posterior, GpError> {
        let strengths = infer(kernel, points, comparisons, sites, effort)?;
        Ok(Posterior { space: Space::Weights, points: points.to_vec(), strengths })
    }

    /// The posterior of sites that have settled before.
    pub fn recall(
        kernel: &Kernel,
        points: &[Vec<f64>],
        comparisons: &[Comparison],
        sites: &Sites,
    ) -> Result<Posterior, GpError> {
        let strengths = recall(kernel, points, comparisons, sites)?;
        Ok(Posterior { space: Space::Weights, points: points.to_vec(), strengths })
    }

    /// The same belief about heuristics of this space, in which the points have their places.
    #[must_use]
    pub fn within(mut self, space: Space) -> Posterior {
        self.space = space;
        self
    }

    /// The posterior of the points themselves.
    #[must_use]
    pub fn strengths(&self) -> &Strengths {
        &self.strengths
    }

    /// The kernel.
    #[must_use]
    pub fn kernel(&self) -> &Kernel {
        &self.strengths.kernel
    }

    /// What is expected of a pair.
    #[must_use]
    pub fn predict(&self, a: &[f64], b: &[f64]) -> Prediction {
        let kernel = self.kernel();
        let (a, b) = (&self.space.place(a)[..], &self.space.place(b)[..]);
        let cross: Vec<f64> =
            self.points.iter().map(|x| kernel.covariance(a, x) - kernel.covariance(b, x)).collect();
        let reduced = dot(&cross, &self.strengths.reduction.times(&cross));
        Prediction {
            mean: dot(&cross, &self.strengths.alpha),
            variance: (kernel.pair_variance(a, b) - reduced).max(0.0),
        }
    }

    /// Whether this very heuristic was among those compared.
    #[must_use]
    pub fn knows(&self, a: &[f64]) -> bool {
        self.points.contains(&self.space.point(a))
    }

    /// How strong a heuristic is believed to be, against the average of all.
    #[must_use]
    pub fn strength(&self, a: &[f64]) -> f64 {
        let (kernel, a) = (self.kernel(), self.space.place(a));
        let cross: Vec<f64> = self.points.iter().map(|x| kernel.covariance(&a, x)).collect();
        dot(&cross, &self.strengths.alpha)
    }

    /// What is expected of a pair, with derivatives.
    pub(super) fn sensitive(&self, a: &[f64], b: &[f64]) -> Sensitive {
        let (kernel, size) = (self.kernel(), a.len());
        let weights = [a, b];
        let (a, b) = (&self.space.place(a)[..], &self.space.place(b)[..]);
        let alike =
            |h: &[f64]| -> Vec<f64> { self.points.iter().map(|x| kernel.smooth(h, x)).collect() };
        let (to_a, to_b) = (alike(a), alike(b));
        let cross: Vec<f64> = to_a.iter().zip(&to_b).map(|(x, y)| x - y).collect();
        let pulled = self.strengths.reduction.times(&cross);
        let prediction = Prediction {
            mean: dot(&cross, &self.strengths.alpha),
            variance: (kernel.pair_variance(a, b) - dot(&cross, &pulled)).max(0.0),
        };
        let mut by_mean = vec![0.0; 2 * size];
        let mut by_variance = vec![0.0; 2 * size];
        let both = kernel.smooth(a, b);
        for (half, (h, alike, sign)) in [(a, to_a, 1.0), (b, to_b, -1.0)].into_iter().enumerate() {
            for dimension in 0..size {
                let square = kernel.length(dimension) * kernel.length(dimension);
                let (mut mean, mut variance) = (0.0, 0.0);
                for (at, x) in self.points.iter().enumerate() {
                    let slope = alike[at] * (x[dimension] - h[dimension]);
                    mean += self.strengths.alpha[at] * slope;
                    variance += pulled[at] * slope;
                }
                let apart = both * sign * (a[dimension] - b[dimension]);
                by_mean[half * size + dimension] = sign * mean / square;
                by_variance[half * size + dimension] = 2.0 * (apart - sign * variance) / square;
            }
        }
        for (half, weights) in weights.into_iter().enumerate() {
            let part = half * size..(half + 1) * size;
            self.space.pull_back(weights, &mut by_mean[part.clone()]);
            self.space.pull_back(weights, &mut by_variance[part]);
        }
        Sensitive { prediction, mean: by_mean, variance: by_variance }
    }
}

/// The least and the greatest logarithm of a length scale, for weights from -1 to 1.
pub const LENGTH_BOUNDS: (f64, f64) = (-2.5, 3.0);
/// The least and the greatest logarithm of σ.
pub const SIGNAL_BOUNDS: (f64, f64) = (-2.5, 3.0);

/// Where the log evidence is greatest, from `logs` on; the sites follow.
///
/// Parameters at which the matrices cannot be factored are never chosen.
pub fn maximize_evidence(
    logs: &[f64],
    points: &[Vec<f64>],
    comparisons: &[Comparison],
    sites: &mut Sites,
    effort: &Effort,
    limits: Limits,
) -> Result<(Vec<f64>, Posterior), GpError> {
    let mut bounds = vec![LENGTH_BOUNDS; logs.len().saturating_sub(1)];
    bounds.push(SIGNAL_BOUNDS);
    // Each trial starts from the sites of the last one that succeeded, so that it settles quickly.
    let mut known = sites.clone();
    let mut failed = None;
    let top = ascent::climb(
        |logs| {
            let mut trial = known.clone();
            match infer(&Kernel::from_logs(logs), points, comparisons, &mut trial, effort) {
                Ok(strengths) => {
                    known = trial;
                    Some((strengths.evidence, strengths.gradient(points)))
                }
                Err(error) => {
                    failed = Some(error);
                    None
                }
            }
        },
        logs,
        &bounds,
        limits,
    );
    let Some(top) = top else {
        return Err(failed.unwrap_or(GpError::Factor { points: points.len() }));
    };
    // The belief is a function of the parameters and the comparisons alone: the trials on the way
    // there leave no trace beyond the tolerance.
    *sites = known;
    let kernel = Kernel::from_logs(&top.point);
    let posterior = Posterior::infer(&kernel, points, comparisons, sites, effort)?;
    Ok((top.point, posterior))
}
