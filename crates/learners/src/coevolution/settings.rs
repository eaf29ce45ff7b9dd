//! What a method of this family is made of: every piece a number or a name, so that a new hybrid
//! is a file and not a program.
//!
//! A file must name every key: the learner has no defaults, since they would be some paper's.

use super::shape::TupleShape;
use outflank_models::tuple_shapes::{NeighborChoice, Snake};
use outflank_runs::{did_you_mean, toml_error_message};
use serde::{Deserialize, Serialize};

/// How individuals are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fitness {
    /// Not at all.
    None,
    /// By games among themselves, and with the hall of fame.
    RoundRobin,
    /// By games with the League's heuristic player.
    Heuristic,
}

/// The pieces of a method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CoevolutionConfig {
    /// What a network looks at.
    pub shape: TupleShape,
    /// How snakes are drawn.
    pub snake: Snake,
    /// Weights begin uniformly between minus this and this; 0 lets all begin at zero.
    pub spread: f64,
    /// How many individuals.
    pub population: usize,
    /// The step of a training game.
    pub alpha: f64,
    /// The probability of a random move in a training game.
    pub epsilon: f64,
    /// Training games of each individual with itself, in each generation.
    pub self_games: u64,
    /// How many individuals of the population it trains with, drawn at random.
    pub population_opponents: usize,
    /// Training games with each of them.
    pub population_games: u64,
    /// How many members of the archive it trains with; while there is none it plays with itself.
    pub archive_opponents: usize,
    /// Training games with each of them.
    pub archive_games: u64,
    /// Whether these are the newest members rather than any.
    pub archive_newest: bool,
    /// How many best individuals the archive holds, the newest ones; 0 holds all.
    pub archive: u64,
    /// How individuals are judged.
    pub fitness: Fitness,
    /// Round robin: games of each pair, 2 with colours swapped or 1.
    pub meetings: u32,
    /// Round robin: games of each individual with members of the archive.
    pub hall_of_fame: u64,
    /// Heuristic: games of each individual, half with each colour.
    pub heuristic_games: u64,
    /// Heuristic: the probability of a random move, for both.
    pub heuristic_random: f64,
    /// How many meet in a tournament for becoming a parent; with 1 anyone becomes one, with 0
    /// everyone is its own and only successor.
    pub tournament: usize,
    /// The probability that two parents exchange half of their tuples.
    pub crossover: f64,
    /// The probability that a weight changes, and the deviation of its change.
    pub weight_mutation: f64,
    /// The deviation of a weight's change.
    pub weight_deviation: f64,
    /// The probability that a square moves.
    pub topology_mutation: f64,
    /// Where it moves to.
    pub topology: NeighborChoice,
}

/// Why settings make no method.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CoevolutionConfigError {
    /// A key that nobody knows.
    #[error("there is no key '{key}'; {meant}")]
    Unknown {
        /// The key.
        key: String,
        /// What may have been meant, in words.
        meant: String,
    },
    /// Not TOML, a key that is missing, or a value of the wrong kind.
    #[error("{0}")]
    Content(String),
    /// Values that do not go together, or lie out of their range.
    #[error("{0}")]
    Value(String),
}

/// Every key, in the order of [`CoevolutionConfig`].
pub const KEYS: [&str; 24] = [
    "shape",
    "snake",
    "spread",
    "population",
    "alpha",
    "epsilon",
    "self-games",
    "population-opponents",
    "population-games",
    "archive-opponents",
    "archive-games",
    "archive-newest",
    "archive",
    "fitness",
    "meetings",
    "hall-of-fame",
    "heuristic-games",
    "heuristic-random",
    "tournament",
    "crossover",
    "weight-mutation",
    "weight-deviation",
    "topology-mutation",
    "topology",
];

impl CoevolutionConfig {
    /// Settings from a table with every key; see [`CoevolutionConfig::check`] for what is refused.
    pub fn from_table(table: &toml::Table) -> Result<CoevolutionConfig, CoevolutionConfigError> {
        if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let meant = did_you_mean(key, &KEYS);
            return Err(CoevolutionConfigError::Unknown { key: key.clone(), meant });
        }
        let settings: CoevolutionConfig = table.clone().try_into().map_err(|error: toml::de::Error| {
            // What is wrong, then a line that says in which key.
            let text = error.to_string();
            let key = text.trim().rsplit_once("\nin `").map(|(_, key)| key.trim_end_matches('`'));
            let place = key.map_or_else(String::new, |key| format!("{key}: "));
            CoevolutionConfigError::Content(format!("{place}{}", error.message()))
        })?;
        settings.check()?;
        Ok(settings)
    }

    /// Settings from the text of a TOML file.
    pub fn from_toml(text: &str) -> Result<CoevolutionConfig, CoevolutionConfigError> {
        let table: toml::Table =
            text.parse().map_err(|e| CoevolutionConfigError::Content(toml_error_message(text, &e)))?;
        CoevolutionConfig::from_table(&table)
    }

    /// The table of all keys.
    #[must_use]
    pub fn to_table(&self) -> toml::Table {
        // Numbers, truths and names always make a table.
        toml::Table::try_from(self).unwrap_or_default()
    }
}
