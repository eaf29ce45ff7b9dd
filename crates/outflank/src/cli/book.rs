//! Options of `outflank book`.

use super::{CommonArgs, RecordsArgs};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Examples at the top of the help.
pub const EXAMPLES: &str = "\
Examples:
  outflank book build --records wthor/ --to book.txt
  outflank book show book.txt f5d6c3";

/// `outflank book ...`.
#[derive(Subcommand, Debug)]
pub enum BookCommand {
    /// Search the positions that many games reach, and write them with the values of all moves.
    #[command(
        before_help = "Examples:\n  outflank book build --records wthor/ --min-games 100 --depth 16 --to book.txt",
        after_help = "Each searched position is appended to FILE.journal. The same command goes on from there \
                      after a stop."
    )]
    Build(BookBuildArgs),
    /// Print the moves of a position in a book, best first.
    #[command(before_help = "Examples:\n  outflank book show book.txt f5d6c3")]
    Show(BookShowArgs),
}

/// `outflank book build`.
#[derive(Args, Debug)]
pub struct BookBuildArgs {
    /// The games whose openings are searched.
    #[command(flatten)]
    pub games: RecordsArgs,
    /// Maximum number of moves before a position.
    #[arg(long, default_value_t = 12, value_name = "N", help_heading = "Book",
        value_parser = clap::value_parser!(u32).range(0..=40))]
    pub plies: u32,
    /// Minimum number of games that reach a position.
    #[arg(long, default_value_t = 100, value_name = "N", help_heading = "Book",
        value_parser = clap::value_parser!(u32).range(1..))]
    pub min_games: u32,
    /// Search depth in plies.
    #[arg(long, default_value_t = 14, value_name = "N", help_heading = "Book",
        value_parser = clap::value_parser!(u32).range(1..=40))]
    pub depth: u32,
    /// File to write.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub to: PathBuf,
    /// Common options.
    #[command(flatten)]
    pub common: CommonArgs,
}

/// `outflank book show`.
#[derive(Args, Debug)]
pub struct BookShowArgs {
    /// The book.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Moves that lead to the position [default: the start].
    #[arg(value_name = "MOVES", default_value = "", hide_default_value = true)]
    pub moves: String,
    /// Print one JSON document on standard output, errors included.
    #[arg(long, help_heading = "Common")]
    pub json: bool,
}
