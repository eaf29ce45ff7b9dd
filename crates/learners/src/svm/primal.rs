//! The primal by a Newton method for the squared loss (Keerthi and DeCoste, 2005; Lin, Weng and
//! Keerthi, 2008).
//!
//! At w let I be the rows whose margin is short, and c_i how many times row i counts. Then
//!
//! ```text
//! gradient   g = w - 2C sum_{i in I} c_i y_i (1 - y_i w.x_i) x_i
//! Hessian    H v = v + 2C sum_{i in I} c_i (x_i . v) x_i
//! ```
//!
//! Each step solves H d = -g roughly, by conjugate gradients scaled with what earlier steps
//! learned of H (`memory`) or with its diagonal, and
//! goes along d as far as the objective falls: it is a chain of parabolas there, and its lowest
//! point is found for the price of one more product with the rows. A trust region, which was here
//! before, comes to the same in as many steps where rows are many, and in hundreds where they are
//! few and most could be satisfied; LIBLINEAR, too, has left it for a search along the line. H is
//! at least the identity, so the optimum is at most |g|^2 / 2 below, which is the bound that
//! [`Fit::gap`] reports.
//!
//! Sums over rows are taken in a fixed number of blocks and added in their order, so the result
//! does not depend on the number of threads.

use super::memory::Memory;
use super::{Fit, SvmError, check};
use crate::{Rows, Seen};
use rayon::prelude::*;
use std::ops::Range;

/// Into how many blocks the rows are cut; more would cost memory, fewer would idle cores.
const BLOCKS: usize = 16;

/// A step that gains a larger share of the objective is not the last. Few rows in many columns
/// have a gradient that is small early, while there is still much to gain.
const ENOUGH_GAIN: f64 = 3.5e-5;

/// Solves until the gradient has shrunk to `tolerance` times what it was at zero and a step gains
/// little, at most `steps` Newton steps. `watch` sees the step, the objective, that ratio and the
/// weights, and may stop it.
pub fn solve_primal(
    rows: &Rows,
    c: f64,
    tolerance: f64,
    steps: u32,
    mut watch: impl FnMut(Seen<'_>) -> bool,
) -> Result<Fit, SvmError> {
    check(rows, c, tolerance)?;
    let problem = Problem { rows, c, blocks: blocks(rows.groups()) };
    let n = rows.columns();
    let mut weights = vec![0.0; n];
    let mut here = problem.look(&weights);
    let start = norm(&here.gradient);
    let mut memory = Memory::default();
    let (mut step, mut settled) = (0, start == 0.0);
    while !settled && step < steps {
        step += 1;
        let direction = problem.newton_direction(&here, &mut memory);
        let length = problem.best_length(&weights, &direction);
        let trial: Vec<f64> = weights.iter().zip(&direction).map(|(w, d)| w + length * d).collect();
        let there = problem.look(&trial);
        let gained = here.objective - there.objective;
        if gained > 0.0 {
            weights = trial;
            here = there;
        }
        let ratio = norm(&here.gradient) / start;
        let share = gained / here.objective;
        settled = (ratio <= tolerance && share <= ENOUGH_GAIN) || share <= 1e-13;
        let value = here.objective;
        if !watch(Seen { step, value, left: ratio, weights: &weights }) {
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

    /// Where the quadratic model of the objective is lowest, roughly.
    fn newton_direction(&self, look: &Look, memory: &mut Memory) -> Vec<f64> {
        /// Iterations end when the last, times their number, gained less than this share of all.
        const ENOUGH: f64 = 0.25;
        /// And at the latest here: the next step goes on with what was learned, from a better point.
        const MOST: usize = 30;
        let n = look.gradient.len();
        let mut direction = vec![0.0; n];
        let mut residual: Vec<f64> = look.gradient.iter().map(|g| -g).collect();
        let mut search = memory.solve(&residual, &look.diagonal);
        let mut along = dot(&search, &residual);
        let (mut products, mut gained) = (Vec::new(), 0.0);
        for iteration in 1..=MOST {
            let curved = self.curve(look, &search);
            let length = along / dot(&search, &curved);
            add(&mut direction, length, &search);
            add(&mut residual, -length, &curved);
            let gain = 0.5 * length * along;
            gained += gain;
            let z = memory.solve(&residual, &look.diagonal);
            let next = dot(&z, &residual);
            let mut towards = z;
            add(&mut towards, next / along, &search);
            products.push((std::mem::replace(&mut search, towards), curved));
            along = next;
            // Rounding may leave nothing to divide by.
            if iteration as f64 * gain <= ENOUGH * gained || along.is_nan() || along <= 0.0 {
                break;
            }
        }
        memory.learn(products);
        direction
    }

    /// How many times a direction lowers the objective most.
    fn best_length(&self, weights: &[f64], direction: &[f64]) -> f64 {
        let parts = self.rows.parts();
        // What is missing in each row's margin, how fast that shrinks, and how often it counts.
        let (from, along) = (parts.spread(weights), parts.spread(direction));
        let (from, along) = (&from[..], &along[..]);
        let counts = self.rows.member_counts();
        let margins = |number: usize| {
            let group = self.rows.group(number);
            let head = (group.head().dot(from), group.head().dot(along));
            group.rows().map(move |row| {
                let (member, sign) = (group.member(row), self.rows.sign(row));
                let missing = 1.0 - sign * (head.0 + counts * member.dot(from));
                let speed = sign * (head.1 + counts * member.dot(along));
                (missing, speed, self.rows.weight(row))
            })
        };
        let blocks: Vec<Vec<(f64, f64, f64)>> =
            self.blocks.par_iter().map(|block| block.clone().flat_map(margins).collect()).collect();
        let (wd, dd) = (dot(weights, direction), dot(direction, direction));
        // The slope grows with the length, so its zero stays between these two.
        let (mut low, mut high, mut length) = (0.0, f64::INFINITY, 1.0);
        for _ in 0..60 {
            let (mut slope, mut bend) = (wd + length * dd, dd);
            for block in &blocks {
                let (mut pulls, mut squares) = (0.0, 0.0);
                for &(missing, speed, weight) in block {
                    let short = missing - length * speed;
                    if short > 0.0 {
                        pulls += weight * (speed * short);
                        squares += weight * (speed * speed);
                    }
                }
                slope -= 2.0 * self.c * pulls;
                bend += 2.0 * self.c * squares;
            }
            if slope > 0.0 {
                high = length;
            } else {
                low = length;
            }
            let newton = length - slope / bend;
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

pub(super) fn add(to: &mut [f64], times: f64, what: &[f64]) {
    for (t, w) in to.iter_mut().zip(what) {
        *t += times * w;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Loss, solve_dual};
    use outflank_runs::{RngExt, rng};

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
            let primal = solve_primal(&rows, c, 1e-10, 500, |_| true).unwrap();
            let mut rng = rng::stream(1, &["svm"]);
            let dual = solve_dual(&rows, Loss::L2, c, 1e-8, 100_000, &mut rng, |_| true).unwrap();
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
        let fit = solve_primal(&rows, 1.0, 1e-12, 100, |_| true).unwrap();
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
        let primal = |rows: &Rows| solve_primal(rows, 0.7, 1e-11, 500, |_| true).unwrap();
        near(&primal(&weighted), &primal(&many));
        for loss in [Loss::L1, Loss::L2] {
            let dual = |rows: &Rows| {
                let mut rng = rng::stream(1, &["svm"]);
                solve_dual(rows, loss, 0.7, 1e-9, 100_000, &mut rng, |_| true).unwrap()
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
            pool.install(|| solve_primal(&rows, 1.0, 1e-4, 100, |_| true).unwrap().weights)
        };
        assert_eq!(with(1), with(2));
        assert_eq!(with(1), with(5));
    }
}
