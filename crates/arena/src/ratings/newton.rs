//! Maximizes the likelihood by Newton's method.
//!
//! With strengths θ, advantage A and draw margin D in natural units, a pair in which i moves first
//! against j has u = θᵢ − θⱼ + A and the log-likelihood
//!
//! > w·ln σ(u − D) + l·ln σ(−u − D) + d·ln(e²ᴰ − 1),
//!
//! where a draw counts in w, l and d, since P(draw) = σ(u−D)·σ(−u−D)·(e²ᴰ − 1). Every term is
//! concave in (θ, A, D), and so is the sum. A fixed mean of θ makes it strictly concave in a
//! connected league. Newton iterations with backtracking (Armijo's rule) therefore converge to the
//! only maximum from any start. If there is no maximum, a difference between two players who met,
//! or A or D, grows without bound and exceeds [`MAX_DIFFERENCE`].

use crate::linalg::{Cholesky, Matrix};

/// A pivot below this share of its diagonal element has lost all its digits: the matrix is singular
/// to working precision.
const PIVOT_TOLERANCE: f64 = 1e-14;

fn factorize(size: usize, cells: Vec<f64>) -> Option<Cholesky<4>> {
    Matrix::from((size, cells)).cholesky(PIVOT_TOLERANCE)
}

/// Maximum difference between two players who met, in natural units: 4,000 rating points. The
/// weaker player then wins once in 10^10 games, which no league can measure.
pub(super) const MAX_DIFFERENCE: f64 = 4000.0 * std::f64::consts::LN_10 / 400.0;

const MAX_ITERATIONS: usize = 500;
const MAX_HALVINGS: usize = 60;
const TOLERANCE: f64 = 1e-10;

/// One ordered pair of players, with the weights of its two terms in the log-likelihood.
pub(super) struct Edge {
    pub(super) first: usize,
    pub(super) second: usize,
    pub(super) wins: f64,
    pub(super) losses: f64,
}

/// A parameter of the model that is fixed, or fitted from this starting value.
#[derive(Clone, Copy)]
pub(super) enum ModelParameter {
    Fixed(f64),
    Fitted(f64),
}

/// The log-likelihood to be maximized.
pub(super) struct LikelihoodProblem {
    pub(super) edges: Vec<Edge>,
    /// The weight of ln(e²ᴰ − 1).
    pub(super) draws: f64,
    /// A linear term in each strength, for leagues of which only totals are given.
    pub(super) linear: Vec<f64>,
    pub(super) advantage: ModelParameter,
    pub(super) margin: ModelParameter,
}

/// The maximum of the likelihood. The covariance is that of the free parameters: the strengths,
/// then the advantage and the margin if they were fitted.
pub(super) struct LikelihoodMaximum {
    pub(super) strengths: Vec<f64>,
    pub(super) advantage: f64,
    pub(super) margin: f64,
    pub(super) covariance: Vec<f64>,
    pub(super) free_parameters: usize,
    pub(super) log_likelihood: f64,
    pub(super) iterations: usize,
}

impl LikelihoodProblem {
    /// Finds the maximum, or returns `None` if it lies at infinity or beyond [`MAX_DIFFERENCE`].
    pub(super) fn maximize(&self) -> Option<LikelihoodMaximum> {
        let n = self.linear.len();
        let mut x = vec![0.0; n];
        for parameter in [self.advantage, self.margin] {
            if let ModelParameter::Fitted(start) = parameter {
                x.push(start);
            }
        }
        let mut value = self.value(&x);
        for iterations in 1..=MAX_ITERATIONS {
            let (gradient, hessian, _) = self.derivatives(&x);
            let step = factorize(x.len(), hessian)?.solve(&gradient);
            let gain: f64 = step.iter().zip(&gradient).map(|(s, g)| s * g).sum();
            let mut length = 1.0;
            let mut halvings = 0;
            let next = loop {
                let next: Vec<f64> = x.iter().zip(&step).map(|(x, s)| x + length * s).collect();
                let reached = self.value(&next);
                // The slack covers rounding errors, which exceed the gain near the maximum.
                let enough = value + 1e-4 * length * gain - 1e-13 * (1.0 + value.abs());
                if reached >= enough {
                    value = reached;
                    break next;
                }
                length *= 0.5;
                halvings += 1;
                if halvings > MAX_HALVINGS {
                    return None;
                }
            };
            x = next;
            if self.out_of_bounds(&x) {
                return None;
            }
            if step.iter().all(|s| s.abs() <= TOLERANCE) {
                return self.at_maximum(x, value, iterations);
            }
        }
        None
    }

    /// Splits the free parameters into strengths, advantage and margin.
    fn split<'a>(&self, x: &'a [f64]) -> (&'a [f64], f64, f64) {
        let (strengths, mut rest) = x.split_at(self.linear.len());
        let mut take = |parameter| match parameter {
            ModelParameter::Fixed(value) => value,
            ModelParameter::Fitted(start) => rest.split_off_first().copied().unwrap_or(start),
        };
        let advantage = take(self.advantage);
        let margin = take(self.margin);
        (strengths, advantage, margin)
    }

    /// Computes the log-likelihood.
    fn value(&self, x: &[f64]) -> f64 {
        let (strengths, advantage, margin) = self.split(x);
        if margin < 0.0 {
            return f64::NEG_INFINITY;
        }
        let mut sum = 0.0;
        for edge in &self.edges {
            let u = strengths[edge.first] - strengths[edge.second] + advantage;
            sum += edge.wins * ln_sigmoid(u - margin) + edge.losses * ln_sigmoid(-u - margin);
        }
        if self.draws > 0.0 {
            sum += self.draws * libm::log(libm::expm1(2.0 * margin));
        }
        let linear: f64 = self.linear.iter().zip(strengths).map(|(t, s)| t * s).sum();
        sum + linear
    }

    /// Computes the gradient, the negative Hessian with a ridge that makes it regular, and the
    /// ridge. The ridge acts on the mean of the strengths only, so a step from zero mean keeps it
    /// zero.
    fn derivatives(&self, x: &[f64]) -> (Vec<f64>, Vec<f64>, f64) {
        let (strengths, advantage, margin) = self.split(x);
        let (n, m) = (strengths.len(), x.len());
        let a = matches!(self.advantage, ModelParameter::Fitted(_)).then_some(n);
        let d = matches!(self.margin, ModelParameter::Fitted(_)).then_some(m - 1);
        let mut gradient = vec![0.0; m];
        gradient[..n].copy_from_slice(&self.linear);
        let mut hessian = vec![0.0; m * m];
        for edge in &self.edges {
            let (i, j) = (edge.first, edge.second);
            let u = strengths[i] - strengths[j] + advantage;
            let (p, not_p) = sigmoids(u - margin);
            let (q, not_q) = sigmoids(-u - margin);
            let (won, lost) = (edge.wins * not_p, edge.losses * not_q);
            let (curvature_won, curvature_lost) = (won * p, lost * q);
            let (slope, curvature) = (won - lost, curvature_won + curvature_lost);
            gradient[i] += slope;
            gradient[j] -= slope;
            hessian[i * m + i] += curvature;
            hessian[j * m + j] += curvature;
            hessian[i * m + j] -= curvature;
            hessian[j * m + i] -= curvature;
            if let Some(a) = a {
                gradient[a] += slope;
                hessian[a * m + a] += curvature;
                add_both(&mut hessian, m, a, i, curvature);
                add_both(&mut hessian, m, a, j, -curvature);
            }
            if let Some(d) = d {
                let skew = curvature_lost - curvature_won;
                gradient[d] -= won + lost;
                hessian[d * m + d] += curvature;
                add_both(&mut hessian, m, d, i, skew);
                add_both(&mut hessian, m, d, j, -skew);
                if let Some(a) = a {
                    add_both(&mut hessian, m, d, a, skew);
                }
            }
        }
        if let Some(d) = d {
            let gap = -libm::expm1(-2.0 * margin);
            gradient[d] += self.draws * 2.0 / gap;
            hessian[d * m + d] += self.draws * 4.0 * (1.0 - gap) / (gap * gap);
        }
        // Rounded totals need not add up; the excess is distributed evenly, so that the mean does
        // not change.
        let excess = gradient[..n].iter().sum::<f64>() / n as f64;
        gradient[..n].iter_mut().for_each(|g| *g -= excess);
        let ridge = (0..n).map(|i| hessian[i * m + i]).sum::<f64>() / (n * n) as f64;
        for row in hessian.chunks_mut(m).take(n) {
            row[..n].iter_mut().for_each(|c| *c += ridge);
        }
        (gradient, hessian, ridge)
    }

    fn out_of_bounds(&self, x: &[f64]) -> bool {
        let (strengths, advantage, margin) = self.split(x);
        advantage.abs() > MAX_DIFFERENCE
            || margin > MAX_DIFFERENCE
            || (self.edges.iter())
                .any(|edge| (strengths[edge.first] - strengths[edge.second]).abs() > MAX_DIFFERENCE)
    }

    /// Builds the result at the maximum, with the covariance from the inverse Hessian.
    fn at_maximum(&self, x: Vec<f64>, value: f64, iterations: usize) -> Option<LikelihoodMaximum> {
        let (_, hessian, ridge) = self.derivatives(&x);
        let (n, m) = (self.linear.len(), x.len());
        let mut covariance = factorize(m, hessian)?.inverse();
        // The mean is fixed: its variance, which the ridge introduced, is subtracted.
        let mean_variance = 1.0 / (ridge * (n * n) as f64);
        for row in covariance.chunks_mut(m).take(n) {
            row[..n].iter_mut().for_each(|c| *c -= mean_variance);
        }
        let (strengths, advantage, margin) = self.split(&x);
        let mean = strengths.iter().sum::<f64>() / n as f64;
        Some(LikelihoodMaximum {
            strengths: strengths.iter().map(|s| s - mean).collect(),
            advantage,
            margin,
            covariance,
            free_parameters: m,
            log_likelihood: value,
            iterations,
        })
    }
}

fn add_both(matrix: &mut [f64], m: usize, i: usize, j: usize, value: f64) {
    matrix[i * m + j] += value;
    matrix[j * m + i] += value;
}

/// Computes 1/(1 + e⁻ˣ) and its complement, both to full relative precision.
fn sigmoids(x: f64) -> (f64, f64) {
    let small = libm::exp(-x.abs());
    let (large, small) = (1.0 / (1.0 + small), small / (1.0 + small));
    if x >= 0.0 { (large, small) } else { (small, large) }
}

fn ln_sigmoid(x: f64) -> f64 {
    x.min(0.0) - libm::log1p(libm::exp(-x.abs()))
}
