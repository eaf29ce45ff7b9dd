//! The rows of `outflank bench learners` for neural networks under TD(0).

use super::{Row, best_of_thread};
use anyhow::{Result, ensure};
use outflank_experiments::ann;
use outflank_learners::ann::{AnnLearner, AnnConfig};
use outflank_learners::training::Learner;

/// Training games before and during a measurement.
const WARM_UP: u64 = 200;
const GAMES: u64 = 2_000;

/// An architecture, the games a second of the authors' C++ on an AMD Athlon 64 3200+, and our aim.
const NETS: [(&str, f64, f64); 2] =
    [("WS 192-4x8-1", 15.6, 1_500.0), ("WS 192-16x8-16-8-1", 3.2, 400.0)];

/// Single-precision operations in a cycle of a core with two vector units of eight lanes.
const PER_CYCLE: f64 = 16.0;

/// Cycles a second that the limit is reckoned with.
const CYCLES: f64 = 3e9;

/// Moves of a game, moves to choose from on average, and discs that a move turns over.
const MOVES: f64 = 60.0;
const CHOICES: f64 = 8.3;
const TURNED: f64 = 2.4;

/// Operations of a hyperbolic tangent.
const TANGENT: f64 = 22.0;

/// Games of pairs on one thread.
pub fn rows(rows: &mut Vec<Row>) -> Result<()> {
    for (net, theirs, aim) in NETS {
        let settings = ann::settings(net, 1)?;
        let limit = limit(&settings);
        let (mut pair, mut again) = (AnnLearner::new(settings.clone()), AnnLearner::new(settings));
        let play = |pair: &mut AnnLearner, until: u64| -> Result<()> {
            while pair.spent() < until {
                pair.step().map_err(anyhow::Error::msg)?;
            }
            Ok(())
        };
        play(&mut pair, WARM_UP)?;
        let mut done = Ok(());
        let best = best_of_thread(3, || {
            let until = pair.spent() + GAMES;
            if done.is_ok() {
                done = play(&mut pair, until);
            }
        });
        done?;
        play(&mut again, pair.spent())?;
        ensure!(again.state() == pair.state(), "the same games taught something else");
        let rate = GAMES as f64 / best;
        rows.push(Row {
            area: "learners",
            name: format!("TD(0) of a pair, {net}, one thread's CPU time"),
            value: rate,
            unit: "games/s",
            yardstick: format!(
                "aim: {aim}; {:.0} times the authors' {theirs} on an Athlon 64 3200+ (stored); \
                 {:.0}% of what the arithmetic alone would allow",
                rate / theirs,
                100.0 * rate / limit
            ),
            ratio: Some(rate / aim),
        });
    }
    Ok(())
}

/// Games a second if a core did nothing but the additions and multiplications of a game, all in full
/// vectors: every choice's first layer, its tangents and the layers behind it; for both networks of a
/// pair the same for every position, and twice as much backward; and the rows that a square's change
/// touches.
fn limit(settings: &AnnConfig) -> f64 {
    let architecture = &settings.architecture;
    let hidden = architecture.hidden();
    let width = 8.0 * hidden.first().map_or(1.0, |&sets| sets as f64);
    let sizes: Vec<f64> = hidden.iter().map(|&nodes| nodes as f64).chain([1.0]).collect();
    let behind: f64 = sizes.windows(2).map(|pair| 2.0 * pair[0] * pair[1]).sum();
    let tangents: f64 = width + sizes[1..].iter().sum::<f64>();
    // The sum over the eight images is one more addition for each node.
    let nodes = TANGENT * tangents + width + behind;
    let choice = width * (1.0 + TURNED) + nodes;
    let lesson = 2.0 * (1.0 + TURNED) * width + nodes + 2.0 * behind + 4.0 * width;
    let touched = 4.0 * (1.0 + TURNED) * width;
    let game = MOVES * (CHOICES * choice + 2.0 * (lesson + touched));
    // Once a game: three tables from the weights, and the weights from two tables.
    let tables = 2.0 * 64.0 * width * 8.0;
    CYCLES * PER_CYCLE / (game + tables)
}
