//! Runarsson and Lucas, "Preference learning for move prediction and evaluation function
//! approximation in Othello" (2014): paper 0.

pub mod fig2;
pub mod fig3;
pub mod fig4;
pub mod sparsity;
pub mod studies;
pub mod table2;
pub mod table3;
pub mod table4;
pub mod table5;

use crate::lab::{ExperimentError, Games, Lab};
use outflank_learners::methods::{Method, MethodOptions, TrainingData, learn};
use outflank_models::files::{Origin, load_network, save};
use outflank_models::{NTupleNetwork, Tuples, embedded};
use outflank_records::{DecisionFilter, decisions};
use outflank_report::text::count;
use outflank_runs::{files, stop_requested};

/// Games to learn from, and as many others to measure on (VIII-A).
const GAMES: usize = 1000;

/// The decay of LSTD's traces (VIII-B).
const LAMBDA: f64 = 0.9;

/// LIBLINEAR's C (V).
const C: f64 = 1.0;

/// The features of section III.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeatureSet {
    /// 192 weights, three for each square.
    One,
    /// The 15 symmetric tuples of Table I, 6,561 weights.
    N,
}

impl FeatureSet {
    /// Both, as Table II orders them.
    pub const BOTH: [FeatureSet; 2] = [FeatureSet::One, FeatureSet::N];

    /// As the tables write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            FeatureSet::One => "1-Tuple",
            FeatureSet::N => "N-Tuple",
        }
    }

    /// The tuples.
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

/// As the tables write a method.
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

/// One of the ten players that the paper learns.
pub struct Learned {
    /// How.
    pub method: Method,
    /// On what.
    pub features: FeatureSet,
    /// The result.
    pub network: NTupleNetwork,
}

impl Learned {
    /// As Table III writes it, such as `iPref-N-Tuple`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}-{}", method_name(self.method), self.features.name())
    }
}

/// The settings of the paper for every method.
#[must_use]
pub fn options() -> MethodOptions {
    MethodOptions { c: C, lambda: LAMBDA, ..MethodOptions::default() }
}

/// The games of one trial at the lab's scale.
pub fn games(lab: &Lab, seed: u64) -> Result<Games, ExperimentError> {
    let count = lab.scale.choose(30, GAMES, GAMES);
    lab.games(seed, count, count)
}

/// How many trials with other games a scale has.
#[must_use]
pub fn trials(lab: &Lab) -> u64 {
    lab.scale.choose(1, 5, 20)
}

/// Learns the players of one trial on these features, the ten of the paper with both; a player
/// that was learned before is read back.
pub fn players(
    lab: &Lab,
    seed: u64,
    games: &Games,
    features: &[FeatureSet],
) -> Result<Vec<Learned>, ExperimentError> {
    let mut players = Vec::new();
    for &features in features {
        for method in METHODS {
            players.push(one_player(lab, seed, games, method, features)?);
        }
    }
    Ok(players)
}

/// Learns one player of a trial, or reads it back.
pub fn one_player(
    lab: &Lab,
    seed: u64,
    games: &Games,
    method: Method,
    features: FeatureSet,
) -> Result<Learned, ExperimentError> {
    let name = format!("{}-{}", method_name(method), features.name());
    let path =
        lab.keep(&format!("models/{name}-{}-games-seed-{seed}.safetensors", games.train.len()));
    if path.is_file() {
        let (network, _) = load_network(&path)?;
        return Ok(Learned { method, features, network });
    }
    (lab.say)(&format!("learning {name}"));
    let choices = decisions(&games.train, &DecisionFilter::CHOICES);
    let task = TrainingData::new(&games.train, choices.items(), features.tuples());
    let outcome = learn(method, task, &options(), seed, &mut |_| !stop_requested());
    // What was stopped may be an error by itself, which is not the user's business.
    if stop_requested() {
        return Err(ExperimentError::Stopped);
    }
    let outcome = outcome.map_err(|error| ExperimentError::Learn(error.to_string()))?;
    files::create_folder(&lab.keep("models"))?;
    let origin = Origin {
        method: method.name().to_owned(),
        seed: Some(seed),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        note: format!("{} games of {}", games.train.len(), games.source),
    };
    save(&path, &outcome.model, &origin)?;
    let network = outcome.network().cloned().ok_or_else(|| no_network(method))?;
    Ok(Learned { method, features, network })
}

/// A method that this paper does not have.
fn no_network(method: Method) -> ExperimentError {
    ExperimentError::Learn(format!("{} learns no network of tuples", method.name()))
}

/// Which games these are, as a numbered departure.
fn games_departure(games: &Games) -> String {
    format!(
        "Which 2,000 games the paper used is not known. These are drawn uniformly by the seed from {}, \
         {} to learn from and {} to measure on, split by game.",
        games.source,
        count(games.train.len() as u64),
        count(games.test.len() as u64)
    )
}

/// How the methods are solved here, as a numbered departure.
const SOLVERS: &str = "The support vector machines are solved by a Newton method in the primal, which reaches the optimum that LIBLINEAR's dual coordinate descent \
                       approaches; LSTD by LU with a small ridge instead of a pseudo-inverse; MM by \
                       updating one feature at a time, since the tuples' features are not mutually \
                       exclusive.";
