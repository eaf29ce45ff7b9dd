//! Table VI: networks with skip connections.

use super::school::{School, accuracy};
use super::{Task, above, departures, error_of, split_name};
use crate::lab::{ExperimentError, Lab, Part};
use crate::{Experiment, Report};
use outflank_records::Set;

/// Title, network, accuracy and microseconds as printed.
type Row = (&'static str, &'static str, f64, f64);

/// What the others are compared with.
const YARDSTICK: Row = ("Conv8+BN", "conv8-bn", 62.7, 190.0);

/// The networks with skip connections.
pub(super) const SKIPPING: [Row; 9] = [
    ("ResNet-32", "resnet-32", 57.4, 100.0),
    ("ResNet-32-np", "resnet-32-np", 59.2, 100.0),
    ("ResNet-32-np-p", "resnet-32-np-p", 59.5, 100.0),
    ("ResNet-56", "resnet-56", 58.3, 180.0),
    ("ResNet-56-np", "resnet-56-np", 60.1, 180.0),
    ("ResNet-56-np-p", "resnet-56-np-p", 60.5, 180.0),
    ("DenseNet-40", "densenet-40", 59.9, 480.0),
    ("DenseNet-100", "densenet-100", 61.9, 3720.0),
    ("WideNet-40-4", "widenet-40-4", 62.2, 940.0),
];

/// Which row, counted from the yardstick as 0, lies above which: no pooling and linear shortcuts help, depth helps, nothing passes
/// Conv8+BN.
const ORDERS: [(usize, usize); 11] =
    [(2, 1), (3, 2), (5, 4), (6, 5), (4, 1), (5, 2), (6, 3), (8, 7), (9, 8), (0, 9), (0, 8)];

/// The table.
pub struct Table6;

impl Experiment for Table6 {
    fn name(&self) -> &'static str {
        "cnn/table6"
    }

    fn about(&self) -> &'static str {
        "residual, dense and wide networks beside Conv8+BN"
    }

    fn reads(&self) -> &'static [Part] {
        &[Part::Wthor]
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let school = School::new(lab);
        let lead = "Per cent of moves predicted by networks that learned from Unique-S, and \
                    microseconds for a position in batches of 256.";
        let mut report = Report::new(self.name(), lab.scale, "Paper 3, Table VI", lead.to_owned());
        let rows: Vec<Row> = [YARDSTICK].into_iter().chain(SKIPPING).collect();
        let every = 4 * school.size().every - 3;
        for by_game in [false, true] {
            let mut found = [None; SKIPPING.len() + 1];
            for (row, (title, net, printed, micros)) in
                rows.iter().copied().enumerate().step_by(every)
            {
                let task = Task { by_game, ..Task::new(net).quarter() };
                let studied = school.study(task)?;
                let figure = accuracy(&studied.tests, task, Set::UniqueS);
                found[row] = figure;
                let error = figure.map(|(percent, count)| error_of(percent, count));
                let paper = (!by_game).then_some(printed);
                report.cell(title, split_name(by_game), paper, figure.map(|a| a.0), error);
                if !by_game {
                    report.cell(title, "microseconds", Some(micros), Some(studied.micros), None);
                }
            }
            for (better, worse) in ORDERS {
                if let (Some(a), Some(b)) = (found[better], found[worse]) {
                    let order = above(rows[better].0, a, rows[worse].0, b);
                    report.findings.push(format!("{}: {order}", split_name(by_game)));
                }
            }
        }
        report.departures = departures(lab);
        let device = school.study(Task::new(YARDSTICK.1).quarter())?.device;
        report
            .departures
            .push(format!("The times are of this machine's {device}, not of a GTX Titan."));
        Ok(report)
    }
}
