//! The maximum of the likelihood, by Newton's method.
//!
//! With strengths θ, advantage A and draw margin D in natural units, a meeting in which i moves
//! first against j has u = θᵢ − θⱼ + A and the log-likelihood
//!
//! > w·ln σ(u − D) + l·ln σ(−u − D) + d·ln(e²ᴰ − 1),
//!
//! where a draw is counted in w, l and d, since P(draw) = σ(u−D)·σ(−u−D)·(e²ᴰ − 1). Every term
//! is concave in (θ, A, D), so the whole is. Fixing the mean of θ makes it strictly concave in a
//! connected league. Newton steps cut back until they gain enough (Armijo's rule) therefore
//! converge to the one maximum from any start, if there is one; if there is none, some
//! difference between two players who met, or A or D, grows without bound, which is noticed.

use crate::linalg::{Cholesky, Matrix};

/// A pivot below this share of its diagonal element has lost all its digits: the matrix is singular to
/// working precision.
const SINGULAR: f64 = 1e-14;

fn factorize(size: usize, cells: Vec<f64>) -> Option<Cholesky<4>> {
    Matrix::from((size, cells)).cholesky(SINGULAR)
}

/// No two players who met are put further apart than this, in natural units: 4,000 points, a
/// chance of one result of 1 in 10^10 that no league has the games to measure.
pub(super) const LIMIT: f64 = 4000.0 * std::f64::consts::LN_10 / 400.0;

const MAX_STEPS: usize = 500;
const MAX_HALVINGS: usize = 60;
const TOLERANCE: f64 = 1e-10;

/// How much weight the terms of one ordered pair carry.
pub(super) struct Edge {
    pub(super) first: usize,
    pub(super) second: usize,
    pub(super) wins: f64,
    pub(super) losses: f64,
}

/// A number of the model that is given, or fitted from this start.
#[derive(Clone, Copy)]
pub(super) enum Unknown {
    Given(f64),
    Fitted(f64),
}

/// What is to be maximised.
pub(super) struct Problem {
    pub(super) edges: Vec<Edge>,
    /// The weight of ln(e²ᴰ − 1).
    pub(super) draws: f64,
    /// A linear term in each strength, for leagues of which only the totals are known.
    pub(super) tilt: Vec<f64>,
    pub(super) advantage: Unknown,
    pub(super) margin: Unknown,
}

/// Where the likelihood is greatest. The covariance is that of the free numbers: the strengths,
/// then the advantage and the margin where they were fitted.
pub(super) struct Maximum {
    pub(super) strengths: Vec<f64>,
    pub(super) advantage: f64,
    pub(super) margin: f64,
    pub(super) covariance: Vec<f64>,
    pub(super) free: usize,
    pub(super) log_likelihood: f64,
    pub(super) steps: usize,
}

impl Problem {
    /// Finds the maximum, or `None` where it lies at infinity (or beyond [`LIMIT`]).
    pub(super) fn maximise(&self) -> Option<Maximum> {
        let n = self.tilt.len();
        let mut x = vec![0.0; n];
        for unknown in [self.advantage, self.margin] {
            if let Unknown::Fitted(start) = unknown {
                x.push(start);
            }
        }
        let mut value = self.value(&x);
        for steps in 1..=MAX_STEPS {
            let (gradient, curvature, _) = self.derivatives(&x);
            let step = factorize(x.len(), curvature)?.solve(&gradient);
            let gain: f64 = step.iter().zip(&gradient).map(|(s, g)| s * g).sum();
            let mut length = 1.0;
            let mut halvings = 0;
            let next = loop {
                let next: Vec<f64> = x.iter().zip(&step).map(|(x, s)| x + length * s).collect();
                let reached = self.value(&next);
                // The slack covers rounding, which near the maximum exceeds the gain itself.
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
                return self.at_maximum(x, value, steps);
            }
        }
        None
    }

    /// Splits the free numbers into strengths, advantage and margin.
    fn split<'a>(&self, x: &'a [f64]) -> (&'a [f64], f64, f64) {
        let (strengths, mut rest) = x.split_at(self.tilt.len());
        let mut take = |unknown| match unknown {
            Unknown::Given(value) => value,
            Unknown::Fitted(start) => rest.split_off_first().copied().unwrap_or(start),
        };
        let advantage = take(self.advantage);
        let margin = take(self.margin);
        (strengths, advantage, margin)
    }

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
        let tilt: f64 = self.tilt.iter().zip(strengths).map(|(t, s)| t * s).sum();
        sum + tilt
    }

    /// The gradient, the negated second derivatives made regular, and what that added to each
    /// entry of the strengths' block: it moves the mean only, so a step from zero mean keeps it.
    fn derivatives(&self, x: &[f64]) -> (Vec<f64>, Vec<f64>, f64) {
        let (strengths, advantage, margin) = self.split(x);
        let (n, m) = (strengths.len(), x.len());
        let a = matches!(self.advantage, Unknown::Fitted(_)).then_some(n);
        let d = matches!(self.margin, Unknown::Fitted(_)).then_some(m - 1);
        let mut gradient = vec![0.0; m];
        gradient[..n].copy_from_slice(&self.tilt);
        let mut curvature = vec![0.0; m * m];
        for edge in &self.edges {
            let (i, j) = (edge.first, edge.second);
            let u = strengths[i] - strengths[j] + advantage;
            let (p, not_p) = sigmoids(u - margin);
            let (q, not_q) = sigmoids(-u - margin);
            let (won, lost) = (edge.wins * not_p, edge.losses * not_q);
            let (bend_won, bend_lost) = (won * p, lost * q);
            let (slope, bend) = (won - lost, bend_won + bend_lost);
            gradient[i] += slope;
            gradient[j] -= slope;
            curvature[i * m + i] += bend;
            curvature[j * m + j] += bend;
            curvature[i * m + j] -= bend;
            curvature[j * m + i] -= bend;
            if let Some(a) = a {
                gradient[a] += slope;
                curvature[a * m + a] += bend;
                add_both(&mut curvature, m, a, i, bend);
                add_both(&mut curvature, m, a, j, -bend);
            }
            if let Some(d) = d {
                let skew = bend_lost - bend_won;
                gradient[d] -= won + lost;
                curvature[d * m + d] += bend;
                add_both(&mut curvature, m, d, i, skew);
                add_both(&mut curvature, m, d, j, -skew);
                if let Some(a) = a {
                    add_both(&mut curvature, m, d, a, skew);
                }
            }
        }
        if let Some(d) = d {
            let gap = -libm::expm1(-2.0 * margin);
            gradient[d] += self.draws * 2.0 / gap;
            curvature[d * m + d] += self.draws * 4.0 * (1.0 - gap) / (gap * gap);
        }
        // Totals that were rounded need not add up; what is left over is spread evenly, so that
        // the mean stays put.
        let excess = gradient[..n].iter().sum::<f64>() / n as f64;
        gradient[..n].iter_mut().for_each(|g| *g -= excess);
        let ridge = (0..n).map(|i| curvature[i * m + i]).sum::<f64>() / (n * n) as f64;
        for row in curvature.chunks_mut(m).take(n) {
            row[..n].iter_mut().for_each(|c| *c += ridge);
        }
        (gradient, curvature, ridge)
    }

    fn out_of_bounds(&self, x: &[f64]) -> bool {
        let (strengths, advantage, margin) = self.split(x);
        advantage.abs() > LIMIT
            || margin > LIMIT
            || (self.edges.iter())
                .any(|edge| (strengths[edge.first] - strengths[edge.second]).abs() > LIMIT)
    }

    fn at_maximum(&self, x: Vec<f64>, value: f64, steps: usize) -> Option<Maximum> {
        let (_, curvature, ridge) = self.derivatives(&x);
        let (n, m) = (self.tilt.len(), x.len());
        let mut covariance = factorize(m, curvature)?.inverse();
        // With the mean known, its variance, which the ridge had put in, is taken out again.
        let known = 1.0 / (ridge * (n * n) as f64);
        for row in covariance.chunks_mut(m).take(n) {
            row[..n].iter_mut().for_each(|c| *c -= known);
        }
        let (strengths, advantage, margin) = self.split(&x);
        let mean = strengths.iter().sum::<f64>() / n as f64;
        Some(Maximum {
            strengths: strengths.iter().map(|s| s - mean).collect(),
            advantage,
            margin,
            covariance,
            free: m,
            log_likelihood: value,
            steps,
        })
    }
}

fn add_both(matrix: &mut [f64], m: usize, i: usize, j: usize, value: f64) {
    matrix[i * m + j] += value;
    matrix[j * m + i] += value;
}

/// 1/(1 + e⁻ˣ) and its complement, both to full relative precision.
fn sigmoids(x: f64) -> (f64, f64) {
    let small = libm::exp(-x.abs());
    let (large, small) = (1.0 / (1.0 + small), small / (1.0 + small));
    if x >= 0.0 { (large, small) } else { (small, large) }
}

fn ln_sigmoid(x: f64) -> f64 {
    x.min(0.0) - libm::log1p(libm::exp(-x.abs()))
}
