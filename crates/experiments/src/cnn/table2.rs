//! Table II: what is gained from images and from removing duplicates, on the test part of Original.

use super::school::{School, accuracy};
use super::{ONE_OF_EACH, Task, above, split_name, tell};
use crate::lab::{ExperimentError, Lab, Part};
use crate::{Experiment, Report};
use outflank_records::ExampleSetKind;

/// The networks.
pub(super) const NETS: [&str; 3] = ["conv4", "conv6", "conv8"];

/// Accuracies as printed, in the order of [`ExampleSetKind::ALL`].
const PRINTED: [[f64; 4]; 3] =
    [[55.1, 56.9, 55.9, 57.2], [57.2, 58.7, 57.9, 59.1], [58.1, 60.1, 58.9, 60.5]];

/// The table.
pub struct Table2;

impl Experiment for Table2 {
    fn name(&self) -> &'static str {
        "cnn/table2"
    }

    fn about(&self) -> &'static str {
        "networks that learned from four sets, tested on moves as they were played"
    }

    fn reads(&self) -> &'static [Part] {
        &[Part::Wthor]
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let school = School::new(lab);
        let lead = "Per cent of moves predicted: the test part of Original, and the games after 2012 \
                    for networks that learned from earlier ones.";
        let mut report = Report::new(self.name(), lab.scale, "Paper 3, Table II", lead.to_owned());
        let every = school.size().every;
        for by_game in [false, true] {
            let mut found = [[None; 4]; 3];
            for (row, net) in NETS.into_iter().enumerate().step_by(every) {
                for (column, set) in ExampleSetKind::ALL.into_iter().enumerate().step_by(every) {
                    let task = Task { by_game, ..Task::new(net).on(set) };
                    let accuracy = accuracy(&school.tests(&[task])?, task, ExampleSetKind::Original);
                    found[row][column] = accuracy;
                    let paper = (!by_game).then_some(PRINTED[row][column]);
                    let column = format!("{set}, {}", split_name(by_game));
                    tell(&mut report, net, column, paper, accuracy);
                }
            }
            let mut order = |better: (usize, usize), worse: (usize, usize)| {
                let name = |(row, column): (usize, usize)| {
                    format!("{} on {} ({})", NETS[row], ExampleSetKind::ALL[column], split_name(by_game))
                };
                if let (Some(a), Some(b)) = (found[better.0][better.1], found[worse.0][worse.1]) {
                    let order = above(&name(better), a, &name(worse), b, ONE_OF_EACH);
                    report.findings.push(order);
                }
            };
            for net in 0..3 {
                // Images help, and so does removing duplicates.
                for (better, worse) in [(1, 0), (3, 2), (2, 0), (3, 1)] {
                    order((net, better), (net, worse));
                }
            }
            order((1, 3), (0, 3));
            order((2, 3), (1, 3));
        }
        school.close(&mut report);
        Ok(report)
    }
}
