//! Options of `outflank train METHOD` for methods that train by playing. Option names are also the
//! keys of a TOML file given with `--config`.

use super::train_cnn::{self, CnnArgs};
use super::train_gp::{self, GpArgs};
use super::{CommonArgs, RemoteArgs, RunArgs};
use clap::{Args, Subcommand, ValueEnum};

/// Methods with their own options.
#[derive(Subcommand, Debug, Clone)]
pub enum TrainMethod {
    /// Temporal difference learning by self-play.
    #[command(before_help = COEVOLUTION_EXAMPLES, after_help = COEVOLUTION_NOTES)]
    Tdl(Box<CoevolutionArgs>),
    /// Coevolutionary learning: selection by games within the population.
    #[command(before_help = COEVOLUTION_EXAMPLES, after_help = COEVOLUTION_NOTES)]
    Cel(Box<CoevolutionArgs>),
    /// Coevolution with a hall of fame of former champions.
    #[command(before_help = COEVOLUTION_EXAMPLES, after_help = COEVOLUTION_NOTES)]
    Hof(Box<CoevolutionArgs>),
    /// Parallel TDL: a population, each member trained by self-play.
    #[command(before_help = COEVOLUTION_EXAMPLES, after_help = COEVOLUTION_NOTES)]
    Ptdl(Box<CoevolutionArgs>),
    /// Coevolutionary TDL: coevolution with temporal difference learning.
    #[command(before_help = COEVOLUTION_EXAMPLES, after_help = COEVOLUTION_NOTES)]
    Ctdl(Box<CoevolutionArgs>),
    /// Evolutionary TDL: selection by games against the heuristic.
    #[command(before_help = COEVOLUTION_EXAMPLES, after_help = COEVOLUTION_NOTES)]
    Etdl(Box<CoevolutionArgs>),
    /// TD(λ) by self-play on large patterns with weights per stage of the game.
    #[command(name = "self-play", before_help = SELF_PLAY_EXAMPLES, after_help = SELF_PLAY_NOTES)]
    SelfPlay(Box<SelfPlayArgs>),
    /// A convolutional network that predicts expert moves.
    #[command(before_help = train_cnn::EXAMPLES, after_help = train_cnn::NOTES)]
    Cnn(Box<CnnArgs>),
    /// Neural networks under TD(0): a pair of networks plays each other.
    #[command(
        before_help = ANN_EXAMPLES,
        after_help = ANN_NOTES,
        mut_arg("games", |arg| arg.default_value(ANN_GAMES)),
        mut_arg("measurements", |arg| arg.default_value(ANN_MEASUREMENTS)),
    )]
    Ann(Box<AnnArgs>),
    /// Gaussian-process preference learning of heuristics, compared by games or by you.
    #[command(before_help = train_gp::EXAMPLES, after_help = train_gp::NOTES)]
    Gp(Box<GpArgs>),
}

const ANN_GAMES: &str = "307200";
const ANN_MEASUREMENTS: &str = "40";

const ANN_EXAMPLES: &str = "\
Examples:
  outflank train ann --net \"WS 192-4x8-1\" --games 76800 --measurements 10
  outflank train ann --net \"FC 192-32-8-1\" --self-play --against yoshioka@4?noise=5";

const ANN_NOTES: &str = "\
Defaults follow Binkley, Seehart & Hagiwara (2007), whose measurements `outflank reproduce ann/fig7`
repeats. Architectures are written as in their Table 1: FC (fully connected), SR (symmetry removed),
WS (weights shared by the eight symmetries) or SP (one node per window), then the nodes of each
layer. 64, 128 or 192 inputs are one, two or three per square; a layer 16x8 has 16 sets of 8 nodes;
SR+WS and SR+SP exist as well.";

const SELF_PLAY_EXAMPLES: &str = "\
Examples:
  outflank train self-play --games 400000
  outflank train self-play --opponent heuristic --opponent-share 0.25 --games 6144000";

const SELF_PLAY_NOTES: &str = "\
A batch of games is played with fixed weights; then TD(λ) updates the value of every position before
a non-random move. With --opponent, a share of the games is played against it.";

const COEVOLUTION_EXAMPLES: &str = "\
Examples:
  outflank train tdl --games 200000
  outflank train ctdl --operators sxm_t --shape 12x6 --seed 2
  outflank train ctdl --config hybrid.toml --set population=20
  outflank train ctdl --shape all4 --on nats://HOST   (workers play the games of each generation)";

const COEVOLUTION_NOTES: &str = "\
Defaults follow Krawiec & Szubert (2011) for the method and its operators.
Operators: s, p, a (training games with itself, the population, the archive), as (with itself and
the newest archive members), x (crossover), m_w, m_t (mutation of weights, of the topology).";

/// Options of every method that trains by playing.
#[derive(Args, Debug, Clone)]
pub struct TrainingArgs {
    /// Training budget in games, training and selection together.
    #[arg(
        long,
        default_value_t = 2_000_000,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Budget"
    )]
    pub games: u64,
    /// Number of measurements during training.
    #[arg(
        long,
        default_value_t = 50,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Validation"
    )]
    pub measurements: u64,
    /// Players to measure against, besides the heuristic.
    #[arg(long, value_name = "PLAYER", num_args = 1.., help_heading = "Validation")]
    pub against: Vec<String>,
    /// Games of each reference match, an even number; one move in ten is random.
    #[arg(
        long,
        default_value_t = 1000,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Validation"
    )]
    pub match_games: u32,
    /// The run folder.
    #[command(flatten)]
    pub run: RunArgs,
    /// Common options.
    #[command(flatten)]
    pub common: CommonArgs,
}

/// Options of `outflank train tdl`, `cel`, `hof`, `ptdl`, `ctdl` and `etdl`.
#[derive(Args, Debug, Clone)]
pub struct CoevolutionArgs {
    /// Operators, such as sxm_t.
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

/// Options of `outflank train self-play`.
#[derive(Args, Debug, Clone)]
pub struct SelfPlayArgs {
    /// Features: 18 large patterns of the whole board with mobility etc., or the tuples in a file.
    #[arg(long, default_value = "patterns", value_name = "patterns|FILE", help_heading = "Model")]
    pub features: String,
    /// Discs per stage of the game; each stage has its own weights.
    #[arg(
        long,
        default_value_t = 6,
        value_name = "DISCS",
        allow_negative_numbers = true,
        help_heading = "Model"
    )]
    pub stage: u32,
    /// Games per batch.
    #[arg(
        long,
        default_value_t = 4096,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Optimizer"
    )]
    pub games_per_batch: u32,
    /// Initial learning rate, decayed linearly to 0 [alias: --lr].
    #[arg(
        long,
        alias = "lr",
        default_value_t = 0.1,
        value_name = "LR",
        allow_negative_numbers = true,
        help_heading = "Optimizer"
    )]
    pub learning_rate: f64,
    /// Trace decay λ, from 0 to 1.
    #[arg(
        long,
        default_value_t = 0.5,
        value_name = "LAMBDA",
        allow_negative_numbers = true,
        help_heading = "Optimizer"
    )]
    pub lambda: f64,
    /// Probability of a random move.
    #[arg(
        long,
        default_value_t = 0.1,
        value_name = "P",
        allow_negative_numbers = true,
        help_heading = "Exploration"
    )]
    pub random: f64,
    /// Maximum random plies at the start of a game; the number is drawn uniformly from 0.
    #[arg(
        long,
        default_value_t = 0,
        value_name = "PLIES",
        allow_negative_numbers = true,
        help_heading = "Exploration"
    )]
    pub opening: u32,
    /// Model to play some of the games against.
    #[arg(long, value_name = "MODEL", help_heading = "Exploration")]
    pub opponent: Option<String>,
    /// Share of the games against the opponent [default: 0.25].
    #[arg(long, value_name = "P", allow_negative_numbers = true, help_heading = "Exploration")]
    pub opponent_share: Option<f64>,
    /// Options of every method that trains by playing.
    #[command(flatten)]
    pub training: TrainingArgs,
}

/// How the learning rate changes over a run of `outflank train ann`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the help would show the comments beside the names")]
pub enum AnnSchedule {
    Constant,
    Linear,
}

/// Options of `outflank train ann`.
#[derive(Args, Debug, Clone)]
pub struct AnnArgs {
    /// Architecture.
    #[arg(long, default_value = "WS 192-16x8-16-8-1", value_name = "NAME", help_heading = "Model")]
    pub net: String,
    /// Learning rate [alias: --lr].
    #[arg(
        long,
        alias = "lr",
        default_value_t = outflank_experiments::ann::ALPHA,
        value_name = "LR",
        allow_negative_numbers = true,
        help_heading = "Optimizer"
    )]
    pub learning_rate: f64,
    /// Learning-rate schedule; linear decays to 0 over the run (not in the paper).
    #[arg(
        long,
        value_enum,
        default_value = "constant",
        value_name = "KIND",
        help_heading = "Optimizer"
    )]
    pub lr_schedule: AnnSchedule,
    /// Trace decay λ, from 0 to 1 (not in the paper).
    #[arg(
        long,
        default_value_t = 0.0,
        value_name = "LAMBDA",
        allow_negative_numbers = true,
        help_heading = "Optimizer"
    )]
    pub lambda: f64,
    /// Update the weights after every move instead of after every game.
    #[arg(long, help_heading = "Optimizer")]
    pub per_move: bool,
    /// Target +1, 0 or -1 instead of a sigmoid of the disc difference.
    #[arg(long, help_heading = "Optimizer")]
    pub plain_result: bool,
    /// Probability of a random move (not in the paper).
    #[arg(
        long,
        default_value_t = 0.0,
        value_name = "P",
        allow_negative_numbers = true,
        help_heading = "Exploration"
    )]
    pub epsilon: f64,
    /// Train one network by self-play instead of a pair.
    #[arg(long, help_heading = "Exploration")]
    pub self_play: bool,
    /// Options of every method that trains by playing.
    #[command(flatten)]
    pub training: TrainingArgs,
}

/// Settings of coevolution and TDL; missing ones are set by the method.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Algorithm")]
pub struct CoevolutionSettings {
    /// Tuples: snakes such as 12x6 (tuples x squares), or all straight lines and all 2x2 squares:
    /// all4, all4+2x2, all2x2. Two snakes of two squares are snakes2x2, since 2x2 is ambiguous.
    #[arg(long, value_name = "SHAPE", allow_hyphen_values = true)]
    pub shape: Option<String>,
    /// Generation of snakes: clean (distinct squares, no wrap-around) or wrapping.
    #[arg(long, value_name = "VARIANT")]
    pub snake: Option<String>,
    /// Initial weights are uniform in [-X, X].
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub spread: Option<f64>,
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
    pub self_games: Option<i64>,
    /// Training opponents from the population.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub population_opponents: Option<i64>,
    /// Training games with each of them.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub population_games: Option<i64>,
    /// Training opponents from the archive.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub archive_opponents: Option<i64>,
    /// Training games with each of them.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub archive_games: Option<i64>,
    /// Whether archive opponents are the newest instead of random ones.
    #[arg(long, value_name = "true|false")]
    pub archive_newest: Option<bool>,
    /// Archive size; the newest champions are kept, 0 keeps all.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub archive: Option<i64>,
    /// Fitness: none, round-robin or heuristic.
    #[arg(long, value_name = "KIND")]
    pub fitness: Option<String>,
    /// Games per pair in the round robin, 1 or 2.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub meetings: Option<i64>,
    /// Fitness games of each individual with the archive.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub hall_of_fame: Option<i64>,
    /// Fitness games of each individual with the heuristic.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub heuristic_games: Option<i64>,
    /// Probability of a random move in them.
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub heuristic_random: Option<f64>,
    /// Tournament size of the parent selection; 0 turns selection off.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub tournament: Option<i64>,
    /// Probability that two parents exchange tuples.
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub crossover: Option<f64>,
    /// Probability that a weight mutates.
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub weight_mutation: Option<f64>,
    /// Standard deviation of a weight mutation.
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub weight_deviation: Option<f64>,
    /// Probability that a square of a tuple moves.
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub topology_mutation: Option<f64>,
    /// Target of a moved square: uniform (any free neighbor) or crowded (near most of the tuple).
    #[arg(long, value_name = "VARIANT")]
    pub topology: Option<String>,
}

/// Options whose names differ from the keys of the learner's settings.
const KEYS_OF_OPTIONS: [(&str, &str); 1] = [("learning-rate", "alpha")];

/// The option that sets a key of the learner's settings.
pub fn option_of_key(key: &str) -> &str {
    KEYS_OF_OPTIONS.iter().find(|(_, known)| *known == key).map_or(key, |(option, _)| option)
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
            ("spread", number(self.spread)),
            ("population", count(self.population)),
            ("alpha", number(self.learning_rate)),
            ("epsilon", number(self.epsilon)),
            ("self-games", count(self.self_games)),
            ("population-opponents", count(self.population_opponents)),
            ("population-games", count(self.population_games)),
            ("archive-opponents", count(self.archive_opponents)),
            ("archive-games", count(self.archive_games)),
            ("archive-newest", self.archive_newest.map(toml::Value::Boolean)),
            ("archive", count(self.archive)),
            ("fitness", text(&self.fitness)),
            ("meetings", count(self.meetings)),
            ("hall-of-fame", count(self.hall_of_fame)),
            ("heuristic-games", count(self.heuristic_games)),
            ("heuristic-random", number(self.heuristic_random)),
            ("tournament", count(self.tournament)),
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
        let keys = outflank_learners::coevolution::KEYS;
        let wanted: Vec<&str> = keys.iter().map(|key| option_of_key(key)).collect();
        assert_eq!(options, wanted);
    }
}
