//! Selects a supervised method by name and trains with it.

mod memory;
mod online;
mod options;

use crate::online::{NoStore, OnlineError, StageStore};
use crate::pref::Solver;
use crate::{IterationState, classify, ipref, lstd, mm, pref};
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
    /// The store of stage checkpoints; used by online learning only.
    pub store: &'a dyn StageStore,
}

impl<'a> TrainingData<'a> {
    /// Creates training data without count features and without a store.
    #[must_use]
    pub fn new(
        games: &'a [Record<Othello>],
        choices: &'a [Decision<Othello>],
        tuples: Tuples,
    ) -> TrainingData<'a> {
        TrainingData { games, choices, tuples, counts: Vec::new(), store: &NoStore }
    }
}

/// The progress of training after an iteration.
pub struct MethodProgress<'a> {
    /// The iteration, epoch or game, from 1.
    pub iteration: u32,
    /// The value of the objective; NaN if the method has none.
    pub objective: f64,
    /// The quantity that is compared with the tolerance; NaN if there is none.
    pub residual: f64,
    /// Builds the current network, for iterative methods.
    pub model: Option<&'a dyn Fn() -> Option<NTupleNetwork>>,
    /// Training accuracy: hits and number of choices, measured before each update, if the method
    /// counts them.
    pub hits: Option<(f64, u64)>,
}

/// A trained model.
#[derive(Clone, Debug)]
pub struct TrainedModel {
    /// The model.
    pub model: Model,
    /// The name of the objective.
    pub objective_name: &'static str,
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

/// An error of [`learn`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LearnError {
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

/// Trains a model. `on_iteration` returns whether to continue; after a stop the result is
/// incomplete or an error and should not be used.
pub fn learn(
    method: Method,
    data: TrainingData<'_>,
    options: &MethodOptions,
    seed: u64,
    on_iteration: &mut dyn FnMut(MethodProgress<'_>) -> bool,
) -> Result<TrainedModel, LearnError> {
    options.check(method)?;
    if options.is_online(method) {
        return online::learn(method, data, options, seed, on_iteration);
    }
    let TrainingData { games, choices, tuples, .. } = data;
    if tuples.count() > MAX_FEATURES {
        return Err(LearnError::TooManyFeatures(tuples.count()));
    }
    memory::check(method, &tuples, choices, games.len())?;
    let tuples_copy = tuples.clone();
    let mut report = |view: View, binary: bool, state: IterationState<'_>| {
        let build = || {
            let weights = state.weights.iter().map(|&w| w as f32).collect();
            Some(NTupleNetwork::new(tuples_copy.clone(), weights, view)?.with_binary(binary))
        };
        let IterationState { iteration, objective, residual, .. } = state;
        let model: Option<&dyn Fn() -> Option<NTupleNetwork>> = Some(&build);
        on_iteration(MethodProgress { iteration, objective, residual, model, hits: None })
    };
    let outcome = match method {
        Method::IPref | Method::Pref => {
            let solver = if options.dual { Solver::Dual { seed } } else { Solver::Primal };
            let MethodOptions { c, tolerance, max_iterations, preference_binary: binary, .. } =
                *options;
            let config = pref::PrefConfig { c, tolerance, max_iterations, solver, binary };
            let outcome = match method {
                Method::IPref => ipref::learn(tuples, choices, config, |state| {
                    report(View::Invert, binary, state)
                })?,
                _ => pref::learn(tuples, choices, config, |state| {
                    report(View::Negate, binary, state)
                })?,
            };
            svm_model(outcome, method, options)
        }
        Method::Classify => {
            let MethodOptions { c, tolerance, max_iterations, balanced, .. } = *options;
            let config = classify::ClassifyConfig { c, tolerance, max_iterations, balanced };
            let outcome = classify::learn(tuples, choices, config, |state| {
                report(View::Invert, false, state)
            })?;
            svm_model(outcome, method, options)
        }
        Method::Lstd => {
            let config = lstd::LstdConfig { lambda: options.lambda, ridge: options.ridge };
            let outcome = lstd::learn(tuples, games, config, |game| {
                on_iteration(MethodProgress {
                    iteration: game as u32,
                    objective: f64::NAN,
                    residual: f64::NAN,
                    model: None,
                    hits: None,
                })
            })?;
            lstd_model(outcome, options)
        }
        Method::Mm => {
            let MethodOptions { prior, mm_tolerance, mm_max_iterations, mm_binary: binary, .. } =
                *options;
            let config = mm::MmConfig {
                prior,
                tolerance: mm_tolerance,
                max_iterations: mm_max_iterations,
                binary,
            };
            let outcome =
                mm::learn(tuples, choices, config, |state| report(View::Invert, binary, state))?;
            mm_model(outcome, method, options)
        }
        // The move predictor always trains online, above.
        Method::MovePredictor => return Err(LearnError::IndistinguishableMoves(0)),
    };
    if distinguishes_moves(&*outcome.model.policy(), choices) {
        Ok(outcome)
    } else {
        Err(LearnError::IndistinguishableMoves(choices.len()))
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

/// Returns a remark if the solver did not converge.
fn convergence_remark(converged: bool, method: Method, options: &MethodOptions) -> Vec<String> {
    if converged {
        return Vec::new();
    }
    let (max, unit) = (max_iterations(method, options, 0), iteration_unit(method, options));
    vec![format!("The solver did not converge in {max} {unit}; allow more with --max-iterations.")]
}

fn svm_model(outcome: pref::PrefOutcome, method: Method, options: &MethodOptions) -> TrainedModel {
    let summary = format!(
        "{} rows with {:.1} entries each; {} {}; the objective is {:.2}.",
        count(outcome.rows),
        outcome.entries as f64 / outcome.rows.max(1) as f64,
        outcome.fit.iterations,
        iteration_unit(method, options),
        outcome.fit.objective
    );
    let remarks = convergence_remark(outcome.fit.converged, method, options);
    TrainedModel { model: outcome.network.into(), objective_name: "objective", summary, remarks }
}

fn lstd_model(outcome: lstd::LstdOutcome, options: &MethodOptions) -> TrainedModel {
    let fit = outcome.fit;
    let summary = format!(
        "{} features occur in {} games; the relative residual is {:.0e}.",
        count(fit.active),
        count(fit.games),
        fit.residual
    );
    let mut remarks = Vec::new();
    if fit.ridge != options.ridge {
        remarks.push(format!(
            "The equations are nearly singular with a ridge of {:e}; it was raised to {:.0e}.",
            options.ridge, fit.ridge
        ));
    }
    if fit.skipped > 0 {
        let games = count(fit.skipped);
        remarks.push(format!("Skipped {games} games without moves or without a known result."));
    }
    TrainedModel { model: outcome.network.into(), objective_name: "games", summary, remarks }
}

fn mm_model(outcome: mm::MmOutcome, method: Method, options: &MethodOptions) -> TrainedModel {
    let summary = format!(
        "{} features; {} iterations; the log-likelihood is {:.1}, or {:.3} per choice.",
        count(outcome.features),
        outcome.iterations,
        outcome.log_likelihood,
        outcome.log_likelihood / outcome.decisions.max(1) as f64
    );
    let remarks = convergence_remark(outcome.converged, method, options);
    TrainedModel {
        model: outcome.network.into(),
        objective_name: "log-likelihood with the prior",
        summary,
        remarks,
    }
}

/// Formats an integer with thousands separators.
fn count(number: usize) -> String {
    outflank_report::text::count(number as u64)
}

#[cfg(test)]
mod tests;
