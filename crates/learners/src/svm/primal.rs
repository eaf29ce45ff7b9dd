//! Newton's method in the primal for the squared hinge loss (Keerthi & DeCoste, 2005; Lin, Weng &
//! Keerthi, 2008).
//!
//! Let I be the rows whose margin is violated at w, and c_i the weight of row i. Then
//!
//! ```text
//! gradient   g = w - 2C sum_{i in I} c_i y_i (1 - y_i w.x_i) x_i
//! Hessian    H v = v + 2C sum_{i in I} c_i (x_i . v) x_i
//! ```
//!
//! Each step solves H d = -g approximately by preconditioned conjugate gradients (`lbfgs`), then
//! minimizes the objective along d. The objective is piecewise quadratic along d, so the exact line
//! search costs one more product with the rows. H is at least the identity, so the optimum is at
//! most |g|^2 / 2 below, which is the bound in [`SvmFit::gap`].
//!
//! Departures from the papers:
//! 1. A line search replaces the trust region, as in recent versions of LIBLINEAR. A trust region
//!    needs a similar number of steps for many rows, but hundreds for few, nearly separable rows.
//! 2. Pairs of earlier Newton steps precondition the conjugate gradients.
//!
//! Sums over rows are computed in a fixed number of blocks and added in order, so the result does
//! not depend on the number of threads.

use super::lbfgs::LbfgsMemory;
use super::{SvmError, SvmFit, check};
use crate::training::encoding::{f64_bytes, f64_numbers_of, mismatch};
use crate::{IterationState, SparseRows};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::ops::Range;

/// Number of blocks of rows, each summed by one thread; more take more memory, fewer leave cores idle.
const BLOCKS: usize = 16;

/// A Newton step may be the last only if its relative gain in the objective is below this. The
/// gradient norm alone is not enough: with few rows and many columns it is small long before the
/// optimum.
const MAX_FINAL_GAIN: f64 = 3.5e-5;

/// Solves until the gradient norm is at most `tolerance` times its initial value and a step gains
/// little, in at most `max_iterations` Newton steps. `on_iteration` returns whether to continue.
pub fn solve_primal(
    rows: &SparseRows,
    c: f64,
    tolerance: f64,
    max_iterations: u32,
    mut on_iteration: impl FnMut(IterationState<'_>) -> bool,
) -> Result<SvmFit, SvmError> {
    let mut solver = PrimalSolver::new(rows, c, tolerance)?;
    while !solver.converged() && solver.iteration < max_iterations {
        solver.step();
        if !on_iteration(solver.progress()) {
            break;
        }
    }
    Ok(solver.fit())
}

/// Newton's method, one iteration at a time.
pub(crate) struct PrimalSolver<R> {
    rows: R,
    c: f64,
    tolerance: f64,
    weights: Vec<f64>,
    current: Evaluation,
    /// The gradient norm at the start.
    start: f64,
    lbfgs: LbfgsMemory,
    iteration: u32,
    /// The gradient norm relative to the start.
    residual: f64,
    converged: bool,
}

/// The numbers of a solver's state besides its vectors.
#[derive(Serialize, Deserialize)]
struct PrimalHeader {
    iteration: u32,
    start: f64,
    residual: f64,
    converged: bool,
    pairs: usize,
}

impl<R: Borrow<SparseRows>> PrimalSolver<R> {
    /// Starts at zero.
    pub fn new(rows: R, c: f64, tolerance: f64) -> Result<PrimalSolver<R>, SvmError> {
        check(rows.borrow(), c, tolerance)?;
        let weights = vec![0.0; rows.borrow().columns()];
        let current = PrimalProblem::new(rows.borrow(), c).evaluate(&weights);
        let start = norm(&current.gradient);
        Ok(PrimalSolver {
            rows,
            c,
            tolerance,
            weights,
            current,
            start,
            lbfgs: LbfgsMemory::default(),
            iteration: 0,
            residual: 1.0,
            converged: start == 0.0,
        })
    }

    /// Performs one Newton iteration.
    pub fn step(&mut self) {
        self.iteration += 1;
        let problem = PrimalProblem::new(self.rows.borrow(), self.c);
        let direction = problem.newton_direction(&self.current, &mut self.lbfgs);
        let length = problem.line_search(&self.weights, &direction);
        let trial: Vec<f64> =
            self.weights.iter().zip(&direction).map(|(w, d)| w + length * d).collect();
        let next = problem.evaluate(&trial);
        let gained = self.current.objective - next.objective;
        if gained > 0.0 {
            self.weights = trial;
            self.current = next;
        }
        self.residual = norm(&self.current.gradient) / self.start;
        let relative_gain = gained / self.current.objective;
        self.converged = (self.residual <= self.tolerance && relative_gain <= MAX_FINAL_GAIN)
            || relative_gain <= 1e-13;
    }

    pub fn converged(&self) -> bool {
        self.converged
    }

    pub fn progress(&self) -> IterationState<'_> {
        IterationState {
            iteration: self.iteration,
            objective: self.current.objective,
            residual: self.residual,
            weights: &self.weights,
        }
    }

    pub fn fit(&self) -> SvmFit {
        SvmFit {
            weights: self.weights.clone(),
            objective: self.current.objective,
            gap: 0.5 * dot(&self.current.gradient, &self.current.gradient),
            iterations: self.iteration,
            converged: self.converged,
        }
    }

    /// Serializes the state. A converged solver needs no pairs.
    pub fn state(&self) -> Result<Vec<Vec<u8>>, String> {
        let pairs = if self.converged { Vec::new() } else { self.lbfgs.vectors() };
        let header = PrimalHeader {
            iteration: self.iteration,
            start: self.start,
            residual: self.residual,
            converged: self.converged,
            pairs: pairs.len() / 2,
        };
        let mut sections = vec![serde_json::to_vec(&header).map_err(|error| error.to_string())?];
        sections.push(f64_bytes(&self.weights));
        sections.extend(pairs.into_iter().map(f64_bytes));
        Ok(sections)
    }

    pub fn restore(&mut self, sections: &[Vec<u8>]) -> Result<(), String> {
        let [header, weights, pairs @ ..] = sections else { return Err(mismatch()) };
        let header: PrimalHeader = serde_json::from_slice(header).map_err(|_| mismatch())?;
        if pairs.len() != 2 * header.pairs || header.start != self.start {
            return Err(mismatch());
        }
        let count = self.weights.len();
        let vectors: Result<Vec<Vec<f64>>, String> =
            pairs.iter().map(|bytes| f64_numbers_of(bytes, count)).collect();
        self.weights = f64_numbers_of(weights, count)?;
        self.current = PrimalProblem::new(self.rows.borrow(), self.c).evaluate(&self.weights);
        self.lbfgs = LbfgsMemory::default();
        self.lbfgs.add_vectors(vectors?);
        self.iteration = header.iteration;
        self.residual = header.residual;
        self.converged = header.converged;
        Ok(())
    }
}

/// Objective, gradient and violated rows at a point.
struct Evaluation {
    objective: f64,
    gradient: Vec<f64>,
    /// For each block, the groups with violated rows and a bit mask of these rows.
    violated: Vec<Vec<(u32, u64)>>,
    /// The diagonal of the Hessian.
    diagonal: Vec<f64>,
}

struct PrimalProblem<'a> {
    rows: &'a SparseRows,
    c: f64,
    /// Groups of rows.
    blocks: Vec<Range<usize>>,
}

fn blocks(groups: usize) -> Vec<Range<usize>> {
    (0..BLOCKS).map(|b| groups * b / BLOCKS..groups * (b + 1) / BLOCKS).collect()
}

/// The contribution of a block of rows to an [`Evaluation`].
struct BlockSums {
    loss: f64,
    /// In the mirrored layout of the sparse vectors.
    gradient: Vec<f64>,
    diagonal: Vec<f64>,
    violated: Vec<(u32, u64)>,
    /// The head of the current group; zero between groups.
    head: Vec<f64>,
}

impl<'a> PrimalProblem<'a> {
    fn new(rows: &'a SparseRows, c: f64) -> PrimalProblem<'a> {
        PrimalProblem { rows, c, blocks: blocks(rows.groups()) }
    }

    fn evaluate(&self, weights: &[f64]) -> Evaluation {
        let n = weights.len();
        let mirrored = self.rows.vectors().mirror(weights);
        let blocks: Vec<BlockSums> = self
            .blocks
            .par_iter()
            .map(|block| {
                let mut sums = BlockSums {
                    loss: 0.0,
                    gradient: self.rows.vectors().zeros(),
                    diagonal: vec![0.0; n],
                    violated: Vec::new(),
                    head: vec![0.0; n],
                };
                block.clone().for_each(|group| self.add_group(group, &mirrored, &mut sums));
                sums
            })
            .collect();
        let mut gradient = weights.to_vec();
        let mut diagonal = vec![1.0; n];
        let mut objective = 0.5 * dot(weights, weights);
        let mut violated = Vec::with_capacity(blocks.len());
        for block in blocks {
            objective += self.c * block.loss;
            self.rows.vectors().fold_into(&mut gradient, -2.0 * self.c, &block.gradient);
            axpy(&mut diagonal, 2.0 * self.c, &block.diagonal);
            violated.push(block.violated);
        }
        Evaluation { objective, gradient, violated, diagonal }
    }

    /// Adds the contribution of a group of rows; the weights are in the mirrored layout.
    fn add_group(&self, number: usize, weights: &[f64], sums: &mut BlockSums) {
        let (group, member_sign) = (self.rows.group(number), self.rows.member_sign());
        let head = group.head();
        let (of_head, mut forces, mut total_weight, mut mask) = (head.dot(weights), 0.0, 0.0, 0u64);
        for row in group.rows() {
            let (sign, weight) = (self.rows.sign(row), self.rows.weight(row));
            let member = group.member(row);
            let violation = 1.0 - sign * (of_head + member_sign * member.dot(weights));
            if violation <= 0.0 {
                continue;
            }
            if mask == 0 {
                head.entries().for_each(|(i, v)| sums.head[i as usize] = f64::from(v));
            }
            mask |= 1 << (row - group.rows().start);
            sums.loss += weight * (violation * violation);
            let force = weight * (sign * violation);
            forces += force;
            total_weight += weight;
            member.add_to(&mut sums.gradient, member_sign * force);
            // The part of (head + member)^2 that exceeds head^2.
            for (index, value) in member.entries() {
                let (index, value) = (index as usize, member_sign * f64::from(value));
                sums.diagonal[index] += weight * (value * (value + 2.0 * sums.head[index]));
            }
        }
        if mask != 0 {
            sums.violated.push((number as u32, mask));
            head.add_to(&mut sums.gradient, forces);
            for (index, value) in head.entries() {
                sums.diagonal[index as usize] +=
                    total_weight * (f64::from(value) * f64::from(value));
                sums.head[index as usize] = 0.0;
            }
        }
    }

    /// Multiplies the Hessian by a vector.
    fn hessian_product(&self, here: &Evaluation, vector: &[f64]) -> Vec<f64> {
        let member_sign = self.rows.member_sign();
        let mirrored = self.rows.vectors().mirror(vector);
        let blocks: Vec<Vec<f64>> = here
            .violated
            .par_iter()
            .map(|violated| {
                let mut sums = self.rows.vectors().zeros();
                for &(number, mut mask) in violated {
                    let group = self.rows.group(number as usize);
                    let head = group.head();
                    let (of_head, mut total) = (head.dot(&mirrored), 0.0);
                    while mask != 0 {
                        let row = group.rows().start + mask.trailing_zeros() as usize;
                        mask &= mask - 1;
                        let member = group.member(row);
                        let product = of_head + member_sign * member.dot(&mirrored);
                        let scaled = self.rows.weight(row) * product;
                        total += scaled;
                        member.add_to(&mut sums, member_sign * scaled);
                    }
                    head.add_to(&mut sums, total);
                }
                sums
            })
            .collect();
        let mut sum = vector.to_vec();
        let vectors = self.rows.vectors();
        blocks.iter().for_each(|sums| vectors.fold_into(&mut sum, 2.0 * self.c, sums));
        sum
    }

    /// Approximately minimizes the quadratic model of the objective by conjugate gradients.
    fn newton_direction(&self, here: &Evaluation, lbfgs: &mut LbfgsMemory) -> Vec<f64> {
        /// Stops if the last gain times the number of iterations is below this fraction of the
        /// total gain.
        const MIN_GAIN: f64 = 0.25;
        /// Maximum number of iterations; the next Newton step reuses their pairs from a better
        /// point.
        const MAX_ITERATIONS: usize = 30;
        let n = here.gradient.len();
        let mut direction = vec![0.0; n];
        let mut residual: Vec<f64> = here.gradient.iter().map(|g| -g).collect();
        let mut search = lbfgs.solve(&residual, &here.diagonal);
        let mut rz = dot(&search, &residual);
        let (mut products, mut gained) = (Vec::new(), 0.0);
        for iteration in 1..=MAX_ITERATIONS {
            let product = self.hessian_product(here, &search);
            let length = rz / dot(&search, &product);
            axpy(&mut direction, length, &search);
            axpy(&mut residual, -length, &product);
            let gain = 0.5 * length * rz;
            gained += gain;
            let z = lbfgs.solve(&residual, &here.diagonal);
            let next = dot(&z, &residual);
            let mut next_search = z;
            axpy(&mut next_search, next / rz, &search);
            products.push((std::mem::replace(&mut search, next_search), product));
            rz = next;
            // Rounding may make the denominator vanish.
            if iteration as f64 * gain <= MIN_GAIN * gained || rz.is_nan() || rz <= 0.0 {
                break;
            }
        }
        lbfgs.add_pairs(products);
        direction
    }

    /// Returns the step length that minimizes the objective along a direction.
    fn line_search(&self, weights: &[f64], direction: &[f64]) -> f64 {
        let vectors = self.rows.vectors();
        // For each row: the violation, its rate of decrease, and the weight.
        let (start, along) = (vectors.mirror(weights), vectors.mirror(direction));
        let (start, along) = (&start[..], &along[..]);
        let member_sign = self.rows.member_sign();
        let margins = |number: usize| {
            let group = self.rows.group(number);
            let head = (group.head().dot(start), group.head().dot(along));
            group.rows().map(move |row| {
                let (member, sign) = (group.member(row), self.rows.sign(row));
                let initial = 1.0 - sign * (head.0 + member_sign * member.dot(start));
                let decrease = sign * (head.1 + member_sign * member.dot(along));
                (initial, decrease, self.rows.weight(row))
            })
        };
        let blocks: Vec<Vec<(f64, f64, f64)>> =
            self.blocks.par_iter().map(|block| block.clone().flat_map(margins).collect()).collect();
        let (wd, dd) = (dot(weights, direction), dot(direction, direction));
        // The slope increases with the length, so its zero stays between these bounds.
        let (mut low, mut high, mut length) = (0.0, f64::INFINITY, 1.0);
        for _ in 0..60 {
            let (mut slope, mut curvature) = (wd + length * dd, dd);
            for block in &blocks {
                let (mut slopes, mut squares) = (0.0, 0.0);
                for &(initial, decrease, weight) in block {
                    let violation = initial - length * decrease;
                    if violation > 0.0 {
                        slopes += weight * (decrease * violation);
                        squares += weight * (decrease * decrease);
                    }
                }
                slope -= 2.0 * self.c * slopes;
                curvature += 2.0 * self.c * squares;
            }
            if slope > 0.0 {
                high = length;
            } else {
                low = length;
            }
            let newton = length - slope / curvature;
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - length).abs() <= 1e-3 * length || !next.is_finite() {
                return length;
            }
            length = next;
        }
        low
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// Adds `factor * other` to a vector.
pub(super) fn axpy(to: &mut [f64], factor: f64, other: &[f64]) {
    for (t, w) in to.iter_mut().zip(other) {
        *t += factor * w;
    }
}

#[cfg(test)]
mod tests;
