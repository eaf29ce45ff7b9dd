//! Methods of `outflank train` that are subcommands, and the options of those that train by
//! playing.

use super::train_cnn::{self, CnnArgs};
use super::train_coevolution::{self, CoevolutionArgs};
use super::train_gp::{self, GpArgs};
use super::{CommonArgs, RunArgs, TrainerArgs};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Methods with their own options.
#[derive(Subcommand, Debug, Clone)]
pub enum TrainMethod {
    /// Temporal difference learning by self-play.
    #[command(
        before_help = train_coevolution::TDL_EXAMPLES,
        after_help = train_coevolution::NOTES,
        // One network is trained, game by game, so there are no jobs for workers.
        mut_args(|arg| match arg.get_help_heading() {
            Some("Workers") => arg.hide(true),
            _ => arg,
        }),
    )]
    Tdl(Box<CoevolutionArgs>),
    /// Coevolutionary learning (CEL): selection by games within the population.
    #[command(before_help = train_coevolution::CEL_EXAMPLES, after_help = train_coevolution::NOTES)]
    Cel(Box<CoevolutionArgs>),
    /// Coevolution with a hall of fame: games also with the best of former generations.
    #[command(before_help = train_coevolution::HOF_EXAMPLES, after_help = train_coevolution::NOTES)]
    Hof(Box<CoevolutionArgs>),
    /// Parallel TDL: a population, each member trained by self-play.
    #[command(before_help = train_coevolution::PTDL_EXAMPLES, after_help = train_coevolution::NOTES)]
    Ptdl(Box<CoevolutionArgs>),
    /// Coevolutionary TDL: coevolution with temporal difference learning.
    #[command(before_help = train_coevolution::CTDL_EXAMPLES, after_help = train_coevolution::NOTES)]
    Ctdl(Box<CoevolutionArgs>),
    /// Evolutionary TDL: selection by games against the heuristic.
    #[command(before_help = train_coevolution::ETDL_EXAMPLES, after_help = train_coevolution::NOTES)]
    Etdl(Box<CoevolutionArgs>),
    /// TD(λ) by self-play for large patterns, with separate weights for each stage of the game.
    #[command(
        name = "self-play",
        before_help = SELF_PLAY_EXAMPLES,
        after_help = SELF_PLAY_NOTES,
        mut_arg("games", |arg| arg.help(TRAINING_GAMES)),
    )]
    SelfPlay(Box<SelfPlayArgs>),
    /// Regression of large patterns on labels: scores of deep searches from `data generate --label`.
    #[command(
        before_help = LABELS_EXAMPLES,
        after_help = LABELS_NOTES,
        mut_arg("measurements", |arg| arg.default_value(LABELS_MEASUREMENTS)),
        mut_arg("match_games", |arg| arg.default_value(LABELS_MATCH_GAMES)),
    )]
    Labels(Box<LabelsArgs>),
    /// A convolutional network that predicts expert moves.
    #[command(before_help = train_cnn::EXAMPLES, after_help = train_cnn::NOTES)]
    Cnn(Box<CnnArgs>),
    /// Multi-layer perceptrons trained by TD(0): two networks play each other.
    #[command(
        before_help = ANN_EXAMPLES,
        after_help = ANN_NOTES,
        mut_arg("games", |arg| arg.default_value(ANN_GAMES).help(TRAINING_GAMES)),
        mut_arg("measurements", |arg| arg.default_value(ANN_MEASUREMENTS)),
    )]
    Ann(Box<AnnArgs>),
    /// Gaussian-process preference learning of heuristics, compared by games or by you.
    #[command(before_help = train_gp::EXAMPLES, after_help = train_gp::NOTES)]
    Gp(Box<GpArgs>),
}

/// Help of `--games` for methods without selection.
const TRAINING_GAMES: &str = "Training budget: number of training games";
const ANN_GAMES: &str = "307200";
const ANN_MEASUREMENTS: &str = "40";

const ANN_EXAMPLES: &str = "\
Examples:
  outflank train ann --net \"WS 192-4x8-1\" --games 76800 --measurements 10
  outflank train ann --net \"FC 192-32-8-1\" --self-play --against yoshioka@4?noise=5";

const ANN_NOTES: &str = "\
The defaults are those of Binkley, Seehart & Hagiwara (2007). `outflank reproduce ann/fig7` repeats
their measurements.

Architectures, written as in their Table 1: the kind, then the number of nodes of each layer.
  FC  fully connected
  SR  symmetry removal: the board is first mapped to one of its eight symmetries
  WS  weight sharing: the first layer has sets of 8 nodes that share weights, one node for each
      symmetry; 16x8 means 16 sets
  SP  spatial: one node for each window of 3x3 to 8x8 squares
SR+WS and SR+SP combine two of them. 64, 128 or 192 inputs are one, two or three per square.";

const SELF_PLAY_EXAMPLES: &str = "\
Examples:
  outflank train self-play --games 400000
  outflank train self-play --opponent heuristic --opponent-share 0.25 --games 6144000";

const SELF_PLAY_NOTES: &str = "\
A batch of games is played with fixed weights. Then TD(λ) updates the value of each position from
which a non-random move was played. The weights are updated by AdaGrad.";

const LABELS_MEASUREMENTS: &str = "10";
const LABELS_MATCH_GAMES: &str = "200";

const LABELS_EXAMPLES: &str = "\
Examples:
  outflank data generate --player 'champion@mpc4e12?random=0.1' --label 8 --games 5000 --to labels.txt
  outflank train labels --labels labels.txt --init-from champion --games 50000";

const LABELS_NOTES: &str = "\
The value of the model is the expected score in discs. --games counts the labeled games that are read,
repetitions included: ten times the games of the file are ten epochs. One game in 20 is used for
validation only. The metric of --best and --patience is the validation error in discs.";

/// Options of every method that trains by playing.
#[derive(Args, Debug, Clone)]
pub struct TrainingArgs {
    /// Training budget: number of games.
    #[arg(
        long,
        default_value_t = 2_000_000,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Budget"
    )]
    pub games: u64,
    /// Number of measurements during training, evenly spaced.
    #[arg(
        long,
        default_value_t = 50,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Validation"
    )]
    pub measurements: u64,
    /// Opponents in the measurements, besides the embedded player `heuristic`.
    #[arg(long, value_name = "PLAYER", num_args = 1.., help_heading = "Validation")]
    pub against: Vec<String>,
    /// Games of each measurement against an opponent, an even number; one move in ten is random.
    #[arg(
        long,
        default_value_t = 1000,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Validation"
    )]
    pub match_games: u32,
    /// How training ends and what it saves.
    #[command(flatten)]
    pub trainer: TrainerArgs,
    /// The run folder.
    #[command(flatten)]
    pub run: RunArgs,
    /// Common options.
    #[command(flatten)]
    pub common: CommonArgs,
}

/// Options of `outflank train self-play`.
#[derive(Args, Debug, Clone)]
pub struct SelfPlayArgs {
    /// Features: 18 large patterns, mobility, potential mobility and parity, or the tuples in a file
    /// (for its format see `outflank help train`).
    #[arg(long, default_value = "patterns", value_name = "patterns|FILE", help_heading = "Model")]
    pub features: String,
    /// Length of a stage of the game, in discs on the board; each stage has its own weights.
    #[arg(
        long,
        default_value_t = 6,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Model"
    )]
    pub discs_per_stage: u32,
    /// Games per batch.
    #[arg(
        long,
        default_value_t = 4096,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Optimizer"
    )]
    pub games_per_batch: u32,
    /// Initial learning rate of AdaGrad, decayed linearly to 0 [alias: --lr].
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
    pub epsilon: f64,
    /// Maximum random plies at the start of a game; the number is uniform from 0 to this.
    #[arg(
        long,
        default_value_t = 0,
        value_name = "PLIES",
        allow_negative_numbers = true,
        help_heading = "Exploration"
    )]
    pub max_random_plies: u32,
    /// Player that is the opponent in some of the training games.
    #[arg(long, value_name = "MODEL", help_heading = "Exploration")]
    pub opponent: Option<String>,
    /// Share of the training games against --opponent [default: 0.25].
    #[arg(long, value_name = "P", allow_negative_numbers = true, help_heading = "Exploration")]
    pub opponent_share: Option<f64>,
    /// Options of every method that trains by playing.
    #[command(flatten)]
    pub training: TrainingArgs,
}

/// Options of `outflank train labels`.
#[derive(Args, Debug, Clone)]
pub struct LabelsArgs {
    /// Files of labeled games, written by `data generate --label`.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true, help_heading = "Data")]
    pub labels: Vec<PathBuf>,
    /// Pattern model whose weights, features and stages training starts from: an embedded model, a
    /// model file or a run folder.
    #[arg(long, value_name = "MODEL", conflicts_with = "discs_per_stage", help_heading = "Model")]
    pub init_from: Option<String>,
    /// Length of a stage of the game, in discs on the board; each stage has its own weights.
    #[arg(
        long,
        default_value_t = 6,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Model"
    )]
    pub discs_per_stage: u32,
    /// Games per batch.
    #[arg(
        long,
        default_value_t = 250,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Optimizer"
    )]
    pub games_per_batch: u32,
    /// Initial learning rate in discs, decayed linearly to 0 [alias: --lr].
    #[arg(
        long,
        alias = "lr",
        default_value_t = 0.05,
        value_name = "LR",
        allow_negative_numbers = true,
        help_heading = "Optimizer"
    )]
    pub learning_rate: f64,
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

/// The target value of the last position of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the help would show the comments beside the names")]
pub enum ResultTargetArg {
    Sigmoid,
    Sign,
}

/// Options of `outflank train ann`.
#[derive(Args, Debug, Clone)]
pub struct AnnArgs {
    /// Architecture, see below.
    #[arg(long, default_value = "WS 192-16x8-16-8-1", value_name = "NAME", help_heading = "Model")]
    pub net: String,
    /// Learning rate [alias: --lr].
    #[arg(
        long,
        alias = "lr",
        default_value_t = outflank_experiments::ann::LEARNING_RATE,
        value_name = "LR",
        allow_negative_numbers = true,
        help_heading = "Optimizer"
    )]
    pub learning_rate: f64,
    /// Learning-rate schedule: constant, or linear decay to 0 over the run (not in the paper).
    #[arg(
        long,
        value_enum,
        default_value = "constant",
        value_name = "constant|linear",
        hide_possible_values = true,
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
    /// Target value of the last position: a sigmoid of the disc difference, or its sign (+1, 0 or -1).
    #[arg(
        long,
        value_enum,
        default_value = "sigmoid",
        value_name = "sigmoid|sign",
        hide_possible_values = true,
        help_heading = "Optimizer"
    )]
    pub result_target: ResultTargetArg,
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
