//! The rows of `outflank bench learners` for methods that learn by playing.

use super::{Row, best_of, best_of_thread};
use anyhow::{Result, ensure};
use outflank_experiments::coevolution::presets;
use outflank_learners::coevolution::Coevolution;
use outflank_learners::tdl::{self, TdlConfig};
use outflank_learners::training::Learner;

/// Training games before and during a measurement: weights that have left zero lie elsewhere in
/// the cache.
const WARM_UP: u64 = 2_000;
const GAMES: u64 = 10_000;

/// What a core should reach on 12x6 networks.
const AIM: f64 = 8_000.0;

/// What it would reach on 12x6 networks if reading tables were all it did (docs/speed.md).
const READS: f64 = 50_000.0;

/// Self-play training on one thread, and a generation of CTDL on one thread and on all.
pub fn rows(rows: &mut Vec<Row>) -> Result<()> {
    for shape in ["7x4", "9x5", "12x6"] {
        let settings = presets::settings("tdl", None, shape)?;
        let rates = TdlConfig { learning_rate: settings.alpha, epsilon: settings.epsilon };
        let mut network = Coevolution::new(settings, 1, 1)?.model();
        tdl::learn(&mut network, rates, 1, 0, WARM_UP);
        let (mut again, mut games) = (network.clone(), WARM_UP);
        let seconds = best_of_thread(3, || {
            tdl::learn(&mut network, rates, 1, games, GAMES);
            games += GAMES;
        });
        tdl::learn(&mut again, rates, 1, WARM_UP, games - WARM_UP);
        ensure!(again == network, "the same games taught something else");
        let rate = GAMES as f64 / seconds;
        let images = network.tuples().placement_count();
        let aim = match shape {
            "12x6" => format!("aim: {AIM}; table reads allow {READS}; "),
            _ => String::new(),
        };
        rows.push(Row {
            area: "learners",
            name: format!("TD(0) self-play, {shape}, {images} images, one thread's CPU time"),
            value: rate,
            unit: "games/s",
            yardstick: format!("{aim}{:.1} us a game", 1e6 * seconds / GAMES as f64),
            ratio: (shape == "12x6").then_some(rate / AIM),
        });
    }
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let mut one_thread = None;
    for threads in [1, all] {
        let mut learner = Coevolution::new(presets::settings("ctdl", None, "12x6")?, 1, threads)?;
        let games = learner.next_cost();
        let mut done = Ok(());
        let seconds = best_of(1, || done = learner.step());
        done.map_err(anyhow::Error::msg)?;
        let alone = *one_thread.get_or_insert(seconds);
        let ratio = alone / seconds;
        rows.push(Row {
            area: "learners",
            name: format!("a generation of CTDL-sxm_t, 12x6, {threads} threads"),
            value: games as f64 / seconds,
            unit: "games/s",
            yardstick: "one thread, measured here".to_owned(),
            ratio: Some(ratio),
        });
    }
    Ok(())
}
