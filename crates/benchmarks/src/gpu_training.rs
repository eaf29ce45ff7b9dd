//! Training of convolutional networks on a GPU: Conv8 of Liskowski, Jaśkowski & Krawiec (2018),
//! eager, with CUDA graphs, and with batch normalization fused with ReLU.

use super::BenchmarkRow;
use super::cpu_training::{SPLIT, examples_per_second};
use anyhow::{Result, ensure};
use outflank_learners::cnn::{
    CnnConfig, Dataset, Device, EngineError, EpochOrder, LrSchedule, Optimizer, TrainingSet,
};
use outflank_models::nets::{Input, net_by_name};
use outflank_records::{ExampleSetKind, embedded};
use outflank_torch::TorchDevice;
use std::time::Duration;

/// Execution modes: whether CUDA graphs are used, whether batch normalization is fused with ReLU, the
/// name of the mode, and the corresponding mode of PyTorch.
const MODES: [(bool, bool, &str, &str); 3] = [
    (false, false, "eager", "eager"),
    (true, false, "CUDA graphs", "CUDA graphs"),
    (true, true, "CUDA graphs, fused batch norm and ReLU", "compiled, CUDA graphs"),
];

/// Positions per second of PyTorch on an H200 in bfloat16, channels last.
const REFERENCES: [(usize, [f64; MODES.len()]); 2] =
    [(512, [101_000.0, 291_000.0, 361_000.0]), (4096, [399_000.0, 415_000.0, 514_000.0])];

/// All modes are compared by their mean losses in the first `WINDOWS` windows of `WINDOW` steps.
const WINDOWS: usize = 10;
const WINDOW: usize = 30;

/// Maximum relative difference of the losses: the modes round differently in bfloat16.
const MAX_DIFFERENCE: f64 = 0.05;

/// Duration of a measurement.
const MEASUREMENT_TIME: Duration = Duration::from_secs(3);

/// Measures small and large batches, if there is a GPU.
pub fn measure(rows: &mut Vec<BenchmarkRow>) -> Result<()> {
    let net = net_by_name("conv8-bn", Input::PIECES)?;
    let dataset = Dataset::new(&embedded::games(), ExampleSetKind::UniqueS, SPLIT, false)?;
    let order = EpochOrder::new(dataset.items.len(), 1, 0);
    for (batch, references) in REFERENCES {
        let config = CnnConfig {
            batch_size: batch,
            learning_rate: 0.02,
            schedule: LrSchedule::Constant,
            warmup_steps: 0,
            optimizer: Optimizer::Sgd { momentum: 0.9, nesterov: false },
            weight_decay: 1e-4,
            label_smoothing: 0.0,
            seed: 1,
        };
        let indices: Vec<u32> =
            (0..WINDOWS * WINDOW * batch).map(|index| order.at(index)).collect();
        let mut eager: Option<Vec<f64>> = None;
        for ((graphs, fused, mode, pytorch_mode), reference) in MODES.into_iter().zip(references) {
            let device = TorchDevice {
                cuda: true,
                cuda_graphs: graphs,
                fused_norm_relu: fused,
                warn: |text| eprintln!("{text}"),
            };
            let training_set = TrainingSet::new(&net, &dataset.base, dataset.items.clone());
            let mut engine = match device.engine(&net, config, training_set) {
                Err(EngineError::Missing(_)) => return Ok(()),
                engine => engine?,
            };
            let mut curve = Vec::new();
            for window in indices.chunks(WINDOW * batch) {
                engine.train_steps(window, &[config.learning_rate; WINDOW])?;
                let stats = engine.take_stats()?;
                curve.push(stats.loss / stats.examples as f64);
            }
            let rate = examples_per_second(&mut *engine, &indices, &config, MEASUREMENT_TIME)?;
            rows.push(BenchmarkRow {
                area: "nets",
                name: format!("conv8-bn training, batch size {batch}, {mode}"),
                value: rate,
                unit: "positions/s",
                reference: format!(
                    "stored: PyTorch {pytorch_mode}, {reference} positions/s on an H200"
                ),
                ratio: Some(rate / reference),
            });
            let Some(eager) = &eager else {
                eager = Some(curve);
                continue;
            };
            let difference = eager.iter().zip(&curve).map(|(a, b)| (a - b).abs() / a);
            let difference = difference.fold(0.0, f64::max);
            ensure!(
                difference < MAX_DIFFERENCE && curve.last() < curve.first(),
                "{mode} differs at batch size {batch}: losses {curve:.4?}, not {eager:.4?}"
            );
            rows.push(BenchmarkRow {
                area: "nets",
                name: format!(
                    "conv8-bn training, batch size {batch}: difference of the losses of {} steps",
                    WINDOWS * WINDOW
                ),
                value: 100.0 * difference,
                unit: "%",
                reference: format!(
                    "limit: {:.0}%; losses of the last {WINDOW} steps: {:.4} and {:.4}",
                    100.0 * MAX_DIFFERENCE,
                    eager[WINDOWS - 1],
                    curve[WINDOWS - 1],
                ),
                ratio: None,
            });
        }
    }
    Ok(())
}
