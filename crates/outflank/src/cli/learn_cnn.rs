//! The options of `outflank learn cnn`.

use super::{Common, RecordsArgs, RunArgs};
use clap::{Args, ValueEnum};
use outflank_learners::cnn::{LrSchedule, Split};
use outflank_records::ExampleSetKind;

/// What stands below the options in the help.
pub const CNN_HELP: &str = "\
Networks (Liskowski, Jaskowski and Krawiec, 2018): conv4, conv6, conv8, conv10 (with -bn or -dropout,
and -stages after it for layers of their own at each stage of the game, with --input pieces+stage),
resnet-32, resnet-56 (with -np, -np-p), densenet-40, densenet-100, widenet-40-4 (with -np),
fc4x1024 (layers x units), and towers of our own such as res10x128 (blocks x maps, with -pre, -se).

The schedule spans --passes over the examples. Without it the passes are made to fit into --minutes
of the first sitting. A run that --minutes or the user ended goes on with --resume.
With --device cpu the defaults are for minutes on a laptop: small steps, and many of them.

Tests: by example as the paper splits, and by game; each says how much of it was learned from.
Examples:
  outflank learn cnn --net conv4 --records wthor/ --minutes 10
  outflank learn cnn --net res10x128 --split game --device gpu --batch 4096 --minutes 9
  outflank learn cnn --from cnn --records my-games.ggf --minutes 10
  outflank learn cnn --resume runs/cnn-001 --device gpu --minutes 9
  outflank learn cnn --resume runs/cnn-001 --minutes 0 --test --images";

/// Where to learn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DeviceArg {
    /// In the program itself.
    Cpu,
    /// With libtorch on the first graphics processor.
    Gpu,
    /// With libtorch on the CPU.
    TorchCpu,
}

/// Where the networks of an exhibit learn and answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TaughtArg {
    /// In the program itself, few examples each.
    Cpu,
    /// With libtorch on the first graphics processor.
    Gpu,
    /// With libtorch on the CPU.
    TorchCpu,
    /// Nowhere: the exhibit is made of what --share knows of networks that learned on a graphics processor; what
    /// it does not know is left out.
    None,
}

impl TaughtArg {
    /// Where networks are taught, if they are.
    pub fn device(self) -> Option<DeviceArg> {
        match self {
            TaughtArg::Cpu => Some(DeviceArg::Cpu),
            TaughtArg::Gpu => Some(DeviceArg::Gpu),
            TaughtArg::TorchCpu => Some(DeviceArg::TorchCpu),
            TaughtArg::None => None,
        }
    }
}

/// `outflank learn cnn`.
#[derive(Args, Debug, Clone)]
pub struct CnnArgs {
    /// The network [default: conv8-bn, or that of --from].
    #[arg(long, value_name = "NAME")]
    pub net: Option<String>,
    /// What it sees: pieces, ones or vmoves, with +colour for the side to move, +stage for the quarter of the
    /// game [default: pieces, or as --from].
    #[arg(long, value_name = "PLANES")]
    pub input: Option<String>,
    /// Begin from a network that has learned, an embedded one (cnn, experts), a file or a run's folder,
    /// not from random weights.
    #[arg(long, value_name = "MODEL")]
    pub from: Option<String>,
    /// The examples: original, original-s, unique or unique-s.
    #[arg(long, default_value = "unique-s", value_name = "SET")]
    pub examples: ExampleSetKind,
    /// How the test is told apart: by example, as the paper, by game, those after 2012, or both at once.
    #[arg(long, default_value = "example", value_name = "example|game|both")]
    pub split: Split,
    /// The last year of games to learn from, with --split game or both [default: 2012].
    #[arg(long, value_name = "YEAR")]
    pub last_year: Option<u16>,
    /// For bagging: the network of this number in the bag of --seed, which learns from as many draws
    /// among the examples and begins from weights of its own.
    #[arg(long, value_name = "N")]
    pub bootstrap: Option<u64>,
    /// Where to learn.
    #[arg(long, value_enum, default_value = "cpu")]
    pub device: DeviceArg,
    /// How often each example is seen [default: what fits into --minutes].
    #[arg(long, value_name = "N")]
    pub passes: Option<f64>,
    /// This sitting ends after so many minutes; without --passes up to a twentieth later, if that is
    /// all it takes to be done.
    #[arg(long, value_name = "M")]
    pub minutes: Option<f64>,
    /// Minutes between checkpoints.
    #[arg(long, default_value_t = 2.0, value_name = "M")]
    pub checkpoint: f64,
    /// Examples of a step [default: 512, or 64 with --device cpu].
    #[arg(long, value_name = "N")]
    pub batch: Option<usize>,
    /// The largest rate [default: 0.1 for sgd, or 0.05 with --device cpu; 0.001 for adamw; with --from
    /// 0.0004 and 0.0001, since larger ones undo what was learned].
    #[arg(long, value_name = "R")]
    pub rate: Option<f64>,
    /// How it changes: cosine, halving, linear or constant.
    #[arg(long, default_value = "cosine", value_name = "KIND")]
    pub schedule: LrSchedule,
    /// Steps over which it grows from nothing [default: 500, or 200 with --device cpu].
    #[arg(long, value_name = "N")]
    pub warmup: Option<u64>,
    /// The optimizer.
    #[arg(long, default_value = "sgd", value_parser = ["sgd", "adamw"])]
    pub optimizer: String,
    /// sgd: how much of the last step stays. adamw: how slowly its mean of gradients moves.
    #[arg(long, default_value_t = 0.9, value_name = "M")]
    pub momentum: f64,
    /// sgd: look ahead by Nesterov's rule [default: false, or true with --device cpu].
    #[arg(
        long,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_name = "true|false"
    )]
    pub nesterov: Option<bool>,
    /// How strongly weights are pulled toward zero.
    #[arg(long, default_value_t = 1e-4, value_name = "D")]
    pub decay: f64,
    /// The share of each target that is spread over all classes.
    #[arg(long, default_value_t = 0.0, value_name = "S")]
    pub smoothing: f32,
    /// Run the tests though learning is not complete.
    #[arg(long)]
    pub test: bool,
    /// Test at most so many positions of each test, evenly spread [default: all, or 20000 with --device
    /// cpu].
    #[arg(long, value_name = "N")]
    pub tested: Option<usize>,
    /// Test also with answers averaged over the eight images of a position.
    #[arg(long)]
    pub images: bool,
    /// Write the weights in single precision, not half.
    #[arg(long)]
    pub single: bool,
    /// Write the network for other programs too, as model.onnx.
    #[arg(long)]
    pub onnx: bool,
    /// Games to learn from.
    #[command(flatten)]
    pub records: RecordsArgs,
    /// Where to write.
    #[command(flatten)]
    pub run: RunArgs,
    /// The rest.
    #[command(flatten)]
    pub common: Common,
}
