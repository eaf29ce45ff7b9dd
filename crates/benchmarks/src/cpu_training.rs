//! Training of convolutional networks on the CPU: Conv4 of Liskowski, Jaśkowski & Krawiec (2018).

use super::BenchmarkRow;
use anyhow::{Context, Result, ensure};
use outflank_learners::cnn::{
    CnnConfig, CpuDevice, Dataset, Device, Engine, EpochOrder, LrSchedule, Optimizer, Split,
    SplitBy, TrainState, TrainingSet,
};
use outflank_models::nets::{Input, NetGraph, net_by_name};
use outflank_records::{ExampleSetKind, TrainFractions, embedded};
use std::time::{Duration, Instant};

/// Positions per second of PyTorch 2.11, channels last, two threads of a Xeon with AVX-512: the
/// median of three runs that alternated with ours, which reached 1,570 on the same two threads.
const REFERENCE: f64 = 2100.0;

/// Number of steps after which the weights are compared with those of a single thread.
const STEPS: usize = 4;

/// Duration of the measurement.
const MEASUREMENT_TIME: Duration = Duration::from_secs(3);

/// The train/test split; its sizes do not matter here.
pub const SPLIT: Split = Split {
    by: SplitBy::Example,
    last_year: 2012,
    train_fractions: TrainFractions { without_symmetries: 0.75, with_symmetries: 0.95 },
};

const CONFIG: CnnConfig = CnnConfig {
    batch_size: 64,
    learning_rate: 0.02,
    schedule: LrSchedule::Constant,
    warmup_steps: 0,
    optimizer: Optimizer::Sgd { momentum: 0.9, nesterov: true },
    weight_decay: 1e-4,
    label_smoothing: 0.0,
    seed: 1,
};

/// Measures the speed, and checks that the number of threads does not change the weights.
pub fn measure(rows: &mut Vec<BenchmarkRow>) -> Result<()> {
    let net = net_by_name("conv4", Input::PIECES)?;
    let games: Vec<_> = embedded::games().into_iter().take(100).collect();
    let dataset = Dataset::new(&games, ExampleSetKind::UniqueS, SPLIT, false)?;
    let order = EpochOrder::new(dataset.items.len(), 1, 0);
    let indices: Vec<u32> = (0..STEPS * CONFIG.batch_size).map(|index| order.at(index)).collect();
    let (mut engine, all) = first_steps(&net, &dataset, &indices)?;
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(1).build().context("cannot start a thread")?;
    let (_, alone) = pool.install(|| first_steps(&net, &dataset, &indices))?;
    ensure!(all == alone, "the weights depend on the number of threads");
    let rate = examples_per_second(&mut *engine, &indices, &CONFIG, MEASUREMENT_TIME)?;
    rows.push(BenchmarkRow {
        area: "nets",
        name: format!("conv4 training, batch size {}, all threads", CONFIG.batch_size),
        value: rate,
        unit: "positions/s",
        reference: format!(
            "stored: PyTorch {REFERENCE} positions/s, 2 threads of a Xeon with AVX-512"
        ),
        ratio: Some(rate / REFERENCE),
    });
    Ok(())
}

/// Trains a network for [`STEPS`] steps; returns the engine and its state.
fn first_steps(
    net: &NetGraph,
    dataset: &Dataset,
    indices: &[u32],
) -> Result<(Box<dyn Engine>, TrainState)> {
    let training_set = TrainingSet::new(net, &dataset.base, dataset.items.clone());
    let mut engine = CpuDevice.engine(net, CONFIG, training_set)?;
    engine.train_steps(indices, &[CONFIG.learning_rate; STEPS])?;
    engine.take_stats()?;
    let state = engine.state()?;
    Ok((engine, state))
}

/// Training examples per second of wall-clock time.
pub fn examples_per_second(
    engine: &mut dyn Engine,
    indices: &[u32],
    config: &CnnConfig,
    measured: Duration,
) -> Result<f64> {
    let learning_rates = vec![config.learning_rate; indices.len() / config.batch_size];
    let (began, mut count) = (Instant::now(), 0);
    while began.elapsed() < measured {
        engine.train_steps(indices, &learning_rates)?;
        count += indices.len();
    }
    let stats = engine.take_stats()?;
    ensure!(stats.loss.is_finite() && stats.examples == count as u64, "training diverged");
    Ok(count as f64 / began.elapsed().as_secs_f64())
}
