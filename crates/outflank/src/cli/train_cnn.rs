//! Options of `outflank train cnn`.

use super::{CommonArgs, RecordsArgs, RunArgs, TrainerArgs};
use clap::{Args, ValueEnum};
use outflank_learners::cnn::{LrSchedule, SplitBy};
use outflank_records::ExampleSetKind;

/// Examples at the top of the help.
pub const EXAMPLES: &str = "\
Examples:
  outflank train cnn --net conv4 --records wthor/ --time-limit 10m
  outflank train cnn --net res10x128 --split game --device cuda --batch-size 4096 --epochs 6
  outflank train cnn --init-from cnn --records my-games.ggf --time-limit 10m
  outflank train cnn --resume runs/cnn-001 --device cuda --time-limit 9m
  outflank train cnn --resume runs/cnn-001 --time-limit 0s --test --symmetries";

/// Notes below the options.
pub const NOTES: &str = "\
Architectures (Liskowski, Jaskowski & Krawiec, 2018, unless noted):
  conv4, conv6, conv8, conv10  convolutional layers and a hidden layer; suffixes: -bn (batch
                               normalization), -dropout, and last -stages (separate hidden and
                               output layers for each stage of the game; needs --input pieces+stage)
  resnet-32, resnet-56         residual networks; -np: no pooling; -np-p: with projection shortcuts
  densenet-40, densenet-100    densely connected networks; -np: no pooling
  widenet-40-4                 wide residual network; -np: no pooling
  fc4x1024                     fully connected: 4 layers of 1024 units
  res10x128                    residual network without pooling: 10 blocks of 128 channels (not in
                               the paper); -pre: pre-activation; -se: squeeze-and-excitation

The learning-rate schedule spans all epochs. Without --epochs, their number is chosen so that
training fits into --time-limit. A run that was stopped, or that reached its time limit, continues
with --resume. The defaults for --device cpu are for minutes of training: small batches, many steps.

The report has the accuracy on test sets split by example (as in the paper) and by game, each with
the share of its examples that are also in the training set, up to symmetry.";

/// A device for training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the help would show the comments beside the names")]
pub enum DeviceArg {
    Cpu,
    Cuda,
    TorchCpu,
}

/// The precision of stored weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the help would show the comments beside the names")]
pub enum PrecisionArg {
    F16,
    F32,
}

/// `outflank train cnn`.
#[derive(Args, Debug, Clone)]
pub struct CnnArgs {
    /// Architecture, see below [default: conv8-bn, or that of --init-from].
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub net: Option<String>,
    /// Input planes [default: pieces, or as --init-from]:
    ///   pieces   own discs, opponent's discs
    ///   ones     pieces, and a plane of ones
    ///   vmoves   pieces, and a plane of the legal moves
    /// Suffixes, such as pieces+colour:
    ///   +colour  and a plane for the color to move
    ///   +stage   and four planes for the stage (quarter) of the game
    #[arg(long, verbatim_doc_comment, value_name = "PLANES", help_heading = "Model")]
    pub input: Option<String>,
    /// Fine-tune from an embedded network (cnn, experts), a model file or a run folder.
    #[arg(long, value_name = "MODEL", help_heading = "Model")]
    pub init_from: Option<String>,
    /// Number of epochs [default: as many as --time-limit allows].
    #[arg(long, value_name = "N", help_heading = "Budget")]
    pub epochs: Option<f64>,
    /// Device that trains [default: cpu]:
    ///   cpu        CPU
    ///   cuda       first GPU, with libtorch
    ///   torch-cpu  CPU, with libtorch
    /// libtorch needs a program built with the feature `cuda`.
    #[arg(
        long,
        verbatim_doc_comment,
        value_enum,
        default_value = "cpu",
        hide_default_value = true,
        value_name = "NAME",
        hide_possible_values = true,
        help_heading = "Budget"
    )]
    pub device: DeviceArg,
    /// Training examples: positions with the move played [default: unique-s]:
    ///   original    all
    ///   original-s  all, in all eight symmetries
    ///   unique      original without duplicates
    ///   unique-s    original-s without duplicates
    #[arg(
        long,
        verbatim_doc_comment,
        default_value = "unique-s",
        hide_default_value = true,
        value_name = "SET",
        help_heading = "Data"
    )]
    pub examples: ExampleSetKind,
    /// Games to train on.
    #[command(flatten)]
    pub records: RecordsArgs,
    /// Train member N of an ensemble: its initialization and data order depend on --seed and N.
    #[arg(long, value_name = "N", help_heading = "Ensemble")]
    pub ensemble_member: Option<u64>,
    /// Train the ensemble member on a bootstrap sample: as many draws with replacement as there are
    /// examples (bagging).
    #[arg(long, requires = "ensemble_member", help_heading = "Ensemble")]
    pub bootstrap: bool,
    /// Optimizer: stochastic gradient descent or AdamW.
    #[arg(
        long,
        default_value = "sgd",
        value_name = "sgd|adamw",
        value_parser = ["sgd", "adamw"],
        hide_possible_values = true,
        help_heading = "Optimizer"
    )]
    pub optimizer: String,
    /// Examples per batch [default: 512; --device cpu: 64].
    #[arg(long, value_name = "N", help_heading = "Optimizer")]
    pub batch_size: Option<usize>,
    /// Peak learning rate [alias: --lr]. Default:
    ///   0.1     sgd
    ///   0.05    sgd with --device cpu
    ///   0.0004  sgd with --init-from
    ///   0.001   adamw
    ///   0.0001  adamw with --init-from
    #[arg(long, verbatim_doc_comment, alias = "lr", value_name = "LR", help_heading = "Optimizer")]
    pub learning_rate: Option<f64>,
    /// Learning-rate schedule after the warmup [default: cosine]:
    ///   cosine    half a cosine, to 0
    ///   linear    linear, to 0
    ///   halving   halved twelve times over the run
    ///   constant  constant
    #[arg(
        long,
        verbatim_doc_comment,
        default_value = "cosine",
        hide_default_value = true,
        value_name = "KIND",
        help_heading = "Optimizer"
    )]
    pub lr_schedule: LrSchedule,
    /// Steps of linear learning-rate warmup [default: 500; CPU: 200].
    #[arg(long, value_name = "N", help_heading = "Optimizer")]
    pub warmup_steps: Option<u64>,
    /// Momentum (sgd), or β1 (adamw).
    #[arg(long, default_value_t = 0.9, value_name = "M", help_heading = "Optimizer")]
    pub momentum: f64,
    /// Nesterov momentum (sgd) [default: false; CPU: true].
    #[arg(
        long,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_name = "true|false",
        hide_possible_values = true,
        help_heading = "Optimizer"
    )]
    pub nesterov: Option<bool>,
    /// L2 weight decay.
    #[arg(long, default_value_t = 1e-4, value_name = "WD", help_heading = "Optimizer")]
    pub weight_decay: f64,
    /// Label smoothing.
    #[arg(long, default_value_t = 0.0, value_name = "EPS", help_heading = "Optimizer")]
    pub label_smoothing: f32,
    /// Train/test split: the examples left out of training [default: game]:
    ///   game     the games after --last-year, else a tenth of the games
    ///   example  a random part of the examples (as in the paper)
    ///   both     the games after --last-year and a random part of the rest
    /// All test sets are always evaluated. With game, those by example overlap the training set.
    #[arg(
        long,
        verbatim_doc_comment,
        default_value = "game",
        hide_default_value = true,
        value_name = "KIND",
        help_heading = "Validation"
    )]
    pub split: SplitBy,
    /// Last year of the training games, with --split game or both [default: 2012].
    #[arg(long, value_name = "YEAR", help_heading = "Validation")]
    pub last_year: Option<u16>,
    /// Evaluate on the test sets even if training is not complete.
    #[arg(long, help_heading = "Validation")]
    pub test: bool,
    /// Maximum number of positions per test set [default: all; CPU: 20000].
    #[arg(long, value_name = "N", help_heading = "Validation")]
    pub test_positions: Option<usize>,
    /// Also evaluate with predictions averaged over the eight symmetries of a position (test-time
    /// augmentation).
    #[arg(long, help_heading = "Validation")]
    pub symmetries: bool,
    /// Precision of the stored weights.
    #[arg(
        long,
        value_enum,
        default_value = "f16",
        value_name = "f16|f32",
        hide_possible_values = true,
        help_heading = "Output"
    )]
    pub precision: PrecisionArg,
    /// Also write the network as model.onnx.
    #[arg(long, help_heading = "Output")]
    pub onnx: bool,
    /// How training ends and what it saves; without --epochs, training may take 5% longer than the
    /// time limit to finish.
    #[command(flatten)]
    pub trainer: TrainerArgs,
    /// The run folder.
    #[command(flatten)]
    pub run: RunArgs,
    /// Common options.
    #[command(flatten)]
    pub common: CommonArgs,
}
