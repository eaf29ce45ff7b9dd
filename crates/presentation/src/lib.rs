//! Results as tables, text and pages.

mod faults;
mod league;
mod learning;
mod matches;
mod model;
mod prediction;

pub use faults::forfeit_text;
pub use league::{cross_table, league_page, league_text, standings, los_table};
pub use learning::{
    CurvePoint, TrainingResult, curve_table, training_json, training_page, training_text, meetings,
};
pub use matches::{match_page, match_table, match_text};
pub use model::{first_layer, show_model, tuple_board};
pub use prediction::{
    LEGEND, accuracy_json, accuracy_page, accuracy_table, stage_plot, stage_table,
};

use outflank_report::Page;
use outflank_runs::DataFile;

/// Of more files than this the page says how many there are; a run's configuration lists them.
const LISTED: usize = 4;

/// How a result was made, for the foot of its page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// The command.
    pub command: String,
    /// The seed.
    pub seed: u64,
    /// The program's version.
    pub version: String,
    /// What was read.
    pub data: Vec<DataFile>,
}

impl About {
    /// Writes it at the foot of a page.
    pub fn sign(&self, page: &mut Page) {
        page.footer("Command", &self.command)
            .footer("Seed", self.seed.to_string())
            .footer("Outflank", &self.version);
        let listed = |file: &DataFile| format!("{}: SHA-256 {}", file.file, file.sha256);
        match &self.data[..] {
            [] => {}
            few if few.len() <= LISTED => {
                let few: Vec<String> = few.iter().map(listed).collect();
                page.footer("Data", few.join("; "));
            }
            many => {
                let text = format!("{} files; config.toml has their checksums", many.len());
                page.footer("Data", text);
            }
        }
    }
}

/// A number of points: whole, or with its half.
fn points(points: f64) -> String {
    if points.fract() == 0.0 { format!("{points:.0}") } else { format!("{points:.1}") }
}
