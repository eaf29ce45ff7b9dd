//! LSTD(λ): least-squares temporal differences (Runarsson & Lucas, 2014, section IV, Algorithm 1;
//! Boyan, 2002).
//!
//! The value of a position for Black is linear in its features, V = w . phi. The afterstates phi_1
//! ... phi_T of each player form one trajectory; the outcome r is +1 if Black wins, -1 if White
//! wins and 0 for a draw, for both players. The weights solve the equations
//!
//! ```text
//! sum_t z_t (w . phi_{t+1} - w . phi_t) + z_T (r - w . phi_T) = 0,   z_t = lambda z_{t-1} + phi_t
//! ```
//!
//! with one eligibility trace z per player. λ = 1 is linear regression on the outcomes; λ = 0 uses
//! only the player's next afterstate. There is no learning rate.
//!
//! Input: games with known results, and features of which at most [`MAX_ACTIVE_FEATURES`] occur.
//!
//! Departures and choices where the paper is silent:
//! 1. The last difference uses the last afterstate of each player, including the final position.
//! 2. A pass adds no state; the trajectory continues with the player's next move.
//! 3. Features that never occur have weight 0. The others are linearly dependent, since the entries
//!    of a table sum to a constant. A small ridge on the diagonal replaces the paper's singular
//!    value decomposition; its solution is close to the minimum-norm solution.
//! 4. An unfinished game counts with its recorded result; without one it is skipped.

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

/// Maximum number of features that occur in the games; the matrix takes 2 GiB, and so does its
/// copy.
pub const MAX_ACTIVE_FEATURES: usize = 1 << 14;

/// Number of games converted to features at a time; few enough to stay in cache.
const BATCH_SIZE: usize = 16;

/// Configuration of LSTD(λ).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LstdConfig {
    /// Trace decay λ, 0 to 1.
    pub lambda: f64,
    /// Ridge added to the diagonal, relative to its mean; 1e-6 changes little and suffices.
    pub ridge: f64,
}

/// The solution of the equations.
#[derive(Clone, Debug)]
pub struct LstdFit {
    /// One weight per feature, 0 for those that never occur.
    pub weights: Vec<f64>,
    /// Number of features that occur in the games.
    pub active: usize,
    /// Number of games used.
    pub games: usize,
    /// Number of skipped games, which have no moves or no known result.
    pub skipped: usize,
    /// The ridge used, relative to the mean of the diagonal. It is larger than requested if the
    /// system was nearly singular.
    pub ridge: f64,
    /// The norm of the residual relative to the right-hand side.
    pub residual: f64,
    /// Number of iterative refinements.
    pub refinements: u32,
}

/// A trained network with the solution of LSTD.
#[derive(Clone, Debug)]
pub struct LstdOutcome {
    /// The network, with output negation.
    pub network: NTupleNetwork,
    /// The solution in double precision.
    pub fit: LstdFit,
}

/// An error of LSTD.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LstdError {
    /// λ is out of range.
    #[error("lambda must be a number from 0 to 1, not {0}")]
    Lambda(f64),
    /// The ridge is out of range.
    #[error("the ridge must be a positive number, not {0}; 1e-6 suffices")]
    Ridge(f64),
    /// No game has both moves and a result.
    #[error(
        "none of the {0} games has moves and a known result; give games that were played to the \
         end or whose result is recorded"
    )]
    NoOutcome(usize),
    /// All games are draws, so all weights would be zero.
    #[error("all {0} games are draws, from which no weights can be estimated; give other games")]
    AllDrawn(usize),
    /// The matrix would not fit into memory.
    #[error(
        "{active} features occur in the games; the matrix can have at most {MAX_ACTIVE_FEATURES} \
         rows. Use shorter tuples."
    )]
    TooManyFeatures {
        /// Number of features that occur.
        active: usize,
    },
    /// The system is singular in double precision.
    #[error("the equations are singular even with a ridge of {ridge}; give a larger ridge")]
    Singular {
        /// The largest ridge tried.
        ridge: f64,
    },
    /// The callback requested a stop.
    #[error("stopped after {0} games, before the equations were solved")]
    Stopped(usize),
}

/// Trains a network on games. `on_progress` receives the number of games processed and returns
/// whether to continue; the equations are solved after the last game.
pub fn learn(
    tuples: Tuples,
    games: &[Record<Othello>],
    config: LstdConfig,
    on_progress: impl FnMut(usize) -> bool,
) -> Result<LstdOutcome, LstdError> {
    let fit = fit(&tuples, games, config, on_progress)?;
    let weights = fit.weights.iter().map(|&w| w as f32).collect();
    let network = NTupleNetwork::new(tuples, weights, View::Negate)
        .ok_or(LstdError::Singular { ridge: fit.ridge })?;
    Ok(LstdOutcome { network, fit })
}

/// Solves LSTD(λ) for any features of any game; see [`learn`].
pub fn fit<P: Position, F: Features<P> + Sync>(
    features: &F,
    games: &[Record<P>],
    config: LstdConfig,
    mut on_progress: impl FnMut(usize) -> bool,
) -> Result<LstdFit, LstdError> {
    let LstdConfig { lambda, ridge } = config;
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
    let (indices, active) = active_features(features, &used);
    if active > MAX_ACTIVE_FEATURES {
        return Err(LstdError::TooManyFeatures { active });
    }
    let mut system = System::new(active);
    let mut done = 0;
    for batch in used.chunks(BATCH_SIZE) {
        let batch: Vec<Trajectory> = batch
            .par_iter()
            .flat_map_iter(|&(game, reward)| {
                let mut both = trajectories(features, game, reward);
                both.iter_mut().for_each(|one| one.states.renumber(&indices));
                both
            })
            .collect();
        system.add(&batch, lambda);
        done += batch.len() / 2;
        if !on_progress(done) {
            return Err(LstdError::Stopped(done));
        }
    }
    let solution = solve::solve(&system, ridge)?;
    let weight = |&index: &u32| solution.weights.get(index as usize).copied().unwrap_or(0.0);
    Ok(LstdFit {
        weights: indices.iter().map(weight).collect(),
        active,
        games: used.len(),
        skipped: games.len() - used.len(),
        ridge: solution.ridge,
        residual: solution.residual,
        refinements: solution.refinements,
    })
}

/// Returns for each feature its index among the features that occur in the games (`u32::MAX` if it
/// does not occur), and the number of these features.
fn active_features<P: Position, F: Features<P> + Sync>(
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
    let index = |flag: AtomicBool| {
        if !flag.into_inner() {
            return u32::MAX;
        }
        count += 1;
        count - 1
    };
    let indices = flags.into_iter().map(index).collect();
    (indices, count as usize)
}

#[cfg(test)]
mod tests;
