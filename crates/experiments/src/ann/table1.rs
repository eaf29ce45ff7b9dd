//! Binkley, Seehart & Hagiwara (2007), Table 1: connections, weights and training time per time
//! period of the twenty architectures.
//!
//! Departure: other hardware; the test games are not timed.

use super::{GAMES_PER_PERIOD, paper_config};
use crate::context::{ExperimentContext, ExperimentError};
use crate::{Experiment, ExperimentOutcome, Report};
use outflank_learners::ann::AnnLearner;
use outflank_learners::training::Learner;
use outflank_report::text::format_count;
use outflank_runs::files::{read, write};
use outflank_runs::{stop_requested, thread_cpu_seconds};

/// Published: connections, weights, seconds per period on an AMD Athlon 64 3200+.
const PUBLISHED: [(&str, f64, f64, Option<f64>); 20] = [
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

/// The experiment `ann/table1`.
pub(crate) struct Table1;

impl Experiment for Table1 {
    fn name(&self) -> &'static str {
        "ann/table1"
    }

    fn about(&self) -> &'static str {
        "connections, weights and CPU time of the twenty architectures"
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        let games = context.scale.choose(2, 2000, GAMES_PER_PERIOD);
        let lead = format!(
            "Connections and distinct weights of each architecture, and the CPU time of a time period \
             of {} training games, extrapolated from {games} games.",
            format_count(GAMES_PER_PERIOD)
        );
        let mut report = Report::new(
            self.name(),
            context.scale,
            "Binkley, Seehart & Hagiwara (2007), Table 1",
            lead,
        );
        let (mut mismatches, mut ratios) = (0, Vec::new());
        for (net, connections, weights, seconds) in PUBLISHED {
            if stop_requested() {
                return Err(ExperimentError::Stopped);
            }
            (context.log)(&format!("timing {net}"));
            let architecture = paper_config(net, context.seed)?.architecture;
            let counts = (architecture.connections() as f64, architecture.weight_count() as f64);
            mismatches += u32::from(counts != (connections, weights));
            report
                .add_cell(net, "connections", Some(connections), Some(counts.0), None)
                .decimals(0, 0);
            report.add_cell(net, "weights", Some(weights), Some(counts.1), None).decimals(0, 0);
            let ours = seconds_per_period(context, net, games)?;
            report.add_cell(net, "seconds per period", seconds, Some(ours), None).decimals(0, 2);
            ratios.extend(seconds.map(|paper| paper / ours));
        }
        report.findings.push(match mismatches {
            0 => "Connections and weights of all twenty architectures match the paper.".to_owned(),
            count => {
                format!("Connections or weights of {count} architectures differ from the paper.")
            }
        });
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ratios.iter().copied().fold(0.0, f64::max);
        report.findings.push(format!(
            "A period takes {least:.0} to {most:.0} times less CPU time than in the paper."
        ));
        report.departures.push(
            "The paper's times are for an AMD Athlon 64 3200+, ours for this machine. Ours exclude \
             the 400 test games of a period; the paper does not say whether its times include them."
                .to_owned(),
        );
        Ok(report.into())
    }
}

/// Measures the CPU time of a period. The result is stored in the run folder, so that a resumed
/// experiment reports the same time.
fn seconds_per_period(
    context: &ExperimentContext,
    net: &str,
    games: u64,
) -> Result<f64, ExperimentError> {
    let path = context.file(&format!("seconds-{}.txt", net.replace(' ', "-")));
    if path.exists()
        && let Ok(text) = String::from_utf8(read(&path, 100)?)
        && let Ok(seconds) = text.trim().parse()
    {
        return Ok(seconds);
    }
    let mut pair = AnnLearner::new(paper_config(net, context.seed)?);
    let mut train_games = |games: u64| -> Result<(), ExperimentError> {
        let until = pair.spent() + games;
        while pair.spent() < until {
            pair.step().map_err(ExperimentError::training)?;
        }
        Ok(())
    };
    // The first games are a warm-up and are not timed.
    train_games(games.div_ceil(10))?;
    let start = thread_cpu_seconds();
    train_games(games)?;
    let seconds = (thread_cpu_seconds() - start) * GAMES_PER_PERIOD as f64 / games as f64;
    write(&path, format!("{seconds}\n").as_bytes())?;
    Ok(seconds)
}
