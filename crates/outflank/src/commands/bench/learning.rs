//! Deep networks on a graphics processor: how many positions the paper's Conv8 learns from in a second,
//! with steps named operation by operation, with steps recorded, and with normalisation and ReLU in one
//! operation besides.

use super::Row;
use super::steps::pace;
use anyhow::{Result, ensure};
use outflank_learners::cnn::{
    Device, EngineError, Dataset, Optimizer, EpochOrder, CnnConfig, LrSchedule, Split, TrainingSet,
};
use outflank_models::nets::{Input, named};
use outflank_records::{ExampleSetKind, embedded};
use outflank_torch::TorchDevice;
use std::time::Duration;

/// A way to take steps, and how PyTorch does it: whether they are recorded, whether normalisation and ReLU
/// are one operation, and both in words.
const WAYS: [(bool, bool, &str, &str); 3] = [
    (false, false, "operation by operation", "eager"),
    (true, false, "steps recorded", "with a graph"),
    (true, true, "steps recorded, normalisation and ReLU in one", "compiled, with a graph"),
];

/// PyTorch's positions a second on an H200 in bfloat16, channels innermost.
const YARDSTICKS: [(usize, [f64; WAYS.len()]); 2] =
    [(512, [101_000.0, 291_000.0, 361_000.0]), (4096, [399_000.0, 415_000.0, 514_000.0])];

/// The first steps of all ways are compared, in so many parts of so many steps.
const PARTS: usize = 10;
const PART: usize = 30;

/// All ways do the same in another order, in half precision: their losses part slowly.
const WITHIN: f64 = 0.05;

/// So long each is measured.
const MEASURED: Duration = Duration::from_secs(3);

/// Measures small and large batches, where there is a graphics processor.
pub fn rows(rows: &mut Vec<Row>) -> Result<()> {
    let net = named("conv8-bn", Input::PIECES)?;
    let lessons = Dataset::new(&embedded::games(), ExampleSetKind::UniqueS, Split::Example, false)?;
    let order = EpochOrder::new(lessons.items.len(), 1, 0);
    for (batch, yardsticks) in YARDSTICKS {
        let plan = CnnConfig {
            batch,
            rate: 0.02,
            schedule: LrSchedule::Constant,
            warmup: 0,
            optimizer: Optimizer::Sgd { momentum: 0.9, nesterov: false },
            decay: 1e-4,
            smoothing: 0.0,
            seed: 1,
        };
        let places: Vec<u32> = (0..PARTS * PART * batch).map(|place| order.at(place)).collect();
        let mut plain: Option<Vec<f64>> = None;
        for ((graphs, fused, way, theirs), yardstick) in WAYS.into_iter().zip(yardsticks) {
            let device = TorchDevice { gpu: true, graphs, fused, say: |text| eprintln!("{text}") };
            let study = TrainingSet::new(&net, &lessons.base, lessons.items.clone());
            let mut engine = match device.engine(&net, plan, study) {
                Err(EngineError::Missing(_)) => return Ok(()),
                engine => engine?,
            };
            let mut curve = Vec::new();
            for part in places.chunks(PART * batch) {
                engine.train_steps(part, &[plan.rate; PART])?;
                let seen = engine.take_stats()?;
                curve.push(seen.loss / seen.examples as f64);
            }
            let rate = pace(&mut *engine, &places, &plan, MEASURED)?;
            rows.push(Row {
                area: "nets",
                name: format!("conv8-bn, positions learned from at batch {batch}, {way}"),
                value: rate,
                unit: "positions/s",
                yardstick: format!("stored: PyTorch {theirs}, {yardstick} positions/s on an H200"),
                ratio: Some(rate / yardstick),
            });
            let Some(plain) = &plain else {
                plain = Some(curve);
                continue;
            };
            let apart = plain.iter().zip(&curve).map(|(a, b)| (a - b).abs() / a);
            let apart = apart.fold(0.0, f64::max);
            ensure!(
                apart < WITHIN && curve.last() < curve.first(),
                "{way} learns otherwise at batch {batch}: losses {curve:.4?}, not {plain:.4?}"
            );
            rows.push(Row {
                area: "nets",
                name: format!("the same at batch {batch}, losses of {} steps apart", PARTS * PART),
                value: 100.0 * apart,
                unit: "%",
                yardstick: format!(
                    "checked: at most {:.0}%; the last {PART} steps {:.4} and {:.4}",
                    100.0 * WITHIN,
                    plain[PARTS - 1],
                    curve[PARTS - 1],
                ),
                ratio: None,
            });
        }
    }
    Ok(())
}
