//! Options of `outflank perft`.

use super::GameArg;
use clap::Args;

/// Examples at the top of the help.
pub const EXAMPLES: &str = "\
Examples:
  outflank perft 9
  outflank perft 6 --game checkers";

/// `outflank perft`.
#[derive(Args, Debug)]
pub struct PerftArgs {
    /// Depth in plies.
    #[arg(value_parser = clap::value_parser!(u32).range(0..=20))]
    pub depth: u32,
    /// Game.
    #[arg(long, value_enum, default_value = "othello")]
    pub game: GameArg,
    /// Root position [default: the starting position].
    #[arg(long, value_name = "BOARD", allow_hyphen_values = true)]
    pub board: Option<String>,
    /// Print one JSON document on standard output, errors included.
    #[arg(long)]
    pub json: bool,
}
