//! Options of `outflank play`.

use super::GameArg;
use super::shared::SideArg;
use clap::Args;

/// Examples at the top of the help.
pub const EXAMPLES: &str = "\
Examples:
  outflank play --level expert --side white
  outflank play --player champion --seconds 2 --from f5d6c3
  outflank play --game checkers --level casual";

/// Notes below the options.
pub const NOTES: &str = "\
Type moves such as f5, or help. Standard input may be a script. Levels, from the weakest: first
steps, newcomer, casual, club player, strong club player, tournament player, expert, master,
grandmaster (checkers has no tournament player and ends with master); `outflank players` lists them.";

/// `outflank play`.
#[derive(Args, Debug)]
pub struct PlayArgs {
    /// Game.
    #[arg(long, value_enum, default_value = "othello")]
    pub game: GameArg,
    /// Playing level of the opponent [default: casual].
    #[arg(long, value_name = "LEVEL", conflicts_with = "player")]
    pub level: Option<String>,
    /// Opponent as a player, such as champion@4, instead of a level; `outflank help match` describes
    /// players.
    #[arg(long, value_name = "PLAYER")]
    pub player: Option<String>,
    /// Your color.
    #[arg(long, value_enum, default_value = "black")]
    pub side: SideArg,
    /// Seconds per move of the opponent, instead of the search depth of its level.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub seconds: Option<f64>,
    /// Continue a game, given as moves or as a file.
    #[arg(long, value_name = "TRANSCRIPT", allow_hyphen_values = true)]
    pub from: Option<String>,
    /// Random seed; the same moves get the same replies.
    #[arg(long, default_value_t = 1, value_name = "N", allow_negative_numbers = true)]
    pub seed: u64,
    /// Print one JSON document on standard output at the end; the game is shown on standard error.
    #[arg(long)]
    pub json: bool,
}
