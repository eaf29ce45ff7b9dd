//! Options of `outflank train tdl`, `cel`, `hof`, `ptdl`, `ctdl` and `etdl`. Their names are also
//! the keys of a TOML file given with `--config`, which can define a new hybrid.

use super::RemoteArgs;
use super::train_play::TrainingArgs;
use clap::Args;

/// Examples at the top of the help of each method.
pub const TDL_EXAMPLES: &str = "\
Examples:
  outflank train tdl --games 200000
  outflank train tdl --shape all4 --learning-rate 0.01";
pub const CEL_EXAMPLES: &str = "\
Examples:
  outflank train cel --games 1000000
  outflank train cel --on nats://HOST      workers play the games of each generation";
pub const HOF_EXAMPLES: &str = "\
Examples:
  outflank train hof --hall-of-fame-games 20
  outflank train hof --on nats://HOST      workers play the games of each generation";
pub const PTDL_EXAMPLES: &str = "\
Examples:
  outflank train ptdl --population 10
  outflank train ptdl --operators p --on nats://HOST      workers train the individuals";
pub const CTDL_EXAMPLES: &str = "\
Examples:
  outflank train ctdl --operators sxm_t --shape 12x6 --seed 2
  outflank train ctdl --config hybrid.toml --set population=20
  outflank train ctdl --shape all4 --on nats://HOST      workers play the games of each generation";
pub const ETDL_EXAMPLES: &str = "\
Examples:
  outflank train etdl --heuristic-games 100
  outflank train etdl --on nats://HOST      workers play the games of each generation";

/// Notes below the options.
pub const NOTES: &str = "\
The defaults are those of Krawiec & Szubert (2011) for the method and its operators. A method
trains, evaluates and varies a population of n-tuple networks (individuals), generation by
generation. The archive, or hall of fame, holds the best individual of each earlier generation.

Operators, written one after the other, such as sxm_t:
  s    training by self-play
  p    training by games with other individuals of the population
  a    training by games with the archive
  as   training by self-play and by games with the newest members of the archive
  x    crossover: two parents exchange tuples
  m_w  mutation of weights
  m_t  mutation of the topology: squares of tuples are replaced by neighbors";

/// Options of `outflank train tdl`, `cel`, `hof`, `ptdl`, `ctdl` and `etdl`.
#[derive(Args, Debug, Clone)]
pub struct CoevolutionArgs {
    /// Operators applied in each generation, such as sxm_t; see below [default: by the method].
    #[arg(long, value_name = "LETTERS", help_heading = "Algorithm")]
    pub operators: Option<String>,
    /// Settings of the algorithm.
    #[command(flatten)]
    pub settings: CoevolutionSettings,
    /// Options of every method that trains by playing.
    #[command(flatten)]
    pub training: TrainingArgs,
    /// Remote workers; last, because their help heading applies to everything after it.
    #[command(flatten)]
    pub remote: RemoteArgs,
}

/// Settings of coevolution and TDL; missing ones are set by the method.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Algorithm")]
pub struct CoevolutionSettings {
    /// Tuples of the network [default: 12x6]:
    ///   12x6      12 random snakes of 6 adjacent squares each
    ///   all4      all straight lines of 4 squares (all1 to all8)
    ///   all2x2    all blocks of 2x2 squares
    ///   all4+2x2  both
    #[arg(long, verbatim_doc_comment, value_name = "SHAPE", allow_hyphen_values = true)]
    pub shape: Option<String>,
    /// Generation of snakes: clean (distinct squares), or wrapping (as in the authors' program: a
    /// snake may leave the board at one edge and continue at the opposite one).
    #[arg(long, value_name = "VARIANT")]
    pub snake: Option<String>,
    /// Initial weights are drawn uniformly from [-X, X].
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub init_range: Option<f64>,
    /// Population size.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub population: Option<i64>,
    /// Learning rate of TD(0) [alias: --lr].
    #[arg(long, alias = "lr", value_name = "LR", allow_negative_numbers = true)]
    pub learning_rate: Option<f64>,
    /// Probability of a random move in a training game.
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub epsilon: Option<f64>,
    /// Self-play training games per individual and generation.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub self_play_games: Option<i64>,
    /// Number of training opponents of an individual from the population.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub population_opponents: Option<i64>,
    /// Training games with each opponent from the population.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub population_games: Option<i64>,
    /// Number of training opponents of an individual from the archive.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub archive_opponents: Option<i64>,
    /// Training games with each opponent from the archive.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub archive_games: Option<i64>,
    /// Choose the newest archive members as opponents instead of random ones.
    #[arg(long, value_name = "true|false")]
    pub archive_newest: Option<bool>,
    /// Size of the archive, which keeps the newest of its members; 0: unlimited.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub archive_size: Option<i64>,
    /// Fitness of an individual:
    ///   none         no fitness, no selection
    ///   round-robin  score against the population and the archive
    ///   heuristic    score against the player `heuristic`
    #[arg(long, verbatim_doc_comment, value_name = "KIND")]
    pub fitness: Option<String>,
    /// Games per pair of individuals in the round robin, 1 or 2.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub games_per_pair: Option<i64>,
    /// Fitness games of each individual with random members of the archive (hall of fame).
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub hall_of_fame_games: Option<i64>,
    /// Fitness games of each individual with the heuristic.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub heuristic_games: Option<i64>,
    /// Probability of a random move in fitness games with the heuristic.
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub heuristic_random: Option<f64>,
    /// Tournament selection: a parent is the best of N random individuals; 0 turns selection off.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub tournament_size: Option<i64>,
    /// Crossover probability: two parents exchange tuples.
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub crossover: Option<f64>,
    /// Probability that a weight mutates.
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub weight_mutation: Option<f64>,
    /// Standard deviation of a weight mutation.
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub weight_deviation: Option<f64>,
    /// Probability that a square of a tuple is replaced by a neighbor.
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub topology_mutation: Option<f64>,
    /// Choice of that neighbor: uniform (any free one), or crowded (one of those next to most other
    /// squares of the tuple).
    #[arg(long, value_name = "VARIANT")]
    pub topology: Option<String>,
}

impl CoevolutionSettings {
    /// The given settings, by the keys of the learner.
    pub fn table(&self) -> toml::Table {
        let text = |value: &Option<String>| value.clone().map(toml::Value::String);
        let number = |value: Option<f64>| value.map(toml::Value::Float);
        let count = |value: Option<i64>| value.map(toml::Value::Integer);
        let given = [
            ("shape", text(&self.shape)),
            ("snake", text(&self.snake)),
            ("init-range", number(self.init_range)),
            ("population", count(self.population)),
            ("learning-rate", number(self.learning_rate)),
            ("epsilon", number(self.epsilon)),
            ("self-play-games", count(self.self_play_games)),
            ("population-opponents", count(self.population_opponents)),
            ("population-games", count(self.population_games)),
            ("archive-opponents", count(self.archive_opponents)),
            ("archive-games", count(self.archive_games)),
            ("archive-newest", self.archive_newest.map(toml::Value::Boolean)),
            ("archive-size", count(self.archive_size)),
            ("fitness", text(&self.fitness)),
            ("games-per-pair", count(self.games_per_pair)),
            ("hall-of-fame-games", count(self.hall_of_fame_games)),
            ("heuristic-games", count(self.heuristic_games)),
            ("heuristic-random", number(self.heuristic_random)),
            ("tournament-size", count(self.tournament_size)),
            ("crossover", number(self.crossover)),
            ("weight-mutation", number(self.weight_mutation)),
            ("weight-deviation", number(self.weight_deviation)),
            ("topology-mutation", number(self.topology_mutation)),
            ("topology", text(&self.topology)),
        ];
        given.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Command;

    #[test]
    fn every_setting_of_the_learner_is_an_option() {
        let command = CoevolutionSettings::augment_args(Command::new("settings"));
        let options: Vec<&str> = command.get_arguments().filter_map(|arg| arg.get_long()).collect();
        assert_eq!(options, outflank_learners::coevolution::KEYS);
    }
}
