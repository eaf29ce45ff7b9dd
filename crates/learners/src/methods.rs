//! Selects a supervised method by name and trains with it.

mod memory;
mod online;
mod options;

use crate::online::OnlineError;
use crate::pref::Solver;
use crate::training::{Learner, StepError};
use crate::{classify, lstd, mm, pref};
use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_models::patterns::Count;
use outflank_models::{Features, Model, NTupleNetwork, Policy, Tuples, View};
use outflank_records::{Decision, Record};
use std::str::FromStr;

pub use options::{MethodOptions, OptionError, methods_using};

/// A supervised method: it trains on recorded games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Preference learning with board inversion.
    IPref,
    /// Preference learning with output negation.
    Pref,
    /// Least-squares temporal differences.
    Lstd,
    /// Bradley-Terry by minorization-maximization.
    Mm,
    /// Classification of chosen moves against all others.
    Classify,
    /// A linear policy that scores moves by their context, without playing them.
    MovePredictor,
}

impl Method {
    /// All methods, the default first.
    pub const ALL: [Method; 6] = [
        Method::IPref,
        Method::Pref,
        Method::Lstd,
        Method::Mm,
        Method::Classify,
        Method::MovePredictor,
    ];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Method::IPref => "ipref",
            Method::Pref => "pref",
            Method::Lstd => "lstd",
            Method::Mm => "mm",
            Method::Classify => "classify",
            Method::MovePredictor => "move-predictor",
        }
    }
}

impl FromStr for Method {
    type Err = String;

    fn from_str(text: &str) -> Result<Method, String> {
        Method::ALL.into_iter().find(|method| method.name() == text).ok_or_else(|| {
            let names: Vec<&str> = Method::ALL.iter().map(|method| method.name()).collect();
            format!("unknown method '{text}'; the methods are {}", names.join(", "))
        })
    }
}

/// The training data of a method.
pub struct TrainingData<'a> {
    /// Whole games, for methods that need trajectories.
    pub games: &'a [Record<Othello>],
    /// Choices (decisions with at least two legal moves), for methods that train on decisions.
    pub choices: &'a [Decision<Othello>],
    /// The tuples of the model.
    pub tuples: Tuples,
    /// Count features of the model, such as mobility; used by online learning only.
    pub counts: Vec<Count>,
}

impl<'a> TrainingData<'a> {
    /// Creates training data without count features.
    #[must_use]
    pub fn new(
        games: &'a [Record<Othello>],
        choices: &'a [Decision<Othello>],
        tuples: Tuples,
    ) -> TrainingData<'a> {
        TrainingData { games, choices, tuples, counts: Vec::new() }
    }
}

/// A trained model.
#[derive(Clone, Debug)]
pub struct TrainedModel {
    /// The model.
    pub model: Model,
    /// A summary of the training run in one sentence.
    pub summary: String,
    /// Deviations from the requested settings, such as a missed tolerance.
    pub remarks: Vec<String>,
}

impl TrainedModel {
    /// The n-tuple network; `None` after online learning, which trains other models.
    #[must_use]
    pub fn network(&self) -> Option<&NTupleNetwork> {
        match &self.model {
            Model::NTuple(network) => Some(network),
            _ => None,
        }
    }
}

/// An error of [`train`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TrainError {
    /// An option is out of range.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The SVM could not be solved.
    #[error(transparent)]
    Svm(#[from] crate::SvmError),
    /// LSTD failed.
    #[error(transparent)]
    Lstd(#[from] lstd::LstdError),
    /// MM failed.
    #[error(transparent)]
    Mm(#[from] mm::MmError),
    /// Online learning failed.
    #[error(transparent)]
    Online(#[from] OnlineError),
    /// A step failed.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The patterns have too many placements.
    #[error(transparent)]
    TooManyWeights(#[from] outflank_models::patterns::TooManyPlacements),
    /// The model has more features than fit into memory.
    #[error(
        "the model has {0} features, more than the maximum of {MAX_FEATURES}; give fewer or shorter \
         tuples"
    )]
    TooManyFeatures(usize),
    /// The training set does not fit into memory.
    #[error(
        "{choices} choices need about {gib:.1} GiB of memory, the limit is {limit:.1} GiB. Train on \
         about {games} games with --sample {games}, or on all games with ipref --solver online."
    )]
    TooLarge {
        /// Number of choices.
        choices: usize,
        /// Estimated memory in GiB.
        gib: f64,
        /// The memory limit in GiB.
        limit: f64,
        /// Number of games that would fit.
        games: usize,
    },
    /// The features do not distinguish the moves of any choice.
    #[error(
        "the features do not distinguish the moves of any of the {0} choices; give other features \
         or more games"
    )]
    IndistinguishableMoves(usize),
}

/// Maximum number of features; the solvers hold 32 numbers per feature.
pub const MAX_FEATURES: usize = 1 << 22;

/// Returns the maximum number of iterations of a method, for progress bars.
#[must_use]
pub fn max_iterations(method: Method, options: &MethodOptions, games: usize) -> u64 {
    match method {
        _ if options.is_online(method) => options.epochs.into(),
        Method::IPref | Method::Pref | Method::Classify => options.max_iterations.into(),
        Method::Mm => options.mm_max_iterations.into(),
        Method::MovePredictor => options.epochs.into(),
        Method::Lstd => games as u64,
    }
}

/// Returns the unit of iterations of a method.
#[must_use]
pub fn iteration_unit(method: Method, options: &MethodOptions) -> &'static str {
    match method {
        _ if options.is_online(method) => "epochs",
        Method::MovePredictor => "epochs",
        Method::IPref | Method::Pref if options.dual => "epochs",
        Method::IPref | Method::Pref | Method::Classify => "Newton iterations",
        Method::Mm => "iterations",
        Method::Lstd => "games",
    }
}

/// A supervised method as a learner under a [`Trainer`](crate::training::Trainer).
pub type SupervisedLearner<'a> = Box<dyn Learner<Model = Model> + 'a>;

/// Creates the learner of a method, which has read the training data but has not started.
pub fn learner<'a>(
    method: Method,
    data: TrainingData<'a>,
    options: &MethodOptions,
    seed: u64,
) -> Result<SupervisedLearner<'a>, TrainError> {
    options.check(method)?;
    if options.is_online(method) {
        return online::learner(method, data, options, seed);
    }
    let TrainingData { games, choices, tuples, .. } = data;
    if tuples.feature_count() > MAX_FEATURES {
        return Err(TrainError::TooManyFeatures(tuples.feature_count()));
    }
    memory::check(method, &tuples, choices, games.len())?;
    let MethodOptions { c, tolerance, max_iterations, .. } = *options;
    Ok(match method {
        Method::IPref | Method::Pref => {
            let solver = if options.dual { Solver::Dual { seed } } else { Solver::Primal };
            let view = if method == Method::IPref { View::Invert } else { View::Negate };
            let binary = options.preference_binary;
            let config = pref::PrefConfig { c, tolerance, max_iterations, solver, binary };
            Box::new(pref::learner(view, tuples, choices, config)?)
        }
        Method::Classify => {
            let balanced = options.balanced;
            let config = classify::ClassifyConfig { c, tolerance, max_iterations, balanced };
            Box::new(classify::learner(tuples, choices, config)?)
        }
        Method::Lstd => {
            let config = lstd::LstdConfig { lambda: options.lambda, ridge: options.ridge };
            Box::new(lstd::LstdLearner::new(tuples, games, config)?)
        }
        Method::Mm => {
            let config = mm::MmConfig {
                prior: options.prior,
                tolerance: options.mm_tolerance,
                max_iterations: options.mm_max_iterations,
                binary: options.mm_binary,
            };
            Box::new(mm::MmLearner::new(tuples, choices, config)?)
        }
        // The move predictor always trains online, above.
        Method::MovePredictor => return Err(TrainError::IndistinguishableMoves(0)),
    })
}

/// Trains a model in memory. `on_step` is called after each step and returns whether to continue;
/// after a stop the result is incomplete or an error and should not be used.
pub fn train(
    method: Method,
    data: TrainingData<'_>,
    options: &MethodOptions,
    seed: u64,
    on_step: &mut dyn FnMut(&dyn Learner<Model = Model>) -> bool,
) -> Result<TrainedModel, TrainError> {
    let (games, choices) = (data.games.len(), data.choices);
    let mut learner = learner(method, data, options, seed)?;
    let budget = max_iterations(method, options, games);
    while !learner.is_converged() && learner.spent() + learner.next_cost() <= budget {
        learner.step()?;
        if !on_step(&*learner) {
            break;
        }
    }
    let (model, summary, remarks) = (learner.model()?, learner.summary(), learner.remarks());
    check_model(&model, choices)?;
    Ok(TrainedModel { model, summary, remarks })
}

/// Checks that a trained model distinguishes the moves of at least one choice.
pub fn check_model(model: &Model, choices: &[Decision<Othello>]) -> Result<(), TrainError> {
    match distinguishes_moves(&*model.policy(), choices) {
        true => Ok(()),
        false => Err(TrainError::IndistinguishableMoves(choices.len())),
    }
}

/// Whether a model scores the moves of at least one choice differently.
fn distinguishes_moves(model: &dyn Policy<Othello>, choices: &[Decision<Othello>]) -> bool {
    /// Scores that differ by less than this are ties.
    const TIE_TOLERANCE: f32 = 1e-6;
    let mut values = Vec::new();
    choices.iter().any(|choice| {
        let moves: Vec<_> = choice.position.moves().collect();
        model.score(&choice.position, &moves, &mut values);
        values.iter().any(|value| (value - values[0]).abs() > TIE_TOLERANCE)
    })
}

#[cfg(test)]
mod tests;
