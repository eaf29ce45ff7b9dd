//! Large patterns by stage of the game: evaluating them, learning them choice by choice and by
//! self-play. One thread's time each.

use super::Row;
use anyhow::{Context, Result, ensure};
use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_learners::online::{self, ChoiceSet, NoStore, PreferenceLoss};
use outflank_learners::self_play::{self, SelfPlay};
use outflank_models::patterns::{AfterstateFeatures, Count, Stages, whole_board};
use outflank_models::{Evaluate, embedded as models};
use outflank_records::Decision;
use outflank_runs::thread_cpu_seconds;

/// The moves of all choices of WTHOR's games up to 2012, in eight passes within an hour of two
/// cores.
const AIM: f64 = 56.0e6 * 8.0 / 7200.0;

/// Games of one batch of self-play.
const GAMES: u32 = 4096;

/// Measures the three loops on choices.
pub fn measure(rows: &mut Vec<Row>, choices: &[Decision<Othello>]) -> Result<()> {
    let ipref = models::ipref().context("the embedded player is damaged")?;
    let (mut moves, mut values, mut count) = (Vec::new(), Vec::new(), 0);
    let began = thread_cpu_seconds();
    for decision in choices {
        moves.clear();
        moves.extend(decision.position.moves());
        ipref.after_moves(&decision.position, &moves, &mut values);
        count += values.len();
    }
    let each = (thread_cpu_seconds() - began) * 1e9 / count.max(1) as f64;
    rows.push(Row {
        area: "learners",
        name: "ipref's worth of a move, 82 patterns and 5 counts, one thread".to_owned(),
        value: each,
        unit: "ns",
        yardstick: "aim: 1,000 ns".to_owned(),
        ratio: Some(1000.0 / each),
    });

    let look = AfterstateFeatures::new(whole_board(), Count::ALL.to_vec())?;
    let stages = Stages::of_width(4).context("a width of 4")?;
    let settings = online::OnlineConfig { loss: PreferenceLoss::Softmax, epochs: 1, learning_rate: 0.1, seed: 1 };
    let few: ChoiceSet = choices.iter().collect();
    let began = thread_cpu_seconds();
    let learned = online::learn(&look, stages, &few, settings, &NoStore)?;
    let seconds = thread_cpu_seconds() - began;
    let seen = learned.curve.first().map_or(0, |pass| pass.moves);
    ensure!(seen as usize == count, "not every move was seen");
    rows.push(Row {
        area: "learners",
        name: "ipref --solver online, moves rated and learned from, one thread".to_owned(),
        value: seen as f64 / seconds,
        unit: "moves/s",
        yardstick: "aim: all of WTHOR up to 2012 eight times in an hour of two cores".to_owned(),
        ratio: Some(seen as f64 / seconds / AIM),
    });

    let settings = self_play::SelfPlayConfig {
        batches: 2,
        games: GAMES,
        random: 0.1,
        opening: 0,
        rivalry: 0.0,
        lambda: 0.5,
        rate: 0.1,
        seed: 1,
    };
    let mut learner = SelfPlay::new(look, stages, settings);
    // The first batch knows nothing and warms the caches.
    learner.batch().context("a batch")?;
    let began = thread_cpu_seconds();
    learner.batch().context("a batch")?;
    rows.push(Row {
        area: "learners",
        name: "self-play on 82 patterns by stage, played and learned from, one thread".to_owned(),
        value: f64::from(GAMES) / (thread_cpu_seconds() - began),
        unit: "games/s",
        yardstick: "none".to_owned(),
        ratio: None,
    });
    Ok(())
}
