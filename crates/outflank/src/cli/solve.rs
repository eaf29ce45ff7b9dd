//! Options of `outflank solve`.

use clap::Args;

/// Examples at the top of the help.
pub const EXAMPLES: &str = "\
Examples:
  outflank solve fforum-1-19.obf
  outflank solve 'O--OOOOX-OOOOOOXOOXXOOOXOOXOOOXXOOOOOOXX---OOOOX----O--X-------- X'";

/// Notes below the options.
pub const NOTES: &str = "\
The score is the final disc difference under best play for the side to move; empty squares count for
the winner. 20 empty squares take about a second, each further one two to three times as long.
Scores in the file are compared with the computed scores.";

/// `outflank solve`.
#[derive(Args, Debug)]
pub struct SolveArgs {
    /// Othello position in one argument (64 of X, O and -, row by row from a1, then the side to
    /// move), or a file of positions (.obf, boards).
    #[arg(value_name = "BOARD|FILE", allow_hyphen_values = true)]
    pub position: String,
    /// Number of threads per position; scores do not depend on it, node counts do
    /// [default: all cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Size of the transposition table in MiB.
    #[arg(long, value_name = "N", default_value_t = 192,
        value_parser = clap::value_parser!(u32).range(1..=6144))]
    pub memory: u32,
    /// Print no progress.
    #[arg(long, short)]
    pub quiet: bool,
    /// Print one JSON document on standard output, errors included.
    #[arg(long)]
    pub json: bool,
}
