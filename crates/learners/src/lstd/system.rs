//! The matrix A and the vector b of Algorithm 1 (Runarsson & Lucas, 2014).
//!
//! For a trajectory phi_1 ... phi_T with outcome r and phi_{T+1} = 0, the algorithm adds
//!
//! ```text
//! A += sum_t z_t (phi_t - phi_{t+1})^T      b += r z_T      z_t = lambda z_{t-1} + phi_t
//! ```
//!
//! The trace z soon has many nonzero entries. Regrouped by phi_k, the same sums are
//!
//! ```text
//! A += sum_k phi_k s_k^T                    b += sum_k phi_k r lambda^(T-k)
//! s_k = phi_k - (1 - lambda) u_k            u_k = phi_{k+1} + lambda u_{k+1},   u_T = 0
//! ```
//!
//! Row i of A is then the sum of the s_k of the states that have feature i. Each row is summed by
//! one thread in the order of the games, in memory that fits into a core's cache. The result
//! depends neither on the number of threads nor on the batches.
//!
//! For any vector v with phi_k . v not all zero, v^T A v > 0: the autocorrelation of a sequence is
//! largest at lag 0, and the weights of the lags sum to at most 1. If all phi_k . v are zero, so
//! are A v, v^T A and v . b. Therefore A + ridge I is regular for every positive ridge, and its
//! solution is zero in directions that do not occur in the games; for a small ridge it is close to
//! the minimum-norm solution of a pseudo-inverse.

use super::trajectory::{FeatureVectors, Trajectory};
use rayon::prelude::*;

/// The matrix A and the vector b.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct System {
    size: usize,
    /// Row-major.
    matrix: Vec<f64>,
    rhs: Vec<f64>,
}

impl System {
    /// Creates a zero system.
    pub(super) fn new(size: usize) -> System {
        System { size, matrix: vec![0.0; size * size], rhs: vec![0.0; size] }
    }

    /// Creates a system from its rows.
    #[cfg(test)]
    pub(super) fn of(matrix: &[f64], rhs: &[f64]) -> System {
        System { size: rhs.len(), matrix: matrix.to_vec(), rhs: rhs.to_vec() }
    }

    /// The number of rows and columns.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// The matrix A, row-major.
    pub(super) fn matrix(&self) -> &[f64] {
        &self.matrix
    }

    /// The vector b.
    pub(super) fn rhs(&self) -> &[f64] {
        &self.rhs
    }

    /// Returns the mean of the diagonal of A.
    pub(super) fn mean_diagonal(&self) -> f64 {
        let diagonal = self.matrix.iter().step_by(self.size + 1);
        diagonal.sum::<f64>() / self.size.max(1) as f64
    }

    /// Adds the contributions of trajectories.
    pub(super) fn add(&mut self, batch: &[Trajectory], lambda: f64) {
        let sums_of: Vec<StateSums> =
            batch.par_iter().map(|one| StateSums::new(one, lambda)).collect();
        let occurrences = Occurrences::new(self.size, batch);
        let rows = self.matrix.par_chunks_mut(self.size.max(1));
        rows.zip(&mut self.rhs).enumerate().for_each(|(row, (sums, rhs))| {
            for occurrence in occurrences.of(row) {
                let sums_of = &sums_of[occurrence.trajectory as usize];
                let (columns, values, reward) = sums_of.of(occurrence.state as usize);
                *rhs += occurrence.value * reward;
                for (&column, &value) in columns.iter().zip(values) {
                    sums[column as usize] += occurrence.value * value;
                }
            }
        });
    }
}

/// The vectors s_k and the numbers r lambda^(T-k) of a trajectory, in reverse order.
struct StateSums {
    vectors: FeatureVectors,
    returns: Vec<f64>,
}

impl StateSums {
    fn new(trajectory: &Trajectory, lambda: f64) -> StateSums {
        let states = &trajectory.states;
        let mut sums_of = StateSums {
            vectors: FeatureVectors::default(),
            returns: Vec::with_capacity(states.len()),
        };
        let (mut future, mut reward) = (FeatureVectors::default(), trajectory.reward);
        future.finish();
        for k in (0..states.len()).rev() {
            add(&mut sums_of.vectors, states.get(k), future.get(0), -(1.0 - lambda));
            let mut next = FeatureVectors::default();
            add(&mut next, states.get(k), future.get(0), lambda);
            future = next;
            sums_of.returns.push(reward);
            reward *= lambda;
        }
        sums_of
    }

    /// Returns s_k as columns and values, and r lambda^(T-k), for state k.
    fn of(&self, state: usize) -> (&[u32], &[f64], f64) {
        let index = self.returns.len() - 1 - state;
        let (columns, values) = self.vectors.get(index);
        (columns, values, self.returns[index])
    }
}

/// Appends the vector `a + factor * b`.
fn add(to: &mut FeatureVectors, a: (&[u32], &[f64]), b: (&[u32], &[f64]), factor: f64) {
    let (mut i, mut j) = (0, 0);
    loop {
        match (a.0.get(i), b.0.get(j)) {
            (Some(one), Some(other)) if one == other => {
                to.push_entry(*one, a.1[i] + factor * b.1[j]);
                (i, j) = (i + 1, j + 1);
            }
            (Some(one), other) if other.is_none_or(|other| one < other) => {
                to.push_entry(*one, a.1[i]);
                i += 1;
            }
            (_, Some(other)) => {
                to.push_entry(*other, factor * b.1[j]);
                j += 1;
            }
            _ => break,
        }
    }
    to.finish();
}

/// An occurrence of a feature in a state.
#[derive(Clone, Copy, Default)]
struct Occurrence {
    trajectory: u32,
    state: u32,
    value: f64,
}

/// The occurrences of all features, grouped by feature in the order of the trajectories.
struct Occurrences {
    starts: Vec<usize>,
    occurrences: Vec<Occurrence>,
}

impl Occurrences {
    fn new(features: usize, batch: &[Trajectory]) -> Occurrences {
        let mut starts = vec![0usize; features + 1];
        for &column in batch.iter().flat_map(|one| one.states.columns()) {
            starts[column as usize + 1] += 1;
        }
        for feature in 0..features {
            starts[feature + 1] += starts[feature];
        }
        let mut occurrences = vec![Occurrence::default(); starts[features]];
        let mut next = starts.clone();
        for (trajectory, one) in batch.iter().enumerate() {
            for state in 0..one.states.len() {
                let (columns, values) = one.states.get(state);
                for (&column, &value) in columns.iter().zip(values) {
                    let index = &mut next[column as usize];
                    occurrences[*index] =
                        Occurrence { trajectory: trajectory as u32, state: state as u32, value };
                    *index += 1;
                }
            }
        }
        Occurrences { starts, occurrences }
    }

    fn of(&self, feature: usize) -> &[Occurrence] {
        &self.occurrences[self.starts[feature]..self.starts[feature + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::super::solve::solve;
    use super::*;
    use outflank_runs::{RngExt, rng};

    const LAMBDAS: [f64; 5] = [0.0, 0.3, 0.9, 0.999, 1.0];

    fn trajectory(states: &[Vec<(u32, f64)>], reward: f64) -> Trajectory {
        let mut vectors = FeatureVectors::default();
        states.iter().for_each(|state| vectors.push(&mut state.clone()));
        Trajectory { states: vectors, reward }
    }

    /// Trajectories with repeated, canceling and missing entries, some of them empty.
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

    /// Algorithm 1 as published, except for the last state in its terminal line.
    fn algorithm_1(columns: usize, batch: &[Trajectory], lambda: f64) -> System {
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
            system.rhs.iter_mut().zip(&z).for_each(|(b, z)| *b += one.reward * z);
        }
        system
    }

    fn summed(columns: usize, batch: &[Trajectory], lambda: f64) -> System {
        let mut system = System::new(columns);
        system.add(batch, lambda);
        system
    }

    #[test]
    fn the_sums_equal_algorithm_1() {
        for (seed, lambda) in LAMBDAS.into_iter().enumerate() {
            let batch = random_trajectories(17, 60, seed as u64);
            let (quick, slow) = (summed(17, &batch, lambda), algorithm_1(17, &batch, lambda));
            for (a, b) in quick.matrix.iter().zip(&slow.matrix) {
                assert!((a - b).abs() < 1e-10, "{lambda} {a} {b}");
            }
            for (a, b) in quick.rhs.iter().zip(&slow.rhs) {
                assert!((a - b).abs() < 1e-10, "{lambda} {a} {b}");
            }
        }
    }

    #[test]
    fn results_do_not_depend_on_batches() {
        let batch = random_trajectories(17, 60, 1);
        let whole = summed(17, &batch, 0.9);
        let mut parts = System::new(17);
        batch.chunks(7).for_each(|part| parts.add(part, 0.9));
        assert_eq!(whole, parts);
    }

    #[test]
    fn the_matrix_is_positive_definite_on_occurring_features() {
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

    /// Sutton & Barto, example 6.4: eight episodes over two states. One goes from A to B with
    /// reward 0, six start in B with reward 1, one starts in B with reward 0. TD(0) gives A the
    /// value 3/4, Monte Carlo 0.
    #[test]
    fn values_match_sutton_and_barto_example_6_4() {
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

    /// A symmetric random walk between 0 and 10 with reward +1 at the top and -1 at the bottom: the
    /// value is linear in the state. As in Boyan's chain, states between the corner states 1, 5 and
    /// 9 interpolate their features.
    #[test]
    fn values_match_boyan_chain() {
        let mut rng = rng::stream(3, &["walk"]);
        let features = |state: i32| -> Vec<(u32, f64)> {
            let (corner, rest) = (((state - 1) / 4) as u32, f64::from((state - 1) % 4) / 4.0);
            if rest == 0.0 {
                return vec![(corner, 1.0)];
            }
            vec![(corner, 1.0 - rest), (corner + 1, rest)]
        };
        let batch: Vec<Trajectory> = (0..4000)
            .map(|_| {
                let (mut state, mut states) = (5, Vec::new());
                while (1..=9).contains(&state) {
                    states.push(features(state));
                    state += if rng.chance(0.5) { 1 } else { -1 };
                }
                trajectory(&states, if state == 10 { 1.0 } else { -1.0 })
            })
            .collect();
        for lambda in LAMBDAS {
            let weights = solve(&summed(3, &batch, lambda), 1e-9).unwrap().weights;
            for (weight, value) in weights.iter().zip([-0.8, 0.0, 0.8]) {
                assert!((weight - value).abs() < 0.1, "{lambda} {weights:?}");
            }
        }
    }
}
