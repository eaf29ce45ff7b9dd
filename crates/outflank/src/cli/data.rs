//! Options of `outflank data`.

use super::{CommonArgs, RunArgs, SelectArgs, UnseededArgs};
use clap::{Args, Subcommand};
use outflank_records::Format;
use std::path::PathBuf;

/// Examples at the top of the help.
pub const EXAMPLES: &str = "\
Examples:
  outflank data stats games.wtb
  outflank data convert games.wtb --to games.ggf --years 1990-1999";

/// `outflank data ...`.
#[derive(Subcommand, Debug)]
pub enum DataCommand {
    /// Count games, positions and duplicates; compute the highest possible prediction accuracy.
    #[command(before_help = "Examples:\n  outflank data stats wthor/")]
    Stats(DataArgs),
    /// List all invalid games with their locations.
    #[command(before_help = "Examples:\n  outflank data check wthor/ my-games.ggf")]
    Check(DataArgs),
    /// Write games in another format.
    #[command(
        before_help = "Examples:\n  outflank data convert games.wtb --to games.ggf --by 'tamenori hideshi'"
    )]
    Convert(ConvertArgs),
    /// Write decisions (position and move played) as CSV or NPZ.
    #[command(
        before_help = "Examples:\n  outflank data export games.wtb --to decisions.csv\n  outflank data export wthor/ --to decisions.npz --unique --symmetric --split game"
    )]
    Export(ExportArgs),
    /// Generate games of a player against itself from random openings.
    #[command(
        before_help = "Examples:\n  outflank data generate --player heuristic@4e12 --games 1000 --to games.ggf\n  outflank data generate --player 'champion@mpc4e12?random=0.1' --label 8 --games 1000 --to labels.txt"
    )]
    Generate(GenerateArgs),
}

/// Game files.
#[derive(Args, Debug)]
pub struct DataArgs {
    /// Game files or folders.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Common options.
    #[command(flatten)]
    pub common: UnseededArgs,
}

/// `outflank data convert`.
#[derive(Args, Debug)]
pub struct ConvertArgs {
    /// Game files or folders.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// File to write.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub to: PathBuf,
    /// Format to write: wthor, ggf, transcript, obf, boards or pgn [default: by file extension].
    #[arg(long, help_heading = "Output")]
    pub format: Option<Format>,
    /// Filters.
    #[command(flatten)]
    pub select: SelectArgs,
    /// Common options.
    #[command(flatten)]
    pub common: CommonArgs,
}

/// `outflank data export`.
#[derive(Args, Debug)]
pub struct ExportArgs {
    /// Game files or folders.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// File to write: CSV, or NPZ with one NumPy array per column.
    #[arg(long, value_name = "FILE.csv|FILE.npz", help_heading = "Output")]
    pub to: PathBuf,
    /// Filters.
    #[command(flatten)]
    pub select: SelectArgs,
    /// Leave out decisions with a single legal move.
    #[arg(long, help_heading = "Data")]
    pub choices: bool,
    /// Remove duplicate decisions; colors are swapped so that Black moves.
    #[arg(long, help_heading = "Data")]
    pub unique: bool,
    /// Write the eight symmetries of each decision and remove duplicates; requires --unique.
    #[arg(long, requires = "unique", help_heading = "Data")]
    pub symmetric: bool,
    /// Write two files, FILE-train and FILE-test, split by game or by example.
    #[arg(long, value_name = "game|example", value_parser = ["game", "example"],
        help_heading = "Data")]
    pub split: Option<String>,
    /// Fraction of the games or examples in the test set, with --split.
    #[arg(
        long,
        default_value_t = 0.25,
        value_name = "FRACTION",
        allow_negative_numbers = true,
        help_heading = "Data"
    )]
    pub held_out: f64,
    /// Common options.
    #[command(flatten)]
    pub common: CommonArgs,
}

/// `outflank data generate`.
#[derive(Args, Debug)]
pub struct GenerateArgs {
    /// Player of both colors.
    #[arg(long, default_value = "heuristic@4e12", value_name = "PLAYER", help_heading = "Games")]
    pub player: String,
    /// Number of distinct games.
    #[arg(
        long,
        default_value_t = 100,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Games"
    )]
    pub games: u32,
    /// Random plies at the start of each game.
    #[arg(
        long,
        default_value_t = 10,
        value_name = "PLIES",
        allow_negative_numbers = true,
        help_heading = "Games"
    )]
    pub random_plies: u32,
    /// Label each position after the random plies with the score of a selective search to this
    /// depth, with the model of --player; the file then contains labeled games for `train labels`.
    #[arg(
        long,
        value_name = "DEPTH",
        allow_negative_numbers = true,
        conflicts_with = "format",
        help_heading = "Labels"
    )]
    pub label: Option<u32>,
    /// Label positions with at most this many empty squares with their exact score.
    #[arg(
        long,
        default_value_t = 16,
        value_name = "EMPTIES",
        allow_negative_numbers = true,
        help_heading = "Labels"
    )]
    pub label_exact: u32,
    /// File to write (.wtb, .ggf, .txt or .pgn; any name with --label), which must not exist.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub to: PathBuf,
    /// Format to write: wthor, ggf, transcript or pgn [default: by file extension].
    #[arg(long, help_heading = "Output")]
    pub format: Option<Format>,
    /// The run folder.
    #[command(flatten)]
    pub run: RunArgs,
    /// Common options.
    #[command(flatten)]
    pub common: CommonArgs,
}
