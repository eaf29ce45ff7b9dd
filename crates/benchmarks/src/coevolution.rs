//! TD learning by self-play, and a generation of coevolutionary TDL.

use super::{BenchmarkRow, min_thread_cpu_seconds, min_wall_seconds};
use anyhow::{Result, ensure};
use outflank_experiments::coevolution::presets;
use outflank_learners::coevolution::Coevolution;
use outflank_learners::tdl::{self, TdlConfig};
use outflank_learners::training::Learner;

/// Games before the measurement: they make the weights nonzero, as in real training, which changes the
/// use of the cache.
const WARM_UP: u64 = 2_000;
/// Games of one measurement.
const GAMES: u64 = 10_000;

/// Target for one core and 12x6 networks, in games per second.
const TARGET: f64 = 8_000.0;

/// Games per second of 12x6 networks if a game consisted of table reads alone (docs/speed.md).
const TABLE_READ_LIMIT: f64 = 50_000.0;

/// Measures TDL on one thread, and a generation of CTDL on one thread and on all.
pub fn measure(rows: &mut Vec<BenchmarkRow>) -> Result<()> {
    for shape in ["7x4", "9x5", "12x6"] {
        let settings = presets::config("tdl", None, shape)?;
        let config = TdlConfig { learning_rate: settings.learning_rate, epsilon: settings.epsilon };
        let mut network = Coevolution::new(settings, 1, 1)?.model()?;
        tdl::train(&mut network, config, 1, 0, WARM_UP);
        let (mut again, mut games) = (network.clone(), WARM_UP);
        let seconds = min_thread_cpu_seconds(3, || {
            tdl::train(&mut network, config, 1, games, GAMES);
            games += GAMES;
        });
        tdl::train(&mut again, config, 1, WARM_UP, games - WARM_UP);
        ensure!(again == network, "the same games gave other weights");
        let rate = GAMES as f64 / seconds;
        let placements = network.tuples().placement_count();
        let aim = match shape {
            "12x6" => format!("target: {TARGET}; table reads allow {TABLE_READ_LIMIT}; "),
            _ => String::new(),
        };
        rows.push(BenchmarkRow {
            area: "learners",
            name: format!(
                "TD(0) self-play, {shape}, {placements} tuple placements, CPU time of one thread"
            ),
            value: rate,
            unit: "games/s",
            reference: format!("{aim}{:.1} us per game", 1e6 * seconds / GAMES as f64),
            ratio: (shape == "12x6").then_some(rate / TARGET),
        });
    }
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let mut one_thread = None;
    for threads in [1, all] {
        let mut learner = Coevolution::new(presets::config("ctdl", None, "12x6")?, 1, threads)?;
        let games = learner.next_cost();
        let mut done = Ok(());
        let seconds = min_wall_seconds(1, || done = learner.step());
        done.map_err(anyhow::Error::msg)?;
        let alone = *one_thread.get_or_insert(seconds);
        let ratio = alone / seconds;
        rows.push(BenchmarkRow {
            area: "learners",
            name: format!("generation of CTDL-sxm_t, 12x6, {threads} threads"),
            value: games as f64 / seconds,
            unit: "games/s",
            reference: "measured: one thread".to_owned(),
            ratio: Some(ratio),
        });
    }
    Ok(())
}
