//! The configuration of a coevolution method, as a TOML table.
//!
//! Every key is required. The values of published methods are presets of the caller.

use super::tuple_shape::TupleShape;
use outflank_models::tuple_shapes::{NeighborChoice, Snake};
use outflank_runs::did_you_mean;
use serde::{Deserialize, Serialize};

/// How the fitness of individuals is determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fitness {
    /// No fitness.
    None,
    /// By games among the individuals, and against the hall of fame.
    RoundRobin,
    /// By games against the heuristic player of the Othello League.
    Heuristic,
}

/// Configuration of a coevolution method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CoevolutionConfig {
    /// Shape of the tuples.
    pub shape: TupleShape,
    /// How snakes are generated.
    pub snake: Snake,
    /// Initial weights are uniform in [-init_range, init_range]; 0 starts with zeros.
    pub init_range: f64,
    /// Number of individuals.
    pub population: usize,
    /// Learning rate of TDL.
    pub learning_rate: f64,
    /// Probability of a random move in a training game.
    pub epsilon: f64,
    /// Self-play training games per individual and generation.
    pub self_play_games: u64,
    /// Number of random opponents from the population in training.
    pub population_opponents: usize,
    /// Training games against each of them.
    pub population_games: u64,
    /// Number of opponents from the archive in training; self-play while the archive is empty.
    pub archive_opponents: usize,
    /// Training games against each of them.
    pub archive_games: u64,
    /// Whether the opponents from the archive are its newest members instead of random ones.
    pub archive_newest: bool,
    /// Capacity of the archive, which holds the newest best individuals; 0 is unlimited.
    pub archive_size: u64,
    /// How the fitness is determined.
    pub fitness: Fitness,
    /// With round-robin fitness: games per pair, either 1, or 2 with colors swapped.
    pub games_per_pair: u32,
    /// With round-robin fitness: games per individual against the archive.
    pub hall_of_fame_games: u64,
    /// With fitness against the heuristic: games per individual, half with each color.
    pub heuristic_games: u64,
    /// With fitness against the heuristic: probability of a random move, for both players.
    pub heuristic_random: f64,
    /// Tournament size of parent selection; 1 selects at random, 0 keeps every individual.
    pub tournament_size: usize,
    /// Probability that two parents exchange half of their tuples.
    pub crossover: f64,
    /// Probability that a weight is mutated.
    pub weight_mutation: f64,
    /// Standard deviation of a weight mutation.
    pub weight_deviation: f64,
    /// Probability that a square of a tuple is replaced by a neighbor (topology mutation).
    pub topology_mutation: f64,
    /// How the new square is chosen.
    pub topology: NeighborChoice,
}

/// An error of a configuration.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CoevolutionConfigError {
    /// An unknown key.
    #[error("unknown key '{key}'; {hint}")]
    Unknown {
        /// The key.
        key: String,
        /// A suggestion.
        hint: String,
    },
    /// A missing key, or a value of the wrong type.
    #[error("{0}")]
    Content(String),
    /// A value out of range, or contradictory values.
    #[error("{0}")]
    Value(String),
}

/// All keys, in the order of [`CoevolutionConfig`].
pub const KEYS: [&str; 24] = [
    "shape",
    "snake",
    "init-range",
    "population",
    "learning-rate",
    "epsilon",
    "self-play-games",
    "population-opponents",
    "population-games",
    "archive-opponents",
    "archive-games",
    "archive-newest",
    "archive-size",
    "fitness",
    "games-per-pair",
    "hall-of-fame-games",
    "heuristic-games",
    "heuristic-random",
    "tournament-size",
    "crossover",
    "weight-mutation",
    "weight-deviation",
    "topology-mutation",
    "topology",
];

impl CoevolutionConfig {
    /// Parses and validates a table with all keys.
    pub fn from_table(table: &toml::Table) -> Result<CoevolutionConfig, CoevolutionConfigError> {
        if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let hint = did_you_mean(key, &KEYS);
            return Err(CoevolutionConfigError::Unknown { key: key.clone(), hint });
        }
        let config: CoevolutionConfig =
            table.clone().try_into().map_err(|error: toml::de::Error| {
                // The last line of the error names the key.
                let text = error.to_string();
                let key =
                    text.trim().rsplit_once("\nin `").map(|(_, key)| key.trim_end_matches('`'));
                let place = key.map_or_else(String::new, |key| format!("{key}: "));
                CoevolutionConfigError::Content(format!("{place}{}", error.message()))
            })?;
        config.validate()?;
        Ok(config)
    }

    /// Returns the table of all keys.
    #[must_use]
    pub fn to_table(&self) -> toml::Table {
        // Numbers, booleans and strings always convert.
        toml::Table::try_from(self).unwrap_or_default()
    }
}
