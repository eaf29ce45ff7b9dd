//! Options of `outflank players`.

use super::GameArg;
use clap::Args;
use std::path::PathBuf;

/// Examples at the top of the help.
pub const EXAMPLES: &str = "\
Examples:
  outflank players --game othello
  outflank players --model experts --to experts.onnx";

/// `outflank players`.
#[derive(Args, Debug)]
pub struct PlayersArgs {
    /// List only players of this game.
    #[arg(long, value_enum)]
    pub game: Option<GameArg>,
    /// Write this Othello model to --to instead of listing players: an embedded name, a run folder
    /// or a model file.
    #[arg(long, value_name = "NAME", requires = "to", conflicts_with = "game")]
    pub model: Option<String>,
    /// File to write: .safetensors, .onnx (convolutional networks), .player or .wpc.
    #[arg(long, value_name = "FILE", requires = "model")]
    pub to: Option<PathBuf>,
    /// Print one JSON document on standard output, errors included.
    #[arg(long)]
    pub json: bool,
}
