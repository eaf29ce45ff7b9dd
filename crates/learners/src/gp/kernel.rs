//! How alike two heuristics are believed to be, and what that says of pairs (paper 2, sections 3.2
//! and 3.3).
//!
//! The strength f of a heuristic is a Gaussian process with the covariance of Eq. 4,
//! `k(x, x') = σ² exp(-½ Σ ((x_d - x'_d) / l_d)²)`, with one length scale or one for each weight
//! (automatic relevance determination). A pair is worth g(i, j) = f(i) - f(j), whose covariance is
//! the preference kernel, Eq. 7:
//!
//! `k((i, j), (k, l)) = k(i, k) + k(j, l) - k(i, l) - k(j, k)`.
//!
//! Each point has a jitter of its own, a millionth of σ², so that its matrix can be factored even
//! when points nearly coincide. It belongs to the strength, not to the pair: a heuristic against
//! itself is worth exactly nothing, and swapping a pair changes the sign and nothing else.

use super::dense::Matrix;

/// The share of the variance that belongs to each point alone.
pub const JITTER: f64 = 1e-6;

/// The covariance of strengths.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// One length scale, or one for each dimension.
    lengths: Vec<f64>,
    /// σ².
    variance: f64,
    jitter: f64,
}

impl Kernel {
    /// The kernel with the logarithms of its length scales and, last, of σ.
    ///
    /// There must be two parameters at least; with two all dimensions share a length.
    pub fn from_logs(logs: &[f64]) -> Kernel {
        let (signal, lengths) = logs.split_last().unwrap_or((&0.0, &[]));
        let lengths = if lengths.is_empty() { &[0.0] } else { lengths };
        Kernel {
            lengths: lengths.iter().map(|&log| libm::exp(log)).collect(),
            variance: libm::exp(2.0 * signal),
            jitter: JITTER,
        }
    }

    /// The same kernel with another share of variance for each point alone.
    #[must_use]
    pub fn with_jitter(mut self, jitter: f64) -> Kernel {
        self.jitter = jitter;
        self
    }

    /// The share of variance that belongs to each point alone.
    pub fn jitter(&self) -> f64 {
        self.jitter
    }

    /// σ².
    pub fn variance(&self) -> f64 {
        self.variance
    }

    /// The length scale of a dimension.
    #[inline]
    pub fn length(&self, dimension: usize) -> f64 {
        self.lengths[if self.lengths.len() == 1 { 0 } else { dimension }]
    }

    /// How many parameters it has.
    pub fn parameters(&self) -> usize {
        self.lengths.len() + 1
    }

    /// The squared distance in length scales.
    #[inline]
    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (dimension, (x, y)) in a.iter().zip(b).enumerate() {
            let gap = (x - y) / self.length(dimension);
            sum += gap * gap;
        }
        sum
    }

    /// The covariance of the strengths of two points, without what belongs to each alone.
    pub fn smooth(&self, a: &[f64], b: &[f64]) -> f64 {
        self.variance * libm::exp(-0.5 * self.distance(a, b))
    }

    /// The covariance of the strengths of two points; equal points are the same point.
    pub fn covariance(&self, a: &[f64], b: &[f64]) -> f64 {
        let own = if a == b { self.jitter * self.variance } else { 0.0 };
        self.smooth(a, b) + own
    }

    /// The prior variance of a pair, exact also where its points nearly coincide.
    pub fn pair_variance(&self, a: &[f64], b: &[f64]) -> f64 {
        if a == b {
            return 0.0;
        }
        let apart = -libm::expm1(-0.5 * self.distance(a, b));
        2.0 * self.variance * (apart + self.jitter)
    }

    /// The preference kernel: the covariance of the worths of two pairs.
    pub fn pairs(&self, (i, j): (&[f64], &[f64]), (k, l): (&[f64], &[f64])) -> f64 {
        // Grouped so that swapping a pair changes the sign and not a bit more.
        (self.covariance(i, k) - self.covariance(j, k))
            + (self.covariance(j, l) - self.covariance(i, l))
    }

    /// The covariances of all points; points are told apart by their place.
    pub fn matrix(&self, points: &[Vec<f64>]) -> Matrix {
        let mut matrix = Matrix::zero(points.len());
        for (row, a) in points.iter().enumerate() {
            for (column, b) in points[..row].iter().enumerate() {
                let value = self.smooth(a, b);
                matrix.add(row, column, value);
                matrix.add(column, row, value);
            }
            matrix.add(row, row, self.variance * (1.0 + self.jitter));
        }
        matrix
    }

    /// Adds `weight` times the derivative of the covariance of two points by each logarithm of a
    /// parameter; `covariance` is what [`Kernel::matrix`] has for them.
    pub fn add_slopes(
        &self,
        (a, b): (&[f64], &[f64]),
        covariance: f64,
        weight: f64,
        slopes: &mut [f64],
    ) {
        let Some((signal, lengths)) = slopes.split_last_mut() else { return };
        *signal += 2.0 * weight * covariance;
        if let [length] = lengths {
            // Where two points coincide the distance is zero, and the jitter with it.
            *length += weight * covariance * self.distance(a, b);
            return;
        }
        for (dimension, slope) in lengths.iter_mut().enumerate() {
            let gap = (a[dimension] - b[dimension]) / self.length(dimension);
            *slope += weight * covariance * gap * gap;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTS: [[f64; 2]; 4] = [[0.3, -0.2], [0.9, 0.4], [-0.5, 0.8], [0.3, -0.2]];

    #[test]
    fn the_preference_kernel_follows_from_the_covariance() {
        let kernel = Kernel::from_logs(&[-0.3, 0.4, 0.2]);
        let [a, b, c, same] = POINTS;
        let ab = kernel.pairs((&a, &b), (&a, &b));
        assert!((ab - kernel.pair_variance(&a, &b)).abs() < 1e-12);
        assert_eq!(kernel.pairs((&a, &b), (&c, &a)), -kernel.pairs((&b, &a), (&c, &a)));
        assert_eq!(kernel.pair_variance(&a, &same), 0.0);
        assert_eq!(kernel.pairs((&a, &same), (&b, &c)), 0.0);
        let close = [0.3 + 1e-9, -0.2];
        let least = 2.0 * kernel.variance() * JITTER;
        assert!((kernel.pair_variance(&a, &close) / least - 1.0).abs() < 1e-9);
    }

    #[test]
    fn slopes_are_difference_quotients() {
        let [a, b, ..] = POINTS;
        for logs in [vec![-0.3, 0.4], vec![-0.3, 0.1, 0.4]] {
            let kernel = Kernel::from_logs(&logs);
            let mut slopes = vec![0.0; logs.len()];
            kernel.add_slopes((&a, &b), kernel.smooth(&a, &b), 1.0, &mut slopes);
            for at in 0..logs.len() {
                let moved = |step: f64| {
                    let mut logs = logs.clone();
                    logs[at] += step;
                    Kernel::from_logs(&logs).smooth(&a, &b)
                };
                let quotient = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!((quotient - slopes[at]).abs() < 1e-8, "{at}: {quotient} {slopes:?}");
            }
        }
    }
}
