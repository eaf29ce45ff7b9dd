//! Preferences at full size: any number of choices, any number of weights, by stochastic gradient
//! descent (what Runarsson and Lucas, 2014, section IX, leave to others).
//!
//! A move is worth the sum of the weights it reads ([`MoveFeatures`]), the mover seen as Black. With the
//! softmax (Plackett-Luce) loss an expert's choice among moves of worth v is a draw with
//!
//! ```text
//! P(chosen) = exp(v_chosen) / sum_m exp(v_m)        loss = -ln P(chosen)
//! ```
//!
//! and with the margin loss, as in [`crate::ipref`], every other move is charged by the square of
//! what it lacks to be worth 1 less. Each choice in turn moves the weights it reads against the
//! gradient, each weight by its own step (AdaGrad): `rate * g / sqrt(1 + sum of all g^2 so far)`,
//! where the rate falls to nothing over the passes. Weights that a mirrored board would read are
//! kept equal, so every choice teaches all eight of its images at once.
//!
//! A stage of the game has weights of its own and learns alone from its own choices: stages share
//! the cores, and the result does not depend on how many there are. Needs choices in memory, 24
//! bytes each, and two numbers for each weight of the stages being learned.

mod choices;
mod pass;
mod state;

pub use choices::Choices;
pub use pass::Loss;
pub use state::{State, Tally};

use outflank_games::othello::kernel;
use outflank_models::patterns::{MoveFeatures, Stages};
use outflank_runs::rng::{self, RngExt};
use pass::Pass;
use rayon::prelude::*;

/// How to learn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// What a choice is charged.
    pub loss: Loss,
    /// How often every choice is seen.
    pub passes: u32,
    /// The first step's size.
    pub rate: f64,
    /// Draws the order of the choices.
    pub seed: u64,
}

/// Why nothing was learned.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OnlineError {
    /// There was nothing to learn from.
    #[error("there are no choices to learn from")]
    Nothing,
    /// A number that makes no sense.
    #[error("{name} must be {must}, not {value}")]
    Setting {
        /// Which.
        name: &'static str,
        /// What it must be.
        must: &'static str,
        /// What it is.
        value: f64,
    },
    /// The weights grew without bound.
    #[error(
        "the weights of stage {stage} grew out of bounds in pass {pass}; a smaller rate than \
         {rate} would help"
    )]
    Diverged {
        /// Which stage.
        stage: usize,
        /// In which pass.
        pass: u32,
        /// The rate.
        rate: f64,
    },
    /// It was asked to stop; what was kept can be gone on with.
    #[error("stopped")]
    Stopped,
    /// A stage could not be kept, or what was kept could not be read.
    #[error("{0}")]
    Keep(String),
}

/// Where the stages are kept while they are learned, so that a stopped run can go on.
pub trait Keep: Sync {
    /// What was kept of a stage, or why it cannot be read.
    fn load(&self, stage: usize) -> Result<Option<State>, String>;

    /// Keeps a stage after a pass.
    fn save(&self, stage: usize, state: &State) -> Result<(), String>;

    /// Sees how far a stage has come, and says whether to go on.
    fn watch(&self, stage: usize, passes: u32, choices: usize) -> bool;
}

/// Keeps nothing and never stops.
#[derive(Clone, Copy, Debug)]
pub struct Forget;

impl Keep for Forget {
    fn load(&self, _: usize) -> Result<Option<State>, String> {
        Ok(None)
    }

    fn save(&self, _: usize, _: &State) -> Result<(), String> {
        Ok(())
    }

    fn watch(&self, _: usize, _: u32, _: usize) -> bool {
        true
    }
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// The weights of each stage.
    pub weights: Vec<Vec<f32>>,
    /// For each pass, over all stages, what the choices cost and how often the move that was
    /// played was rated highest, each before its own lesson.
    pub curve: Vec<Tally>,
}

/// Learns the weights of a look for each stage, on all threads of the current pool.
pub fn learn<L: MoveFeatures>(
    look: &L,
    stages: Stages,
    choices: &Choices,
    settings: Settings,
    keep: &dyn Keep,
) -> Result<Learned, OnlineError> {
    check(choices, settings)?;
    // The later stages have the most moves to look at; begun first they end together.
    let states: Result<Vec<State>, _> = (0..stages.count())
        .into_par_iter()
        .with_max_len(1)
        .map(|stage| learn_stage(look, stage, choices.of_stage(stages, stage), settings, keep))
        .collect();
    let states = states?;
    let mut curve = vec![Tally::default(); settings.passes as usize];
    for state in &states {
        curve.iter_mut().zip(&state.curve).for_each(|(sum, pass)| sum.add(pass));
    }
    let weights = states.into_iter().map(State::into_rounded).collect();
    Ok(Learned { weights, curve })
}

fn check(choices: &Choices, settings: Settings) -> Result<(), OnlineError> {
    if choices.is_empty() {
        return Err(OnlineError::Nothing);
    }
    let wrong = |name, must, value| Err(OnlineError::Setting { name, must, value });
    if !(settings.rate > 0.0 && settings.rate <= 100.0) {
        return wrong("the rate", "above 0 and at most 100", settings.rate);
    }
    if !(1..=10_000).contains(&settings.passes) {
        return wrong("the number of passes", "1 to 10,000", f64::from(settings.passes));
    }
    Ok(())
}

/// Between two looks at the clock of the rate: small enough that it falls evenly.
const CHUNK: usize = 4096;

fn learn_stage<L: MoveFeatures>(
    look: &L,
    stage: usize,
    choices: Vec<choices::Choice>,
    settings: Settings,
    keep: &dyn Keep,
) -> Result<State, OnlineError> {
    let mut state = match keep.load(stage).map_err(OnlineError::Keep)? {
        Some(state) if state.fits(look.weights(), settings.passes) => state,
        _ => State::new(look.weights()),
    };
    let total = choices.len() as f64 * f64::from(settings.passes);
    while state.curve.len() < settings.passes as usize {
        let pass = state.curve.len() as u32;
        let path = ["online", &stage.to_string(), &pass.to_string()];
        let mut order: Vec<u32> = (0..choices.len() as u32).collect();
        rng::stream(settings.seed, &path).shuffle(&mut order);
        let mut tally = Tally::default();
        let mut seen = choices.len() as f64 * f64::from(pass);
        for order in order.chunks(CHUNK) {
            let rate = (settings.rate * (1.0 - seen / total)) as f32;
            let (choices, loss) = (&choices, settings.loss);
            let work = Pass { look, state: &mut state, choices, order, loss, rate };
            tally.add(&kernel::run(work));
            seen += order.len() as f64;
            if !keep.watch(stage, pass, order.len()) {
                return Err(OnlineError::Stopped);
            }
        }
        if !(tally.loss.is_finite() && state.weights.iter().all(|w| w.is_finite())) {
            let (pass, rate) = (pass + 1, settings.rate);
            return Err(OnlineError::Diverged { stage, pass, rate });
        }
        state.curve.push(tally);
        keep.save(stage, &state).map_err(OnlineError::Keep)?;
    }
    Ok(state)
}

#[cfg(test)]
mod tests;
