#![doc = include_str!("../README.md")]

mod accuracy;
mod forfeits;
mod league;
mod matches;
mod model;
mod overfitting;
mod training;

pub use accuracy::{
    ACCURACY_LEGEND, accuracy_json, accuracy_page, accuracy_table, stage_plot, stage_table,
};
pub use forfeits::forfeit_text;
pub use league::{cross_table, league_page, league_text, los_table, standings};
pub use matches::{match_page, match_table, match_text};
pub use model::{add_model_sections, first_layer, tuple_board};
pub use training::{
    CurvePoint, TrainingResult, curve_table, matches_table, training_json, training_page,
    training_text,
};

use outflank_report::Page;
use outflank_report::text::format_count;
use outflank_runs::DataFile;

/// Maximum number of data files listed in a footer; the configuration of a run lists all.
const MAX_LISTED_FILES: usize = 4;

/// How a result was produced, for the footer of its page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// The command line.
    pub command: String,
    /// The seed.
    pub seed: u64,
    /// The version of the program.
    pub version: String,
    /// The input files.
    pub data: Vec<DataFile>,
}

impl Provenance {
    /// Adds the footer to a page.
    pub fn add_footer(&self, page: &mut Page) {
        page.footer("Command", &self.command)
            .footer("Seed", self.seed.to_string())
            .footer("Outflank", &self.version);
        let listed = |file: &DataFile| format!("{}: SHA-256 {}", file.file, file.sha256);
        match &self.data[..] {
            [] => {}
            few if few.len() <= MAX_LISTED_FILES => {
                let few: Vec<String> = few.iter().map(listed).collect();
                page.footer("Data", few.join("; "));
            }
            many => {
                let text = format!("{} files; config.toml lists their checksums", many.len());
                page.footer("Data", text);
            }
        }
    }
}

/// States the number of duplicate games, such as `12 duplicate games`.
#[must_use]
pub fn duplicate_text(games: u64, distinct: u64) -> String {
    match games.saturating_sub(distinct) {
        0 => "no duplicate games".to_owned(),
        1 => "1 duplicate game".to_owned(),
        duplicates => format!("{} duplicate games", format_count(duplicates)),
    }
}

/// Formats a number of points, with one decimal only for half points.
fn points(points: f64) -> String {
    if points.fract() == 0.0 { format!("{points:.0}") } else { format!("{points:.1}") }
}

/// Formats the 95% confidence interval of a percentage, clipped to 0..100.
fn percent_interval(percent: f64, error: f64, decimals: usize) -> String {
    let (low, high) = ((percent - error).max(0.0), (percent + error).min(100.0));
    format!("{low:.decimals$} to {high:.decimals$}")
}
