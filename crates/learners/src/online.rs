//! Online preference learning by AdaGrad, for large training sets and models.
//!
//! Runarsson & Lucas (2014), section IX, leave larger feature sets to future work. The value v of a
//! move is the sum of the weights of its features ([`MoveFeatures`]), with the mover seen as Black.
//! With the softmax loss (Plackett-Luce model), the probability of the chosen move is
//!
//! ```text
//! P(chosen) = exp(v_chosen) / sum_m exp(v_m)        loss = -ln P(chosen)
//! ```
//!
//! With the margin loss, as in [`crate::ipref`], every other move contributes the squared violation
//! of a margin of 1. Each choice updates the weights of its features by AdaGrad (Duchi, Hazan &
//! Singer, 2011, section 1.1), where g is the derivative of the loss:
//!
//! ```text
//! w -= learning_rate * g / sqrt(1 + sum of all g^2 so far)
//! ```
//!
//! The learning rate decays linearly to zero over the epochs.
//!
//! Departures from AdaGrad:
//! 1. The accumulator starts at 1, so that the first step is bounded by the learning rate.
//! 2. Weights that are symmetric to each other are tied, so a choice trains all eight
//!    symmetries of its position.
//! 3. Gradients below 0.002 are skipped for speed.
//!
//! Each stage of the game has its own weights and is trained on the choices of that stage. Stages
//! run in parallel, and the result does not depend on the number of threads. Memory: 24 bytes per
//! choice, and two numbers per weight of all stages.

mod choice_set;
mod epoch;
mod learner;
mod stage_state;

pub use choice_set::ChoiceSet;
pub use epoch::PreferenceLoss;
pub use learner::{OnlineLearner, load_old_stages};
pub use stage_state::{EpochStats, StageState};

use crate::training::encoding::mismatch;
use epoch::EpochChunk;
use outflank_games::othello::kernel;
use outflank_models::patterns::{MoveFeatures, Stages};
use outflank_runs::rng::{self, RngExt};
use outflank_runs::stop_requested;
use rayon::prelude::*;

/// Configuration of online preference learning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnlineConfig {
    /// The loss of a choice.
    pub loss: PreferenceLoss,
    /// Number of epochs.
    pub epochs: u32,
    /// Initial learning rate.
    pub learning_rate: f64,
    /// Seed of the order of choices.
    pub seed: u64,
}

/// An error of online preference learning.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OnlineError {
    /// There are no choices.
    #[error("the games contain no choice to learn from (a move with an alternative)")]
    NoChoices,
    /// A parameter is out of range.
    #[error("{name} must be {range}, not {value}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// The valid range.
        range: &'static str,
        /// Its value.
        value: f64,
    },
    /// The weights diverged.
    #[error(
        "the weights of stage {stage} diverged in epoch {epoch}; use a learning rate below \
         {learning_rate}"
    )]
    Diverged {
        /// The stage.
        stage: usize,
        /// The epoch, from 1.
        epoch: u32,
        /// The learning rate.
        learning_rate: f64,
    },
    /// The user requested a stop.
    #[error("stopped")]
    Stopped,
}

/// Trained weights and the training curve.
#[derive(Clone, Debug, PartialEq)]
pub struct OnlineOutcome {
    /// The weights of each stage.
    pub weights: Vec<Vec<f32>>,
    /// Statistics of each epoch over all stages, measured before each update.
    pub curve: Vec<EpochStats>,
}

/// Trains the weights of each stage, on all threads of the current pool.
pub fn train<L: MoveFeatures>(
    features: &L,
    stages: Stages,
    choices: &ChoiceSet,
    config: OnlineConfig,
) -> Result<OnlineOutcome, OnlineError> {
    let mut trainer = OnlineTrainer::new(features, stages, choices, config)?;
    while trainer.epoch < config.epochs {
        trainer.train_epoch(features)?;
    }
    Ok(OnlineOutcome { weights: trainer.weights(), curve: trainer.curve() })
}

/// The training of all stages, one epoch at a time.
pub(crate) struct OnlineTrainer {
    config: OnlineConfig,
    weights: usize,
    /// The choices of each stage.
    choices: Vec<Vec<choice_set::Choice>>,
    states: Vec<StageState>,
    /// Number of completed epochs.
    epoch: u32,
    /// Whether an epoch was interrupted, so that the states are between two epochs.
    interrupted: bool,
}

impl OnlineTrainer {
    pub fn new<L: MoveFeatures>(
        features: &L,
        stages: Stages,
        choices: &ChoiceSet,
        config: OnlineConfig,
    ) -> Result<OnlineTrainer, OnlineError> {
        check(choices, config)?;
        let weights = features.weight_count();
        let choices = (0..stages.count()).map(|stage| choices.of_stage(stages, stage)).collect();
        let states = (0..stages.count()).map(|_| StageState::new(weights)).collect();
        Ok(OnlineTrainer { config, weights, choices, states, epoch: 0, interrupted: false })
    }

    /// Trains all stages for one epoch.
    pub fn train_epoch<L: MoveFeatures>(&mut self, features: &L) -> Result<(), OnlineError> {
        let (config, epoch) = (self.config, self.epoch);
        // Stages differ in size; one task per stage balances the load.
        let done: Result<(), OnlineError> = self
            .states
            .par_iter_mut()
            .zip(&self.choices)
            .enumerate()
            .with_max_len(1)
            // A stage restored from an earlier version may be ahead of the others.
            .filter(|(_, (state, _))| state.curve.len() <= epoch as usize)
            .map(|(stage, (state, choices))| {
                train_stage(features, stage, choices, config, epoch, state)
            })
            .collect();
        self.interrupted = matches!(done, Err(OnlineError::Stopped));
        done?;
        self.epoch += 1;
        Ok(())
    }

    /// Returns the weights of each stage.
    pub fn weights(&self) -> Vec<Vec<f32>> {
        self.states.iter().map(StageState::rounded).collect()
    }

    /// Returns the statistics of each completed epoch over all stages.
    pub fn curve(&self) -> Vec<EpochStats> {
        let mut curve = vec![EpochStats::default(); self.epoch as usize];
        for state in &self.states {
            curve.iter_mut().zip(&state.curve).for_each(|(sum, epoch)| sum.add(epoch));
        }
        curve
    }

    pub fn choices(&self) -> usize {
        self.choices.iter().map(Vec::len).sum()
    }

    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    pub fn state(&self) -> Result<Vec<Vec<u8>>, String> {
        if self.interrupted {
            return Err("stopped in the middle of an epoch".to_owned());
        }
        Ok(self.states.iter().map(StageState::to_bytes).collect())
    }

    /// Restores the stages. Those of version 0.1 may have different numbers of epochs.
    pub fn restore(&mut self, stages: Vec<Option<StageState>>) -> Result<(), String> {
        if stages.len() != self.states.len() {
            return Err(mismatch());
        }
        for (state, stored) in self.states.iter_mut().zip(stages) {
            match stored {
                Some(stored) if stored.fits(self.weights, u32::MAX) => *state = stored,
                Some(_) => return Err(mismatch()),
                None => *state = StageState::new(self.weights),
            }
        }
        let least = self.states.iter().map(|state| state.curve.len()).min();
        self.epoch = least.unwrap_or(0) as u32;
        Ok(())
    }
}

fn check(choices: &ChoiceSet, config: OnlineConfig) -> Result<(), OnlineError> {
    if choices.is_empty() {
        return Err(OnlineError::NoChoices);
    }
    let invalid = |name, range, value| Err(OnlineError::Parameter { name, range, value });
    if !(config.learning_rate > 0.0 && config.learning_rate <= 100.0) {
        return invalid("the learning rate", "above 0 and at most 100", config.learning_rate);
    }
    if !(1..=10_000).contains(&config.epochs) {
        return invalid("the number of epochs", "from 1 to 10,000", f64::from(config.epochs));
    }
    Ok(())
}

/// Number of choices between updates of the learning rate; small enough for a smooth decay.
const CHUNK_SIZE: usize = 4096;

/// Trains a stage for one epoch.
fn train_stage<L: MoveFeatures>(
    features: &L,
    stage: usize,
    choices: &[choice_set::Choice],
    config: OnlineConfig,
    epoch: u32,
    state: &mut StageState,
) -> Result<(), OnlineError> {
    let total = choices.len() as f64 * f64::from(config.epochs);
    let path = ["online", &stage.to_string(), &epoch.to_string()];
    let mut order: Vec<u32> = (0..choices.len() as u32).collect();
    rng::stream(config.seed, &path).shuffle(&mut order);
    let mut stats = EpochStats::default();
    let mut done = choices.len() as f64 * f64::from(epoch);
    for order in order.chunks(CHUNK_SIZE) {
        let learning_rate = (config.learning_rate * (1.0 - done / total)) as f32;
        let loss = config.loss;
        let chunk = EpochChunk { features, state, choices, order, loss, learning_rate };
        stats.add(&kernel::run(chunk));
        done += order.len() as f64;
        if stop_requested() {
            return Err(OnlineError::Stopped);
        }
    }
    if !(stats.loss.is_finite() && state.weights.iter().all(|w| w.is_finite())) {
        let (epoch, learning_rate) = (epoch + 1, config.learning_rate);
        return Err(OnlineError::Diverged { stage, epoch, learning_rate });
    }
    state.curve.push(stats);
    Ok(())
}

#[cfg(test)]
mod tests;
