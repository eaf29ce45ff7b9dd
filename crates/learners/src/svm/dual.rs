//! Dual coordinate descent (Hsieh et al., 2008, algorithm 3), LIBLINEAR's default solver.
//!
//! With Q_ij = y_i y_j x_i.x_j it minimizes 1/2 a'(Q + D)a - sum a over 0 <= a_i <= U and maintains
//! w = sum a_i y_i x_i. For the L2 loss D is 1/2C on the diagonal and U is infinite; for the L1
//! loss D is zero and U = C. For a row of weight c_i, c_i C replaces C. Rows are visited in a new
//! random order in each pass. Rows at a bound are removed from the active set (shrinking) until the
//! rest has converged.

use super::{SvmError, SvmFit, check};
use crate::rows::SparseVector;
use crate::{IterationState, SparseRows};
use outflank_runs::{Rng, RngExt};

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
    check(rows, c, tolerance)?;
    let (diagonal, upper) = match loss {
        HingeLoss::L2 => (0.5 / c, f64::INFINITY),
        HingeLoss::L1 => (0.0, c),
    };
    let bounds = |row: usize| {
        let weight = rows.weight(row);
        if weight == 1.0 { (diagonal, upper) } else { (diagonal / weight, upper * weight) }
    };
    let mut weights = vec![0.0f64; rows.columns()];
    let mut alpha = vec![0.0f64; rows.len()];
    let curvature: Vec<f64> = (0..rows.len())
        .map(|row| {
            let (_, values, _) = rows.row(row);
            let squares: f64 = values.iter().map(|&v| f64::from(v) * f64::from(v)).sum();
            squares + bounds(row).0
        })
        .collect();
    let groups: Vec<u32> = (0..rows.groups())
        .flat_map(|number| rows.group(number).rows().map(move |_| number as u32))
        .collect();
    let member_sign = rows.member_sign();
    let mut order: Vec<u32> = (0..rows.len() as u32).collect();
    let mut active = rows.len();
    let (mut highest_before, mut lowest_before) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut iteration, mut converged) = (0, false);
    while iteration < max_iterations {
        iteration += 1;
        let (mut highest, mut lowest) = (f64::NEG_INFINITY, f64::INFINITY);
        rng.shuffle(&mut order[..active]);
        let mut position = 0;
        while position < active {
            let row = order[position] as usize;
            let (group, sign) = (rows.group(groups[row] as usize), rows.sign(row));
            let (head, member) = (group.head(), group.member(row));
            let (diagonal, upper) = bounds(row);
            let old = alpha[row];
            let of_row = product(&weights, head) + member_sign * product(&weights, member);
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
            if projected.abs() > 1e-12 && curvature[row] > 0.0 {
                let new = (old - gradient / curvature[row]).clamp(0.0, upper);
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
        let range = highest - lowest;
        let proceed = on_iteration(IterationState {
            iteration,
            objective: f64::NAN,
            residual: range,
            weights: &weights,
        });
        if range <= tolerance {
            if active == rows.len() {
                converged = true;
                break;
            }
            // Convergence must hold for all rows, including those removed from the active set.
            active = rows.len();
            (highest_before, lowest_before) = (f64::INFINITY, f64::NEG_INFINITY);
        } else {
            highest_before = if highest <= 0.0 { f64::INFINITY } else { highest };
            lowest_before = if lowest >= 0.0 { f64::NEG_INFINITY } else { lowest };
        }
        if !proceed {
            break;
        }
    }
    let (objective, dual) = objectives(rows, loss, c, &weights, &alpha);
    Ok(SvmFit { weights, objective, gap: objective - dual, iterations: iteration, converged })
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
