//! Table VIII: what images and removing duplicates do for the strength of play.

use super::school::School;
use super::suite::Suite;
use super::table2::NETS;
use super::winning::Contender;
use super::{ONE_OF_EACH, Task, above};
use crate::lab::{ExperimentError, Lab, Part};
use crate::{Experiment, Report};
use outflank_records::ExampleSetKind;

/// Winning rates as printed, in the order of [`ExampleSetKind::ALL`].
const PRINTED: [[f64; 4]; 3] =
    [[77.9, 85.2, 80.5, 86.0], [84.6, 89.0, 86.5, 90.0], [85.4, 91.8, 88.6, 93.1]];

/// The table.
pub struct Table8;

impl Experiment for Table8 {
    fn name(&self) -> &'static str {
        "cnn/table8"
    }

    fn about(&self) -> &'static str {
        "how networks play that learned from four sets"
    }

    fn reads(&self) -> &'static [Part] {
        &Part::ALL
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let school = School::new(lab);
        let suite = Suite::of(&school);
        let lead = format!("Mean points in per cent against {}.", suite.words());
        let mut report = Report::new(self.name(), lab.scale, "Paper 3, Table VIII", lead);
        report.findings.extend(suite.finding());
        let every = school.size().every;
        let mut found = [[None; 4]; 3];
        for (row, net) in NETS.into_iter().enumerate().step_by(every) {
            for (column, set) in ExampleSetKind::ALL.into_iter().enumerate().step_by(every) {
                let won =
                    Contender::new(&school, &[Task::new(net).on(set)])?.against_all(&suite)?;
                found[row][column] = won;
                let paper = Some(PRINTED[row][column]);
                suite.cell(&mut report, net, &set.to_string(), paper, won);
            }
        }
        for (row, net) in NETS.iter().enumerate() {
            for (better, worse) in [(1, 0), (3, 2), (2, 0), (3, 1)] {
                if let (Some(a), Some(b)) = (found[row][better], found[row][worse]) {
                    let name = |column: usize| format!("{net} on {}", ExampleSetKind::ALL[column]);
                    let order = above(&name(better), a, &name(worse), b, ONE_OF_EACH);
                    report.findings.push(order);
                }
            }
        }
        school.close(&mut report);
        report.departures.extend(suite.departure());
        Ok(report)
    }
}
