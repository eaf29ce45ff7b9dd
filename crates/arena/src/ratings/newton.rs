//! Maximizes the likelihood by Newton's method.
//!
//! The parameters are the strengths θ, the advantage A of moving first and the draw margin D:
//! ratings, `advantage` and `draw_elo` divided by 400 / ln 10. Let i move first against j, win w
//! games, lose l and draw d. With u = θᵢ − θⱼ + A and the logistic function σ, the log-likelihood of
//! these games is
//!
//! > (w + d)·ln σ(u − D) + (l + d)·ln σ(−u − D) + d·ln(e²ᴰ − 1),
//!
//! since P(draw) = σ(u−D)·σ(−u−D)·(e²ᴰ − 1). Every term is concave in (θ, A, D), and so is the sum.
//! A fixed mean of θ makes it strictly concave in a connected league. Newton iterations with
//! backtracking (Armijo's rule) therefore converge to the unique maximum from any starting point.
//! If there is no maximum, a difference between two players who met, or A or D, grows without bound
//! and exceeds [`MAX_DIFFERENCE`].

use crate::linalg::{Cholesky, Matrix};

/// Minimum pivot relative to its diagonal element. A smaller pivot may consist of rounding errors
/// only: the matrix is singular to working precision.
const PIVOT_TOLERANCE: f64 = 1e-14;

/// Computes the Cholesky factor of a matrix; `None` if the matrix is singular.
fn factorize(size: usize, cells: Vec<f64>) -> Option<Cholesky<4>> {
    Matrix::from((size, cells)).cholesky(PIVOT_TOLERANCE)
}

/// Maximum difference between two players who met, in natural units: 4,000 rating points. The
/// weaker player then wins once in 10^10 games, which no league can measure.
pub(super) const MAX_DIFFERENCE: f64 = 4000.0 * std::f64::consts::LN_10 / 400.0;

/// Maximum number of Newton iterations.
const MAX_ITERATIONS: usize = 500;
/// Maximum number of times that a step is halved.
const MAX_HALVINGS: usize = 60;
/// The iteration has converged when no component of a step exceeds this.
const TOLERANCE: f64 = 1e-10;

/// The terms of the log-likelihood with ln σ(u − D) and ln σ(−u − D) for one ordered pair of
/// players.
pub(super) struct PairTerms {
    pub(super) first: usize,
    pub(super) second: usize,
    /// The weight of ln σ(u − D): wins plus draws, or plus half the draws if D is fixed at 0.
    pub(super) win_weight: f64,
    /// The weight of ln σ(−u − D).
    pub(super) loss_weight: f64,
}

/// A parameter in natural units (logits): fixed, or fitted from this starting value.
#[derive(Clone, Copy)]
pub(super) enum NaturalParameter {
    Fixed(f64),
    Fitted(f64),
}

/// The log-likelihood to be maximized.
pub(super) struct LikelihoodProblem {
    pub(super) pairs: Vec<PairTerms>,
    /// The weight of ln(e²ᴰ − 1): the number of draws, or 0 if D is fixed at 0.
    pub(super) draws: f64,
    /// Coefficients of a linear term in the strengths; used if only total points are known.
    pub(super) linear: Vec<f64>,
    pub(super) advantage: NaturalParameter,
    pub(super) draw_margin: NaturalParameter,
}

/// The maximum of the likelihood. The covariance matrix is that of the free parameters: the
/// strengths, then the advantage and the draw margin if they were fitted.
pub(super) struct LikelihoodMaximum {
    pub(super) strengths: Vec<f64>,
    pub(super) advantage: f64,
    pub(super) draw_margin: f64,
    pub(super) covariance: Vec<f64>,
    /// The number of free parameters.
    pub(super) free_parameters: usize,
    pub(super) log_likelihood: f64,
    pub(super) iterations: usize,
}

impl LikelihoodProblem {
    /// Finds the maximum. Returns `None` if there is none within [`MAX_DIFFERENCE`], or if the
    /// iteration does not converge.
    pub(super) fn maximize(&self) -> Option<LikelihoodMaximum> {
        let n = self.linear.len();
        let mut x = vec![0.0; n];
        for parameter in [self.advantage, self.draw_margin] {
            if let NaturalParameter::Fitted(start) = parameter {
                x.push(start);
            }
        }
        let mut value = self.value(&x);
        for iterations in 1..=MAX_ITERATIONS {
            let (gradient, information, _) = self.derivatives(&x);
            let step = factorize(x.len(), information)?.solve(&gradient);
            let gain: f64 = step.iter().zip(&gradient).map(|(s, g)| s * g).sum();
            let mut step_length = 1.0;
            let mut halvings = 0;
            let next = loop {
                let next: Vec<f64> =
                    x.iter().zip(&step).map(|(x, s)| x + step_length * s).collect();
                let next_value = self.value(&next);
                // The last term allows for rounding errors, which exceed the gain near the maximum.
                let required = value + 1e-4 * step_length * gain - 1e-13 * (1.0 + value.abs());
                if next_value >= required {
                    value = next_value;
                    break next;
                }
                step_length *= 0.5;
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

    /// Splits the free parameters into strengths, advantage and draw margin.
    fn split<'a>(&self, x: &'a [f64]) -> (&'a [f64], f64, f64) {
        let (strengths, mut rest) = x.split_at(self.linear.len());
        let mut take = |parameter| match parameter {
            NaturalParameter::Fixed(value) => value,
            NaturalParameter::Fitted(start) => rest.split_off_first().copied().unwrap_or(start),
        };
        let advantage = take(self.advantage);
        let margin = take(self.draw_margin);
        (strengths, advantage, margin)
    }

    /// Computes the log-likelihood.
    fn value(&self, x: &[f64]) -> f64 {
        let (strengths, advantage, margin) = self.split(x);
        if margin < 0.0 {
            return f64::NEG_INFINITY;
        }
        let mut sum = 0.0;
        for pair in &self.pairs {
            let u = strengths[pair.first] - strengths[pair.second] + advantage;
            sum += pair.win_weight * ln_sigmoid(u - margin)
                + pair.loss_weight * ln_sigmoid(-u - margin);
        }
        if self.draws > 0.0 {
            sum += self.draws * libm::log(libm::expm1(2.0 * margin));
        }
        let linear: f64 = self.linear.iter().zip(strengths).map(|(t, s)| t * s).sum();
        sum + linear
    }

    /// Computes the gradient, the information matrix (negative Hessian) plus a ridge term that makes
    /// it nonsingular, and the ridge term. The ridge term acts only on the mean of the strengths, so
    /// that the mean stays zero.
    fn derivatives(&self, x: &[f64]) -> (Vec<f64>, Vec<f64>, f64) {
        let (strengths, advantage, margin) = self.split(x);
        let (n, m) = (strengths.len(), x.len());
        let a = matches!(self.advantage, NaturalParameter::Fitted(_)).then_some(n);
        let d = matches!(self.draw_margin, NaturalParameter::Fitted(_)).then_some(m - 1);
        let mut gradient = vec![0.0; m];
        gradient[..n].copy_from_slice(&self.linear);
        let mut information = vec![0.0; m * m];
        for pair in &self.pairs {
            let (i, j) = (pair.first, pair.second);
            let u = strengths[i] - strengths[j] + advantage;
            let (p, not_p) = sigmoids(u - margin);
            let (q, not_q) = sigmoids(-u - margin);
            let (won, lost) = (pair.win_weight * not_p, pair.loss_weight * not_q);
            let (curvature_won, curvature_lost) = (won * p, lost * q);
            let (slope, curvature) = (won - lost, curvature_won + curvature_lost);
            gradient[i] += slope;
            gradient[j] -= slope;
            information[i * m + i] += curvature;
            information[j * m + j] += curvature;
            information[i * m + j] -= curvature;
            information[j * m + i] -= curvature;
            if let Some(a) = a {
                gradient[a] += slope;
                information[a * m + a] += curvature;
                add_symmetric(&mut information, m, a, i, curvature);
                add_symmetric(&mut information, m, a, j, -curvature);
            }
            if let Some(d) = d {
                let skew = curvature_lost - curvature_won;
                gradient[d] -= won + lost;
                information[d * m + d] += curvature;
                add_symmetric(&mut information, m, d, i, skew);
                add_symmetric(&mut information, m, d, j, -skew);
                if let Some(a) = a {
                    add_symmetric(&mut information, m, d, a, skew);
                }
            }
        }
        if let Some(d) = d {
            let gap = -libm::expm1(-2.0 * margin);
            gradient[d] += self.draws * 2.0 / gap;
            information[d * m + d] += self.draws * 4.0 * (1.0 - gap) / (gap * gap);
        }
        // Rounded totals may not sum to the number of games. The difference is distributed evenly,
        // so that the mean does not change.
        let excess = gradient[..n].iter().sum::<f64>() / n as f64;
        gradient[..n].iter_mut().for_each(|g| *g -= excess);
        let ridge = (0..n).map(|i| information[i * m + i]).sum::<f64>() / (n * n) as f64;
        for row in information.chunks_mut(m).take(n) {
            row[..n].iter_mut().for_each(|c| *c += ridge);
        }
        (gradient, information, ridge)
    }

    /// Returns whether a parameter or a difference exceeds [`MAX_DIFFERENCE`].
    fn out_of_bounds(&self, x: &[f64]) -> bool {
        let (strengths, advantage, margin) = self.split(x);
        advantage.abs() > MAX_DIFFERENCE
            || margin > MAX_DIFFERENCE
            || (self.pairs.iter())
                .any(|pair| (strengths[pair.first] - strengths[pair.second]).abs() > MAX_DIFFERENCE)
    }

    /// Builds the result at the maximum, with the inverse of the information matrix as
    /// the covariance.
    fn at_maximum(&self, x: Vec<f64>, value: f64, iterations: usize) -> Option<LikelihoodMaximum> {
        let (_, information, ridge) = self.derivatives(&x);
        let (n, m) = (self.linear.len(), x.len());
        let mut covariance = factorize(m, information)?.inverse();
        // The mean is fixed, so the variance that the ridge term gives it is subtracted.
        let mean_variance = 1.0 / (ridge * (n * n) as f64);
        for row in covariance.chunks_mut(m).take(n) {
            row[..n].iter_mut().for_each(|c| *c -= mean_variance);
        }
        let (strengths, advantage, margin) = self.split(&x);
        let mean = strengths.iter().sum::<f64>() / n as f64;
        Some(LikelihoodMaximum {
            strengths: strengths.iter().map(|s| s - mean).collect(),
            advantage,
            draw_margin: margin,
            covariance,
            free_parameters: m,
            log_likelihood: value,
            iterations,
        })
    }
}

/// Adds a value to the cells (i, j) and (j, i) of a matrix of `m` columns.
fn add_symmetric(matrix: &mut [f64], m: usize, i: usize, j: usize, value: f64) {
    matrix[i * m + j] += value;
    matrix[j * m + i] += value;
}

/// Computes the logistic function σ(x) = 1/(1 + e⁻ˣ) and 1 − σ(x), both to full relative precision.
fn sigmoids(x: f64) -> (f64, f64) {
    let small = libm::exp(-x.abs());
    let (large, small) = (1.0 / (1.0 + small), small / (1.0 + small));
    if x >= 0.0 { (large, small) } else { (small, large) }
}

/// Computes ln σ(x).
fn ln_sigmoid(x: f64) -> f64 {
    x.min(0.0) - libm::log1p(libm::exp(-x.abs()))
}
