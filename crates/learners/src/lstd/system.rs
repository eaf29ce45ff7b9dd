//! The matrix A and the vector b of Algorithm 1, summed in the cheapest order.
//!
//! For a trajectory phi_1 ... phi_T with outcome r, phi_{T+1} being zero, the algorithm adds
//!
//! ```text
//! A += sum_t z_t (phi_t - phi_{t+1})^T      b += r z_T      z_t = lambda z_{t-1} + phi_t
//! ```
//!
//! The trace z soon has many entries. Collected by phi_k instead, the same sums are
//!
//! ```text
//! A += sum_k phi_k s_k^T                    b += sum_k phi_k r lambda^(T-k)
//! s_k = phi_k - (1 - lambda) u_k            u_k = phi_{k+1} + lambda u_{k+1},   u_T = 0
//! ```
//!
//! so that row i of A is a sum of the s_k of those boards that have feature i. Rows are
//! independent of each other: each is summed by one thread, in the order of the games, in a piece
//! of memory that fits into a core's cache. The result depends neither on the number of threads
//! nor on how the games are cut into batches.
//!
//! For any vector v with phi_k . v not all zero, v^T A v > 0: a sequence has a smaller product
//! with itself shifted than with itself, and the weights of the shifts add up to at most 1. And
//! where all phi_k . v are zero, so are A v, v^T A and v . b. Therefore A + ridge I is regular for
//! every positive ridge, and its solution has no part in the directions that the games do not
//! show; for a small ridge it is close to the shortest solution, which a pseudo-inverse gives.

use super::trajectory::{Trajectory, Vectors};
use rayon::prelude::*;

/// A and b.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct System {
    size: usize,
    /// The rows one behind the other.
    matrix: Vec<f64>,
    right: Vec<f64>,
}

impl System {
    /// All zero.
    pub(super) fn new(size: usize) -> System {
        System { size, matrix: vec![0.0; size * size], right: vec![0.0; size] }
    }

    /// A small one, given by its rows.
    #[cfg(test)]
    pub(super) fn of(matrix: &[f64], right: &[f64]) -> System {
        System { size: right.len(), matrix: matrix.to_vec(), right: right.to_vec() }
    }

    /// How many rows and columns there are.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// The rows of A one behind the other.
    pub(super) fn matrix(&self) -> &[f64] {
        &self.matrix
    }

    /// The vector b.
    pub(super) fn right(&self) -> &[f64] {
        &self.right
    }

    /// The mean of the diagonal of A.
    pub(super) fn mean_diagonal(&self) -> f64 {
        let diagonal = self.matrix.iter().step_by(self.size + 1);
        diagonal.sum::<f64>() / self.size.max(1) as f64
    }

    /// Adds what trajectories contribute.
    pub(super) fn add(&mut self, batch: &[Trajectory], lambda: f64) {
        let tails: Vec<Tails> = batch.par_iter().map(|one| Tails::new(one, lambda)).collect();
        let uses = Uses::new(self.size, batch);
        let rows = self.matrix.par_chunks_mut(self.size.max(1));
        rows.zip(&mut self.right).enumerate().for_each(|(row, (sums, right))| {
            for used in uses.of(row) {
                let tails = &tails[used.trajectory as usize];
                let (columns, values, reward) = tails.of(used.state as usize);
                *right += used.value * reward;
                for (&column, &value) in columns.iter().zip(values) {
                    sums[column as usize] += used.value * value;
                }
            }
        });
    }
}

/// The s_k of a trajectory, and r lambda^(T-k), the last first.
struct Tails {
    vectors: Vectors,
    returns: Vec<f64>,
}

impl Tails {
    fn new(trajectory: &Trajectory, lambda: f64) -> Tails {
        let states = &trajectory.states;
        let mut tails =
            Tails { vectors: Vectors::default(), returns: Vec::with_capacity(states.len()) };
        let (mut future, mut reward) = (Vectors::default(), trajectory.reward);
        future.end();
        for k in (0..states.len()).rev() {
            add(&mut tails.vectors, states.get(k), future.get(0), -(1.0 - lambda));
            let mut next = Vectors::default();
            add(&mut next, states.get(k), future.get(0), lambda);
            future = next;
            tails.returns.push(reward);
            reward *= lambda;
        }
        tails
    }

    /// What belongs to a state.
    fn of(&self, state: usize) -> (&[u32], &[f64], f64) {
        let place = self.returns.len() - 1 - state;
        let (columns, values) = self.vectors.get(place);
        (columns, values, self.returns[place])
    }
}

/// Puts the vector `a + times * b` behind others.
fn add(to: &mut Vectors, a: (&[u32], &[f64]), b: (&[u32], &[f64]), times: f64) {
    let (mut i, mut j) = (0, 0);
    loop {
        match (a.0.get(i), b.0.get(j)) {
            (Some(one), Some(other)) if one == other => {
                to.enter(*one, a.1[i] + times * b.1[j]);
                (i, j) = (i + 1, j + 1);
            }
            (Some(one), other) if other.is_none_or(|other| one < other) => {
                to.enter(*one, a.1[i]);
                i += 1;
            }
            (_, Some(other)) => {
                to.enter(*other, times * b.1[j]);
                j += 1;
            }
            _ => break,
        }
    }
    to.end();
}

/// Which states have a feature, and how much of it.
#[derive(Clone, Copy, Default)]
struct Use {
    trajectory: u32,
    state: u32,
    value: f64,
}

/// The uses of all features, those of one feature in the order of the trajectories.
struct Uses {
    starts: Vec<usize>,
    uses: Vec<Use>,
}

impl Uses {
    fn new(features: usize, batch: &[Trajectory]) -> Uses {
        let mut starts = vec![0usize; features + 1];
        for &column in batch.iter().flat_map(|one| one.states.columns()) {
            starts[column as usize + 1] += 1;
        }
        for feature in 0..features {
            starts[feature + 1] += starts[feature];
        }
        let mut uses = vec![Use::default(); starts[features]];
        let mut next = starts.clone();
        for (trajectory, one) in batch.iter().enumerate() {
            for state in 0..one.states.len() {
                let (columns, values) = one.states.get(state);
                for (&column, &value) in columns.iter().zip(values) {
                    let place = &mut next[column as usize];
                    uses[*place] =
                        Use { trajectory: trajectory as u32, state: state as u32, value };
                    *place += 1;
                }
            }
        }
        Uses { starts, uses }
    }

    fn of(&self, feature: usize) -> &[Use] {
        &self.uses[self.starts[feature]..self.starts[feature + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::super::solve::solve;
    use super::*;
    use outflank_runs::{RngExt, rng};

    const LAMBDAS: [f64; 5] = [0.0, 0.3, 0.9, 0.999, 1.0];

    fn trajectory(states: &[Vec<(u32, f64)>], reward: f64) -> Trajectory {
        let mut vectors = Vectors::default();
        states.iter().for_each(|state| vectors.push(&mut state.clone()));
        Trajectory { states: vectors, reward }
    }

    /// Trajectories with repeated, cancelling and missing entries, some of them empty.
    fn random_trajectories(columns: u32, count: usize, seed: u64) -> Vec<Trajectory> {
        let mut rng = rng::stream(seed, &["trajectories"]);
        (0..count)
            .map(|_| {
                let states: Vec<Vec<(u32, f64)>> = (0..rng.below(12))
                    .map(|_| {
                        let entry = |rng: &mut rng::Rng| {
                            (rng.below(columns), f64::from(rng.below(5)) - 1.0)
                        };
                        (0..rng.below(9)).map(|_| entry(&mut rng)).collect()
                    })
                    .collect();
                trajectory(&states, f64::from(rng.below(3)) - 1.0)
            })
            .collect()
    }

    fn dense(columns: usize, vector: (&[u32], &[f64])) -> Vec<f64> {
        let mut all = vec![0.0; columns];
        for (&column, &value) in vector.0.iter().zip(vector.1) {
            all[column as usize] += value;
        }
        all
    }

    /// Algorithm 1 as it is printed, but for the last board in its terminal line.
    fn as_printed(columns: usize, batch: &[Trajectory], lambda: f64) -> System {
        let mut system = System::new(columns);
        for one in batch {
            let (mut z, mut phi) = (vec![0.0; columns], vec![0.0; columns]);
            let mut outer = |z: &[f64], difference: &[f64]| {
                for (i, z) in z.iter().enumerate() {
                    for (j, d) in difference.iter().enumerate() {
                        system.matrix[i * columns + j] += z * d;
                    }
                }
            };
            for state in 0..one.states.len() {
                let old = phi;
                phi = dense(columns, one.states.get(state));
                let difference: Vec<f64> = old.iter().zip(&phi).map(|(o, p)| o - p).collect();
                outer(&z, &difference);
                z.iter_mut().zip(&phi).for_each(|(z, p)| *z = lambda * *z + p);
            }
            outer(&z, &phi);
            system.right.iter_mut().zip(&z).for_each(|(b, z)| *b += one.reward * z);
        }
        system
    }

    fn summed(columns: usize, batch: &[Trajectory], lambda: f64) -> System {
        let mut system = System::new(columns);
        system.add(batch, lambda);
        system
    }

    #[test]
    fn the_quick_sum_is_algorithm_1() {
        for (seed, lambda) in LAMBDAS.into_iter().enumerate() {
            let batch = random_trajectories(17, 60, seed as u64);
            let (quick, slow) = (summed(17, &batch, lambda), as_printed(17, &batch, lambda));
            for (a, b) in quick.matrix.iter().zip(&slow.matrix) {
                assert!((a - b).abs() < 1e-10, "{lambda} {a} {b}");
            }
            for (a, b) in quick.right.iter().zip(&slow.right) {
                assert!((a - b).abs() < 1e-10, "{lambda} {a} {b}");
            }
        }
    }

    #[test]
    fn batches_change_no_bit() {
        let batch = random_trajectories(17, 60, 1);
        let whole = summed(17, &batch, 0.9);
        let mut parts = System::new(17);
        batch.chunks(7).for_each(|part| parts.add(part, 0.9));
        assert_eq!(whole, parts);
    }

    #[test]
    fn the_matrix_is_positive_in_every_direction_that_is_seen() {
        let mut rng = rng::stream(5, &["directions"]);
        for lambda in LAMBDAS {
            let batch = random_trajectories(9, 40, 8);
            let system = summed(9, &batch, lambda);
            for _ in 0..200 {
                let v: Vec<f64> = (0..9).map(|_| rng.normal()).collect();
                let product = |row: &[f64]| row.iter().zip(&v).map(|(a, b)| a * b).sum::<f64>();
                let form: f64 = system.matrix.chunks(9).zip(&v).map(|(r, v)| v * product(r)).sum();
                assert!(form > 0.0, "{lambda} {form}");
            }
        }
    }

    /// Sutton and Barto, example 6.4: eight episodes over two states, of which one goes from A to
    /// B and ends with 0, six begin in B and end with 1, and one begins in B and ends with 0.
    /// One-step differences say that A is worth 3/4, the outcomes alone that it is worth 0.
    #[test]
    fn the_predictor_of_sutton_and_barto() {
        let episode = |states: &[u32], reward| {
            trajectory(&states.iter().map(|&s| vec![(s, 1.0)]).collect::<Vec<_>>(), reward)
        };
        let mut batch = vec![episode(&[0, 1], 0.0), episode(&[1], 0.0)];
        batch.extend((0..6).map(|_| episode(&[1], 1.0)));
        for lambda in LAMBDAS {
            let weights = solve(&summed(2, &batch, lambda), 1e-12).unwrap().weights;
            assert!((weights[0] - 0.75 * (1.0 - lambda)).abs() < 1e-9, "{lambda} {weights:?}");
            assert!((weights[1] - 0.75).abs() < 1e-9, "{lambda} {weights:?}");
        }
    }

    /// A walk between 0 and 10 by equal chances, +1 at the top and -1 at the bottom: a place is
    /// worth its height over the middle, in fifths. As in Boyan's chain, places between the
    /// corner points 1, 5 and 9 are mixtures of their features.
    #[test]
    fn a_walk_between_corner_points() {
        let mut rng = rng::stream(3, &["walk"]);
        let features = |place: i32| -> Vec<(u32, f64)> {
            let (corner, rest) = (((place - 1) / 4) as u32, f64::from((place - 1) % 4) / 4.0);
            if rest == 0.0 {
                return vec![(corner, 1.0)];
            }
            vec![(corner, 1.0 - rest), (corner + 1, rest)]
        };
        let batch: Vec<Trajectory> = (0..4000)
            .map(|_| {
                let (mut place, mut states) = (5, Vec::new());
                while (1..=9).contains(&place) {
                    states.push(features(place));
                    place += if rng.chance(0.5) { 1 } else { -1 };
                }
                trajectory(&states, if place == 10 { 1.0 } else { -1.0 })
            })
            .collect();
        for lambda in LAMBDAS {
            let weights = solve(&summed(3, &batch, lambda), 1e-9).unwrap().weights;
            for (weight, worth) in weights.iter().zip([-0.8, 0.0, 0.8]) {
                assert!((weight - worth).abs() < 0.1, "{lambda} {weights:?}");
            }
        }
    }
}
