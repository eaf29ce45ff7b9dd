//! Experiments of Runarsson & Lucas (2014), "Preference learning for move prediction and evaluation
//! function approximation in Othello".

pub mod fig2;
pub mod fig3;
pub mod fig4;
pub mod sparsity;
pub mod studies;
pub mod table2;
pub mod table3;
pub mod table4;
pub mod table5;

use crate::context::{ExperimentContext, ExperimentError, GameSample};
use outflank_learners::methods::{Method, MethodOptions, TrainingData, train};
use outflank_models::files::{Origin, load_network, save};
use outflank_models::{NTupleNetwork, Tuples, embedded};
use outflank_records::{DecisionFilter, decisions};
use outflank_report::text::format_count;
use outflank_runs::{files, stop_requested};

/// Number of training games, and of test games (section VIII-A).
const GAMES: usize = 1000;

/// Trace decay of LSTD (section VIII-B).
const LAMBDA: f64 = 0.9;

/// Penalty parameter C of LIBLINEAR (section V).
const C: f64 = 1.0;

/// The feature sets of section III.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeatureSet {
    /// One tuple per square: 192 weights.
    One,
    /// The 15 symmetric tuples of Table I: 6,561 weights.
    N,
}

impl FeatureSet {
    /// Both feature sets, in the order of Table II.
    pub const BOTH: [FeatureSet; 2] = [FeatureSet::One, FeatureSet::N];

    /// Returns the name in the paper's tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            FeatureSet::One => "1-Tuple",
            FeatureSet::N => "N-Tuple",
        }
    }

    /// Returns the tuples.
    #[must_use]
    pub fn tuples(self) -> Tuples {
        match self {
            FeatureSet::One => Tuples::squares(),
            FeatureSet::N => embedded::runarsson_lucas_tuples(),
        }
    }
}

/// The methods in the order of Table II.
pub const METHODS: [Method; 5] =
    [Method::IPref, Method::Pref, Method::Mm, Method::Lstd, Method::Classify];

/// Returns a method's name in the paper's tables.
#[must_use]
pub fn method_name(method: Method) -> &'static str {
    match method {
        Method::IPref => "iPref",
        Method::Pref => "Pref",
        Method::Mm => "MM",
        Method::Lstd => "LSTD",
        Method::Classify => "Classify",
        Method::MovePredictor => "MovePredictor",
    }
}

/// One of the paper's ten trained players.
pub struct TrainedPlayer {
    /// Training method.
    pub method: Method,
    /// Feature set.
    pub features: FeatureSet,
    /// Trained weights.
    pub network: NTupleNetwork,
}

impl TrainedPlayer {
    /// Returns the name in Table III, such as `iPref-N-Tuple`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}-{}", method_name(self.method), self.features.name())
    }
}

/// Returns the paper's options of all methods.
#[must_use]
pub fn paper_options() -> MethodOptions {
    MethodOptions { c: C, lambda: LAMBDA, ..MethodOptions::default() }
}

/// Samples the games of one trial.
pub fn games(context: &ExperimentContext, seed: u64) -> Result<GameSample, ExperimentError> {
    let count = context.scale.choose(30, GAMES, GAMES);
    context.sample_games(seed, count, count)
}

/// Returns the number of trials, each with its own sample of games.
#[must_use]
pub fn trial_count(context: &ExperimentContext) -> u64 {
    context.scale.choose(1, 5, 20)
}

/// Trains the players of one trial with these feature sets, or loads them from the run folder.
pub fn trained_players(
    context: &ExperimentContext,
    seed: u64,
    games: &GameSample,
    features: &[FeatureSet],
) -> Result<Vec<TrainedPlayer>, ExperimentError> {
    let mut players = Vec::new();
    for &features in features {
        for method in METHODS {
            players.push(trained_player(context, seed, games, method, features)?);
        }
    }
    Ok(players)
}

/// Trains one player of a trial, or loads it from the run folder.
pub fn trained_player(
    context: &ExperimentContext,
    seed: u64,
    games: &GameSample,
    method: Method,
    features: FeatureSet,
) -> Result<TrainedPlayer, ExperimentError> {
    let name = format!("{}-{}", method_name(method), features.name());
    let path =
        context.file(&format!("models/{name}-{}-games-seed-{seed}.safetensors", games.train.len()));
    if path.is_file() {
        let (network, _) = load_network(&path)?;
        return Ok(TrainedPlayer { method, features, network });
    }
    (context.log)(&format!("training {name}"));
    let choices = decisions(&games.train, &DecisionFilter::CHOICES);
    let data = TrainingData::new(&games.train, choices.items(), features.tuples());
    let outcome = train(method, data, &paper_options(), seed, &mut |_| !stop_requested());
    // A stopped method may return an error, which the user should not see.
    if stop_requested() {
        return Err(ExperimentError::Stopped);
    }
    let outcome = outcome.map_err(ExperimentError::training)?;
    files::create_folder(&context.file("models"))?;
    let origin = Origin {
        method: method.name().to_owned(),
        seed: Some(seed),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        note: format!("{} games of {}", games.train.len(), games.source),
    };
    save(&path, &outcome.model, &origin)?;
    let network = outcome.network().cloned().ok_or_else(|| no_network(method))?;
    Ok(TrainedPlayer { method, features, network })
}

/// Returns the error for a method that trains no n-tuple network.
fn no_network(method: Method) -> ExperimentError {
    ExperimentError::Training(format!("{} trains no n-tuple network", method.name()))
}

/// Returns the departure about the games.
fn games_departure(games: &GameSample) -> String {
    format!(
        "The paper does not say which 2,000 games it used. Ours are a uniform sample of {}: {} training \
         games and {} test games.",
        games.source,
        format_count(games.train.len() as u64),
        format_count(games.test.len() as u64)
    )
}

/// The departure about the solvers.
const SOLVERS_DEPARTURE: &str = "Solvers: the support vector machines are trained by a primal Newton method, which \
                       reaches the optimum that LIBLINEAR's dual coordinate descent approximates; \
                       LSTD by LU decomposition with a small ridge instead of a pseudo-inverse; MM by \
                       updating one feature at a time, because the features of a tuple are not \
                       mutually exclusive.";
