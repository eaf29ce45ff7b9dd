//! Options of `outflank analyze`.

use clap::Args;
use clap::builder::RangedU64ValueParser;
use std::path::PathBuf;

/// Examples at the top of the help.
pub const EXAMPLES: &str = "\
Examples:
  outflank analyze f5d6c3d3c4f4f6
  outflank analyze game.ggf --to report.html
  outflank analyze game.pgn --depth 20 --exact 24     Ctrl-C keeps the values so far
  outflank analyze games/ --by \"Ada Byron\"           the player's profile
  outflank analyze games/ --sample 20 --json";

/// Notes below the options.
pub const NOTES: &str = "\
The loss of a move is the difference between the best move and the move played, in discs of the
final score. It is exact in positions with at most --exact empty squares. In earlier positions a
search estimates it. The default model is searched selectively, as the player champion@mpc is.
Other models, and --cut 0, are searched by iterative deepening, and their values are converted to
discs by a regression of the results of the embedded games on the values. In stages of the game
where the values do not increase with the final margin, the loss is shown as ? (null in JSON).

A loss of 2 discs is an inaccuracy, 5 a mistake, 10 a blunder. Accuracy is the percentage of moves
with a choice that lose less than 2 discs. Moves that are equal by symmetry count as one. The report
also shows the most likely move of an expert, its probability and that of the move played.

A single game is analyzed in iterations of increasing depth. On a terminal the values of each
iteration are shown; Ctrl-C prints the values so far.";

/// `outflank analyze`.
#[derive(Args, Debug)]
pub struct AnalyzeArgs {
    /// A game as its moves in one argument, or files or folders of games.
    #[arg(value_name = "GAME|FILE", required = true)]
    pub games: Vec<String>,
    /// Model that evaluates positions; see `outflank players`.
    #[arg(long, default_value = DEFAULT_MODEL, value_name = "MODEL", help_heading = "Search")]
    pub model: String,
    /// Search depth in plies [default: 12; 8 with another model or --cut 0].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=60), help_heading = "Search")]
    pub depth: Option<u32>,
    /// Solve positions with at most this number of empty squares exactly.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(0..=30),
        help_heading = "Search")]
    pub exact: u32,
    /// ProbCut threshold in standard deviations; 0 turns selective pruning off.
    #[arg(
        long,
        default_value_t = 1.5,
        value_name = "SIGMAS",
        allow_negative_numbers = true,
        help_heading = "Search"
    )]
    pub cut: f32,
    /// Analyze the games of this player only, and print the player's profile.
    #[arg(long, value_name = "NAME", help_heading = "Data")]
    pub by: Option<String>,
    /// Analyze a random sample of N games.
    #[arg(long, value_name = "N", help_heading = "Data",
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=1_000_000))]
    pub sample: Option<usize>,
    /// Write a report: .md or .html.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub to: Option<PathBuf>,
    /// Seed of the sample.
    #[arg(long, default_value_t = 1, value_name = "N", help_heading = "Common")]
    pub seed: u64,
    /// Number of threads; results do not depend on it [default: all cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024),
        help_heading = "Common")]
    pub threads: Option<u16>,
    /// Print no progress.
    #[arg(long, short, help_heading = "Common")]
    pub quiet: bool,
    /// Print one JSON document on standard output, errors included.
    #[arg(long, help_heading = "Common")]
    pub json: bool,
}

/// The model that is searched selectively.
pub const DEFAULT_MODEL: &str = "champion";

/// The default depth of the selective search and of other searches.
const DEFAULT_DEPTHS: (u32, u32) = (12, 8);

impl AnalyzeArgs {
    /// Returns whether the search is the selective one of the default model.
    #[must_use]
    pub fn is_selective(&self) -> bool {
        self.model == DEFAULT_MODEL && self.cut > 0.0
    }

    /// Returns the search depth in plies.
    #[must_use]
    pub fn search_depth(&self) -> u32 {
        let (selective, other) = DEFAULT_DEPTHS;
        self.depth.unwrap_or(if self.is_selective() { selective } else { other })
    }
}
