//! What a method of this family is made of: every piece a number or a name, so that a new hybrid
//! is a file and not a program.
//!
//! A file must name every key: the learner has no defaults, since they would be some paper's.

use outflank_models::shapes::{Neighbour, Snake};
use outflank_models::{MAX_TUPLE, Tuples};
use outflank_runs::nearest;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The most individuals, and the most weights that all of them may have together.
const MOST_INDIVIDUALS: usize = 10_000;
const MOST_WEIGHTS: usize = Tuples::MAX_WEIGHTS;

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

/// How many tuples of which length, or which systematic set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Shape {
    /// So many snakes of so many squares, such as `12x6`.
    Snakes {
        /// How many tuples.
        tuples: usize,
        /// How many squares each.
        length: usize,
    },
    /// All straight lines of a length, such as `all4`, and all two by two squares: `all4+2x2`.
    Systematic {
        /// How many squares each line has.
        length: usize,
        /// Whether the two by two squares are there too.
        blocks: bool,
    },
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Shape, String> {
        let unknown =
            || format!("'{text}' is not a shape; give one such as 12x6, all4 or all4+2x2");
        if let Some(rest) = text.strip_prefix("all") {
            let (length, blocks) = match rest.strip_suffix("+2x2") {
                Some(length) => (length, true),
                None => (rest, false),
            };
            let length = length.parse().map_err(|_| unknown())?;
            return match length {
                1..=8 => Ok(Shape::Systematic { length, blocks }),
                _ => Err(format!("a straight line has 1 to 8 squares, not {length}")),
            };
        }
        let (tuples, length) = text.split_once('x').ok_or_else(unknown)?;
        let tuples: usize = tuples.parse().map_err(|_| unknown())?;
        let length: usize = length.parse().map_err(|_| unknown())?;
        if !(1..=MAX_TUPLE).contains(&length) {
            return Err(format!("a tuple has 1 to {MAX_TUPLE} squares, not {length}"));
        }
        let most = Tuples::MAX_WEIGHTS / 3usize.pow(length as u32);
        if !(1..=most).contains(&tuples) {
            return Err(format!(
                "a network has 1 to {most} tuples of length {length}, not {tuples}"
            ));
        }
        Ok(Shape::Snakes { tuples, length })
    }
}

impl TryFrom<String> for Shape {
    type Error = String;

    fn try_from(text: String) -> Result<Shape, String> {
        text.parse()
    }
}

impl From<Shape> for String {
    fn from(shape: Shape) -> String {
        shape.to_string()
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Shape::Snakes { tuples, length } => write!(f, "{tuples}x{length}"),
            Shape::Systematic { length, blocks } => {
                write!(f, "all{length}{}", if blocks { "+2x2" } else { "" })
            }
        }
    }
}

/// The pieces of a method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// What a network looks at.
    pub shape: Shape,
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
    pub topology: Neighbour,
}

/// Why settings make no method.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SettingsError {
    /// A key that nobody knows.
    #[error("there is no key '{key}'{}", match nearest { Some(name) => format!("; did you mean '{name}'?"), None => format!("; there are {known}") })]
    Unknown {
        /// The key.
        key: String,
        /// What may have been meant.
        nearest: Option<String>,
        /// All keys there are.
        known: String,
    },
    /// Not TOML, a key that is missing, or a value of the wrong kind.
    #[error("{0}")]
    Content(String),
    /// Values that do not go together, or lie out of their range.
    #[error("{0}")]
    Value(String),
}

/// Every key, in the order of [`Settings`].
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

impl Settings {
    /// Settings from a table with every key; see [`Settings::check`] for what is refused.
    pub fn from_table(table: &toml::Table) -> Result<Settings, SettingsError> {
        if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(SettingsError::Unknown {
                key: key.clone(),
                nearest: nearest(key, KEYS).map(str::to_owned),
                known: KEYS.join(", "),
            });
        }
        let settings: Settings = table.clone().try_into().map_err(|error: toml::de::Error| {
            // What is wrong, then a line that says in which key.
            let text = error.to_string();
            let key = text.trim().rsplit_once("\nin `").map(|(_, key)| key.trim_end_matches('`'));
            let place = key.map_or_else(String::new, |key| format!("{key}: "));
            SettingsError::Content(format!("{place}{}", error.message()))
        })?;
        settings.check()?;
        Ok(settings)
    }

    /// Settings from the text of a TOML file.
    pub fn from_toml(text: &str) -> Result<Settings, SettingsError> {
        let table: toml::Table =
            text.parse().map_err(|e: toml::de::Error| SettingsError::Content(e.to_string()))?;
        Settings::from_table(&table)
    }

    /// The table of all keys.
    #[must_use]
    pub fn to_table(&self) -> toml::Table {
        // Numbers, truths and names always make a table.
        toml::Table::try_from(self).unwrap_or_default()
    }

    /// Refuses what cannot be meant, before anything runs.
    pub fn check(&self) -> Result<(), SettingsError> {
        let refuse = |text: String| Err(SettingsError::Value(text));
        if !(1..=MOST_INDIVIDUALS).contains(&self.population) {
            return refuse(format!(
                "a population has 1 to {MOST_INDIVIDUALS} individuals, not {}",
                self.population
            ));
        }
        if self.population == 1 {
            let together = [
                (self.tournament > 0, "tournament selection", "tournament = 0"),
                (self.crossover > 0.0, "crossover", "crossover = 0"),
                (self.population_games() > 0, "training games", "population-opponents = 0"),
                (self.fitness == Fitness::RoundRobin, "a round robin", "fitness = \"none\""),
            ];
            if let Some((_, what, instead)) = together.iter().find(|(wanted, ..)| *wanted) {
                return refuse(format!(
                    "{what} needs others: a population of 1 has none; set {instead} or a larger population"
                ));
            }
        }
        let shares = [
            ("epsilon", self.epsilon),
            ("heuristic-random", self.heuristic_random),
            ("crossover", self.crossover),
            ("weight-mutation", self.weight_mutation),
            ("topology-mutation", self.topology_mutation),
        ];
        for (key, value) in shares {
            if !(0.0..=1.0).contains(&value) {
                return refuse(format!("{key} is a probability from 0 to 1, not {value}"));
            }
        }
        let sizes = [("spread", self.spread), ("weight-deviation", self.weight_deviation)];
        for (key, value) in sizes {
            if !(0.0..=1000.0).contains(&value) {
                return refuse(format!("{key} is a number from 0 to 1000, not {value}"));
            }
        }
        if !(self.alpha > 0.0 && self.alpha <= 1.0) {
            return refuse(format!("alpha is a step above 0, at most 1, not {}", self.alpha));
        }
        if self.tournament > self.population {
            return refuse(format!(
                "a tournament of {} needs as many individuals, and there are {}",
                self.tournament, self.population
            ));
        }
        if self.tournament > 1 && self.fitness == Fitness::None {
            return refuse(
                "tournament selection needs a fitness: round-robin or heuristic".to_owned(),
            );
        }
        if self.crossover > 0.0 && self.tournament == 0 {
            return refuse(
                "crossover needs parents: set tournament to 1 (anyone) or more".to_owned(),
            );
        }
        if self.fitness == Fitness::RoundRobin && !(1..=2).contains(&self.meetings) {
            return refuse(format!("a pair meets 1 or 2 times, not {}", self.meetings));
        }
        if self.hall_of_fame > 0 && self.fitness != Fitness::RoundRobin {
            return refuse("hall-of-fame goes with fitness = \"round-robin\"".to_owned());
        }
        if self.fitness == Fitness::Heuristic
            && (self.heuristic_games == 0 || !self.heuristic_games.is_multiple_of(2))
        {
            return refuse(format!(
                "heuristic-games is an even number, at least 2, not {}",
                self.heuristic_games
            ));
        }
        if self.population_opponents >= self.population && self.population_games() > 0 {
            return refuse(format!(
                "{} opponents from a population of {}: give at most {}",
                self.population_opponents,
                self.population,
                self.population - 1
            ));
        }
        let kept = if self.archive == 0 { u64::MAX } else { self.archive };
        if self.archive_newest && self.archive_opponents as u64 > kept {
            return refuse(format!(
                "{} opponents from an archive of {kept}: keep more, or train with fewer",
                self.archive_opponents
            ));
        }
        if self.fitness == Fitness::None && self.population > 1 && self.uses_archive() {
            return refuse(
                "an archive holds the best of each generation: set fitness to round-robin or heuristic"
                    .to_owned(),
            );
        }
        let weights = self.weights().saturating_mul(self.population);
        if weights > MOST_WEIGHTS {
            return refuse(format!(
                "{} individuals of shape {} have {weights} weights together, more than {MOST_WEIGHTS}",
                self.population, self.shape
            ));
        }
        if self.most_games() == Some(0) {
            return refuse("nobody plays: set self-games, or another kind of game".to_owned());
        }
        if self.most_games().is_none_or(|games| games > 1 << 40) {
            return refuse("a generation has more games than can be played".to_owned());
        }
        Ok(())
    }

    /// Refuses a budget that cannot pay for what is asked.
    pub fn check_budget(&self, games: u64) -> Result<(), SettingsError> {
        let first = self.generation_games(0);
        if first > games {
            return Err(SettingsError::Value(format!(
                "one generation takes {first} games, more than the budget of {games}; give more games"
            )));
        }
        let generations = games / first;
        if self.archive > generations {
            return Err(SettingsError::Value(format!(
                "an archive of {} is larger than the budget: {games} games are at most {generations} \
                 generations, and each adds one; keep fewer, or give more games",
                self.archive
            )));
        }
        let full = self.generation_games(1);
        if full > games {
            return Err(SettingsError::Value(format!(
                "an archive of that size is larger than the budget: a generation takes {full} games \
                 of {games}; lower hall-of-fame, or give more games"
            )));
        }
        Ok(())
    }

    /// Whether the best of each generation are kept.
    #[must_use]
    pub fn uses_archive(&self) -> bool {
        self.hall_of_fame > 0 || self.archive_training_games() > 0
    }

    fn population_games(&self) -> u64 {
        (self.population_opponents as u64).saturating_mul(self.population_games)
    }

    fn archive_training_games(&self) -> u64 {
        (self.archive_opponents as u64).saturating_mul(self.archive_games)
    }

    /// Training games of each individual in each generation.
    #[must_use]
    pub fn training_games(&self) -> u64 {
        self.self_games
            .saturating_add(self.population_games())
            .saturating_add(self.archive_training_games())
    }

    /// Games that a generation takes when the archive has so many members.
    #[must_use]
    pub fn generation_games(&self, archive: usize) -> u64 {
        let size = self.population as u64;
        let judged = match self.fitness {
            Fitness::None => 0,
            Fitness::RoundRobin => {
                let fame = if archive > 0 { size * self.hall_of_fame } else { 0 };
                size * (size - 1) / 2 * u64::from(self.meetings) + fame
            }
            Fitness::Heuristic => size * self.heuristic_games,
        };
        size * self.training_games() + judged
    }

    /// The games of a generation with a full archive, or `None` when they cannot be counted.
    fn most_games(&self) -> Option<u64> {
        let size = self.population as u64;
        let numbers = [self.training_games(), self.hall_of_fame, self.heuristic_games];
        numbers.iter().all(|&n| n < 1 << 40).then(|| ())?;
        size.checked_mul(numbers.iter().sum())?;
        Some(self.generation_games(1))
    }

    /// How many weights an individual has at most.
    #[must_use]
    pub fn weights(&self) -> usize {
        match self.shape {
            Shape::Snakes { tuples, length } => tuples.saturating_mul(3usize.pow(length as u32)),
            // At most 32 classes of lines of a length, and 10 of squares.
            Shape::Systematic { length, .. } => 40 * 3usize.pow(length as u32) + 810,
        }
    }
}
