//! Runarsson & Lucas (2014), section VIII-D: the number of non-zero features of a difference of two
//! positions (preference learning) and of a single position (classification).
//!
//! Departure: the sample of games.

use super::table2::mean_and_half_width;
use super::{FeatureSet, games, games_departure};
use crate::context::{DataFolder, ExperimentContext, ExperimentError};
use crate::{Experiment, ExperimentOutcome, Report};
use outflank_games::othello::Othello;
use outflank_learners::{SparseRows, class_rows, preference_rows};
use outflank_models::View;
use outflank_records::{Decision, DecisionFilter, decisions};
use outflank_report::BarChart;

/// Published non-zero features of a difference and of a position, with 1-tuples and N-tuples.
const PUBLISHED: [(f64, f64); 2] = [(11.8, 64.0), (64.8, 82.7)];

/// Number of chunks of the data; the standard error is computed from their means.
const CHUNKS: usize = 10;

/// The experiment `preference/sparsity`.
pub(crate) struct Sparsity;

impl Experiment for Sparsity {
    fn name(&self) -> &'static str {
        "preference/sparsity"
    }

    fn about(&self) -> &'static str {
        "non-zero features of differences and of positions (section VIII-D)"
    }

    fn data_folders(&self) -> &'static [DataFolder] {
        &[DataFolder::Wthor]
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        let games = games(context, context.seed)?;
        let choices = decisions(&games.train, &DecisionFilter::CHOICES);
        let lead = "The mean number of non-zero features.".to_owned();
        let mut report = Report::new(
            self.name(),
            context.scale,
            "Runarsson & Lucas (2014), section VIII-D",
            lead,
        );
        for (features, (difference, single)) in FeatureSet::BOTH.into_iter().zip(PUBLISHED) {
            let tuples = features.tuples();
            let (ours, error) = mean_nonzero(choices.items(), |chunk| {
                preference_rows(&tuples, View::Invert, chunk)
            });
            report.add_cell(
                features.name(),
                "difference",
                Some(difference),
                Some(ours),
                Some(error),
            );
            let (ours, error) =
                mean_nonzero(choices.items(), |chunk| class_rows(&tuples, false, chunk));
            let cell =
                report.add_cell(features.name(), "position", Some(single), Some(ours), Some(error));
            if features == FeatureSet::One {
                // Published without decimals.
                cell.decimals(0, 1);
            }
        }
        let names = report.cells.iter().map(|cell| format!("{}, {}", cell.row, cell.column));
        let ours = report.cells.iter().map(|cell| (cell.ours.unwrap_or(f64::NAN), 0.0));
        let paper = report.cells.iter().map(|cell| (cell.paper.unwrap_or(f64::NAN), 0.0));
        let bars = BarChart::new("Non-zero features", "mean number", names)
            .series("ours", ours)
            .series("paper", paper);
        report.figures.push(("features".to_owned(), Box::new(bars), String::new()));
        report.departures.push(games_departure(&games));
        Ok(report.into())
    }
}

/// Returns the mean number of non-zero features per row and the half-width of its 95% confidence
/// interval.
fn mean_nonzero(
    choices: &[Decision<Othello>],
    rows: impl Fn(&[Decision<Othello>]) -> SparseRows,
) -> (f64, f64) {
    let mut means = Vec::new();
    for chunk in choices.chunks(choices.len().div_ceil(CHUNKS).max(1)) {
        let rows = rows(chunk);
        means.push(rows.entries() as f64 / rows.len().max(1) as f64);
    }
    mean_and_half_width(&means)
}
