//! Options of `outflank data`.

use super::{Common, RunArgs, SelectArgs};
use clap::{Args, Subcommand};
use outflank_records::Format;
use std::path::PathBuf;

/// `outflank data ...`.
#[derive(Subcommand, Debug)]
pub enum DataCommand {
    /// Count games, positions and what a perfect predictor could reach.
    Stats(DataArgs),
    /// List every bad game, and go on.
    Check(DataArgs),
    /// Write games in another format.
    Convert(ConvertArgs),
    /// Write decisions (position and chosen move) as CSV or NPY.
    Export(ExportArgs),
    /// Let one of our players play games with itself from varied openings.
    Generate(GenerateArgs),
}

/// Files for `outflank data`.
#[derive(Args, Debug)]
pub struct DataArgs {
    /// Game files or folders.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The rest.
    #[command(flatten)]
    pub common: Common,
}

/// `outflank data convert`.
#[derive(Args, Debug)]
pub struct ConvertArgs {
    /// Game files or folders.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The file to write.
    #[arg(long, value_name = "FILE")]
    pub to: PathBuf,
    /// Its format: wthor, ggf, transcript, obf, boards or pgn [default: by the ending of its name].
    #[arg(long)]
    pub format: Option<Format>,
    /// Which games.
    #[command(flatten)]
    pub select: SelectArgs,
    /// The rest.
    #[command(flatten)]
    pub common: Common,
}

/// `outflank data export`.
#[derive(Args, Debug)]
pub struct ExportArgs {
    /// Game files or folders.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// A CSV file, or a folder for NPY arrays.
    #[arg(long, value_name = "FILE.csv|DIR")]
    pub to: PathBuf,
    /// Which games.
    #[command(flatten)]
    pub select: SelectArgs,
    /// Leave out moves that were the only legal one.
    #[arg(long)]
    pub choices: bool,
    /// Keep a position and move once, the mover seen as Black.
    #[arg(long)]
    pub unique: bool,
    /// Add the eight images of each, without repeats.
    #[arg(long, requires = "unique")]
    pub symmetric: bool,
    /// Split by game or by example, and write the parts as train and test.
    #[arg(long, value_name = "game|example", value_parser = ["game", "example"])]
    pub split: Option<String>,
    /// The share of the test part.
    #[arg(long, default_value_t = 0.25, value_name = "SHARE", allow_negative_numbers = true)]
    pub test: f64,
    /// The rest.
    #[command(flatten)]
    pub common: Common,
}

/// `outflank data generate`.
#[derive(Args, Debug)]
pub struct GenerateArgs {
    /// The file to write (.wtb, .ggf, .txt or .pgn).
    #[arg(long, value_name = "FILE")]
    pub to: PathBuf,
    /// Its format: wthor, ggf, transcript or pgn [default: by the ending of its name].
    #[arg(long)]
    pub format: Option<Format>,
    /// Who plays.
    #[arg(long, default_value = "heuristic@4e12", value_name = "PLAYER")]
    pub player: String,
    /// How many games, no two alike.
    #[arg(long, default_value_t = 100, value_name = "N", allow_negative_numbers = true)]
    pub games: u32,
    /// Random moves at the start of each game.
    #[arg(long, default_value_t = 10, value_name = "PLIES", allow_negative_numbers = true)]
    pub opening: u32,
    /// Where to keep what is needed to go on after a stop.
    #[command(flatten)]
    pub run: RunArgs,
    /// The rest.
    #[command(flatten)]
    pub common: Common,
}
