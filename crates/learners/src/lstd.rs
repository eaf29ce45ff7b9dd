//! LSTD(lambda): least squares temporal differences (Runarsson and Lucas, 2014, section IV).
//!
//! The value of a board to Black is linear in its features, V = w . phi. Each player's own boards
//! phi_1 ... phi_T, those that its moves led to, are one trajectory; the outcome r is +1 when
//! Black has won, -1 when White has and 0 for a draw, to both. The weights are those at which the
//! temporal differences, weighted by a trace per player, add up to zero:
//!
//! ```text
//! sum_t z_t (w . phi_{t+1} - w . phi_t) + z_T (r - w . phi_T) = 0,   z_t = lambda z_{t-1} + phi_t
//! ```
//!
//! lambda = 1 is linear regression of the outcomes; lambda = 0 looks one own move ahead. There is
//! no step size. Needs games with known results and a set of features of which up to
//! [`MOST_SEEN`] occur.
//!
//! Where the paper leaves a choice, this is how it is read:
//! - The last difference uses the last board of each player, the final one of the game included.
//! - A player who has to pass gets no new board; its trajectory goes on with its next move.
//! - Features that never occur are left out and weigh 0. The others depend on each other, since
//!   the entries of a table add up to a constant; a ridge on the diagonal, which is small, takes
//!   the place of the paper's singular value decomposition and gives nearly the same solution,
//!   that of least length.
//! - A game that was broken off counts with its announced result, or not at all.

mod solve;
mod system;
mod trajectory;

use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_models::{Features, NTupleNetwork, Tuples, View};
use outflank_records::Record;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use system::System;
use trajectory::{Trajectory, outcome, trajectories};

/// The most features that may occur in the games: their matrix takes 2 GiB, and so does its copy.
pub const MOST_SEEN: usize = 1 << 14;

/// How many games are held in memory as features at a time; so few stay in the caches.
const BATCH: usize = 16;

/// What the method can be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// How slowly the trace decays, from 0 to 1.
    pub lambda: f64,
    /// What is added to the diagonal, as a share of its mean; 1e-6 changes little and is enough.
    pub ridge: f64,
}

/// Weights and how they were found.
#[derive(Clone, Debug)]
pub struct Fit {
    /// A weight for each feature, 0 for those that never occur.
    pub weights: Vec<f64>,
    /// How many features occur in the games.
    pub seen: usize,
    /// How many games were used.
    pub games: usize,
    /// How many games were not, since they have no moves or nobody knows how they ended.
    pub left_out: usize,
    /// The ridge that was used, as a share of the mean of the diagonal: the one asked for, unless
    /// the system was too close to singular with it.
    pub ridge: f64,
    /// How well the equations hold: the length of what is left over, relative to the right side.
    pub residual: f64,
    /// How many times the solution was improved.
    pub refinements: u32,
}

/// What was learned.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The network, with output negation.
    pub network: NTupleNetwork,
    /// The solution that its weights are rounded from.
    pub fit: Fit,
}

/// Why nothing was learned.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LstdError {
    /// A decay that is none.
    #[error("lambda must be a number from 0 to 1, not {0}")]
    Lambda(f64),
    /// A ridge that is none.
    #[error("the ridge must be a positive number, not {0}; 1e-6 is small and enough")]
    Ridge(f64),
    /// No game has both moves and a result.
    #[error(
        "none of the {0} games has moves and a known result; give games that were played to the \
         end or whose result is announced"
    )]
    NoOutcome(usize),
    /// Every outcome is zero, and so would be every weight.
    #[error("all {0} games are draws, which say nothing about what is good; give other games")]
    AllDrawn(usize),
    /// A matrix that would not fit.
    #[error(
        "{seen} features occur in the games, and a matrix of more than {MOST_SEEN} rows is too \
         large; give shorter tuples"
    )]
    TooMany {
        /// How many occur.
        seen: usize,
    },
    /// The equations have no solution that double precision could find.
    #[error("the equations cannot be solved even with a ridge of {ridge}; give a larger one")]
    Singular {
        /// The largest share that was tried.
        ridge: f64,
    },
    /// Whoever watched asked to stop.
    #[error("stopped after {0} games, before there was a solution")]
    Stopped(usize),
}

/// Learns a network from games. `watch` sees how many games are done, some at a time, and may
/// stop the work; the solution follows after the last of them.
pub fn learn(
    tuples: Tuples,
    games: &[Record<Othello>],
    settings: Settings,
    watch: impl FnMut(usize) -> bool,
) -> Result<Learned, LstdError> {
    let fit = fit(&tuples, games, settings, watch)?;
    let weights = fit.weights.iter().map(|&w| w as f32).collect();
    let network = NTupleNetwork::new(tuples, weights, View::Negate)
        .ok_or(LstdError::Singular { ridge: fit.ridge })?;
    Ok(Learned { network, fit })
}

/// As [`learn`], with any features of any game.
pub fn fit<P: Position, F: Features<P> + Sync>(
    features: &F,
    games: &[Record<P>],
    settings: Settings,
    mut watch: impl FnMut(usize) -> bool,
) -> Result<Fit, LstdError> {
    let Settings { lambda, ridge } = settings;
    if !(0.0..=1.0).contains(&lambda) {
        return Err(LstdError::Lambda(lambda));
    }
    if !(ridge > 0.0 && ridge.is_finite()) {
        return Err(LstdError::Ridge(ridge));
    }
    let used: Vec<(&Record<P>, f64)> = games
        .iter()
        .filter(|game| !game.plies().is_empty())
        .filter_map(|game| Some((game, outcome(game)?)))
        .collect();
    if used.is_empty() {
        return Err(LstdError::NoOutcome(games.len()));
    }
    if used.iter().all(|&(_, reward)| reward == 0.0) {
        return Err(LstdError::AllDrawn(used.len()));
    }
    let (names, seen) = seen(features, &used);
    if seen > MOST_SEEN {
        return Err(LstdError::TooMany { seen });
    }
    let mut system = System::new(seen);
    let mut done = 0;
    for batch in used.chunks(BATCH) {
        let batch: Vec<Trajectory> = batch
            .par_iter()
            .flat_map_iter(|&(game, reward)| {
                let mut both = trajectories(features, game, reward);
                both.iter_mut().for_each(|one| one.states.rename(&names));
                both
            })
            .collect();
        system.add(&batch, lambda);
        done += batch.len() / 2;
        if !watch(done) {
            return Err(LstdError::Stopped(done));
        }
    }
    let solution = solve::solve(&system, ridge)?;
    let weight = |&name: &u32| solution.weights.get(name as usize).copied().unwrap_or(0.0);
    Ok(Fit {
        weights: names.iter().map(weight).collect(),
        seen,
        games: used.len(),
        left_out: games.len() - used.len(),
        ridge: solution.ridge,
        residual: solution.residual,
        refinements: solution.refinements,
    })
}

/// For each feature its number among those that occur, or a number that is too large, and how
/// many occur.
fn seen<P: Position, F: Features<P> + Sync>(
    features: &F,
    games: &[(&Record<P>, f64)],
) -> (Vec<u32>, usize) {
    let flags: Vec<AtomicBool> = (0..features.count()).map(|_| AtomicBool::new(false)).collect();
    games.par_iter().for_each(|&(game, reward)| {
        for one in trajectories(features, game, reward) {
            for &column in one.states.columns() {
                flags[column as usize].store(true, Ordering::Relaxed);
            }
        }
    });
    let mut count = 0u32;
    let name = |flag: AtomicBool| {
        if !flag.into_inner() {
            return u32::MAX;
        }
        count += 1;
        count - 1
    };
    let names = flags.into_iter().map(name).collect();
    (names, count as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::Side;
    use outflank_records::{GameInfo, Ply};
    use outflank_runs::{RngExt, rng};

    const SETTINGS: Settings = Settings { lambda: 0.9, ridge: 1e-6 };

    fn random_games(count: u64, plies: usize) -> Vec<Record<Othello>> {
        let play = |number: u64| {
            let mut rng = rng::stream(number, &["lstd", "games"]);
            let mut record = Record::new(Othello::start(), GameInfo::default());
            while !record.end().is_over() && record.plies().len() < plies {
                let moves: Vec<_> = record.end().moves().collect();
                record.push(Ply::new(*rng.pick(&moves).unwrap())).unwrap();
            }
            record
        };
        (0..count).map(play).collect()
    }

    /// A constant and the number of discs of each colour, each disc being visited by itself.
    struct Discs;

    impl Features<Othello> for Discs {
        fn count(&self) -> usize {
            4
        }

        fn visit(&self, position: &Othello, side: Side, mut f: impl FnMut(usize, f32)) {
            f(3, 1.0);
            for (feature, side) in [(2, side), (0, side.other())] {
                (0..position.discs(side).count_ones()).for_each(|_| f(feature, 1.0));
            }
        }
    }

    /// The solution of a small system by Gauss and Jordan.
    fn eliminate(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
        let n = rows.len();
        for i in 0..n {
            let pivot = (i..n).max_by(|&a, &b| rows[a][i].abs().total_cmp(&rows[b][i].abs()));
            rows.swap(i, pivot.unwrap());
            let own = rows[i].clone();
            for (_, row) in rows.iter_mut().enumerate().filter(|&(j, _)| j != i) {
                let times = row[i] / own[i];
                row.iter_mut().zip(&own).for_each(|(x, own)| *x -= times * own);
            }
        }
        (0..n).map(|i| rows[i][n] / rows[i][i]).collect()
    }

    #[test]
    fn lambda_1_is_regression_of_the_outcomes() {
        let games = random_games(60, 60);
        let mut normal = vec![vec![0.0; 4]; 3];
        for game in &games {
            let reward = f64::from(game.end().margin().unwrap().signum());
            for (position, ply) in game.steps() {
                let after = position.play(ply.mv);
                let discs = |side| f64::from(after.discs(side).count_ones());
                let x = [discs(Side::White), discs(Side::Black), 1.0, reward];
                for (row, own) in normal.iter_mut().zip(x) {
                    row.iter_mut().zip(x).for_each(|(sum, x)| *sum += own * x);
                }
            }
        }
        let expected = eliminate(normal);
        let settings = Settings { lambda: 1.0, ridge: 1e-13 };
        let fit = fit(&Discs, &games, settings, |_| true).unwrap();
        assert_eq!((fit.seen, fit.games, fit.left_out), (3, 60, 0));
        assert!(fit.residual < 1e-14);
        assert_eq!(fit.weights[1], 0.0);
        for (feature, expected) in [0, 2, 3].into_iter().zip(expected) {
            assert!((fit.weights[feature] - expected).abs() < 1e-7, "{:?}", fit.weights);
        }
    }

    /// At the solution the differences that the traces weight add up to zero: a second reading of
    /// the formula at the top, on real games with their passes.
    #[test]
    fn weighted_differences_add_up_to_zero() {
        let (tuples, games) = (Tuples::squares(), random_games(40, 60));
        let fit = fit(&tuples, &games, SETTINGS, |_| true).unwrap();
        let features = |position: &Othello| {
            let mut phi = vec![0.0; 192];
            tuples.visit(position, Side::Black, |i, value| phi[i] += f64::from(value));
            phi
        };
        let value = |phi: &[f64]| phi.iter().zip(&fit.weights).map(|(p, w)| p * w).sum::<f64>();
        let (mut sums, mut most, mut passes) = (vec![0.0; 192], 0.0f64, 0);
        let mut add = |z: &[f64], difference: f64| {
            most = most.max(difference.abs());
            sums.iter_mut().zip(z).for_each(|(sum, z)| *sum += z * difference);
        };
        for game in &games {
            let mut players = [(); 2].map(|()| (vec![0.0; 192], vec![0.0; 192]));
            let mut mover = None;
            for (position, ply) in game.steps() {
                passes += u32::from(mover == Some(position.to_move()));
                mover = Some(position.to_move());
                let (z, phi) = &mut players[position.to_move().index()];
                let new = features(&position.play(ply.mv));
                add(z, value(&new) - value(phi));
                z.iter_mut().zip(&new).for_each(|(z, new)| *z = SETTINGS.lambda * *z + new);
                *phi = new;
            }
            let reward = f64::from(game.end().margin().unwrap().signum());
            players.iter().for_each(|(z, phi)| add(z, reward - value(phi)));
        }
        assert!(passes > 10 && most > 0.5);
        // The ridge accounts for what is left.
        let left = sums.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        assert!(left < 1e-3, "{left}");
    }

    /// With the colours exchanged, what was good for Black is good for White.
    #[test]
    fn exchanged_colours_turn_the_weights_round() {
        let games = random_games(30, 60);
        let swap = |game: &Record<Othello>| {
            let mut swapped = Record::new(game.start().swap_sides(), GameInfo::default());
            game.plies().iter().for_each(|ply| swapped.push(*ply).unwrap());
            swapped
        };
        let swapped: Vec<_> = games.iter().map(swap).collect();
        let one = fit(&Tuples::squares(), &games, SETTINGS, |_| true).unwrap();
        let other = fit(&Tuples::squares(), &swapped, SETTINGS, |_| true).unwrap();
        assert_eq!(one.seen, other.seen);
        for (square, cell) in (0..64).flat_map(|square| (0..3).map(move |cell| (square, cell))) {
            let (a, b) = (one.weights[3 * square + cell], other.weights[3 * square + 2 - cell]);
            assert!((a + b).abs() < 1e-8, "{a} {b}");
        }
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let games = random_games(40, 60);
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let tuples = Tuples::symmetric(&[[0, 1, 2, 8, 9], [18, 19, 26, 27, 34]]).unwrap();
            pool.install(|| learn(tuples, &games, SETTINGS, |_| true).unwrap())
        };
        let one = with(1);
        assert!(one.fit.seen > 200 && one.fit.ridge == SETTINGS.ridge);
        assert_eq!(one.network.view(), View::Negate);
        assert_eq!(one.network, with(2).network);
        assert_eq!(one.network, with(5).network);
    }

    #[test]
    fn one_game_or_the_same_many_times_is_enough() {
        let game = random_games(30, 60).into_iter().find(|g| g.end().margin() != Some(0)).unwrap();
        let reward = game.end().margin().unwrap().signum() as f32;
        for times in [1, 20] {
            let games = vec![game.clone(); times];
            let learned = learn(Tuples::squares(), &games, SETTINGS, |_| true).unwrap();
            let last = outflank_models::Evaluate::value(&learned.network, game.end(), Side::Black);
            assert!((last - reward).abs() < 0.01, "{last}");
        }
    }

    #[test]
    fn a_broken_off_game_counts_with_its_announced_result() {
        let mut games = random_games(3, 30);
        let learn = |games: &[Record<Othello>]| {
            fit(&Discs, games, SETTINGS, |_| true).map(|fit| (fit.games, fit.left_out))
        };
        assert_eq!(learn(&games), Err(LstdError::NoOutcome(3)));
        games[1].info.result = Some(0);
        assert_eq!(learn(&games), Err(LstdError::AllDrawn(1)));
        games[2].info.result = Some(-12);
        assert_eq!(learn(&games), Ok((2, 1)));
        let about = GameInfo { result: Some(64), ..GameInfo::default() };
        games.push(Record::new(Othello::start(), about));
        assert_eq!(learn(&games), Ok((2, 2)));
        assert_eq!(learn(&[]), Err(LstdError::NoOutcome(0)));
    }

    #[test]
    fn bad_settings_are_refused() {
        let games = random_games(2, 60);
        for lambda in [-0.1, 1.0001, f64::NAN, f64::INFINITY] {
            let error = fit(&Discs, &games, Settings { lambda, ..SETTINGS }, |_| true).unwrap_err();
            assert!(matches!(error, LstdError::Lambda(_)), "{error}");
        }
        for ridge in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = fit(&Discs, &games, Settings { ridge, ..SETTINGS }, |_| true).unwrap_err();
            assert!(matches!(error, LstdError::Ridge(_)), "{error}");
        }
    }

    #[test]
    fn watching_counts_games_and_may_stop() {
        let games = random_games(50, 60);
        let mut seen = Vec::new();
        fit(&Discs, &games, SETTINGS, |done| {
            seen.push(done);
            true
        })
        .unwrap();
        assert!(seen.is_sorted() && seen.len() > 2 && seen.last() == Some(&50));
        let stopped = fit(&Discs, &games, SETTINGS, |done| done < 20).unwrap_err();
        assert!(matches!(stopped, LstdError::Stopped(20..50)), "{stopped}");
    }

    #[test]
    fn too_many_features_are_refused_before_memory_is_taken() {
        struct Many;
        impl Features<Othello> for Many {
            fn count(&self) -> usize {
                MOST_SEEN + 9
            }

            fn visit(&self, _: &Othello, _: Side, mut f: impl FnMut(usize, f32)) {
                (0..=MOST_SEEN).for_each(|feature| f(feature, 1.0));
            }
        }
        let error = fit(&Many, &random_games(2, 60), SETTINGS, |_| true).unwrap_err();
        assert_eq!(error, LstdError::TooMany { seen: MOST_SEEN + 1 });
    }
}
