//! The primal by a trust-region Newton method (Lin, Weng and Keerthi, 2008), for the squared loss.
//!
//! At w let I be the rows whose margin is short, and c_i how many times row i counts. Then
//!
//! ```text
//! gradient   g = w - 2C sum_{i in I} c_i y_i (1 - y_i w.x_i) x_i
//! Hessian    H v = v + 2C sum_{i in I} c_i (x_i . v) x_i
//! ```
//!
//! Each step minimises the quadratic model of the objective within a radius, by conjugate
//! gradients scaled with the diagonal of H; the radius grows where the model proves right and
//! shrinks where it does not. H is at least the identity, so the optimum is at most |g|^2 / 2
//! below, which is the bound that [`Fit::gap`] reports.
//!
//! Sums over rows are taken in a fixed number of blocks and added in their order, so the result
//! does not depend on the number of threads.

use super::{Fit, SvmError, check};
use crate::Rows;
use rayon::prelude::*;
use std::ops::Range;

/// Into how many blocks the rows are cut; more would cost memory, fewer would idle cores.
const BLOCKS: usize = 16;

/// Solves until the gradient has shrunk to `tolerance` times what it was at zero, at most `steps`
/// Newton steps. `watch` sees the step, the objective and that ratio, and may stop it.
pub fn solve_primal(
    rows: &Rows,
    c: f64,
    tolerance: f64,
    steps: u32,
    mut watch: impl FnMut(u32, f64, f64) -> bool,
) -> Result<Fit, SvmError> {
    check(rows, c, tolerance)?;
    let problem = Problem { rows, c, blocks: blocks(rows.groups()) };
    let n = rows.columns();
    let mut weights = vec![0.0; n];
    let mut here = problem.look(&weights);
    let start = norm(&here.gradient);
    let mut radius = start;
    let (mut step, mut settled) = (0, start == 0.0);
    while !settled && step < steps {
        step += 1;
        let (direction, residual, on_edge) = problem.newton_direction(&here, radius);
        let trial: Vec<f64> = weights.iter().zip(&direction).map(|(w, d)| w + d).collect();
        let there = problem.look(&trial);
        let slope = dot(&here.gradient, &direction);
        let predicted = -0.5 * (slope - dot(&direction, &residual));
        let actual = here.objective - there.objective;
        let length = norm(&direction);
        if step == 1 {
            radius = radius.min(length);
        }
        // How far along this direction a parabola through what was seen would go.
        let curve = there.objective - here.objective - slope;
        let reach = if curve <= 0.0 { 4.0 } else { (-0.5 * slope / curve).max(0.25) };
        radius = if actual < 1e-4 * predicted {
            (reach * length).min(0.5 * radius)
        } else if actual < 0.25 * predicted {
            (reach * length).clamp(0.25 * radius, 0.5 * radius)
        } else if actual < 0.75 * predicted {
            (reach * length).clamp(0.25 * radius, 4.0 * radius)
        } else if on_edge {
            4.0 * radius
        } else {
            (reach * length).clamp(radius, 4.0 * radius)
        };
        if actual > 1e-4 * predicted {
            weights = trial;
            here = there;
        }
        let ratio = norm(&here.gradient) / start;
        settled = ratio <= tolerance
            || (actual.abs() <= 1e-12 * here.objective && predicted <= 1e-12 * here.objective);
        if !watch(step, here.objective, ratio) {
            break;
        }
    }
    let gap = 0.5 * dot(&here.gradient, &here.gradient);
    Ok(Fit { weights, objective: here.objective, gap, steps: step, settled })
}

/// What there is to know at a point.
struct Look {
    objective: f64,
    gradient: Vec<f64>,
    /// For each block the groups that have rows whose margin is short, and which rows: a bit each.
    short: Vec<Vec<(u32, u64)>>,
    /// The diagonal of the Hessian.
    diagonal: Vec<f64>,
}

struct Problem<'a> {
    rows: &'a Rows,
    c: f64,
    /// Groups of rows.
    blocks: Vec<Range<usize>>,
}

fn blocks(groups: usize) -> Vec<Range<usize>> {
    (0..BLOCKS).map(|b| groups * b / BLOCKS..groups * (b + 1) / BLOCKS).collect()
}

/// What a block of rows adds to a [`Look`].
struct Part {
    charged: f64,
    /// To be gathered.
    gradient: Vec<f64>,
    diagonal: Vec<f64>,
    short: Vec<(u32, u64)>,
    /// The head of the group at hand; all zero in between.
    head: Vec<f64>,
}

impl Problem<'_> {
    fn look(&self, weights: &[f64]) -> Look {
        let n = weights.len();
        let spread = self.rows.parts().spread(weights);
        let parts: Vec<Part> = self
            .blocks
            .par_iter()
            .map(|block| {
                let mut part = Part {
                    charged: 0.0,
                    gradient: self.rows.parts().zeros(),
                    diagonal: vec![0.0; n],
                    short: Vec::new(),
                    head: vec![0.0; n],
                };
                block.clone().for_each(|group| self.look_at(group, &spread, &mut part));
                part
            })
            .collect();
        let mut gradient = weights.to_vec();
        let mut diagonal = vec![1.0; n];
        let mut objective = 0.5 * dot(weights, weights);
        let mut short = Vec::with_capacity(parts.len());
        for part in parts {
            objective += self.c * part.charged;
            self.rows.parts().gather(&mut gradient, -2.0 * self.c, &part.gradient);
            add(&mut diagonal, 2.0 * self.c, &part.diagonal);
            short.push(part.short);
        }
        Look { objective, gradient, short, diagonal }
    }

    /// Looks at a group of rows; the weights are laid out as products want them.
    fn look_at(&self, number: usize, weights: &[f64], part: &mut Part) {
        let (group, counts) = (self.rows.group(number), self.rows.member_counts());
        let head = group.head();
        let (of_head, mut pulls, mut times, mut mask) = (head.dot(weights), 0.0, 0.0, 0u64);
        for row in group.rows() {
            let (sign, weight) = (self.rows.sign(row), self.rows.weight(row));
            let member = group.member(row);
            let short = 1.0 - sign * (of_head + counts * member.dot(weights));
            if short <= 0.0 {
                continue;
            }
            if mask == 0 {
                head.entries().for_each(|(i, v)| part.head[i as usize] = f64::from(v));
            }
            mask |= 1 << (row - group.rows().start);
            part.charged += weight * (short * short);
            let pull = weight * (sign * short);
            pulls += pull;
            times += weight;
            member.add_to(&mut part.gradient, counts * pull);
            // Of the square of a sum, what the head alone does not give.
            for (index, value) in member.entries() {
                let (index, value) = (index as usize, counts * f64::from(value));
                part.diagonal[index] += weight * (value * (value + 2.0 * part.head[index]));
            }
        }
        if mask != 0 {
            part.short.push((number as u32, mask));
            head.add_to(&mut part.gradient, pulls);
            for (index, value) in head.entries() {
                part.diagonal[index as usize] += times * (f64::from(value) * f64::from(value));
                part.head[index as usize] = 0.0;
            }
        }
    }

    /// The Hessian times a vector.
    fn curve(&self, look: &Look, vector: &[f64]) -> Vec<f64> {
        let counts = self.rows.member_counts();
        let spread = self.rows.parts().spread(vector);
        let parts: Vec<Vec<f64>> = look
            .short
            .par_iter()
            .map(|short| {
                let mut part = self.rows.parts().zeros();
                for &(number, mut mask) in short {
                    let group = self.rows.group(number as usize);
                    let head = group.head();
                    let (of_head, mut together) = (head.dot(&spread), 0.0);
                    while mask != 0 {
                        let row = group.rows().start + mask.trailing_zeros() as usize;
                        mask &= mask - 1;
                        let member = group.member(row);
                        let product = of_head + counts * member.dot(&spread);
                        let along = self.rows.weight(row) * product;
                        together += along;
                        member.add_to(&mut part, counts * along);
                    }
                    head.add_to(&mut part, together);
                }
                part
            })
            .collect();
        let mut sum = vector.to_vec();
        parts.iter().for_each(|part| self.rows.parts().gather(&mut sum, 2.0 * self.c, part));
        sum
    }

    /// The step that minimises the quadratic model within the radius, what is left of the
    /// gradient of the model there, and whether the radius stopped it.
    fn newton_direction(&self, look: &Look, radius: f64) -> (Vec<f64>, Vec<f64>, bool) {
        const ENOUGH: f64 = 0.1;
        let n = look.gradient.len();
        let mut direction = vec![0.0; n];
        let mut residual: Vec<f64> = look.gradient.iter().map(|g| -g).collect();
        let scaled = |residual: &[f64]| -> Vec<f64> {
            residual.iter().zip(&look.diagonal).map(|(r, d)| r / d).collect()
        };
        let mut z = scaled(&residual);
        let mut search = z.clone();
        let mut along = dot(&z, &residual);
        let goal = ENOUGH * along.sqrt();
        for _ in 0..n.max(5) {
            if along.sqrt() <= goal {
                break;
            }
            let curved = self.curve(look, &search);
            let length = along / dot(&search, &curved);
            let before = direction.clone();
            add(&mut direction, length, &search);
            if norm(&direction) >= radius {
                // Go back and only as far as the edge.
                direction = before;
                let (dd, ds, ss) =
                    (dot(&direction, &direction), dot(&direction, &search), dot(&search, &search));
                let room = (radius * radius - dd).max(0.0);
                let root = (ds * ds + ss * room).sqrt();
                let length = if ds >= 0.0 { room / (ds + root) } else { (root - ds) / ss };
                add(&mut direction, length, &search);
                add(&mut residual, -length, &curved);
                return (direction, residual, true);
            }
            add(&mut residual, -length, &curved);
            z = scaled(&residual);
            let next = dot(&z, &residual);
            let beta = next / along;
            along = next;
            for (s, z) in search.iter_mut().zip(&z) {
                *s = *z + beta * *s;
            }
        }
        (direction, residual, false)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn add(to: &mut [f64], times: f64, what: &[f64]) {
    for (t, w) in to.iter_mut().zip(what) {
        *t += times * w;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Loss, solve_dual};
    use outflank_runs::{Draw, rng};

    fn random_rows(rows: usize, columns: u32, seed: u64) -> Rows {
        let mut draw = rng::stream(seed, &["rows"]);
        let lists: Vec<_> = (0..rows)
            .map(|_| {
                let entries = (0..columns).filter(|_| draw.chance(0.4)).collect::<Vec<u32>>();
                let entries = entries.into_iter().map(|i| (i, draw.normal() as f32)).collect();
                (entries, if draw.chance(0.3) { -1 } else { 1 })
            })
            .collect();
        Rows::from_lists(columns as usize, &lists)
    }

    #[test]
    fn both_solvers_find_one_optimum() {
        for (seed, c) in [(1, 1.0), (2, 0.01), (3, 100.0)] {
            let rows = random_rows(400, 25, seed);
            let primal = solve_primal(&rows, c, 1e-10, 500, |_, _, _| true).unwrap();
            let mut rng = rng::stream(1, &["svm"]);
            let dual =
                solve_dual(&rows, Loss::L2, c, 1e-8, 100_000, &mut rng, |_, _| true).unwrap();
            assert!(primal.settled && dual.settled);
            assert!((primal.objective - dual.objective).abs() < 1e-6 * dual.objective);
            for (a, b) in primal.weights.iter().zip(&dual.weights) {
                assert!((a - b).abs() < 1e-3, "{a} {b}");
            }
            assert!(primal.gap >= 0.0 && primal.gap < 1e-6 * primal.objective);
        }
    }

    /// Three rows in two columns, all margins short at the optimum: w1 = 2 (1 - w1) from the first
    /// row and w2 = 4 (1 - w2) from the two others.
    #[test]
    fn a_small_case_reaches_its_optimum() {
        let rows =
            Rows::from_lists(2, &[(vec![(0, 1.0)], 1), (vec![(1, 1.0)], 1), (vec![(1, -1.0)], -1)]);
        let fit = solve_primal(&rows, 1.0, 1e-12, 100, |_, _, _| true).unwrap();
        assert!((fit.weights[0] - 2.0 / 3.0).abs() < 1e-9, "{:?}", fit.weights);
        assert!((fit.weights[1] - 4.0 / 5.0).abs() < 1e-9, "{:?}", fit.weights);
    }

    /// A row that counts twice is the row twice, for both solvers and both losses.
    #[test]
    fn a_weight_of_two_is_the_row_twice() {
        let once = random_rows(200, 15, 5);
        let mut lists = Vec::new();
        let mut weights = Vec::new();
        for row in 0..once.len() {
            let (indices, values, sign) = once.row(row);
            let entries = indices.into_iter().zip(values).collect();
            weights.push([1.0, 2.0, 3.0][row % 3]);
            lists.extend(std::iter::repeat_n((entries, sign as i8), row % 3 + 1));
        }
        let many = Rows::from_lists(15, &lists);
        let weighted = once.clone().with_weights(weights).unwrap();
        assert_eq!((weighted.weight(0), weighted.weight(1), many.weight(1)), (1.0, 2.0, 1.0));
        let near = |a: &crate::Fit, b: &crate::Fit| {
            assert!(a.settled && b.settled);
            assert!((a.objective - b.objective).abs() < 1e-7 * b.objective);
            for (a, b) in a.weights.iter().zip(&b.weights) {
                assert!((a - b).abs() < 1e-4, "{a} {b}");
            }
        };
        let primal = |rows: &Rows| solve_primal(rows, 0.7, 1e-11, 500, |_, _, _| true).unwrap();
        near(&primal(&weighted), &primal(&many));
        for loss in [Loss::L1, Loss::L2] {
            let dual = |rows: &Rows| {
                let mut rng = rng::stream(1, &["svm"]);
                solve_dual(rows, loss, 0.7, 1e-9, 100_000, &mut rng, |_, _| true).unwrap()
            };
            let (a, b) = (dual(&weighted), dual(&many));
            assert!(a.gap.abs() < 1e-6 * a.objective, "{loss:?} {}", a.gap);
            near(&a, &b);
            if loss == Loss::L2 {
                near(&a, &primal(&weighted));
            }
        }
        // Ones are no different from none, to the last bit.
        let ones = once.clone().with_weights(vec![1.0; 200]).unwrap();
        assert_eq!(primal(&ones).weights, primal(&once).weights);
    }

    #[test]
    fn weights_that_make_no_sense_are_refused() {
        let rows = random_rows(2, 3, 1);
        for bad in [vec![1.0], vec![1.0, 0.0], vec![-1.0, 1.0], vec![f64::NAN, 1.0]] {
            assert!(rows.clone().with_weights(bad).is_none());
        }
        assert!(rows.with_weights(vec![1.0, f64::INFINITY]).is_none());
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let rows = random_rows(3000, 40, 9);
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| solve_primal(&rows, 1.0, 1e-4, 100, |_, _, _| true).unwrap().weights)
        };
        assert_eq!(with(1), with(2));
        assert_eq!(with(1), with(5));
    }
}
