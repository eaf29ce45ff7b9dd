//! Runarsson & Lucas (2014), Figure 2: the 15 tuples of Table I on boards.
//!
//! Measures the number of tuples and weights. No departures.

use crate::context::{ExperimentContext, ExperimentError};
use crate::{Experiment, ExperimentOutcome, Report};
use outflank_models::{Features, embedded};
use outflank_presentation::tuple_board;

/// Number of tuples in Table I and of their weights.
const PUBLISHED: [(&str, f64); 2] = [("tuples", 15.0), ("weights", 6561.0)];

/// The experiment `preference/fig2`.
pub(crate) struct Fig2;

impl Experiment for Fig2 {
    fn name(&self) -> &'static str {
        "preference/fig2"
    }

    fn about(&self) -> &'static str {
        "the 15 tuples of Table I drawn on boards"
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        let tuples = embedded::runarsson_lucas_tuples();
        let lead = "The tuples of Table I, with and without their symmetric copies.".to_owned();
        let mut report =
            Report::new(self.name(), context.scale, "Runarsson & Lucas (2014), Figure 2", lead);
        let ours = [tuples.tuples().len() as f64, tuples.feature_count() as f64];
        for ((row, paper), ours) in PUBLISHED.into_iter().zip(ours) {
            report.add_cell(row, "count", Some(paper), Some(ours), Some(0.0)).decimals(0, 0);
        }
        let firsts: Vec<_> = tuples.tuples().iter().map(|t| t.placements()[0].clone()).collect();
        let placements: Vec<_> =
            tuples.tuples().iter().flat_map(|t| t.placements()).cloned().collect();
        let without_copies = tuple_board("Without symmetric copies", &firsts);
        let with_copies = tuple_board("With symmetric copies", &placements);
        for (number, tuple) in tuples.tuples().iter().enumerate() {
            let name = format!("tuple {}", number + 1);
            report
                .add_cell(&name, "inputs", None, Some(tuple.length() as f64), Some(0.0))
                .decimals(0, 0);
            let board = tuple_board(format!("Tuple {}", number + 1), &tuple.placements()[..1]);
            let stem = format!("tuple-{:02}", number + 1);
            report.figures.push((stem, Box::new(board), String::new()));
        }
        report
            .figures
            .insert(0, ("with-symmetric-copies".to_owned(), Box::new(with_copies), String::new()));
        report.figures.insert(
            0,
            ("without-symmetric-copies".to_owned(), Box::new(without_copies), String::new()),
        );
        Ok(report.into())
    }
}
