//! Options of `outflank openings`.

use super::{CommonArgs, GameArg, RunArgs};
use clap::Args;
use std::path::PathBuf;

/// Examples at the top of the help.
pub const EXAMPLES: &str = "\
Examples:
  outflank openings --count 100 --simulations 500 --to openings.txt
  outflank league heuristic yoshioka --openings openings.txt";

/// `outflank openings`.
#[derive(Args, Debug)]
pub struct OpeningsArgs {
    /// Number of distinct openings.
    #[arg(long, default_value_t = 1000, value_name = "N", allow_negative_numbers = true)]
    pub count: u32,
    /// Length of an opening in plies.
    #[arg(long, default_value_t = 6, value_name = "N", allow_negative_numbers = true)]
    pub ply: u32,
    /// Simulations of Monte-Carlo tree search per move.
    #[arg(long, default_value_t = 5000, value_name = "N", allow_negative_numbers = true)]
    pub simulations: u32,
    /// Game.
    #[arg(long, value_enum, default_value = "othello")]
    pub game: GameArg,
    /// File to write [default: openings.txt in the run folder].
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub to: Option<PathBuf>,
    /// The run folder.
    #[command(flatten)]
    pub run: RunArgs,
    /// Common options.
    #[command(flatten)]
    pub common: CommonArgs,
}
