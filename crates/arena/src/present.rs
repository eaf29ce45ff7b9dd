//! Results as tables, text and pages.

mod league;
mod matches;
mod prediction;

pub use league::{cross_table, league_page, league_text, standings, superiority_table};
pub use matches::{match_page, match_table, match_text};
pub use prediction::{accuracy_json, accuracy_page, accuracy_table, stage_plot, stage_table};

use outflank_games::{Game, Side};
use outflank_report::Page;
use std::fmt::Write;

/// How a result was made, for the foot of its page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// The command.
    pub command: String,
    /// The seed.
    pub seed: u64,
    /// The program's version.
    pub version: String,
}

impl About {
    /// Writes it at the foot of a page.
    pub fn sign(&self, page: &mut Page) {
        page.footer("Command", &self.command)
            .footer("Seed", self.seed.to_string())
            .footer("Outflank", &self.version);
    }
}

/// The options of a contest as they are written behind its players.
#[must_use]
pub fn play_options(
    game: Game,
    openings: &str,
    games: Option<u64>,
    first: Option<Side>,
    random: f64,
) -> String {
    let mut text = String::new();
    if game != Game::Othello {
        let _ = write!(text, " --game {game}");
    }
    if openings != "start" {
        let _ = write!(text, " --openings {openings}");
    }
    if let Some(games) = games {
        let _ = write!(text, " --games {games}");
    }
    if let Some(first) = first {
        let _ = write!(text, " --first {first}");
    }
    if random > 0.0 {
        let _ = write!(text, " --random {random}");
    }
    text
}

/// A number of points: whole, or with its half.
fn points(points: f64) -> String {
    if points.fract() == 0.0 { format!("{points:.0}") } else { format!("{points:.1}") }
}
