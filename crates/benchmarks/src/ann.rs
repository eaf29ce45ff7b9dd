//! TD(0) of pairs of neural networks.

use super::{BenchmarkRow, min_thread_cpu_seconds};
use anyhow::{Result, ensure};
use outflank_experiments::ann;
use outflank_learners::ann::{AnnConfig, AnnLearner};
use outflank_learners::training::Learner;

/// Training games before and during a measurement.
const WARM_UP: u64 = 200;
const GAMES: u64 = 2_000;

/// An architecture, games per second of Binkley, Seehart & Hagiwara (2007) on an AMD Athlon 64
/// 3200+, and our target.
const NETS: [(&str, f64, f64); 2] =
    [("WS 192-4x8-1", 15.6, 1_500.0), ("WS 192-16x8-16-8-1", 3.2, 400.0)];

/// Single-precision operations per cycle of a core with two vector units of eight lanes.
const FLOPS_PER_CYCLE: f64 = 16.0;

/// Assumed cycles per second.
const CYCLES_PER_SECOND: f64 = 3e9;

/// Moves per game, legal moves per position, and discs flipped per move, on average.
const MOVES_PER_GAME: f64 = 60.0;
const LEGAL_MOVES: f64 = 8.3;
const FLIPS_PER_MOVE: f64 = 2.4;

/// Operations of a hyperbolic tangent.
const TANH_FLOPS: f64 = 22.0;

/// Measures pairs on one thread.
pub fn measure(rows: &mut Vec<BenchmarkRow>) -> Result<()> {
    for (net, published, target) in NETS {
        let settings = ann::paper_config(net, 1)?;
        let limit = games_per_second_limit(&settings);
        let (mut pair, mut repeated) =
            (AnnLearner::new(settings.clone()), AnnLearner::new(settings));
        let play = |pair: &mut AnnLearner, until: u64| -> Result<()> {
            while pair.spent() < until {
                pair.step().map_err(anyhow::Error::msg)?;
            }
            Ok(())
        };
        play(&mut pair, WARM_UP)?;
        let mut done = Ok(());
        let best = min_thread_cpu_seconds(3, || {
            let until = pair.spent() + GAMES;
            if done.is_ok() {
                done = play(&mut pair, until);
            }
        });
        done?;
        play(&mut repeated, pair.spent())?;
        ensure!(repeated.state() == pair.state(), "the same games gave other weights");
        let rate = GAMES as f64 / best;
        rows.push(BenchmarkRow {
            area: "learners",
            name: format!("TD(0) of a pair, {net}, CPU time of one thread"),
            value: rate,
            unit: "games/s",
            reference: format!(
                "target: {target}; {:.0} times the {published} of the paper on an Athlon 64 3200+ (stored); \
                 {:.0}% of the arithmetic limit",
                rate / published,
                100.0 * rate / limit
            ),
            ratio: Some(rate / target),
        });
    }
    Ok(())
}

/// The arithmetic limit in games per second, if a game had only additions and multiplications in
/// full vectors: the forward passes of all legal moves and, for both networks of a pair, the
/// forward and backward pass of every position and the weight updates.
fn games_per_second_limit(settings: &AnnConfig) -> f64 {
    let architecture = &settings.architecture;
    let hidden = architecture.hidden();
    let width = 8.0 * hidden.first().map_or(1.0, |&sets| sets as f64);
    let sizes: Vec<f64> = hidden.iter().map(|&nodes| nodes as f64).chain([1.0]).collect();
    let later_layers: f64 = sizes.windows(2).map(|pair| 2.0 * pair[0] * pair[1]).sum();
    let activations: f64 = width + sizes[1..].iter().sum::<f64>();
    // The sum over the eight symmetries is one more addition per node.
    let nodes = TANH_FLOPS * activations + width + later_layers;
    let choice = width * (1.0 + FLIPS_PER_MOVE) + nodes;
    let update = 2.0 * (1.0 + FLIPS_PER_MOVE) * width + nodes + 2.0 * later_layers + 4.0 * width;
    let touched = 4.0 * (1.0 + FLIPS_PER_MOVE) * width;
    let game = MOVES_PER_GAME * (LEGAL_MOVES * choice + 2.0 * (update + touched));
    // Once per game, three tables are computed from the weights, and the weights from two tables.
    let tables = 2.0 * 64.0 * width * 8.0;
    CYCLES_PER_SECOND * FLOPS_PER_CYCLE / (game + tables)
}
