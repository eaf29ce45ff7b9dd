//! Validation of a configuration, and its number of games and weights.

use super::config::{CoevolutionConfig, CoevolutionConfigError, Fitness};
use super::tuple_shape::TupleShape;
use outflank_models::Tuples;

/// Upper limit for the population.
const MAX_INDIVIDUALS: usize = 10_000;

/// Upper limit for the weights of all individuals together.
const MAX_WEIGHTS: usize = Tuples::MAX_WEIGHTS;

/// Upper limit for the games of a generation.
const MAX_GAMES: u64 = 1 << 40;

type ValidationResult = Result<(), CoevolutionConfigError>;

fn invalid(text: impl Into<String>) -> ValidationResult {
    Err(CoevolutionConfigError::Value(text.into()))
}

impl CoevolutionConfig {
    /// Returns an error if a value is out of range or values contradict each other.
    pub fn validate(&self) -> ValidationResult {
        self.validate_population()?;
        self.validate_opponents()?;
        self.validate_ranges()?;
        self.validate_selection()?;
        self.validate_fitness()?;
        self.validate_archive()?;
        self.validate_size()
    }

    fn validate_population(&self) -> ValidationResult {
        if !(1..=MAX_INDIVIDUALS).contains(&self.population) {
            return invalid(format!(
                "population must be from 1 to {MAX_INDIVIDUALS}, not {}",
                self.population
            ));
        }
        if self.population > 1 {
            return Ok(());
        }
        let needs_others = [
            (self.tournament_size > 0, "tournament selection", "tournament-size = 0"),
            (self.crossover > 0.0, "crossover", "crossover = 0"),
            (
                self.population_games() > 0,
                "training with the population",
                "population-opponents = 0",
            ),
            (self.fitness == Fitness::RoundRobin, "round-robin fitness", "fitness = \"none\""),
        ];
        match needs_others.iter().find(|(wanted, ..)| *wanted) {
            Some((_, what, instead)) => invalid(format!(
                "{what} needs more than a population of 1; set {instead} or a larger population"
            )),
            None => Ok(()),
        }
    }

    fn validate_opponents(&self) -> ValidationResult {
        let kinds = [
            (
                "population-opponents",
                self.population_opponents,
                "population-games",
                self.population_games,
            ),
            ("archive-opponents", self.archive_opponents, "archive-games", self.archive_games),
        ];
        for (opponents_key, opponents, games_key, games) in kinds {
            if opponents > 0 && games == 0 {
                return invalid(format!(
                    "{opponents_key} = {opponents} has no effect with {games_key} = 0; set games or no \
                     opponents"
                ));
            }
        }
        Ok(())
    }

    fn validate_ranges(&self) -> ValidationResult {
        let probabilities = [
            ("epsilon", self.epsilon),
            ("heuristic-random", self.heuristic_random),
            ("crossover", self.crossover),
            ("weight-mutation", self.weight_mutation),
            ("topology-mutation", self.topology_mutation),
        ];
        for (key, value) in probabilities {
            if !(0.0..=1.0).contains(&value) {
                return invalid(format!("{key} must be a probability from 0 to 1, not {value}"));
            }
        }
        let sizes = [("init-range", self.init_range), ("weight-deviation", self.weight_deviation)];
        for (key, value) in sizes {
            if !(0.0..=1000.0).contains(&value) {
                return invalid(format!("{key} must be from 0 to 1000, not {value:e}"));
            }
        }
        if !(self.learning_rate > 0.0 && self.learning_rate <= 1.0) {
            return invalid(format!(
                "learning-rate must be above 0 and at most 1, not {}",
                self.learning_rate
            ));
        }
        Ok(())
    }

    fn validate_selection(&self) -> ValidationResult {
        if self.tournament_size > self.population {
            return invalid(format!(
                "a tournament of {} is larger than the population of {}",
                self.tournament_size, self.population
            ));
        }
        if self.tournament_size > 1 && self.fitness == Fitness::None {
            return invalid("tournament selection needs a fitness: round-robin or heuristic");
        }
        if self.crossover > 0.0 && self.tournament_size == 0 {
            return invalid(
                "crossover needs parents: set tournament-size to 1 (random parents) or more",
            );
        }
        Ok(())
    }

    fn validate_fitness(&self) -> ValidationResult {
        if self.fitness == Fitness::RoundRobin && !(1..=2).contains(&self.games_per_pair) {
            return invalid(format!("games-per-pair must be 1 or 2, not {}", self.games_per_pair));
        }
        if self.hall_of_fame_games > 0 && self.fitness != Fitness::RoundRobin {
            return invalid("hall-of-fame-games needs fitness = \"round-robin\"");
        }
        if self.fitness == Fitness::Heuristic
            && (self.heuristic_games == 0 || !self.heuristic_games.is_multiple_of(2))
        {
            return invalid(format!(
                "heuristic-games must be even and at least 2, not {}",
                self.heuristic_games
            ));
        }
        if self.population_opponents >= self.population && self.population_games() > 0 {
            return invalid(format!(
                "{} opponents from a population of {}; set population-opponents to at most {}",
                self.population_opponents,
                self.population,
                self.population - 1
            ));
        }
        Ok(())
    }

    fn validate_archive(&self) -> ValidationResult {
        let size = if self.archive_size == 0 { u64::MAX } else { self.archive_size };
        if self.archive_newest && self.archive_opponents as u64 > size {
            return invalid(format!(
                "{} opponents from an archive of {size}; set a larger archive-size or fewer archive-opponents",
                self.archive_opponents
            ));
        }
        if self.fitness == Fitness::None && self.population > 1 && self.uses_archive() {
            return invalid(
                "an archive holds the best of each generation: set fitness to round-robin or heuristic",
            );
        }
        Ok(())
    }

    fn validate_size(&self) -> ValidationResult {
        let weights = self.weights().saturating_mul(self.population);
        if weights > MAX_WEIGHTS {
            return invalid(format!(
                "{} individuals of shape {} have {weights} weights, more than {MAX_WEIGHTS}",
                self.population, self.shape
            ));
        }
        if self.max_generation_games() == Some(0) {
            return invalid(
                "a generation has no games: set self-play-games or another kind of game",
            );
        }
        if self.training_games() == 0 && self.weight_mutation == 0.0 && self.init_range == 0.0 {
            return invalid(
                "all weights start at 0 and never change: set training games, weight-mutation or init-range",
            );
        }
        if self.max_generation_games().is_none_or(|games| games > MAX_GAMES) {
            return invalid(format!("a generation has more than {MAX_GAMES} games"));
        }
        Ok(())
    }

    /// Returns an error if the budget is smaller than a generation, or than the archive.
    pub fn validate_budget(&self, games: u64) -> ValidationResult {
        let first = self.generation_games(0);
        if first > games {
            return invalid(format!(
                "one generation takes {first} games, more than the budget of {games}; set more games"
            ));
        }
        let generations = games / first;
        if self.archive_size > generations {
            return invalid(format!(
                "an archive of {} is larger than the budget: {games} games are at most {generations} \
                 generations, and each adds one member; set a smaller archive-size or more games",
                self.archive_size
            ));
        }
        let full = self.generation_games(1);
        if full > games {
            return invalid(format!(
                "the hall of fame is larger than the budget: a generation takes {full} games of {games}; \
                 set a smaller hall-of-fame-games or more games"
            ));
        }
        Ok(())
    }

    /// Returns whether the best individual of each generation is archived.
    #[must_use]
    pub fn uses_archive(&self) -> bool {
        self.hall_of_fame_games > 0 || self.archive_training_games() > 0
    }

    fn population_games(&self) -> u64 {
        (self.population_opponents as u64).saturating_mul(self.population_games)
    }

    fn archive_training_games(&self) -> u64 {
        (self.archive_opponents as u64).saturating_mul(self.archive_games)
    }

    /// Returns the training games per individual and generation.
    #[must_use]
    pub fn training_games(&self) -> u64 {
        self.self_play_games
            .saturating_add(self.population_games())
            .saturating_add(self.archive_training_games())
    }

    /// Returns the games of a generation with `archive` members in the archive.
    #[must_use]
    pub fn generation_games(&self, archive: usize) -> u64 {
        let size = self.population as u64;
        let evaluation = match self.fitness {
            Fitness::None => 0,
            Fitness::RoundRobin => {
                let hall_of_fame = if archive > 0 { size * self.hall_of_fame_games } else { 0 };
                size * (size - 1) / 2 * u64::from(self.games_per_pair) + hall_of_fame
            }
            Fitness::Heuristic => size * self.heuristic_games,
        };
        size * self.training_games() + evaluation
    }

    /// Returns the games of a generation with an archive, or `None` on overflow.
    fn max_generation_games(&self) -> Option<u64> {
        let size = self.population as u64;
        let numbers = [self.training_games(), self.hall_of_fame_games, self.heuristic_games];
        numbers.iter().all(|&n| n < MAX_GAMES).then_some(())?;
        size.checked_mul(numbers.iter().sum())?;
        Some(self.generation_games(1))
    }

    /// Returns an upper bound for the weights of an individual.
    #[must_use]
    pub fn weights(&self) -> usize {
        match self.shape {
            TupleShape::Snakes { tuples, length } => {
                tuples.saturating_mul(3usize.pow(length as u32))
            }
            // At most 32 symmetry classes of lines of a length, and 10 of 2x2 blocks.
            TupleShape::Systematic { length, .. } => 40 * 3usize.pow(length as u32) + 810,
            TupleShape::Blocks => 810,
        }
    }
}
