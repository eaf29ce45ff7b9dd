//! Large patterns per stage of the game: evaluation, online training and self-play, each in CPU
//! time of one thread.

use super::BenchmarkRow;
use anyhow::{Context, Result, ensure};
use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_learners::online::{self, ChoiceSet, PreferenceLoss};
use outflank_learners::self_play::{self, SelfPlay};
use outflank_models::patterns::{AfterstateFeatures, Count, Stages, whole_board};
use outflank_models::{Evaluate, embedded as models};
use outflank_records::Decision;
use outflank_runs::thread_cpu_seconds;

/// Target speed in moves per second: eight epochs over the WTHOR games up to 2012 in an hour on two
/// cores.
const TARGET: f64 = 56.0e6 * 8.0 / 7200.0;

/// Games per batch of self-play.
const GAMES: u32 = 4096;

/// Measures evaluation, online training and self-play.
pub fn measure(rows: &mut Vec<BenchmarkRow>, choices: &[Decision<Othello>]) -> Result<()> {
    let ipref = models::ipref().context("the embedded model ipref is damaged")?;
    let (mut moves, mut values, mut count) = (Vec::new(), Vec::new(), 0);
    let began = thread_cpu_seconds();
    for decision in choices {
        moves.clear();
        moves.extend(decision.position.moves());
        ipref.move_values(&decision.position, &moves, &mut values);
        count += values.len();
    }
    let each = (thread_cpu_seconds() - began) * 1e9 / count.max(1) as f64;
    rows.push(BenchmarkRow {
        area: "learners",
        name: "evaluation of a move by ipref, 82 patterns and 5 counts, one thread".to_owned(),
        value: each,
        unit: "ns",
        reference: "target: 1,000 ns".to_owned(),
        ratio: Some(1000.0 / each),
    });

    let features = AfterstateFeatures::new(whole_board(), Count::ALL.to_vec())?;
    let stages = Stages::with_width(4).context("4 is not a valid stage width")?;
    let settings = online::OnlineConfig {
        loss: PreferenceLoss::Softmax,
        epochs: 1,
        learning_rate: 0.1,
        seed: 1,
    };
    let choice_set: ChoiceSet = choices.iter().collect();
    let began = thread_cpu_seconds();
    let learned = online::train(&features, stages, &choice_set, settings)?;
    let seconds = thread_cpu_seconds() - began;
    let trained = learned.curve.first().map_or(0, |epoch| epoch.moves);
    ensure!(trained as usize == count, "not every move was processed");
    rows.push(BenchmarkRow {
        area: "learners",
        name: "ipref --solver online, moves trained on, one thread".to_owned(),
        value: trained as f64 / seconds,
        unit: "moves/s",
        reference: "target: eight epochs over WTHOR up to 2012 in an hour on two cores".to_owned(),
        ratio: Some(trained as f64 / seconds / TARGET),
    });

    let settings = self_play::SelfPlayConfig {
        batches: 2,
        games_per_batch: GAMES,
        epsilon: 0.1,
        max_random_plies: 0,
        opponent_share: 0.0,
        lambda: 0.5,
        learning_rate: 0.1,
        seed: 1,
    };
    let mut learner = SelfPlay::new(features, stages, settings);
    // The first batch warms up the caches.
    learner.batch().context("there are no batches left")?;
    let began = thread_cpu_seconds();
    learner.batch().context("there are no batches left")?;
    rows.push(BenchmarkRow {
        area: "learners",
        name: "self-play with 82 patterns per stage, played and trained, one thread".to_owned(),
        value: f64::from(GAMES) / (thread_cpu_seconds() - began),
        unit: "games/s",
        reference: String::new(),
        ratio: None,
    });
    Ok(())
}
