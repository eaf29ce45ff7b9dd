//! The options of `outflank learn` for methods that learn by playing. Their keys are those of a
//! method's settings, so that a TOML file given by `--config` describes a new hybrid.

use super::learn_cnn::{CNN_HELP, CnnArgs};
use super::learn_gp::{GP_HELP, GpArgs};
use super::{Common, GridArgs, RunArgs};
use clap::{Args, Subcommand};

/// The methods that learn by playing, and the one that learns networks.
#[derive(Subcommand, Debug, Clone)]
pub enum PlayMethod {
    /// Temporal difference learning: one network plays itself.
    #[command(after_help = HELP)]
    Tdl(Box<LearnPlayArgs>),
    /// Coevolution: networks are selected by games among themselves and varied.
    #[command(after_help = HELP)]
    Cel(Box<LearnPlayArgs>),
    /// Coevolution with a hall of fame of former champions.
    #[command(after_help = HELP)]
    Hof(Box<LearnPlayArgs>),
    /// Parallel TDL: many networks, each of which plays itself.
    #[command(after_help = HELP)]
    Ptdl(Box<LearnPlayArgs>),
    /// Coevolutionary TDL: training, selection and variation in turn.
    #[command(after_help = HELP)]
    Ctdl(Box<LearnPlayArgs>),
    /// Evolutionary TDL: the same, selected by games with the heuristic.
    #[command(after_help = HELP)]
    Etdl(Box<LearnPlayArgs>),
    /// TD(λ) on large patterns with weights for each stage of the game, in batches on all cores.
    #[command(after_help = SELF_PLAY_HELP)]
    Selfplay(Box<SelfPlayArgs>),
    /// A deep network that predicts experts' moves.
    #[command(after_help = CNN_HELP)]
    Cnn(Box<CnnArgs>),
    /// Neural networks of any architecture under TD(0): two play each other and learn from it.
    #[command(
        after_help = ANN_HELP,
        mut_arg("games", |arg| arg.default_value(ANN_GAMES)),
        mut_arg("points", |arg| arg.default_value(ANN_PERIODS)),
    )]
    Ann(Box<AnnArgs>),
    /// Gaussian-process preferences: heuristics of either game, compared by games or by you.
    #[command(after_help = GP_HELP)]
    Gp(Box<GpArgs>),
}

const ANN_GAMES: &str = "307200";
const ANN_PERIODS: &str = "40";

const ANN_HELP: &str = "\
What is not given is learned as Binkley, Seehart and Hagiwara (2007) have it; it is measured as all
our learners are, and as theirs in `outflank reproduce ann/fig7`. A network is written as in their
Table 1: FC (fully connected), SR (symmetry removed), WS (weights shared by the eight
symmetries) or SP (a node for each window), then the nodes of each layer. 64, 128 or 192 inputs are
one, two or three a square; a layer 16x8 has 16 sets of 8 nodes; SR+WS and SR+SP exist as well.
Examples:
  outflank learn ann
  outflank learn ann --net \"WS 192-4x8-1\" --games 76800 --points 10
  outflank learn ann --net \"FC 192-32-8-1\" --self-play --against yoshioka@4?noise=5";

const SELF_PLAY_HELP: &str = "\
A batch of games is played with the weights as they stand; then every position that a chosen move
answered is pulled toward what followed it. With a rival some games are played against it.
Examples:
  outflank learn selfplay --games 400000
  outflank learn selfplay --rival heuristic --rivalry 0.25 --games 6144000";

const HELP: &str = "\
What is not given is as Krawiec and Szubert (2011) have it for this method and its operators.
Operators: s, p, a (training games with itself, the population, the archive), as (with itself and
the newest of the archive), x (crossover), m_w, m_t (mutation of weights, of the topology).
Examples:
  outflank learn tdl --games 200000
  outflank learn ctdl --operators sxm_t --shape 12x6 --seed 2
  outflank learn ctdl --config hybrid.toml --set population=20
  outflank learn ctdl --shape all4 --on nats://HOST   (workers play the games of each generation)";

/// What every method that learns by playing is told.
#[derive(Args, Debug, Clone)]
pub struct TrainingArgs {
    /// The budget: how many games are played, training and selection together.
    #[arg(long, default_value_t = 2_000_000, value_name = "N", allow_negative_numbers = true)]
    pub games: u64,
    /// How often to measure on the way.
    #[arg(long, default_value_t = 50, value_name = "N", allow_negative_numbers = true)]
    pub points: u64,
    /// Measure against these players as well as the heuristic.
    #[arg(long, value_name = "PLAYER", num_args = 1..)]
    pub against: Vec<String>,
    /// Games of each measurement, an even number; each move is random one time in ten.
    #[arg(long, default_value_t = 1000, value_name = "N", allow_negative_numbers = true)]
    pub measured_games: u32,
    /// Where to write.
    #[command(flatten)]
    pub run: RunArgs,
    /// The rest.
    #[command(flatten)]
    pub common: Common,
}

/// `outflank learn tdl` and the like.
#[derive(Args, Debug, Clone)]
pub struct LearnPlayArgs {
    /// The operators, such as sxm_t.
    #[arg(long, value_name = "LETTERS")]
    pub operators: Option<String>,
    /// What all methods are told.
    #[command(flatten)]
    pub training: TrainingArgs,
    /// Who plays the games of a generation.
    #[command(flatten)]
    pub grid: GridArgs,
    /// The pieces of the method; last, since their heading would spread to what follows.
    #[command(flatten)]
    pub pieces: PieceArgs,
}

/// `outflank learn selfplay`.
#[derive(Args, Debug, Clone)]
pub struct SelfPlayArgs {
    /// What the player looks at: 18 large patterns of the whole board, with mobility and the like,
    /// or the tuples that a file lists.
    #[arg(long, default_value = "patterns", value_name = "patterns|FILE")]
    pub features: String,
    /// How many discs a stage of the game has; each has weights of its own.
    #[arg(long, default_value_t = 6, value_name = "DISCS", allow_negative_numbers = true)]
    pub stage: u32,
    /// Games of a batch.
    #[arg(long, default_value_t = 4096, value_name = "N", allow_negative_numbers = true)]
    pub batch: u32,
    /// The share of random moves.
    #[arg(long, default_value_t = 0.1, value_name = "P", allow_negative_numbers = true)]
    pub random: f64,
    /// At most so many moves at the start of a game are random, each number equally likely.
    #[arg(long, default_value_t = 0, value_name = "PLIES", allow_negative_numbers = true)]
    pub opening: u32,
    /// How far results reach back, from 0 to 1.
    #[arg(long, default_value_t = 0.5, value_name = "L", allow_negative_numbers = true)]
    pub lambda: f64,
    /// The size of the first step; steps shrink to nothing.
    #[arg(long, default_value_t = 0.1, value_name = "R", allow_negative_numbers = true)]
    pub rate: f64,
    /// A model to play some of the games against.
    #[arg(long, value_name = "MODEL")]
    pub rival: Option<String>,
    /// The share of games that are played against it [default: 0.25].
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub rivalry: Option<f64>,
    /// What all methods are told.
    #[command(flatten)]
    pub training: TrainingArgs,
}

/// `outflank learn ann`.
#[derive(Args, Debug, Clone)]
pub struct AnnArgs {
    /// The architecture, by its name.
    #[arg(long, default_value = "WS 192-16x8-16-8-1", value_name = "NAME")]
    pub net: String,
    /// The size of a step.
    #[arg(
        long,
        default_value_t = outflank_experiments::ann::ALPHA,
        value_name = "X",
        allow_negative_numbers = true
    )]
    pub alpha: f64,
    /// The step falls to nothing over the run; beyond the paper, as are the next two.
    #[arg(long)]
    pub decay: bool,
    /// How far results reach back, from 0 to 1.
    #[arg(long, default_value_t = 0.0, value_name = "L", allow_negative_numbers = true)]
    pub lambda: f64,
    /// The probability of a random move.
    #[arg(long, default_value_t = 0.0, value_name = "P", allow_negative_numbers = true)]
    pub epsilon: f64,
    /// One network plays itself, instead of two that play each other.
    #[arg(long)]
    pub self_play: bool,
    /// Weights change after every move, instead of after every game.
    #[arg(long)]
    pub per_move: bool,
    /// A result is worth +1, 0 or -1, instead of a sigmoid of the difference of discs.
    #[arg(long)]
    pub plain_result: bool,
    /// What all methods are told.
    #[command(flatten)]
    pub training: TrainingArgs,
}

/// The keys of a method's settings; what is left out is as the method has it.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Pieces of the method")]
pub struct PieceArgs {
    /// Snakes such as 12x6 (tuples x squares), or all straight lines and all squares of two by two:
    /// all4, all4+2x2, all2x2. 2x2 alone could be either and is refused; snakes2x2 are two snakes.
    #[arg(long, value_name = "SHAPE", allow_hyphen_values = true)]
    pub shape: Option<String>,
    /// How snakes are drawn: clean (distinct squares, no leap over the edge) or wrapping.
    #[arg(long, value_name = "READING")]
    pub snake: Option<String>,
    /// Weights begin between minus this and this.
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub spread: Option<f64>,
    /// How many individuals.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub population: Option<i64>,
    /// The step of a training game.
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub alpha: Option<f64>,
    /// The probability of a random move in a training game.
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub epsilon: Option<f64>,
    /// Training games with itself, for each individual and generation.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub self_games: Option<i64>,
    /// How many others of the population it trains with.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub population_opponents: Option<i64>,
    /// Training games with each of them.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub population_games: Option<i64>,
    /// How many members of the archive it trains with.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub archive_opponents: Option<i64>,
    /// Training games with each of them.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub archive_games: Option<i64>,
    /// Whether these are the newest rather than any.
    #[arg(long, value_name = "true|false")]
    pub archive_newest: Option<bool>,
    /// How many champions the archive keeps, the newest; 0 keeps all.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub archive: Option<i64>,
    /// How individuals are judged: none, round-robin or heuristic.
    #[arg(long, value_name = "KIND")]
    pub fitness: Option<String>,
    /// Games of each pair in the round robin, 1 or 2.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub meetings: Option<i64>,
    /// Games of each individual with the archive, for its fitness.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub hall_of_fame: Option<i64>,
    /// Games of each individual with the heuristic, for its fitness.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub heuristic_games: Option<i64>,
    /// The probability of a random move in them.
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub heuristic_random: Option<f64>,
    /// How many compete to become a parent; 0 selects nobody.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub tournament: Option<i64>,
    /// The probability that two parents exchange tuples.
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub crossover: Option<f64>,
    /// The probability that a weight changes.
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub weight_mutation: Option<f64>,
    /// The deviation of its change.
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub weight_deviation: Option<f64>,
    /// The probability that a square of a tuple moves.
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub topology_mutation: Option<f64>,
    /// Where it moves: uniform (any free neighbour) or crowded (where most of the tuple is).
    #[arg(long, value_name = "READING")]
    pub topology: Option<String>,
}

impl PieceArgs {
    /// What was given, by key.
    pub fn table(&self) -> toml::Table {
        let text = |value: &Option<String>| value.clone().map(toml::Value::String);
        let number = |value: Option<f64>| value.map(toml::Value::Float);
        let count = |value: Option<i64>| value.map(toml::Value::Integer);
        let pieces = [
            ("shape", text(&self.shape)),
            ("snake", text(&self.snake)),
            ("spread", number(self.spread)),
            ("population", count(self.population)),
            ("alpha", number(self.alpha)),
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
        pieces.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Command;

    /// A method's settings and the options that set them have the same names.
    #[test]
    fn every_key_is_an_option() {
        let command = PieceArgs::augment_args(Command::new("pieces"));
        let options: Vec<&str> = command.get_arguments().filter_map(|arg| arg.get_long()).collect();
        assert_eq!(options, outflank_learners::coevolution::KEYS);
    }
}
