//! Deep networks on the CPU: how many positions the paper's Conv8 answers in a second of one thread.

use super::Row;
use anyhow::{Context, Result, ensure};
use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_models::nets::{PolicyNet, Input, Weights, named};
use outflank_runs::thread_cpu_seconds;

/// So many positions are answered one by one, and as many batches of 256 as make at least as many.
const ALONE: usize = 128;

/// onnxruntime's positions a second at batch 1 and 256, one thread of a Xeon at 2.80 GHz.
const YARDSTICKS: [(usize, f64); 2] = [(1, 387.0), (256, 482.0)];

/// Measures one position at a time and a batch.
pub fn measure(rows: &mut Vec<Row>) -> Result<()> {
    let net = named("conv8-bn", Input::PIECES)?;
    let weights = Weights::init(&net, 1);
    let deep = PolicyNet::new(net, weights);
    // Positions of one game, over and over: the work does not depend on what is on the board.
    let (mut position, mut line) = (Othello::start(), Vec::new());
    while let Some(mv) = position.moves().next() {
        line.push(position);
        position = position.play(mv);
    }
    // One thread, whatever the machine has.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().context("a thread")?;
    let alone = pool.install(|| deep.logits([line[3]]));
    for (batch, yardstick) in YARDSTICKS {
        let positions: Vec<Othello> = line.iter().copied().cycle().take(batch).collect();
        let times = ALONE.div_ceil(batch).max(2);
        let (seconds, last) = pool.install(|| {
            let began = thread_cpu_seconds();
            let mut last = Vec::new();
            for _ in 0..times {
                last = deep.logits(positions.iter().copied());
            }
            (thread_cpu_seconds() - began, last)
        });
        if batch > 3 {
            let same = last.chunks(60).nth(3).is_some_and(|answer| answer == alone);
            ensure!(same, "an answer depends on its company");
        }
        let rate = (times * batch) as f64 / seconds;
        rows.push(Row {
            area: "nets",
            name: format!("conv8-bn, positions answered at batch {batch}, one thread"),
            value: rate,
            unit: "positions/s",
            yardstick: format!(
                "stored: onnxruntime {yardstick} positions/s, one thread of a Xeon at 2.80 GHz"
            ),
            ratio: Some(rate / yardstick),
        });
    }
    Ok(())
}
