//! The covariance of strengths and the preference kernel (Yelluri 2015, sections 3.2 and 3.3).
//!
//! The strength f of a heuristic is a Gaussian process with the covariance of Eq. 4,
//!
//! `k(x, x') = σ² exp(-½ Σ ((x_d - x'_d) / l_d)²)`,
//!
//! with one length scale or one for each weight (automatic relevance determination). The covariance
//! of the strength differences g(i, j) = f(i) - f(j) is the preference kernel, Eq. 7:
//!
//! `k((i, j), (k, l)) = k(i, k) + k(j, l) - k(i, l) - k(j, k)`.
//!
//! Departures from the paper:
//! 1. A jitter of 1e-6 σ² on the diagonal makes the matrix numerically positive definite even when
//!    points nearly coincide. It belongs to the strength, not to the pair: the difference between a
//!    heuristic and itself is exactly zero, and swapping a pair changes only the sign.

use outflank_arena::linalg::Matrix;

/// Default jitter, relative to σ².
pub const JITTER: f64 = 1e-6;

/// The squared-exponential covariance of strengths.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// One length scale, or one for each dimension.
    lengths: Vec<f64>,
    /// σ².
    variance: f64,
    jitter: f64,
}

impl Kernel {
    /// Creates a kernel from the logarithms of its length scales and, last, of σ.
    ///
    /// With two parameters all dimensions share one length scale.
    pub fn from_logs(logs: &[f64]) -> Kernel {
        let (signal, lengths) = logs.split_last().unwrap_or((&0.0, &[]));
        let lengths = if lengths.is_empty() { &[0.0] } else { lengths };
        Kernel {
            lengths: lengths.iter().map(|&log| libm::exp(log)).collect(),
            variance: libm::exp(2.0 * signal),
            jitter: JITTER,
        }
    }

    /// Replaces the jitter.
    #[must_use]
    pub fn with_jitter(mut self, jitter: f64) -> Kernel {
        self.jitter = jitter;
        self
    }

    /// Returns the jitter, relative to σ².
    pub fn jitter(&self) -> f64 {
        self.jitter
    }

    /// Returns σ².
    #[cfg(test)]
    fn variance(&self) -> f64 {
        self.variance
    }

    /// Returns the length scale of a dimension.
    #[inline]
    pub fn length_scale(&self, dimension: usize) -> f64 {
        self.lengths[if self.lengths.len() == 1 { 0 } else { dimension }]
    }

    /// Returns the number of parameters.
    pub fn parameter_count(&self) -> usize {
        self.lengths.len() + 1
    }

    /// Computes the squared distance in units of the length scales.
    #[inline]
    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (dimension, (x, y)) in a.iter().zip(b).enumerate() {
            let gap = (x - y) / self.length_scale(dimension);
            sum += gap * gap;
        }
        sum
    }

    /// Computes the covariance of two strengths without jitter.
    pub fn without_jitter(&self, a: &[f64], b: &[f64]) -> f64 {
        self.variance * libm::exp(-0.5 * self.distance(a, b))
    }

    /// Computes the covariance of two strengths; points with equal coordinates are the same point.
    pub fn covariance(&self, a: &[f64], b: &[f64]) -> f64 {
        let own = if a == b { self.jitter * self.variance } else { 0.0 };
        self.without_jitter(a, b) + own
    }

    /// Computes the prior variance of a pair, accurately even if its points nearly coincide.
    pub fn pair_variance(&self, a: &[f64], b: &[f64]) -> f64 {
        if a == b {
            return 0.0;
        }
        let complement = -libm::expm1(-0.5 * self.distance(a, b));
        2.0 * self.variance * (complement + self.jitter)
    }

    /// Computes the preference kernel: the covariance of two strength differences.
    #[cfg(test)]
    fn preference(&self, (i, j): (&[f64], &[f64]), (k, l): (&[f64], &[f64])) -> f64 {
        // Grouped so that swapping a pair changes exactly the sign.
        (self.covariance(i, k) - self.covariance(j, k))
            + (self.covariance(j, l) - self.covariance(i, l))
    }

    /// Computes the covariance matrix of points, which are distinguished by their index.
    pub fn matrix(&self, points: &[Vec<f64>]) -> Matrix {
        let mut matrix = Matrix::zero(points.len());
        for (row, a) in points.iter().enumerate() {
            for (column, b) in points[..row].iter().enumerate() {
                let value = self.without_jitter(a, b);
                matrix.add(row, column, value);
                matrix.add(column, row, value);
            }
            matrix.add(row, row, self.variance * (1.0 + self.jitter));
        }
        matrix
    }

    /// Adds `weight` times the gradient of the covariance of two points with respect to the
    /// logarithms of the parameters; `covariance` is the element of [`Kernel::matrix`].
    pub fn add_gradient(
        &self,
        (a, b): (&[f64], &[f64]),
        covariance: f64,
        weight: f64,
        gradient: &mut [f64],
    ) {
        let Some((signal, lengths)) = gradient.split_last_mut() else { return };
        *signal += 2.0 * weight * covariance;
        if let [length] = lengths {
            // On the diagonal the distance is zero, so the jitter does not contribute.
            *length += weight * covariance * self.distance(a, b);
            return;
        }
        for (dimension, slope) in lengths.iter_mut().enumerate() {
            let gap = (a[dimension] - b[dimension]) / self.length_scale(dimension);
            *slope += weight * covariance * gap * gap;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTS: [[f64; 2]; 4] = [[0.3, -0.2], [0.9, 0.4], [-0.5, 0.8], [0.3, -0.2]];

    #[test]
    fn the_preference_kernel_agrees_with_the_covariance() {
        let kernel = Kernel::from_logs(&[-0.3, 0.4, 0.2]);
        let [a, b, c, same] = POINTS;
        let ab = kernel.preference((&a, &b), (&a, &b));
        assert!((ab - kernel.pair_variance(&a, &b)).abs() < 1e-12);
        assert_eq!(kernel.preference((&a, &b), (&c, &a)), -kernel.preference((&b, &a), (&c, &a)));
        assert_eq!(kernel.pair_variance(&a, &same), 0.0);
        assert_eq!(kernel.preference((&a, &same), (&b, &c)), 0.0);
        let close = [0.3 + 1e-9, -0.2];
        let least = 2.0 * kernel.variance() * JITTER;
        assert!((kernel.pair_variance(&a, &close) / least - 1.0).abs() < 1e-9);
    }

    #[test]
    fn gradients_agree_with_finite_differences() {
        let [a, b, ..] = POINTS;
        for logs in [vec![-0.3, 0.4], vec![-0.3, 0.1, 0.4]] {
            let kernel = Kernel::from_logs(&logs);
            let mut gradient = vec![0.0; logs.len()];
            kernel.add_gradient((&a, &b), kernel.without_jitter(&a, &b), 1.0, &mut gradient);
            for at in 0..logs.len() {
                let moved = |step: f64| {
                    let mut logs = logs.clone();
                    logs[at] += step;
                    Kernel::from_logs(&logs).without_jitter(&a, &b)
                };
                let quotient = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!((quotient - gradient[at]).abs() < 1e-8, "{at}: {quotient} {gradient:?}");
            }
        }
    }
}
