//! Deep networks that learn on the CPU: how many positions the paper's Conv4 learns from in a second of all
//! threads.

use super::Row;
use anyhow::{Context, Result, ensure};
use outflank_learners::cnn::{
    Device, Engine, Dataset, CpuDevice, Optimizer, EpochOrder, CnnConfig, LrSchedule, Split, TrainState, TrainingSet,
};
use outflank_models::nets::{Input, NetGraph, named};
use outflank_records::{ExampleSetKind, embedded};
use std::time::{Duration, Instant};

/// PyTorch 2.11's positions a second, channels innermost, two threads of a Xeon with AVX-512: the median of
/// three runs in turns with ours, which had 1,570 on the same two threads.
const YARDSTICK: f64 = 2100.0;

/// So many steps are compared with those of a single thread.
const STEPS: usize = 4;

/// So long it is measured.
const MEASURED: Duration = Duration::from_secs(3);

const PLAN: CnnConfig = CnnConfig {
    batch: 64,
    rate: 0.02,
    schedule: LrSchedule::Constant,
    warmup: 0,
    optimizer: Optimizer::Sgd { momentum: 0.9, nesterov: true },
    decay: 1e-4,
    smoothing: 0.0,
    seed: 1,
};

/// Measures it, and checks that the number of threads changes no bit.
pub fn rows(rows: &mut Vec<Row>) -> Result<()> {
    let net = named("conv4", Input::PIECES)?;
    let games: Vec<_> = embedded::games().into_iter().take(100).collect();
    let lessons = Dataset::new(&games, ExampleSetKind::UniqueS, Split::Example, false)?;
    let order = EpochOrder::new(lessons.items.len(), 1, 0);
    let places: Vec<u32> = (0..STEPS * PLAN.batch).map(|place| order.at(place)).collect();
    let (mut engine, all) = begun(&net, &lessons, &places)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().context("a thread")?;
    let (_, alone) = pool.install(|| begun(&net, &lessons, &places))?;
    ensure!(all == alone, "what is learned depends on the number of threads");
    let rate = pace(&mut *engine, &places, &PLAN, MEASURED)?;
    rows.push(Row {
        area: "nets",
        name: format!("conv4, positions learned from at batch {}, all threads", PLAN.batch),
        value: rate,
        unit: "positions/s",
        yardstick: format!(
            "stored: PyTorch {YARDSTICK} positions/s, 2 threads of a Xeon with AVX-512"
        ),
        ratio: Some(rate / YARDSTICK),
    });
    Ok(())
}

/// A network after its first steps.
fn begun(net: &NetGraph, lessons: &Dataset, places: &[u32]) -> Result<(Box<dyn Engine>, TrainState)> {
    let study = TrainingSet::new(net, &lessons.base, lessons.items.clone());
    let mut engine = CpuDevice.engine(net, PLAN, study)?;
    engine.train_steps(places, &[PLAN.rate; STEPS])?;
    engine.take_stats()?;
    let state = engine.state()?;
    Ok((engine, state))
}

/// Examples a second, by the clock.
pub fn pace(
    engine: &mut dyn Engine,
    places: &[u32],
    plan: &CnnConfig,
    measured: Duration,
) -> Result<f64> {
    let rates = vec![plan.rate; places.len() / plan.batch];
    let (began, mut count) = (Instant::now(), 0);
    while began.elapsed() < measured {
        engine.train_steps(places, &rates)?;
        count += places.len();
    }
    let seen = engine.take_stats()?;
    ensure!(seen.loss.is_finite() && seen.examples == count as u64, "learning went astray");
    Ok(count as f64 / began.elapsed().as_secs_f64())
}
