//! Options of `outflank league`.

use super::{CommonArgs, ContestArgs, RemoteArgs, RunArgs};
use clap::Args;

/// Examples at the top of the help.
pub const EXAMPLES: &str = "\
Examples:
  outflank league heuristic yoshioka random --games 200 --random 0.1
  outflank league champion@4 heuristic@4 random@mcts500 --openings openings.txt";

/// `outflank league`.
#[derive(Args, Debug)]
pub struct LeagueArgs {
    /// Players of the league.
    #[arg(required = true, num_args = 2.., value_name = "PLAYER")]
    pub players: Vec<String>,
    /// Games to play.
    #[command(flatten)]
    pub contest: ContestArgs,
    /// Draw parameter of the rating model in Elo: 0 (Bradley-Terry), another number, or `fit`.
    #[arg(
        long,
        default_value = "0",
        value_name = "ELO|fit",
        allow_hyphen_values = true,
        help_heading = "Ratings"
    )]
    pub draw_elo: String,
    /// Advantage of the first move in Elo: 0, another number, or `fit`.
    #[arg(
        long,
        default_value = "0",
        value_name = "ELO|fit",
        allow_hyphen_values = true,
        help_heading = "Ratings"
    )]
    pub advantage: String,
    /// Ranks of players, such as 1-7 or 1,2,8-12, that are also rated by only the games among them.
    #[arg(long, value_name = "RANKS", help_heading = "Ratings")]
    pub sub_league: Vec<String>,
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
