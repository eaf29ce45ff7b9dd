//! Options of `outflank play`, `outflank analyze` and `outflank engine`.

use super::GameArg;
use super::shared::SideArg;
use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// What stands below the options in the help.
pub const PLAY_HELP: &str = "\
Type moves such as f5, or help. Standard input may be a script. Levels, from the weakest: first
steps, newcomer, casual, club player, strong club player, tournament player, expert, master,
grandmaster (checkers has no tournament player and ends with master); `outflank players` says who they are.

Examples:
  outflank play
  outflank play --level expert --side white
  outflank play --player champion --seconds 2 --from f5d6c3
  outflank play --game checkers --level casual";

/// `outflank play`.
#[derive(Args, Debug)]
pub struct SittingArgs {
    /// The game.
    #[arg(long, value_enum, default_value = "othello")]
    pub game: GameArg,
    /// The opponent in plain words [default: casual].
    #[arg(long, value_name = "WORDS", conflicts_with = "player")]
    pub level: Option<String>,
    /// The opponent as players are written; `outflank players` lists some.
    #[arg(long, value_name = "PLAYER")]
    pub player: Option<String>,
    /// Your side.
    #[arg(long, value_enum, default_value = "black")]
    pub side: SideArg,
    /// Let the opponent search for so many seconds a move; a level then looks as far as it comes.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub seconds: Option<f64>,
    /// Go on with a game: its moves, or a file.
    #[arg(long, value_name = "TRANSCRIPT", allow_hyphen_values = true)]
    pub from: Option<String>,
    /// The seed of everything random: the same moves are answered alike.
    #[arg(long, default_value_t = 1, value_name = "N", allow_negative_numbers = true)]
    pub seed: u64,
    /// Print one JSON document on standard output at the end; the game is shown on standard error.
    #[arg(long)]
    pub json: bool,
}

/// What stands below the options in the help.
pub const ANALYZE_HELP: &str = "\
A loss is the difference, in discs, between the best move and the one played, by the same search; it
is exact where the game is solved and an estimate before. An estimate is what the values of the model
mean in discs by the margins of the embedded games, on the mean of the last two depths of the search,
since odd and even depths differ; where they do not grow with the margin, a ? stands for it (null in
JSON). Beside it stands the move that experts would most likely play, and how likely
that and the move played are. Examples:
  outflank analyze f5d6c3d3c4f4f6
  outflank analyze game.ggf --to report.html
  outflank analyze games/ --sample 20 --json";

/// `outflank analyze`.
#[derive(Args, Debug)]
pub struct AnalyzeArgs {
    /// A game as its moves in one argument, or files or folders of games.
    #[arg(value_name = "GAME|FILE", required = true)]
    pub what: Vec<String>,
    /// The model that judges: one that says what a position is worth.
    #[arg(long, default_value = "champion", value_name = "MODEL")]
    pub model: String,
    /// How many plies to look ahead.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=60))]
    pub depth: u32,
    /// Solve from this many empty squares on.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(0..=30))]
    pub exact: u32,
    /// Prune what lies so many deviations of this model outside the window; 0 prunes nothing.
    #[arg(long, default_value_t = 1.5, value_name = "TIMES", allow_negative_numbers = true)]
    pub cut: f32,
    /// Look at so many games, drawn at random, instead of all.
    #[arg(long, value_name = "N",
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=1_000_000))]
    pub sample: Option<usize>,
    /// Write a report: .md or .html.
    #[arg(long, value_name = "FILE")]
    pub to: Option<PathBuf>,
    /// The seed of the sample.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// How many threads work; the results do not depend on it [default: all cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Show no progress.
    #[arg(long, short)]
    pub quiet: bool,
    /// Print one JSON document on standard output.
    #[arg(long)]
    pub json: bool,
}

/// Which protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "a remark would make the help longer, not clearer")]
pub enum ProtocolArg {
    Nboard,
    Gtp,
}

/// What stands below the options in the help.
pub const ENGINE_HELP: &str = "\
The program reads commands from standard input and answers on standard output, for NBoard, GoGui or
a match driver. A depth or a clock that the other side sets makes the model search within it; under a
clock alone champion prunes (unless its player is written with ?cut=0).
Examples:
  outflank engine --protocol gtp --player 'champion?seconds=1'
  outflank match 'gtp:outflank engine --player champion@4 --protocol gtp?name=me' heuristic@4";

/// `outflank engine`.
#[derive(Args, Debug)]
pub struct EngineArgs {
    /// The protocol: the NBoard viewer's (version 2), or the Go Text Protocol (version 2).
    #[arg(long, value_enum)]
    pub protocol: ProtocolArg,
    /// The player that is served.
    #[arg(long, default_value = "champion@8e16", value_name = "PLAYER")]
    pub player: String,
    /// How many threads a search uses.
    #[arg(long, default_value_t = 1, value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: u16,
    /// The seed of everything random.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
}
