//! Options of `outflank match`.

use super::{CommonArgs, ContestArgs, RemoteArgs, RunArgs};
use clap::Args;

/// Examples at the top of the help.
pub const EXAMPLES: &str = "\
Examples:
  outflank match heuristic@4 'random@mcts500?name=mcts' --games 200
  outflank match champion heuristic --random 0.1 --sprt 0,10 --games 20000
  outflank match heuristic 'gtp:gtp-rhino?name=rhino' --openings openings.txt --games 20";

/// `outflank match`.
#[derive(Args, Debug)]
pub struct MatchArgs {
    /// Player whose score is reported.
    pub a: String,
    /// Opponent.
    pub b: String,
    /// Games to play.
    #[command(flatten)]
    pub contest: ContestArgs,
    /// Stop early by a sequential probability ratio test. H0: the Elo difference is ELO0;
    /// H1: it is ELO1.
    #[arg(long, value_name = "ELO0,ELO1", allow_hyphen_values = true, help_heading = "SPRT")]
    pub sprt: Option<String>,
    /// Probability of accepting H1 when H0 is true.
    #[arg(long, value_name = "P", default_value_t = 0.05, help_heading = "SPRT")]
    pub alpha: f64,
    /// Probability of accepting H0 when H1 is true.
    #[arg(long, value_name = "P", default_value_t = 0.05, help_heading = "SPRT")]
    pub beta: f64,
    /// The run folder.
    #[command(flatten)]
    pub run: RunArgs,
    /// Common options.
    #[command(flatten)]
    pub common: CommonArgs,
    /// Remote workers; last, because their help heading applies to everything after it.
    #[command(flatten)]
    pub remote: RemoteArgs,
}
