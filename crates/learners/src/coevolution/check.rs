//! What settings are refused, before anything runs, and how many games they take.

use super::settings::{Fitness, CoevolutionConfig, CoevolutionConfigError};
use super::shape::TupleShape;
use outflank_models::Tuples;

/// The most individuals, and the most weights that all of them may have together.
const MOST_INDIVIDUALS: usize = 10_000;
const MOST_WEIGHTS: usize = Tuples::MAX_WEIGHTS;

impl CoevolutionConfig {
    /// Refuses what cannot be meant, before anything runs.
    pub fn check(&self) -> Result<(), CoevolutionConfigError> {
        let refuse = |text: String| Err(CoevolutionConfigError::Value(text));
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
                (
                    self.population_games() > 0,
                    "training with the population",
                    "population-opponents = 0",
                ),
                (self.fitness == Fitness::RoundRobin, "a round robin", "fitness = \"none\""),
            ];
            if let Some((_, what, instead)) = together.iter().find(|(wanted, ..)| *wanted) {
                return refuse(format!(
                    "{what} needs others: a population of 1 has none; set {instead} or a larger population"
                ));
            }
        }
        let nobody = [
            (
                "population-opponents",
                self.population_opponents,
                "population-games",
                self.population_games,
            ),
            ("archive-opponents", self.archive_opponents, "archive-games", self.archive_games),
        ];
        for (one, many, other, games) in nobody {
            if many > 0 && games == 0 {
                return refuse(format!(
                    "{one} = {many} with {other} = 0 is no game at all: give some games, or no opponents"
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
                return refuse(format!("{key} is a number from 0 to 1000, not {value:e}"));
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
        if self.training_games() == 0 && self.weight_mutation == 0.0 && self.spread == 0.0 {
            return refuse(
                "all weights begin at 0 and nothing changes them: give training games, \
                 weight-mutation, or a spread above 0"
                    .to_owned(),
            );
        }
        if self.most_games().is_none_or(|games| games > 1 << 40) {
            return refuse("a generation has more games than can be played".to_owned());
        }
        Ok(())
    }

    /// Refuses a budget that cannot pay for what is asked.
    pub fn check_budget(&self, games: u64) -> Result<(), CoevolutionConfigError> {
        let first = self.generation_games(0);
        if first > games {
            return Err(CoevolutionConfigError::Value(format!(
                "one generation takes {first} games, more than the budget of {games}; give more games"
            )));
        }
        let generations = games / first;
        if self.archive > generations {
            return Err(CoevolutionConfigError::Value(format!(
                "an archive of {} is larger than the budget: {games} games are at most {generations} \
                 generations, and each adds one; keep fewer, or give more games",
                self.archive
            )));
        }
        let full = self.generation_games(1);
        if full > games {
            return Err(CoevolutionConfigError::Value(format!(
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
        numbers.iter().all(|&n| n < 1 << 40).then_some(())?;
        size.checked_mul(numbers.iter().sum())?;
        Some(self.generation_games(1))
    }

    /// How many weights an individual has at most.
    #[must_use]
    pub fn weights(&self) -> usize {
        match self.shape {
            TupleShape::Snakes { tuples, length } => tuples.saturating_mul(3usize.pow(length as u32)),
            // At most 32 classes of lines of a length, and 10 of squares.
            TupleShape::Systematic { length, .. } => 40 * 3usize.pow(length as u32) + 810,
            TupleShape::Blocks => 810,
        }
    }
}
