//! Options of `outflank accuracy`.

use super::{CommonArgs, RecordsArgs};
use clap::Args;
use std::path::PathBuf;

/// Examples at the top of the help.
pub const EXAMPLES: &str = "\
Examples:
  outflank accuracy heuristic yoshioka
  outflank accuracy runs/train-001 heuristic --records games.wtb --years 2010-2015 --sample 1000";

/// Notes below the options.
pub const NOTES: &str = "\
A model is an embedded name (see `outflank players`), a model file (x.safetensors, x.player, x.wpc)
or the run folder of a training run. Accuracy is top-1: the share of positions with two or more
legal moves in which the model's best move is the move played.";

/// `outflank accuracy`.
#[derive(Args, Debug)]
pub struct AccuracyArgs {
    /// Models to measure.
    #[arg(required = true, value_name = "MODEL")]
    pub models: Vec<String>,
    /// Games to predict.
    #[command(flatten)]
    pub records: RecordsArgs,
    /// Also write CSV, JSON and an HTML report to this folder.
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Common options.
    #[command(flatten)]
    pub common: CommonArgs,
}
