//! Figure 2: the 15 tuples, drawn with and without their symmetric images.

use crate::lab::{ExperimentError, Lab};
use crate::{Experiment, Report};
use outflank_models::{Features, embedded};
use outflank_presentation::tuple_board;

/// Numbers of inputs that Table I lists, and the weights they make.
const PRINTED: [(&str, f64); 2] = [("tuples", 15.0), ("weights", 6561.0)];

/// Figure 2.
pub struct Fig2;

impl Experiment for Fig2 {
    fn name(&self) -> &'static str {
        "preference/fig2"
    }

    fn about(&self) -> &'static str {
        "the 15 tuples of Table I drawn on boards"
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let tuples = embedded::runarsson_lucas_tuples();
        let lead = "The tuples of Table I without their images, and all images of each.".to_owned();
        let mut report = Report::new(self.name(), lab.scale, "Paper 0, Figure 2", lead);
        let ours = [tuples.tuples().len() as f64, tuples.count() as f64];
        for ((row, paper), ours) in PRINTED.into_iter().zip(ours) {
            report.cell(row, "count", Some(paper), Some(ours), Some(0.0)).decimals(0, 0);
        }
        let firsts: Vec<_> = tuples.tuples().iter().map(|t| t.placements()[0].clone()).collect();
        let images: Vec<_> = tuples.tuples().iter().flat_map(|t| t.placements()).cloned().collect();
        let together = tuple_board("Without symmetric images", &firsts);
        let expanded = tuple_board("With symmetric images", &images);
        for (number, tuple) in tuples.tuples().iter().enumerate() {
            let name = format!("tuple {}", number + 1);
            report
                .cell(&name, "inputs", None, Some(tuple.length() as f64), Some(0.0))
                .decimals(0, 0);
            let board = tuple_board(format!("Tuple {}", number + 1), &tuple.placements()[..1]);
            let stem = format!("tuple-{:02}", number + 1);
            report.figures.push((stem, Box::new(board), String::new()));
        }
        report.figures.insert(0, ("expanded".to_owned(), Box::new(expanded), String::new()));
        report.figures.insert(0, ("together".to_owned(), Box::new(together), String::new()));
        Ok(report)
    }
}
