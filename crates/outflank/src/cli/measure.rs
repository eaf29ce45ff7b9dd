//! Options of the commands that measure and show: `accuracy`, `reproduce`, `players`, `perft`,
//! `bench`.

use super::learn_cnn::TaughtArg;
use super::{Common, GameArg, GridArgs, RecordsArgs, RunArgs};
use clap::Args;
use outflank_experiments::Scale;
use std::path::PathBuf;

/// What stands below the options in the help.
pub const ACCURACY_HELP: &str = "\
A model is an embedded name (see `outflank players`), a file (x.player, x.wpc, x.safetensors)
or the folder of a run that learned one.
Examples:
  outflank accuracy heuristic yoshioka
  outflank accuracy runs/learn-001 heuristic --records games.wtb --years 2010-2015 --sample 1000";

/// `outflank accuracy`.
#[derive(Args, Debug)]
pub struct AccuracyArgs {
    /// The models.
    #[arg(required = true, value_name = "MODEL")]
    pub models: Vec<String>,
    /// Games to predict.
    #[command(flatten)]
    pub records: RecordsArgs,
    /// Also write CSV, JSON and a page into this folder.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// The rest.
    #[command(flatten)]
    pub common: Common,
}

/// Which exhibits `--on` spreads.
pub const REPRODUCE_HELP: &str = "\
With --on workers learn the runs of coevolution/*, gp/*, ann/table2 and ann/fig*. The others refuse
it: preference/* learns in minutes from games that lie here, ann/table1 and ann/speed measure this
machine or count, and the networks of cnn/* learn on one device, as a rule a GPU.
Examples:
  outflank reproduce preference/table2 --scale smoke
  outflank reproduce cnn/table6 --device none --share results/cnn/learned
  outflank reproduce coevolution/fig3a --scale paper --on nats://HOST";

/// `outflank reproduce`.
#[derive(Args, Debug)]
pub struct ReproduceArgs {
    /// Which one, such as preference/table2 [default: lists them].
    pub exhibit: Option<String>,
    /// How large: smoke (seconds), desk (minutes) or paper (the paper's own size).
    #[arg(long, default_value = "desk", value_name = "smoke|desk|paper")]
    pub scale: Scale,
    /// The data folder; without it the embedded games and openings are used.
    #[arg(long, value_name = "DIR", env = "OUTFLANK_DATA")]
    pub data: Option<PathBuf>,
    /// Keeps learned players in this folder: exhibits that need the same ones learn them once
    /// [default: in the run folder].
    #[arg(long, value_name = "DIR")]
    pub share: Option<PathBuf>,
    /// Where networks learn and answer (the exhibits cnn/*).
    #[arg(long, value_enum, default_value = "cpu")]
    pub device: TaughtArg,
    /// Edax as a player, such as 'nboard:edax -nboard': its rows of cnn/table7, table9, fig4 and fig5.
    #[arg(long, value_name = "PLAYER")]
    pub edax: Option<String>,
    /// Where to write.
    #[command(flatten)]
    pub run: RunArgs,
    /// The rest.
    #[command(flatten)]
    pub common: Common,
    /// Who learns; last, since its heading would spread to what follows.
    #[command(flatten)]
    pub grid: GridArgs,
}

/// `outflank players`.
#[derive(Args, Debug)]
pub struct PlayersArgs {
    /// The game.
    #[arg(long, value_enum)]
    pub game: Option<GameArg>,
    /// Write this model of Othello to a file instead: one that is embedded, a run's folder or a model file.
    #[arg(long, value_name = "NAME", requires = "to", conflicts_with = "game")]
    pub model: Option<String>,
    /// Where to write it: .safetensors, .onnx (deep networks), .player or .wpc.
    #[arg(long, value_name = "FILE", requires = "model")]
    pub to: Option<PathBuf>,
    /// Print one JSON document on standard output.
    #[arg(long)]
    pub json: bool,
}

/// What `outflank solve` tells, and how long it takes.
pub const SOLVE_HELP: &str = "\
The score is the disc difference at the end under best play, for the side to move, the empty squares
going to the winner. 20 empty squares take about a second, each further one two to three times as
long. Where a file gives scores, they are compared.";

/// `outflank solve`.
#[derive(Args, Debug)]
pub struct SolveArgs {
    /// A position of Othello in one argument (64 of X, O and -, row by row from a1, and the side to
    /// move), or a file of positions (.obf, boards).
    #[arg(value_name = "BOARD|FILE", allow_hyphen_values = true)]
    pub what: String,
    /// How many threads work on each position; scores do not depend on it, the number of nodes does
    /// [default: all cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// The size of the memory of positions, in MiB.
    #[arg(long, value_name = "N", default_value_t = 192,
        value_parser = clap::value_parser!(u32).range(1..=6144))]
    pub memory: u32,
    /// Show no progress.
    #[arg(long, short)]
    pub quiet: bool,
    /// Print one JSON document on standard output.
    #[arg(long)]
    pub json: bool,
}

/// `outflank perft`.
#[derive(Args, Debug)]
pub struct PerftArgs {
    /// Plies.
    #[arg(value_parser = clap::value_parser!(u32).range(0..=20))]
    pub depth: u32,
    /// The game.
    #[arg(long, value_enum, default_value = "othello")]
    pub game: GameArg,
    /// Count from another position, such as 64 of X, O and - and the side to move.
    #[arg(long, value_name = "BOARD", allow_hyphen_values = true)]
    pub board: Option<String>,
    /// Print one JSON document on standard output.
    #[arg(long)]
    pub json: bool,
}

/// `outflank bench`.
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// What to measure [default: all].
    #[arg(value_parser = ["games", "records", "arena", "learners", "nets", "search", "grid"])]
    pub area: Option<String>,
    /// The data folder, for the benchmarks that need real games.
    #[arg(long, value_name = "DIR", env = "OUTFLANK_DATA")]
    pub data: Option<PathBuf>,
    /// Print one JSON document on standard output.
    #[arg(long)]
    pub json: bool,
}
