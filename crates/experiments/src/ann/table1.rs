//! Table 1: connections, weights and the time of a period for all twenty architectures.

use super::{PERIOD, settings};
use crate::lab::{ExperimentError, Lab};
use crate::{Experiment, Report};
use outflank_learners::ann::AnnLearner;
use outflank_learners::training::Learner;
use outflank_report::text::count;
use outflank_runs::files::{read, write};
use outflank_runs::{thread_cpu_seconds, stop_requested};

/// The table as printed: connections, weights, seconds of an AMD Athlon 64 3200+ for a period.
const PRINTED: [(&str, f64, f64, Option<f64>); 20] = [
    ("WS 64-4x8-1", 2113.0, 265.0, Some(177.0)),
    ("WS 128-4x8-1", 4161.0, 521.0, Some(338.0)),
    ("WS 192-4x8-1", 6209.0, 777.0, Some(508.0)),
    ("WS 192-8x8-1", 12417.0, 1553.0, Some(966.0)),
    ("WS 192-8x8-4-1", 12617.0, 1585.0, None),
    ("WS 192-8x8-8-1", 12881.0, 1625.0, None),
    ("WS 192-16x8-1", 24833.0, 3105.0, Some(2040.0)),
    ("WS 192-16x8-16-1", 26785.0, 3377.0, Some(2400.0)),
    ("WS 192-16x8-16-8-1", 26913.0, 3505.0, Some(2373.0)),
    ("FC 192-4-1", 777.0, 777.0, Some(88.0)),
    ("FC 192-16-1", 3105.0, 3105.0, Some(286.0)),
    ("FC 192-32-1", 6209.0, 6209.0, None),
    ("FC 192-32-8-1", 6449.0, 6449.0, None),
    ("FC 192-64-1", 12417.0, 12417.0, Some(1123.0)),
    ("SR 192-4-1", 777.0, 777.0, Some(88.0)),
    ("SR 192-16-1", 3105.0, 3105.0, Some(286.0)),
    ("SR 192-32-1", 6209.0, 6209.0, None),
    ("SR 192-32-8-1", 6449.0, 6449.0, None),
    ("SR 192-64-1", 12417.0, 12417.0, Some(1119.0)),
    ("SP 192-91-40-10-1", 9316.0, 9316.0, Some(968.0)),
];

/// The table.
pub struct Table1;

impl Experiment for Table1 {
    fn name(&self) -> &'static str {
        "ann/table1"
    }

    fn about(&self) -> &'static str {
        "connections, weights and processor time of the twenty architectures"
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let games = lab.scale.choose(2, 2000, PERIOD);
        let lead = format!(
            "Connections and different weights of each architecture, and the processor time of one \
             core for a time period of {} training games, measured by {games} games.",
            count(PERIOD)
        );
        let mut report = Report::new(self.name(), lab.scale, "Paper 4, Table 1", lead);
        let (mut differ, mut ratios) = (0, Vec::new());
        for (net, connections, weights, seconds) in PRINTED {
            if stop_requested() {
                return Err(ExperimentError::Stopped);
            }
            (lab.say)(&format!("timing {net}"));
            let architecture = settings(net, lab.seed)?.architecture;
            let counted = (architecture.connections() as f64, architecture.weights() as f64);
            differ += u32::from(counted != (connections, weights));
            report
                .cell(net, "connections", Some(connections), Some(counted.0), None)
                .decimals(0, 0);
            report.cell(net, "weights", Some(weights), Some(counted.1), None).decimals(0, 0);
            let ours = timed(lab, net, games)?;
            report.cell(net, "seconds a period", seconds, Some(ours), None).decimals(0, 2);
            ratios.extend(seconds.map(|theirs| theirs / ours));
        }
        report.findings.push(match differ {
            0 => "Connections and weights of all twenty are the printed ones.".to_owned(),
            many => format!("Connections or weights of {many} differ from the printed ones."),
        });
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ratios.iter().copied().fold(0.0, f64::max);
        report.findings.push(format!(
            "A period takes {least:.0} to {most:.0} times less processor time than the authors'."
        ));
        report.departures.push(
            "The paper's seconds are those of an AMD Athlon 64 3200+, ours those of this \
             machine; a period's 400 test games are not timed here, and the paper does not say \
             whether they are in its figures."
                .to_owned(),
        );
        Ok(report)
    }
}

/// Processor seconds for a period. A figure that was measured before is kept, so that the exhibit
/// comes to the same again.
fn timed(lab: &Lab, net: &str, games: u64) -> Result<f64, ExperimentError> {
    let path = lab.keep(&format!("seconds-{}.txt", net.replace(' ', "-")));
    if path.exists()
        && let Ok(text) = String::from_utf8(read(&path, 100)?)
        && let Ok(seconds) = text.trim().parse()
    {
        return Ok(seconds);
    }
    let mut pair = AnnLearner::new(settings(net, lab.seed)?);
    let mut play = |games: u64| -> Result<(), ExperimentError> {
        let until = pair.spent() + games;
        while pair.spent() < until {
            pair.step().map_err(|error| ExperimentError::Learn(error.to_string()))?;
        }
        Ok(())
    };
    play(games.div_ceil(10))?;
    let began = thread_cpu_seconds();
    play(games)?;
    let seconds = (thread_cpu_seconds() - began) * PERIOD as f64 / games as f64;
    write(&path, format!("{seconds}\n").as_bytes())?;
    Ok(seconds)
}
