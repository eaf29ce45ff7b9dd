//! Liskowski, Jaśkowski & Krawiec (2018), Table VIII: the effect of symmetries and of removing
//! duplicates on playing strength.
//!
//! Measures the mean points against the 13 published players.
//!
//! Departures: see `departures.rs`; the opponents.

use super::net_player::NetPlayer;
use super::opponents::OpponentSuite;
use super::table2::NETS;
use super::trained_nets::TrainedNetCache;
use super::{NetSpec, ONE_NET_EACH, compare_ranking};
use crate::context::{DataFolder, ExperimentContext, ExperimentError};
use crate::{Experiment, ExperimentOutcome, Report};
use outflank_records::ExampleSetKind;

/// Published winning rates, in the order of [`ExampleSetKind::ALL`].
const PUBLISHED: [[f64; 4]; 3] =
    [[77.9, 85.2, 80.5, 86.0], [84.6, 89.0, 86.5, 90.0], [85.4, 91.8, 88.6, 93.1]];

/// The experiment `cnn/table8`.
pub(crate) struct Table8;

impl Experiment for Table8 {
    fn name(&self) -> &'static str {
        "cnn/table8"
    }

    fn about(&self) -> &'static str {
        "playing strength of networks trained on four sets (symmetries, duplicates)"
    }

    fn data_folders(&self) -> &'static [DataFolder] {
        &DataFolder::ALL
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        let nets = TrainedNetCache::new(context);
        let suite = OpponentSuite::new(&nets);
        let lead = format!("Mean points, in percent, against {}.", suite.description());
        let mut report = Report::new(
            self.name(),
            context.scale,
            "Liskowski, Jaśkowski & Krawiec (2018), Table VIII",
            lead,
        );
        report.findings.extend(suite.finding());
        let step = nets.params().row_step;
        let mut results = [[None; 4]; 3];
        for (row, net) in NETS.into_iter().enumerate().step_by(step) {
            for (column, set) in ExampleSetKind::ALL.into_iter().enumerate().step_by(step) {
                let spec = NetSpec::new(net).with_set(set);
                let score = NetPlayer::new(&nets, &[spec])?.mean_score(&suite)?;
                results[row][column] = score;
                let paper = Some(PUBLISHED[row][column]);
                suite.add_score(&mut report, net, &set.to_string(), paper, score);
            }
        }
        for (row, net) in NETS.iter().enumerate() {
            for (better, worse) in [(1, 0), (3, 2), (2, 0), (3, 1)] {
                if let (Some(a), Some(b)) = (results[row][better], results[row][worse]) {
                    let name = |column: usize| format!("{net} on {}", ExampleSetKind::ALL[column]);
                    let text = compare_ranking(&name(better), a, &name(worse), b, ONE_NET_EACH);
                    report.findings.push(text);
                }
            }
        }
        nets.add_departures_and_omissions(&mut report);
        report.departures.extend(suite.departure());
        Ok(nets.outcome(report))
    }
}
