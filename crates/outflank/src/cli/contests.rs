//! Options of the commands that let players play: `match`, `league` and `openings`.

use super::{Common, GameArg, GridArgs, PlayArgs, RunArgs};
use clap::Args;
use std::path::PathBuf;

/// What stands below the options in the help.
pub const PLAYER_HELP: &str = "\
A player is MODEL[@SEARCH][?key=value&...].
  MODEL   an embedded name (see `outflank players`), a file (x.player, x.wpc,
          x.safetensors, x.toml), a run folder, or nboard:COMMAND or gtp:COMMAND for an engine of your own
  SEARCH  nothing: one ply, or none for a network that rates moves (cnn, experts); @4: alpha-beta
          of depth 4; @4e12: also exact from 12 empties; @mcts5000: tree search with 5,000
          simulations a move
  keys    view=negate|invert, random=0.1, noise=5, name=..., stage=46-60&with=PLAYER, symmetries=8
          (a network answers for the mean of the eight images of a position);
          for engines seconds=60, level=4; for our own search seconds=1, nodes=100000 (limits of a
          move), cut=1.5 (selective pruning; champion's if seconds alone end it, 0: none), threads=2
Examples:
  outflank match heuristic@4 'random@mcts500?name=tree'
  outflank league heuristic yoshioka random --games 200 --random 0.1
  outflank match heuristic 'gtp:gtp-rhino?name=rhino' --openings openings.txt --games 20";

/// What stands below the options in the help.
pub const OPENINGS_HELP: &str = "\
Examples:
  outflank openings --count 100 --simulations 500 --to openings.txt
  outflank league heuristic yoshioka --openings openings.txt";

/// `outflank match`.
#[derive(Args, Debug)]
pub struct MatchArgs {
    /// The player whose score is given.
    pub a: String,
    /// The opponent.
    pub b: String,
    /// Stop early when one of two hypotheses about the Elo difference is clear.
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true)]
    pub sprt: Option<String>,
    /// How to play.
    #[command(flatten)]
    pub play: PlayArgs,
    /// Where to write.
    #[command(flatten)]
    pub run: RunArgs,
    /// The rest.
    #[command(flatten)]
    pub common: Common,
    /// Who plays; last, since its heading would spread to what follows.
    #[command(flatten)]
    pub grid: GridArgs,
}

/// `outflank league`.
#[derive(Args, Debug)]
pub struct LeagueArgs {
    /// The players.
    #[arg(required = true, num_args = 2.., value_name = "PLAYER")]
    pub players: Vec<String>,
    /// The draw parameter of the ratings: 0 (plain Bradley-Terry), a number, or `fit`.
    #[arg(long, default_value = "0", value_name = "ELO|fit", allow_hyphen_values = true)]
    pub draw_elo: String,
    /// The advantage of the first move: 0, a number, or `fit`.
    #[arg(long, default_value = "0", value_name = "ELO|fit", allow_hyphen_values = true)]
    pub advantage: String,
    /// Also print the league of these players alone: numbers of ranks such as 1-7 or 1,2,8-12.
    #[arg(long, value_name = "RANKS")]
    pub sub_league: Vec<String>,
    /// How to play.
    #[command(flatten)]
    pub play: PlayArgs,
    /// Where to write.
    #[command(flatten)]
    pub run: RunArgs,
    /// The rest.
    #[command(flatten)]
    pub common: Common,
    /// Who plays; last, since its heading would spread to what follows.
    #[command(flatten)]
    pub grid: GridArgs,
}

/// `outflank openings`.
#[derive(Args, Debug)]
pub struct OpeningsArgs {
    /// How many different positions.
    #[arg(long, default_value_t = 1000, value_name = "N", allow_negative_numbers = true)]
    pub count: u32,
    /// After how many plies.
    #[arg(long, default_value_t = 6, value_name = "N", allow_negative_numbers = true)]
    pub ply: u32,
    /// Simulations for each move.
    #[arg(long, default_value_t = 5000, value_name = "N", allow_negative_numbers = true)]
    pub simulations: u32,
    /// The game.
    #[arg(long, value_enum, default_value = "othello")]
    pub game: GameArg,
    /// The file to write [default: openings.txt in the run folder].
    #[arg(long, value_name = "FILE")]
    pub to: Option<PathBuf>,
    /// Where to write.
    #[command(flatten)]
    pub run: RunArgs,
    /// The rest.
    #[command(flatten)]
    pub common: Common,
}
