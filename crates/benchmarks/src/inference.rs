//! Inference of convolutional networks on the CPU: Conv8 of Liskowski, Jaśkowski & Krawiec (2018).

use super::BenchmarkRow;
use anyhow::{Context, Result, ensure};
use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_models::nets::{Input, PolicyNet, Weights, net_by_name};
use outflank_runs::thread_cpu_seconds;

/// Minimum number of positions per measurement.
const POSITIONS: usize = 128;

/// Positions per second of onnxruntime at batch sizes 1 and 256, one thread of a Xeon at 2.80 GHz.
const REFERENCES: [(usize, f64); 2] = [(1, 387.0), (256, 482.0)];

/// Measures batch sizes 1 and 256.
pub fn measure(rows: &mut Vec<BenchmarkRow>) -> Result<()> {
    let net = net_by_name("conv8-bn", Input::PIECES)?;
    let weights = Weights::init(&net, 1);
    let policy = PolicyNet::new(net, weights);
    // Positions of one game, repeated: the work does not depend on the position.
    let (mut position, mut line) = (Othello::start(), Vec::new());
    while let Some(mv) = position.moves().next() {
        line.push(position);
        position = position.play(mv);
    }
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(1).build().context("cannot start a thread")?;
    let single = pool.install(|| policy.logits([line[3]]));
    for (batch, reference) in REFERENCES {
        let positions: Vec<Othello> = line.iter().copied().cycle().take(batch).collect();
        let times = POSITIONS.div_ceil(batch).max(2);
        let (seconds, last) = pool.install(|| {
            let began = thread_cpu_seconds();
            let mut last = Vec::new();
            for _ in 0..times {
                last = policy.logits(positions.iter().copied());
            }
            (thread_cpu_seconds() - began, last)
        });
        if batch > 3 {
            let same = last.chunks(60).nth(3).is_some_and(|answer| answer == single);
            ensure!(same, "an output depends on the rest of its batch");
        }
        let rate = (times * batch) as f64 / seconds;
        rows.push(BenchmarkRow {
            area: "nets",
            name: format!("conv8-bn inference, batch size {batch}, one thread"),
            value: rate,
            unit: "positions/s",
            reference: format!(
                "stored: onnxruntime {reference} positions/s, one thread of a Xeon at 2.80 GHz"
            ),
            ratio: Some(rate / reference),
        });
    }
    Ok(())
}
