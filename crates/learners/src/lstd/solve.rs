//! Solving (A + ridge I) w = b.
//!
//! The matrix is factored with partial pivoting by a library that uses whatever the processor
//! offers, so the last digits of its factors differ from machine to machine; they do not depend on
//! the number of threads, since it uses one. The solution is then refined with residuals of twice
//! the precision, summed in a fixed order, until it moves no more: it is the rounded solution of
//! the system, whoever factored it. When the refinement does not converge, the system is too close
//! to singular for double precision and a larger ridge is tried.

use super::LstdError;
use super::system::System;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::lu::partial_pivoting::{factor, solve as solver};
use faer::perm::PermRef;
use faer::{MatMut, MatRef, Par};
use rayon::prelude::*;

/// The factor from one ridge to the next that is tried.
const STEP: f64 = 100.0;

/// No ridge above this is tried, unless it is asked for.
const LARGEST: f64 = 1e-3;

/// The most refinements; two or three are usual.
const REFINEMENTS: u32 = 30;

/// A solution and how it was found.
#[derive(Clone, Debug)]
pub(super) struct Solution {
    pub(super) weights: Vec<f64>,
    /// In units of the mean of the diagonal of A.
    pub(super) ridge: f64,
    /// The length of b - (A + ridge I) w over that of b.
    pub(super) residual: f64,
    pub(super) refinements: u32,
}

/// Solves with this ridge, in units of the mean of the diagonal, or the next larger one that does.
pub(super) fn solve(system: &System, ridge: f64) -> Result<Solution, LstdError> {
    let mut tried = ridge;
    loop {
        if let Some(solution) = attempt(system, tried) {
            return Ok(solution);
        }
        if tried >= LARGEST {
            return Err(LstdError::Singular { ridge: tried });
        }
        tried = (tried * STEP).min(LARGEST);
    }
}

fn attempt(system: &System, ridge: f64) -> Option<Solution> {
    let shift = ridge * system.mean_diagonal();
    let factors = Factors::new(system, shift);
    let mut weights = factors.solve(system.right().to_vec());
    let mut before = largest(&weights)?;
    for refinements in 1..=REFINEMENTS {
        let change = factors.solve(residual(system, shift, &weights));
        let size = largest(&change)?;
        for (weight, change) in weights.iter_mut().zip(change) {
            *weight += change;
        }
        if size <= f64::EPSILON * largest(&weights)? {
            let rest = norm(&residual(system, shift, &weights));
            let length = norm(system.right());
            let residual = if length > 0.0 { rest / length } else { rest };
            return Some(Solution { weights, ridge, residual, refinements });
        }
        // A factorisation that is good for something gains at least a digit in two rounds; one
        // that gains less has lost all digits to rounding.
        if size > 0.3 * before {
            return None;
        }
        before = size;
    }
    None
}

/// The greatest magnitude, unless there is a number that is not finite.
fn largest(vector: &[f64]) -> Option<f64> {
    vector.iter().all(|x| x.is_finite()).then(|| vector.iter().fold(0.0, |a, x| x.abs().max(a)))
}

fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The factors of the transpose of A + shift I, since a library that thinks in columns sees our
/// rows as such.
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
        let (one, usual) = (Par::Seq, Default::default());
        let room = factor::lu_in_place_scratch::<usize, f64>(size, size, one, usual);
        factor::lu_in_place(
            MatMut::from_column_major_slice_mut(&mut factors, size, size),
            &mut forward,
            &mut backward,
            one,
            MemStack::new(&mut MemBuffer::new(room)),
            usual,
        );
        Factors { size, factors, forward, backward }
    }

    /// The solution of (A + shift I) x = right.
    fn solve(&self, mut right: Vec<f64>) -> Vec<f64> {
        let size = self.size;
        let both = MatRef::from_column_major_slice(&self.factors, size, size);
        let room = solver::solve_transpose_in_place_scratch::<usize, f64>(size, 1, Par::Seq);
        solver::solve_transpose_in_place(
            both,
            both,
            PermRef::new_checked(&self.forward, &self.backward, size),
            MatMut::from_column_major_slice_mut(&mut right, size, 1),
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(room)),
        );
        right
    }
}

/// b - (A + shift I) w, as if it had been computed with twice the digits and then rounded.
fn residual(system: &System, shift: f64, weights: &[f64]) -> Vec<f64> {
    let rows = system.matrix().par_chunks(system.size().max(1));
    rows.zip(system.right())
        .zip(weights)
        .map(|((row, &right), &weight)| {
            let mut sum = Twofold { high: right, low: 0.0 };
            sum.subtract(shift, weight);
            for (&a, &w) in row.iter().zip(weights) {
                sum.subtract(a, w);
            }
            sum.high + sum.low
        })
        .collect()
}

/// A sum and what rounding has taken from it (Ogita, Rump and Oishi, 2005).
struct Twofold {
    high: f64,
    low: f64,
}

impl Twofold {
    #[inline]
    fn subtract(&mut self, a: f64, b: f64) {
        let product = a * b;
        let ((a1, a2), (b1, b2)) = (halves(a), halves(b));
        let lost = a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2);
        let sum = self.high - product;
        let taken = sum - self.high;
        let slip = (self.high - (sum - taken)) - (product + taken);
        self.high = sum;
        self.low += slip - lost;
    }
}

/// A number as the sum of two with half the digits each, whose products are exact.
#[inline]
fn halves(x: f64) -> (f64, f64) {
    const SPLIT: f64 = 134_217_729.0;
    let scaled = SPLIT * x;
    let high = scaled - (scaled - x);
    (high, x - high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix of determinant 1 whose inverse has large whole numbers: four of five digits of a
    /// plain solution in double precision would be noise.
    #[test]
    fn refinement_finds_every_digit() {
        let k = f64::from(1 << 20);
        let system = System::of(&[k, k + 2.0, k, k], &[1.0, 0.0]);
        let solution = solve(&system, 1.0 / k).unwrap();
        assert_eq!(solution.weights, [k + 1.0, -k]);
        assert_eq!(solution.ridge, 1.0 / k);
        assert_eq!(solution.residual, 0.0);
    }

    #[test]
    fn a_ridge_too_small_for_a_singular_matrix_grows() {
        let system = System::of(&[1.0, 1.0, 1.0, 1.0], &[1.0, 1.0]);
        let solution = solve(&system, 1e-18).unwrap();
        assert!(solution.ridge > 1e-17 && solution.ridge < 1e-10, "{}", solution.ridge);
        for weight in solution.weights {
            assert!((weight - 0.5).abs() < 1e-9, "{weight}");
        }
    }

    #[test]
    fn what_has_no_solution_gives_an_error_and_no_numbers() {
        let zero = System::of(&[0.0; 4], &[1.0, 1.0]);
        assert_eq!(solve(&zero, 1e-6).unwrap_err(), LstdError::Singular { ridge: LARGEST });
        assert_eq!(solve(&zero, 5.0).unwrap_err(), LstdError::Singular { ridge: 5.0 });
        let broken = System::of(&[1.0, f64::NAN, 0.0, 1.0], &[1.0, 1.0]);
        assert!(solve(&broken, 1e-6).is_err());
        let endless = System::of(&[1.0, 0.0, 0.0, 1.0], &[f64::INFINITY, 1.0]);
        assert!(solve(&endless, 1e-6).is_err());
    }

    /// 1 - (1/3) 3 in which 1/3 is rounded: what is left is 3 times the rounding, 2^-54.
    #[test]
    fn residuals_keep_what_a_product_loses() {
        let system = System::of(&[1.0 / 3.0], &[1.0]);
        assert_eq!(residual(&system, 0.0, &[3.0]), [2f64.powi(-54)]);
    }
}
