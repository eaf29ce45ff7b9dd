//! Options of `outflank train cnn`.

use super::duration;
use super::{CommonArgs, RecordsArgs, RunArgs};
use clap::{Args, ValueEnum};
use outflank_learners::cnn::{LrSchedule, SplitBy};
use outflank_records::ExampleSetKind;
use std::time::Duration;

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
Architectures (Liskowski, Jaskowski & Krawiec, 2018): conv4, conv6, conv8, conv10 (with -bn or
-dropout; -stages after it for separate layers per stage of the game, with --input pieces+stage),
resnet-32, resnet-56 (with -np, -np-p), densenet-40, densenet-100, widenet-40-4 (with -np),
fc4x1024 (layers x units), and residual networks such as res10x128 (blocks x channels; with -pre,
-se).

The learning-rate schedule spans --epochs. Without --epochs, the number of epochs is chosen so that
training fits into the --time-limit of the first call. A run that was stopped, or that reached its
time limit, continues with --resume. The defaults with --device cpu suit minutes on a laptop: small
batches, many steps.

Accuracy is reported on test sets split by example (as in the paper) and by game, each with its
overlap with the training set.";

/// A device for training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DeviceArg {
    /// CPU, built in.
    Cpu,
    /// First GPU, with libtorch.
    Cuda,
    /// CPU, with libtorch.
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
    /// Architecture [default: conv8-bn, or that of --init-from].
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub net: Option<String>,
    /// Input planes: pieces, ones or vmoves, with +colour for the side to move, +stage for the
    /// quarter of the game [default: pieces, or as --init-from].
    #[arg(long, value_name = "PLANES", help_heading = "Model")]
    pub input: Option<String>,
    /// Fine-tune from an embedded network (cnn, experts), a model file or a run folder.
    #[arg(long, value_name = "MODEL", help_heading = "Model")]
    pub init_from: Option<String>,
    /// Number of epochs [default: as many as --time-limit allows].
    #[arg(long, value_name = "N", help_heading = "Budget")]
    pub epochs: Option<f64>,
    /// Time limit, such as 90s, 10m or 2h; without --epochs, training may take 5% longer to finish.
    #[arg(long, value_name = "TIME", value_parser = duration::parse, help_heading = "Budget")]
    pub time_limit: Option<Duration>,
    /// Device that trains.
    #[arg(long, value_enum, default_value = "cpu", help_heading = "Budget")]
    pub device: DeviceArg,
    /// Examples: original, original-s, unique or unique-s (-s: with all eight symmetries).
    #[arg(long, default_value = "unique-s", value_name = "SET", help_heading = "Data")]
    pub examples: ExampleSetKind,
    /// Games to train on.
    #[command(flatten)]
    pub records: RecordsArgs,
    /// Train ensemble member N; its initialization and data order are derived from --seed and N.
    #[arg(long, value_name = "N", help_heading = "Ensemble")]
    pub ensemble_member: Option<u64>,
    /// Train the ensemble member on a bootstrap sample: as many draws with replacement as there are
    /// examples (bagging).
    #[arg(long, requires = "ensemble_member", help_heading = "Ensemble")]
    pub bootstrap: bool,
    /// Optimizer.
    #[arg(long, default_value = "sgd", value_parser = ["sgd", "adamw"],
        help_heading = "Optimizer")]
    pub optimizer: String,
    /// Examples per batch [default: 512; CPU: 64].
    #[arg(long, value_name = "N", help_heading = "Optimizer")]
    pub batch_size: Option<usize>,
    /// Peak learning rate [alias: --lr] [default: sgd 0.1, adamw 0.001; sgd on CPU: 0.05; with
    /// --init-from: sgd 0.0004, adamw 0.0001].
    #[arg(long, alias = "lr", value_name = "LR", help_heading = "Optimizer")]
    pub learning_rate: Option<f64>,
    /// Learning-rate schedule: cosine, halving, linear or constant.
    #[arg(long, default_value = "cosine", value_name = "KIND", help_heading = "Optimizer")]
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
        help_heading = "Optimizer"
    )]
    pub nesterov: Option<bool>,
    /// L2 weight decay.
    #[arg(long, default_value_t = 1e-4, value_name = "WD", help_heading = "Optimizer")]
    pub weight_decay: f64,
    /// Label smoothing.
    #[arg(long, default_value_t = 0.0, value_name = "EPS", help_heading = "Optimizer")]
    pub label_smoothing: f32,
    /// Train/test split: by example (as in the paper), by game (years after --last-year), or both.
    #[arg(
        long,
        default_value = "example",
        value_name = "example|game|both",
        help_heading = "Validation"
    )]
    pub split: SplitBy,
    /// Last year of the training games, with --split game or both [default: 2012].
    #[arg(long, value_name = "YEAR", help_heading = "Validation")]
    pub last_year: Option<u16>,
    /// Evaluate on the test sets even if training is not complete.
    #[arg(long, help_heading = "Validation")]
    pub test: bool,
    /// Maximum positions per test set, evenly spread [default: all; CPU: 20000].
    #[arg(long, value_name = "N", help_heading = "Validation")]
    pub test_positions: Option<usize>,
    /// Also evaluate with predictions averaged over the eight symmetries of a position (test-time
    /// augmentation).
    #[arg(long, help_heading = "Validation")]
    pub symmetries: bool,
    /// Time between checkpoints.
    #[arg(long, default_value = "2m", value_name = "TIME", value_parser = duration::parse,
        help_heading = "Output")]
    pub checkpoint_every: Duration,
    /// Precision of the stored weights.
    #[arg(long, value_enum, default_value = "f16", help_heading = "Output")]
    pub precision: PrecisionArg,
    /// Also write the network as model.onnx.
    #[arg(long, help_heading = "Output")]
    pub onnx: bool,
    /// The run folder.
    #[command(flatten)]
    pub run: RunArgs,
    /// Common options.
    #[command(flatten)]
    pub common: CommonArgs,
}
