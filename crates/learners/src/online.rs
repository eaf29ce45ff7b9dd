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
//! choice, and two numbers per weight of the stages in training.

mod choice_set;
mod epoch;
mod stage_state;

pub use choice_set::ChoiceSet;
pub use epoch::PreferenceLoss;
pub use stage_state::{EpochStats, StageState};

use epoch::EpochChunk;
use outflank_games::othello::kernel;
use outflank_models::patterns::{MoveFeatures, Stages};
use outflank_runs::rng::{self, RngExt};
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
    /// The user requested a stop; the saved stages can be resumed.
    #[error("stopped")]
    Stopped,
    /// A stage could not be saved or loaded.
    #[error("{0}")]
    Store(String),
}

/// Stores the stages during training, so that an interrupted run can resume.
pub trait StageStore: Sync {
    /// Loads a stage, if it was saved.
    fn load(&self, stage: usize) -> Result<Option<StageState>, String>;

    /// Saves a stage after an epoch.
    fn save(&self, stage: usize, state: &StageState) -> Result<(), String>;

    /// Reports that `choices` more choices of an epoch are done. Returns whether to continue.
    fn on_progress(&self, stage: usize, epochs: u32, choices: usize) -> bool;
}

/// A store that saves nothing and never stops.
#[derive(Clone, Copy, Debug)]
pub struct NoStore;

impl StageStore for NoStore {
    fn load(&self, _: usize) -> Result<Option<StageState>, String> {
        Ok(None)
    }

    fn save(&self, _: usize, _: &StageState) -> Result<(), String> {
        Ok(())
    }

    fn on_progress(&self, _: usize, _: u32, _: usize) -> bool {
        true
    }
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
pub fn learn<L: MoveFeatures>(
    features: &L,
    stages: Stages,
    choices: &ChoiceSet,
    config: OnlineConfig,
    store: &dyn StageStore,
) -> Result<OnlineOutcome, OnlineError> {
    check(choices, config)?;
    // Stages differ in size; one task per stage balances the load.
    let states: Result<Vec<StageState>, _> = (0..stages.count())
        .into_par_iter()
        .with_max_len(1)
        .map(|stage| learn_stage(features, stage, choices.of_stage(stages, stage), config, store))
        .collect();
    let states = states?;
    let mut curve = vec![EpochStats::default(); config.epochs as usize];
    for state in &states {
        curve.iter_mut().zip(&state.curve).for_each(|(sum, epoch)| sum.add(epoch));
    }
    let weights = states.into_iter().map(StageState::into_rounded).collect();
    Ok(OnlineOutcome { weights, curve })
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

fn learn_stage<L: MoveFeatures>(
    features: &L,
    stage: usize,
    choices: Vec<choice_set::Choice>,
    config: OnlineConfig,
    store: &dyn StageStore,
) -> Result<StageState, OnlineError> {
    let mut state = match store.load(stage).map_err(OnlineError::Store)? {
        Some(state) if state.fits(features.weight_count(), config.epochs) => state,
        _ => StageState::new(features.weight_count()),
    };
    let total = choices.len() as f64 * f64::from(config.epochs);
    while state.curve.len() < config.epochs as usize {
        let epoch = state.curve.len() as u32;
        let path = ["online", &stage.to_string(), &epoch.to_string()];
        let mut order: Vec<u32> = (0..choices.len() as u32).collect();
        rng::stream(config.seed, &path).shuffle(&mut order);
        let mut stats = EpochStats::default();
        let mut done = choices.len() as f64 * f64::from(epoch);
        for order in order.chunks(CHUNK_SIZE) {
            let learning_rate = (config.learning_rate * (1.0 - done / total)) as f32;
            let (choices, loss) = (&choices, config.loss);
            let chunk =
                EpochChunk { features, state: &mut state, choices, order, loss, learning_rate };
            stats.add(&kernel::run(chunk));
            done += order.len() as f64;
            if !store.on_progress(stage, epoch, order.len()) {
                return Err(OnlineError::Stopped);
            }
        }
        if !(stats.loss.is_finite() && state.weights.iter().all(|w| w.is_finite())) {
            let (epoch, learning_rate) = (epoch + 1, config.learning_rate);
            return Err(OnlineError::Diverged { stage, epoch, learning_rate });
        }
        state.curve.push(stats);
        store.save(stage, &state).map_err(OnlineError::Store)?;
    }
    Ok(state)
}

#[cfg(test)]
mod tests;
