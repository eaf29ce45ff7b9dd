//! Dual coordinate descent (Hsieh et al., 2008, algorithm 3), LIBLINEAR's default solver.
//!
//! With Q_ij = y_i y_j x_i.x_j it minimizes 1/2 a'(Q + D)a - sum a over 0 <= a_i <= U and maintains
//! w = sum a_i y_i x_i. For the L2 loss D is 1/2C on the diagonal and U is infinite; for the L1
//! loss D is zero and U = C. For a row of weight c_i, c_i C replaces C. Rows are visited in a new
//! random order in each epoch. Rows at a bound are removed from the active set (shrinking) until the
//! rest has converged.

use super::{SvmError, SvmFit, check};
use crate::rows::SparseVector;
use crate::training::encoding::{f64_bytes, f64_numbers_of, mismatch, u32_bytes, u32_numbers_of};
use crate::{IterationState, SparseRows};
use outflank_runs::{Rng, RngExt};
use std::borrow::Borrow;

/// The loss of a violated margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HingeLoss {
    /// Hinge loss: proportional to the violation.
    L1,
    /// Squared hinge loss, LIBLINEAR's default.
    L2,
}

/// Solves the dual until the range of projected gradients is at most `tolerance`, in at most
/// `max_iterations` epochs over the rows. `on_iteration` returns whether to continue.
pub fn solve_dual(
    rows: &SparseRows,
    loss: HingeLoss,
    c: f64,
    tolerance: f64,
    max_iterations: u32,
    rng: &mut Rng,
    mut on_iteration: impl FnMut(IterationState<'_>) -> bool,
) -> Result<SvmFit, SvmError> {
    let mut solver = DualSolver::new(rows, loss, c, tolerance, rng.clone())?;
    while !solver.converged && solver.iteration < max_iterations {
        solver.step();
        if !on_iteration(solver.progress()) {
            break;
        }
    }
    *rng = solver.rng.clone();
    Ok(solver.fit())
}

/// Dual coordinate descent, one epoch at a time.
pub(crate) struct DualSolver<R> {
    rows: R,
    loss: HingeLoss,
    c: f64,
    tolerance: f64,
    weights: Vec<f64>,
    alpha: Vec<f64>,
    curvature: Vec<f64>,
    /// The group of each row.
    groups: Vec<u32>,
    order: Vec<u32>,
    /// Number of rows in the active set, at the start of `order`.
    active: usize,
    highest_before: f64,
    lowest_before: f64,
    iteration: u32,
    residual: f64,
    converged: bool,
    /// The generator before the first epoch, and now.
    first_rng: Rng,
    rng: Rng,
    /// The size of the active set at the start of each epoch.
    shuffled: Vec<u32>,
}

/// The penalty on the diagonal and the upper bound of a dual variable.
fn bounds(loss: HingeLoss, c: f64, weight: f64) -> (f64, f64) {
    let (diagonal, upper) = match loss {
        HingeLoss::L2 => (0.5 / c, f64::INFINITY),
        HingeLoss::L1 => (0.0, c),
    };
    if weight == 1.0 { (diagonal, upper) } else { (diagonal / weight, upper * weight) }
}

impl<R: Borrow<SparseRows>> DualSolver<R> {
    /// Starts at zero; `rng` draws the orders of the rows.
    pub fn new(
        rows: R,
        loss: HingeLoss,
        c: f64,
        tolerance: f64,
        rng: Rng,
    ) -> Result<DualSolver<R>, SvmError> {
        let all = rows.borrow();
        check(all, c, tolerance)?;
        let curvature: Vec<f64> = (0..all.len())
            .map(|row| {
                let (_, values, _) = all.row(row);
                let squares: f64 = values.iter().map(|&v| f64::from(v) * f64::from(v)).sum();
                squares + bounds(loss, c, all.weight(row)).0
            })
            .collect();
        let groups: Vec<u32> = (0..all.groups())
            .flat_map(|number| all.group(number).rows().map(move |_| number as u32))
            .collect();
        let (count, columns) = (all.len(), all.columns());
        Ok(DualSolver {
            rows,
            loss,
            c,
            tolerance,
            weights: vec![0.0; columns],
            alpha: vec![0.0; count],
            curvature,
            groups,
            order: (0..count as u32).collect(),
            active: count,
            highest_before: f64::INFINITY,
            lowest_before: f64::NEG_INFINITY,
            iteration: 0,
            residual: f64::NAN,
            converged: false,
            first_rng: rng.clone(),
            rng,
            shuffled: Vec::new(),
        })
    }

    /// Performs one epoch over the active rows.
    pub fn step(&mut self) {
        let rows = self.rows.borrow();
        let member_sign = rows.member_sign();
        let (weights, alpha, order) = (&mut self.weights, &mut self.alpha, &mut self.order);
        self.iteration += 1;
        self.shuffled.push(self.active as u32);
        let (mut highest, mut lowest) = (f64::NEG_INFINITY, f64::INFINITY);
        let (highest_before, lowest_before) = (self.highest_before, self.lowest_before);
        let mut active = self.active;
        self.rng.shuffle(&mut order[..active]);
        let mut position = 0;
        while position < active {
            let row = order[position] as usize;
            let (group, sign) = (rows.group(self.groups[row] as usize), rows.sign(row));
            let (head, member) = (group.head(), group.member(row));
            let (diagonal, upper) = bounds(self.loss, self.c, rows.weight(row));
            let old = alpha[row];
            let of_row = product(weights, head) + member_sign * product(weights, member);
            let gradient = sign * of_row - 1.0 + diagonal * old;
            let projected = if old == 0.0 {
                if gradient > highest_before {
                    active -= 1;
                    order.swap(position, active);
                    continue;
                }
                gradient.min(0.0)
            } else if old == upper {
                if gradient < lowest_before {
                    active -= 1;
                    order.swap(position, active);
                    continue;
                }
                gradient.max(0.0)
            } else {
                gradient
            };
            highest = highest.max(projected);
            lowest = lowest.min(projected);
            if projected.abs() > 1e-12 && self.curvature[row] > 0.0 {
                let new = (old - gradient / self.curvature[row]).clamp(0.0, upper);
                alpha[row] = new;
                let step = (new - old) * sign;
                for (index, value) in head.entries() {
                    weights[index as usize] += step * f64::from(value);
                }
                for (index, value) in member.entries() {
                    weights[index as usize] += member_sign * step * f64::from(value);
                }
            }
            position += 1;
        }
        self.active = active;
        self.residual = highest - lowest;
        if self.residual <= self.tolerance {
            if active == rows.len() {
                self.converged = true;
                return;
            }
            // Convergence must hold for all rows, including those removed from the active set.
            self.active = rows.len();
            (self.highest_before, self.lowest_before) = (f64::INFINITY, f64::NEG_INFINITY);
        } else {
            self.highest_before = if highest <= 0.0 { f64::INFINITY } else { highest };
            self.lowest_before = if lowest >= 0.0 { f64::NEG_INFINITY } else { lowest };
        }
    }

    pub fn converged(&self) -> bool {
        self.converged
    }

    pub fn progress(&self) -> IterationState<'_> {
        IterationState {
            iteration: self.iteration,
            objective: f64::NAN,
            residual: self.residual,
            weights: &self.weights,
        }
    }

    pub fn fit(&self) -> SvmFit {
        let (objective, dual) =
            objectives(self.rows.borrow(), self.loss, self.c, &self.weights, &self.alpha);
        SvmFit {
            weights: self.weights.clone(),
            objective,
            gap: objective - dual,
            iterations: self.iteration,
            converged: self.converged,
        }
    }

    pub fn state(&self) -> Vec<Vec<u8>> {
        let numbers = [self.highest_before, self.lowest_before, self.residual];
        vec![
            u32_bytes(&[self.iteration, self.active as u32, u32::from(self.converged)]),
            f64_bytes(&numbers),
            f64_bytes(&self.weights),
            f64_bytes(&self.alpha),
            u32_bytes(&self.order),
            u32_bytes(&self.shuffled),
        ]
    }

    pub fn restore(&mut self, sections: &[Vec<u8>]) -> Result<(), String> {
        let [header, numbers, weights, alpha, order, shuffled] = sections else {
            return Err(mismatch());
        };
        let header = u32_numbers_of(header, 3)?;
        let (iteration, active) = (header[0], header[1] as usize);
        let numbers = f64_numbers_of(numbers, 3)?;
        let rows = self.order.len();
        let order = u32_numbers_of(order, rows)?;
        let shuffled = u32_numbers_of(shuffled, iteration as usize)?;
        if active > rows
            || order.iter().any(|&row| row as usize >= rows)
            || shuffled.iter().any(|&active| active as usize > rows)
        {
            return Err(mismatch());
        }
        self.weights = f64_numbers_of(weights, self.weights.len())?;
        self.alpha = f64_numbers_of(alpha, rows)?;
        (self.order, self.active, self.iteration) = (order, active, iteration);
        self.converged = header[2] == 1;
        (self.highest_before, self.lowest_before) = (numbers[0], numbers[1]);
        self.residual = numbers[2];
        // The generator is advanced by the draws of the earlier epochs.
        self.rng = self.first_rng.clone();
        for &active in &shuffled {
            for last in (1..active).rev() {
                self.rng.below(last + 1);
            }
        }
        self.shuffled = shuffled;
        Ok(())
    }
}

/// Returns the product of the weights and a sparse vector. The weights change with every row, so
/// the mirrored layout of the primal solver would be slower.
#[inline]
fn product(weights: &[f64], vector: SparseVector<'_>) -> f64 {
    vector.entries().map(|(index, value)| weights[index as usize] * f64::from(value)).sum()
}

fn objectives(
    rows: &SparseRows,
    loss: HingeLoss,
    c: f64,
    weights: &[f64],
    alpha: &[f64],
) -> (f64, f64) {
    let half_norm = 0.5 * weights.iter().map(|w| w * w).sum::<f64>();
    let mut loss_sum = 0.0;
    for group in (0..rows.groups()).map(|number| rows.group(number)) {
        let of_head = product(weights, group.head());
        for row in group.rows() {
            let of_row = of_head + rows.member_sign() * product(weights, group.member(row));
            let violation = (1.0 - rows.sign(row) * of_row).max(0.0);
            loss_sum += rows.weight(row)
                * if loss == HingeLoss::L2 { violation * violation } else { violation };
        }
    }
    let penalty = |row: usize, a: f64| match loss {
        HingeLoss::L2 => 0.25 * a * a / (c * rows.weight(row)),
        HingeLoss::L1 => 0.0,
    };
    let dual: f64 = alpha.iter().enumerate().map(|(row, &a)| a - penalty(row, a)).sum();
    (half_norm + c * loss_sum, dual - half_norm)
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_runs::rng;

    /// The duality gap closes on random rows for either loss.
    #[test]
    fn the_duality_gap_closes() {
        let mut rng = rng::stream(3, &["rows"]);
        let lists: Vec<_> = (0..300)
            .map(|_| {
                let entries = (0..20).filter(|_| rng.chance(0.4)).collect::<Vec<u32>>();
                let entries = entries.into_iter().map(|i| (i, rng.normal() as f32)).collect();
                (entries, if rng.chance(0.3) { -1 } else { 1 })
            })
            .collect();
        let rows = SparseRows::from_lists(20, &lists);
        for loss in [HingeLoss::L1, HingeLoss::L2] {
            let mut rng = rng::stream(1, &["svm"]);
            let fit = solve_dual(&rows, loss, 1.0, 1e-7, 20_000, &mut rng, |_| true).unwrap();
            assert!(fit.converged && fit.gap >= -1e-6, "{loss:?} {} {}", fit.gap, fit.iterations);
            assert!(fit.gap < 1e-5 * fit.objective, "{loss:?} {} {}", fit.gap, fit.objective);
        }
    }

    #[test]
    fn empty_data_is_an_error() {
        let mut rng = rng::stream(1, &[]);
        let rows = SparseRows::from_lists(3, &[]);
        assert_eq!(
            solve_dual(&rows, HingeLoss::L2, 1.0, 0.1, 10, &mut rng, |_| true).unwrap_err(),
            SvmError::NoRows
        );
    }
}
