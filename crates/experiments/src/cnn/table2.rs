//! Liskowski, Jaśkowski & Krawiec (2018), Table II: the effect of symmetries and of removing
//! duplicates from the training set.
//!
//! Measures top-1 accuracy on the test examples of Original, and on games after 2012.
//!
//! Departures: see `departures.rs`.

use super::trained_nets::{TrainedNetCache, accuracy};
use super::{NetSpec, ONE_NET_EACH, add_percentage, compare_ranking, split_name};
use crate::context::{DataFolder, ExperimentContext, ExperimentError};
use crate::{Experiment, ExperimentOutcome, Report};
use outflank_records::ExampleSetKind;

/// Architectures of the table.
pub(super) const NETS: [&str; 3] = ["conv4", "conv6", "conv8"];

/// Published accuracies, in the order of [`ExampleSetKind::ALL`].
const PUBLISHED: [[f64; 4]; 3] =
    [[55.1, 56.9, 55.9, 57.2], [57.2, 58.7, 57.9, 59.1], [58.1, 60.1, 58.9, 60.5]];

/// The experiment `cnn/table2`.
pub(crate) struct Table2;

impl Experiment for Table2 {
    fn name(&self) -> &'static str {
        "cnn/table2"
    }

    fn about(&self) -> &'static str {
        "top-1 accuracy of networks trained on four sets (symmetries, duplicates)"
    }

    fn data_folders(&self) -> &'static [DataFolder] {
        &[DataFolder::Wthor]
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        let nets = TrainedNetCache::new(context);
        let lead = "Top-1 accuracy, in percent: on the test examples of Original, and on the games after \
                    2012 for networks trained on earlier games.";
        let mut report = Report::new(
            self.name(),
            context.scale,
            "Liskowski, Jaśkowski & Krawiec (2018), Table II",
            lead.to_owned(),
        );
        let step = nets.params().row_step;
        for by_game in [false, true] {
            let mut results = [[None; 4]; 3];
            for (row, net) in NETS.into_iter().enumerate().step_by(step) {
                for (column, set) in ExampleSetKind::ALL.into_iter().enumerate().step_by(step) {
                    let spec = NetSpec { by_game, ..NetSpec::new(net).with_set(set) };
                    let accuracy =
                        accuracy(&nets.test_results(&[spec])?, spec, ExampleSetKind::Original);
                    results[row][column] = accuracy;
                    let paper = (!by_game).then_some(PUBLISHED[row][column]);
                    let column = format!("{set}, {}", split_name(by_game));
                    add_percentage(&mut report, net, column, paper, accuracy);
                }
            }
            let mut compare = |better: (usize, usize), worse: (usize, usize)| {
                let name = |(row, column): (usize, usize)| {
                    format!(
                        "{} on {} ({})",
                        NETS[row],
                        ExampleSetKind::ALL[column],
                        split_name(by_game)
                    )
                };
                if let (Some(a), Some(b)) = (results[better.0][better.1], results[worse.0][worse.1])
                {
                    let text = compare_ranking(&name(better), a, &name(worse), b, ONE_NET_EACH);
                    report.findings.push(text);
                }
            };
            for net in 0..3 {
                // Symmetries help, and so does removing duplicates.
                for (better, worse) in [(1, 0), (3, 2), (2, 0), (3, 1)] {
                    compare((net, better), (net, worse));
                }
            }
            compare((1, 3), (0, 3));
            compare((2, 3), (1, 3));
        }
        nets.add_departures_and_omissions(&mut report);
        Ok(nets.outcome(report))
    }
}
