//! Solves (A + ridge I) w = b.
//!
//! The LU factorization with partial pivoting uses the vector instructions of the processor, so the
//! last digits of the factors depend on the machine (not on the number of threads, which is one).
//! The solution is then refined iteratively with residuals in doubled precision, summed in a fixed
//! order, until it no longer changes. The result is the correctly rounded solution and does not
//! depend on the last digits of the factors. If the refinement does not converge, the system is
//! nearly singular and a larger ridge is tried.

use super::LstdError;
use super::system::System;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::lu::partial_pivoting::{factor, solve as solver};
use faer::perm::PermRef;
use faer::{MatMut, MatRef, Par};
use rayon::prelude::*;

/// The factor between successive ridges.
const RIDGE_FACTOR: f64 = 100.0;

/// The largest ridge tried, unless a larger one is requested.
const MAX_RIDGE: f64 = 1e-3;

/// Maximum number of refinements; two or three are typical.
const MAX_REFINEMENTS: u32 = 30;

/// A solution of the system.
#[derive(Clone, Debug)]
pub(super) struct Solution {
    pub(super) weights: Vec<f64>,
    /// Relative to the mean of the diagonal of A.
    pub(super) ridge: f64,
    /// |b - (A + ridge I) w| / |b|.
    pub(super) residual: f64,
    pub(super) refinements: u32,
}

/// Solves with this ridge, relative to the mean of the diagonal, or with the next larger one that
/// succeeds.
pub(super) fn solve(system: &System, ridge: f64) -> Result<Solution, LstdError> {
    let mut tried = ridge;
    loop {
        if let Some(solution) = attempt(system, tried) {
            return Ok(solution);
        }
        if tried >= MAX_RIDGE {
            return Err(LstdError::Singular { ridge: tried });
        }
        tried = (tried * RIDGE_FACTOR).min(MAX_RIDGE);
    }
}

fn attempt(system: &System, ridge: f64) -> Option<Solution> {
    let shift = ridge * system.mean_diagonal();
    let factors = Factors::new(system, shift);
    let mut weights = factors.solve(system.rhs().to_vec());
    let mut before = largest(&weights)?;
    for refinements in 1..=MAX_REFINEMENTS {
        let change = factors.solve(residual(system, shift, &weights));
        let size = largest(&change)?;
        for (weight, change) in weights.iter_mut().zip(change) {
            *weight += change;
        }
        if size <= f64::EPSILON * largest(&weights)? {
            let rest = norm(&residual(system, shift, &weights));
            let length = norm(system.rhs());
            let residual = if length > 0.0 { rest / length } else { rest };
            return Some(Solution { weights, ridge, residual, refinements });
        }
        // A useful factorization gains at least a digit in two refinements; one that gains less has
        // lost all digits to rounding.
        if size > 0.3 * before {
            return None;
        }
        before = size;
    }
    None
}

/// Returns the largest magnitude, or `None` if a number is not finite.
fn largest(vector: &[f64]) -> Option<f64> {
    vector.iter().all(|x| x.is_finite()).then(|| vector.iter().fold(0.0, |a, x| x.abs().max(a)))
}

fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The LU factors of the transpose of A + shift I. The transpose is used because the library is
/// column-major and [`System`] is row-major.
struct Factors {
    size: usize,
    factors: Vec<f64>,
    forward: Vec<usize>,
    backward: Vec<usize>,
}

impl Factors {
    fn new(system: &System, shift: f64) -> Factors {
        let size = system.size();
        let mut factors = system.matrix().to_vec();
        factors.iter_mut().step_by(size + 1).for_each(|x| *x += shift);
        let (mut forward, mut backward) = (vec![0; size], vec![0; size]);
        let (par, params) = (Par::Seq, Default::default());
        let scratch = factor::lu_in_place_scratch::<usize, f64>(size, size, par, params);
        factor::lu_in_place(
            MatMut::from_column_major_slice_mut(&mut factors, size, size),
            &mut forward,
            &mut backward,
            par,
            MemStack::new(&mut MemBuffer::new(scratch)),
            params,
        );
        Factors { size, factors, forward, backward }
    }

    /// Solves (A + shift I) x = rhs.
    fn solve(&self, mut rhs: Vec<f64>) -> Vec<f64> {
        let size = self.size;
        let both = MatRef::from_column_major_slice(&self.factors, size, size);
        let scratch = solver::solve_transpose_in_place_scratch::<usize, f64>(size, 1, Par::Seq);
        solver::solve_transpose_in_place(
            both,
            both,
            PermRef::new_checked(&self.forward, &self.backward, size),
            MatMut::from_column_major_slice_mut(&mut rhs, size, 1),
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(scratch)),
        );
        rhs
    }
}

/// Computes b - (A + shift I) w in doubled precision and rounds it.
fn residual(system: &System, shift: f64, weights: &[f64]) -> Vec<f64> {
    let rows = system.matrix().par_chunks(system.size().max(1));
    rows.zip(system.rhs())
        .zip(weights)
        .map(|((row, &rhs), &weight)| {
            let mut sum = CompensatedSum { high: rhs, low: 0.0 };
            sum.subtract(shift, weight);
            for (&a, &w) in row.iter().zip(weights) {
                sum.subtract(a, w);
            }
            sum.high + sum.low
        })
        .collect()
}

/// A sum and its accumulated rounding error (Ogita, Rump & Oishi, 2005).
struct CompensatedSum {
    high: f64,
    low: f64,
}

impl CompensatedSum {
    #[inline]
    fn subtract(&mut self, a: f64, b: f64) {
        let product = a * b;
        let ((a1, a2), (b1, b2)) = (split(a), split(b));
        let product_error = a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2);
        let sum = self.high - product;
        let taken = sum - self.high;
        let sum_error = (self.high - (sum - taken)) - (product + taken);
        self.high = sum;
        self.low += sum_error - product_error;
    }
}

/// Splits a number into two of half the digits each, whose products are exact (Dekker).
#[inline]
fn split(x: f64) -> (f64, f64) {
    const SPLIT: f64 = 134_217_729.0;
    let scaled = SPLIT * x;
    let high = scaled - (scaled - x);
    (high, x - high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ill-conditioned matrix with an integer inverse. Without refinement the solution would
    /// have one correct digit.
    #[test]
    fn refinement_finds_all_digits() {
        let k = f64::from(1 << 20);
        let system = System::of(&[k, k + 2.0, k, k], &[1.0, 0.0]);
        let solution = solve(&system, 1.0 / k).unwrap();
        assert_eq!(solution.weights, [k + 1.0, -k]);
        assert_eq!(solution.ridge, 1.0 / k);
        assert_eq!(solution.residual, 0.0);
    }

    #[test]
    fn a_too_small_ridge_is_increased() {
        let system = System::of(&[1.0, 1.0, 1.0, 1.0], &[1.0, 1.0]);
        let solution = solve(&system, 1e-18).unwrap();
        assert!(solution.ridge > 1e-17 && solution.ridge < 1e-10, "{}", solution.ridge);
        for weight in solution.weights {
            assert!((weight - 0.5).abs() < 1e-9, "{weight}");
        }
    }

    #[test]
    fn unsolvable_systems_are_errors() {
        let zero = System::of(&[0.0; 4], &[1.0, 1.0]);
        assert_eq!(solve(&zero, 1e-6).unwrap_err(), LstdError::Singular { ridge: MAX_RIDGE });
        assert_eq!(solve(&zero, 5.0).unwrap_err(), LstdError::Singular { ridge: 5.0 });
        let broken = System::of(&[1.0, f64::NAN, 0.0, 1.0], &[1.0, 1.0]);
        assert!(solve(&broken, 1e-6).is_err());
        let infinite = System::of(&[1.0, 0.0, 0.0, 1.0], &[f64::INFINITY, 1.0]);
        assert!(solve(&infinite, 1e-6).is_err());
    }

    /// 1 - (1/3) 3 with rounded 1/3: the residual is 3 times the rounding error, 2^-54.
    #[test]
    fn residuals_are_computed_in_doubled_precision() {
        let system = System::of(&[1.0 / 3.0], &[1.0]);
        assert_eq!(residual(&system, 0.0, &[3.0]), [2f64.powi(-54)]);
    }
}
