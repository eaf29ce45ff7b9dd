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

use crate::training::encoding::{f64_bytes, f64_numbers_of, mismatch};
use crate::training::{Learner, StepError, TrainingCounts};
use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_models::{Features, Model, NTupleNetwork, Tuples, View};
use outflank_records::Record;
use outflank_report::text::format_count;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
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
pub fn train(
    tuples: Tuples,
    games: &[Record<Othello>],
    config: LstdConfig,
    on_progress: impl FnMut(usize) -> bool,
) -> Result<LstdOutcome, LstdError> {
    let fit = fit(&tuples, games, config, on_progress)?;
    let network = network(tuples, &fit)?;
    Ok(LstdOutcome { network, fit })
}

fn network(tuples: Tuples, fit: &LstdFit) -> Result<NTupleNetwork, LstdError> {
    let weights = fit.weights.iter().map(|&w| w as f32).collect();
    NTupleNetwork::new(tuples, weights, View::Negate)
        .ok_or(LstdError::Singular { ridge: fit.ridge })
}

/// Solves LSTD(λ) for any features of any game; see [`train`].
pub fn fit<P: Position, F: Features<P> + Sync>(
    features: &F,
    games: &[Record<P>],
    config: LstdConfig,
    mut on_progress: impl FnMut(usize) -> bool,
) -> Result<LstdFit, LstdError> {
    let mut equations = Equations::new(features, games, config)?;
    while equations.done < equations.used.len() {
        equations.add_batch(features);
        if !on_progress(equations.done) {
            return Err(LstdError::Stopped(equations.done));
        }
    }
    equations.solve()
}

/// The sums over the games processed so far.
struct Equations<'a, P: Position> {
    config: LstdConfig,
    /// The games with a known result, and their outcomes.
    used: Vec<(&'a Record<P>, f64)>,
    /// Number of games without moves or without a known result.
    skipped: usize,
    /// The index of each feature among those that occur.
    indices: Vec<u32>,
    active: usize,
    system: System,
    /// Number of games processed.
    done: usize,
}

impl<'a, P: Position> Equations<'a, P> {
    fn new<F: Features<P> + Sync>(
        features: &F,
        games: &'a [Record<P>],
        config: LstdConfig,
    ) -> Result<Equations<'a, P>, LstdError> {
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
        let skipped = games.len() - used.len();
        let system = System::new(active);
        Ok(Equations { config, used, skipped, indices, active, system, done: 0 })
    }

    /// Adds the next batch of games.
    fn add_batch<F: Features<P> + Sync>(&mut self, features: &F) {
        let end = (self.done + BATCH_SIZE).min(self.used.len());
        let batch: Vec<Trajectory> = self.used[self.done..end]
            .par_iter()
            .flat_map_iter(|&(game, reward)| {
                let mut both = trajectories(features, game, reward);
                both.iter_mut().for_each(|one| one.states.renumber(&self.indices));
                both
            })
            .collect();
        self.system.add(&batch, self.config.lambda);
        self.done = end;
    }

    fn solve(&self) -> Result<LstdFit, LstdError> {
        let solution = solve::solve(&self.system, self.config.ridge)?;
        let weight = |&index: &u32| solution.weights.get(index as usize).copied().unwrap_or(0.0);
        Ok(LstdFit {
            weights: self.indices.iter().map(weight).collect(),
            active: self.active,
            games: self.used.len(),
            skipped: self.skipped,
            ridge: solution.ridge,
            residual: solution.residual,
            refinements: solution.refinements,
        })
    }
}

/// LSTD as a learner: a step adds a batch of games; the last one solves the equations.
///
/// The method is not iterative, and its sums over the games take gigabytes. A run that is
/// interrupted before the equations are solved adds the games again.
pub struct LstdLearner<'a> {
    tuples: Tuples,
    equations: Equations<'a, Othello>,
    fit: Option<LstdFit>,
}

impl<'a> LstdLearner<'a> {
    /// Prepares the games.
    pub fn new(
        tuples: Tuples,
        games: &'a [Record<Othello>],
        config: LstdConfig,
    ) -> Result<LstdLearner<'a>, LstdError> {
        let equations = Equations::new(&tuples, games, config)?;
        Ok(LstdLearner { tuples, equations, fit: None })
    }
}

/// The solution in a checkpoint, without the weights.
#[derive(Serialize, Deserialize)]
struct LstdHeader {
    ridge: f64,
    residual: f64,
    refinements: u32,
}

impl Learner for LstdLearner<'_> {
    type Model = Model;

    fn spent(&self) -> u64 {
        self.equations.done as u64
    }

    fn next_cost(&self) -> u64 {
        (self.equations.used.len() - self.equations.done).clamp(1, BATCH_SIZE) as u64
    }

    /// The number of games with a known result.
    fn planned_budget(&self) -> Option<u64> {
        Some(self.equations.used.len() as u64)
    }

    fn step(&mut self) -> Result<(), StepError> {
        self.equations.add_batch(&self.tuples);
        if self.equations.done == self.equations.used.len() {
            self.fit = Some(self.equations.solve().map_err(|error| error.to_string())?);
        }
        Ok(())
    }

    fn is_converged(&self) -> bool {
        self.fit.is_some()
    }

    /// Returns the solution; zero weights before the equations are solved.
    fn model(&self) -> Result<Model, StepError> {
        let network = match &self.fit {
            Some(fit) => network(self.tuples.clone(), fit),
            None => {
                let zeros = vec![0.0; self.tuples.feature_count()];
                NTupleNetwork::new(self.tuples.clone(), zeros, View::Negate)
                    .ok_or(LstdError::Singular { ridge: 0.0 })
            }
        };
        Ok(network.map_err(|error| error.to_string())?.into())
    }

    fn state(&self) -> Result<Vec<Vec<u8>>, String> {
        let Some(LstdFit { weights, ridge, residual, refinements, .. }) = &self.fit else {
            return Ok(Vec::new());
        };
        let header = LstdHeader { ridge: *ridge, residual: *residual, refinements: *refinements };
        let header = serde_json::to_vec(&header).map_err(|error| error.to_string())?;
        Ok(vec![header, f64_bytes(weights)])
    }

    fn restore(&mut self, sections: &[Vec<u8>]) -> Result<(), String> {
        let [header, weights] = sections else {
            return if sections.is_empty() { Ok(()) } else { Err(mismatch()) };
        };
        let LstdHeader { ridge, residual, refinements } =
            serde_json::from_slice(header).map_err(|_| mismatch())?;
        let Equations { active, ref used, skipped, ref indices, .. } = self.equations;
        let weights = f64_numbers_of(weights, indices.len())?;
        let games = used.len();
        self.fit = Some(LstdFit { weights, active, games, skipped, ridge, residual, refinements });
        self.equations.done = games;
        Ok(())
    }

    fn counts(&self) -> TrainingCounts {
        let games = &self.equations.used[..self.equations.done];
        let positions = games.iter().map(|(game, _)| game.plies().len() as u64).sum();
        TrainingCounts { examples: Some(positions), epochs: None }
    }

    fn summary(&self) -> String {
        self.fit.as_ref().map_or_else(String::new, |fit| {
            format!(
                "{} features occur in {} games; the relative residual is {:.0e}.",
                format_count(fit.active as u64),
                format_count(fit.games as u64),
                fit.residual
            )
        })
    }

    fn remarks(&self) -> Vec<String> {
        let Some(fit) = &self.fit else { return Vec::new() };
        let requested = self.equations.config.ridge;
        let mut remarks = Vec::new();
        if fit.ridge != requested {
            remarks.push(format!(
                "The equations are nearly singular with a ridge of {requested:e}; it was raised to \
                 {:.0e}.",
                fit.ridge
            ));
        }
        if fit.skipped > 0 {
            let games = format_count(fit.skipped as u64);
            remarks.push(format!("Skipped {games} games without moves or without a known result."));
        }
        remarks
    }
}

/// Returns for each feature its index among the features that occur in the games (`u32::MAX` if it
/// does not occur), and the number of these features.
fn active_features<P: Position, F: Features<P> + Sync>(
    features: &F,
    games: &[(&Record<P>, f64)],
) -> (Vec<u32>, usize) {
    let flags: Vec<AtomicBool> =
        (0..features.feature_count()).map(|_| AtomicBool::new(false)).collect();
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
