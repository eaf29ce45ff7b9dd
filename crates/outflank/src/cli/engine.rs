//! Options of `outflank engine`.

use clap::{Args, ValueEnum};

/// Examples at the top of the help.
pub const EXAMPLES: &str = "\
Examples:
  outflank engine --protocol gtp --player 'champion?seconds=1'
  outflank match 'gtp:outflank engine --player champion@4 --protocol gtp?name=me' heuristic@4";

/// Notes below the options.
pub const NOTES: &str = "\
Reads commands from standard input and answers on standard output, for NBoard, GoGui or a match
runner. A depth or clock set by that program limits the search. With a clock and no depth,
champion uses selective pruning, unless the player has ?cut=0.";

/// A protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the help would show the comments beside the names")]
pub enum ProtocolArg {
    Nboard,
    Gtp,
}

/// `outflank engine`.
#[derive(Args, Debug)]
pub struct EngineArgs {
    /// Protocol: NBoard (version 2) or the Go Text Protocol (version 2).
    #[arg(long, value_enum)]
    pub protocol: ProtocolArg,
    /// Player that answers.
    #[arg(long, default_value = "champion@8e16", value_name = "PLAYER")]
    pub player: String,
    /// Number of search threads.
    #[arg(long, default_value_t = 1, value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: u16,
    /// Seed of all randomness.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
}
