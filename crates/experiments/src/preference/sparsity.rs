//! VIII-D: how many features an input has, as difference of two positions and as one position.

use super::table2::spread;
use super::{FeatureSet, games, games_departure};
use crate::lab::{ExperimentError, Lab, Part};
use crate::{Experiment, Report};
use outflank_games::othello::Othello;
use outflank_learners::{SparseRows, class_rows, preference_rows};
use outflank_models::View;
use outflank_records::{Decision, DecisionFilter, decisions};
use outflank_report::BarChart;

/// Entries in a difference vector and in a single position, with 1-tuples and N-tuples.
const PRINTED: [(f64, f64); 2] = [(11.8, 64.0), (64.8, 82.7)];

/// Into how many parts the games are cut to see how far the mean is uncertain.
const PARTS: usize = 10;

/// The experiment.
pub struct Sparsity;

impl Experiment for Sparsity {
    fn name(&self) -> &'static str {
        "preference/sparsity"
    }

    fn about(&self) -> &'static str {
        "entries in difference vectors against entries in positions (VIII-D)"
    }

    fn reads(&self) -> &'static [Part] {
        &[Part::Wthor]
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let games = games(lab, lab.seed)?;
        let choices = decisions(&games.train, &DecisionFilter::CHOICES);
        let lead = "The mean number of features that are not zero.".to_owned();
        let mut report = Report::new(self.name(), lab.scale, "Paper 0, section VIII-D", lead);
        for (features, (difference, single)) in FeatureSet::BOTH.into_iter().zip(PRINTED) {
            let tuples = features.tuples();
            let (own, error) =
                mean(choices.items(), |part| preference_rows(&tuples, View::Invert, part));
            report.cell(features.name(), "difference", Some(difference), Some(own), Some(error));
            let (own, error) = mean(choices.items(), |part| class_rows(&tuples, false, part));
            let cell =
                report.cell(features.name(), "position", Some(single), Some(own), Some(error));
            if features == FeatureSet::One {
                // The text has 64.
                cell.decimals(0, 1);
            }
        }
        let names = report.cells.iter().map(|cell| format!("{}, {}", cell.row, cell.column));
        let ours = report.cells.iter().map(|cell| (cell.ours.unwrap_or(f64::NAN), 0.0));
        let paper = report.cells.iter().map(|cell| (cell.paper.unwrap_or(f64::NAN), 0.0));
        let bars = BarChart::new("Features that are not zero", "mean number", names)
            .series("ours", ours)
            .series("paper", paper);
        report.figures.push(("features".to_owned(), Box::new(bars), String::new()));
        report.departures.push(games_departure(&games));
        Ok(report)
    }
}

/// The mean number of entries of a row over parts of the games, and its uncertainty.
fn mean(choices: &[Decision<Othello>], rows: impl Fn(&[Decision<Othello>]) -> SparseRows) -> (f64, f64) {
    let mut means = Vec::new();
    for part in choices.chunks(choices.len().div_ceil(PARTS).max(1)) {
        let rows = rows(part);
        means.push(rows.entries() as f64 / rows.len().max(1) as f64);
    }
    spread(&means)
}
