//! Options of `outflank bench`.

use clap::Args;
use std::path::PathBuf;

/// Examples at the top of the help.
pub const EXAMPLES: &str = "\
Examples:
  outflank bench search
  outflank bench --json > bench.json";

/// `outflank bench`.
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// Benchmarks to run [default: all]:
    ///   games     move generation
    ///   records   reading game files
    ///   arena     matches without search
    ///   learners  training and self-play
    ///   nets      convolutional networks
    ///   search    midgame search, exact endgames, openings
    ///   cluster   job queue
    #[arg(
        verbatim_doc_comment,
        hide_possible_values = true,
        value_parser = ["games", "records", "arena", "learners", "nets", "search", "cluster"]
    )]
    pub area: Option<String>,
    /// Data folder, for benchmarks on recorded games.
    #[arg(long, value_name = "DIR", env = "OUTFLANK_DATA", hide_env_values = true)]
    pub data: Option<PathBuf>,
    /// Print one JSON document on standard output, errors included.
    #[arg(long)]
    pub json: bool,
}
