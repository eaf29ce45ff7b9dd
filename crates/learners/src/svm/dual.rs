//! The dual by coordinate descent (Hsieh et al., 2008), which is what LIBLINEAR does with its
//! default settings.
//!
//! With Q_ij = y_i y_j x_i.x_j it minimises 1/2 a'(Q + D)a - sum a over 0 <= a_i <= U, where D is
//! 1/2C on the diagonal and U infinite for the squared loss, D zero and U = C for the plain one
//! (for a row that counts c_i times, c_i C takes the place of C), and keeps w = sum a_i y_i x_i.
//! Rows are visited in a new random order in each pass, and rows that sit firmly at a bound are
//! set aside until the rest has settled.

use super::{Fit, SvmError, check};
use crate::rows::Part;
use crate::{Rows, Seen};
use outflank_runs::{RngExt, Rng};

/// How a violated margin is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// In proportion.
    L1,
    /// By its square: LIBLINEAR's default.
    L2,
}

/// Solves the dual until the projected gradients lie within `tolerance` of each other, at most
/// `passes` passes. `watch` sees the pass, the largest violation and the weights, and may stop it.
pub fn solve_dual(
    rows: &Rows,
    loss: Loss,
    c: f64,
    tolerance: f64,
    passes: u32,
    rng: &mut Rng,
    mut watch: impl FnMut(Seen<'_>) -> bool,
) -> Result<Fit, SvmError> {
    check(rows, c, tolerance)?;
    let (once, most) = match loss {
        Loss::L2 => (0.5 / c, f64::INFINITY),
        Loss::L1 => (0.0, c),
    };
    let bounds = |row: usize| {
        let weight = rows.weight(row);
        if weight == 1.0 { (once, most) } else { (once / weight, most * weight) }
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
    let counts = rows.member_counts();
    let mut order: Vec<u32> = (0..rows.len() as u32).collect();
    let mut active = rows.len();
    let (mut highest_before, mut lowest_before) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut pass, mut settled) = (0, false);
    while pass < passes {
        pass += 1;
        let (mut highest, mut lowest) = (f64::NEG_INFINITY, f64::INFINITY);
        rng.shuffle(&mut order[..active]);
        let mut at = 0;
        while at < active {
            let row = order[at] as usize;
            let (group, sign) = (rows.group(groups[row] as usize), rows.sign(row));
            let (head, member) = (group.head(), group.member(row));
            let (diagonal, upper) = bounds(row);
            let old = alpha[row];
            let of_row = product(&weights, head) + counts * product(&weights, member);
            let gradient = sign * of_row - 1.0 + diagonal * old;
            let projected = if old == 0.0 {
                if gradient > highest_before {
                    active -= 1;
                    order.swap(at, active);
                    continue;
                }
                gradient.min(0.0)
            } else if old == upper {
                if gradient < lowest_before {
                    active -= 1;
                    order.swap(at, active);
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
                    weights[index as usize] += counts * step * f64::from(value);
                }
            }
            at += 1;
        }
        let spread = highest - lowest;
        let go_on = watch(Seen { step: pass, value: f64::NAN, left: spread, weights: &weights });
        if spread <= tolerance {
            if active == rows.len() {
                settled = true;
                break;
            }
            // What was set aside must be looked at once more before this counts as the end.
            active = rows.len();
            (highest_before, lowest_before) = (f64::INFINITY, f64::NEG_INFINITY);
        } else {
            highest_before = if highest <= 0.0 { f64::INFINITY } else { highest };
            lowest_before = if lowest >= 0.0 { f64::NEG_INFINITY } else { lowest };
        }
        if !go_on {
            break;
        }
    }
    let (objective, dual) = objectives(rows, loss, c, &weights, &alpha);
    Ok(Fit { weights, objective, gap: objective - dual, steps: pass, settled })
}

/// The weights change with every row, so they are not laid out twice as the primal's are.
#[inline]
fn product(weights: &[f64], part: Part<'_>) -> f64 {
    part.entries().map(|(index, value)| weights[index as usize] * f64::from(value)).sum()
}

fn objectives(rows: &Rows, loss: Loss, c: f64, weights: &[f64], alpha: &[f64]) -> (f64, f64) {
    let half_norm = 0.5 * weights.iter().map(|w| w * w).sum::<f64>();
    let mut charged = 0.0;
    for group in (0..rows.groups()).map(|number| rows.group(number)) {
        let of_head = product(weights, group.head());
        for row in group.rows() {
            let of_row = of_head + rows.member_counts() * product(weights, group.member(row));
            let short = (1.0 - rows.sign(row) * of_row).max(0.0);
            charged += rows.weight(row) * if loss == Loss::L2 { short * short } else { short };
        }
    }
    let squares = |row: usize, a: f64| match loss {
        Loss::L2 => 0.25 * a * a / (c * rows.weight(row)),
        Loss::L1 => 0.0,
    };
    let dual: f64 = alpha.iter().enumerate().map(|(row, &a)| a - squares(row, a)).sum();
    (half_norm + c * charged, dual - half_norm)
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_runs::rng;

    /// On random rows the gap between primal and dual closes, whichever loss.
    #[test]
    fn primal_and_dual_meet() {
        let mut draw = rng::stream(3, &["rows"]);
        let lists: Vec<_> = (0..300)
            .map(|_| {
                let entries = (0..20).filter(|_| draw.chance(0.4)).collect::<Vec<u32>>();
                let entries = entries.into_iter().map(|i| (i, draw.normal() as f32)).collect();
                (entries, if draw.chance(0.3) { -1 } else { 1 })
            })
            .collect();
        let rows = Rows::from_lists(20, &lists);
        for loss in [Loss::L1, Loss::L2] {
            let mut rng = rng::stream(1, &["svm"]);
            let fit = solve_dual(&rows, loss, 1.0, 1e-7, 20_000, &mut rng, |_| true).unwrap();
            assert!(fit.settled && fit.gap >= -1e-6, "{loss:?} {} {}", fit.gap, fit.steps);
            assert!(fit.gap < 1e-5 * fit.objective, "{loss:?} {} {}", fit.gap, fit.objective);
        }
    }

    #[test]
    fn nothing_to_learn_from_is_an_error() {
        let mut rng = rng::stream(1, &[]);
        let rows = Rows::from_lists(3, &[]);
        assert_eq!(
            solve_dual(&rows, Loss::L2, 1.0, 0.1, 10, &mut rng, |_| true).unwrap_err(),
            SvmError::NoRows
        );
    }
}
