//! Devices that run engines: the CPU, or a device of another crate.

use super::{
    CnnConfig, CpuEngine, Engine, EngineError, LrSchedule, Optimizer, TrainState, TrainingSet,
};
use outflank_models::nets::{NetGraph, Weights, training_memory_bytes};
use outflank_runs::available_memory;

/// A factory of engines for one kind of hardware.
pub trait Device: Sync {
    /// Returns the name of the device, such as `cpu`.
    fn name(&self) -> &'static str;

    /// Returns whether the device is an accelerator, which trains on millions of examples per
    /// minute.
    fn is_accelerated(&self) -> bool;

    /// Returns whether networks may be trained on the device.
    fn can_train(&self) -> bool {
        true
    }

    /// Creates an engine with initial weights and a training set.
    fn engine(
        &self,
        net: &NetGraph,
        config: CnnConfig,
        training_set: TrainingSet,
    ) -> Result<Box<dyn Engine>, EngineError>;
}

/// The CPU.
pub struct CpuDevice;

impl Device for CpuDevice {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn is_accelerated(&self) -> bool {
        false
    }

    fn engine(
        &self,
        net: &NetGraph,
        config: CnnConfig,
        training_set: TrainingSet,
    ) -> Result<Box<dyn Engine>, EngineError> {
        let fixed = parameter_bytes(net, config.optimizer);
        check_memory(fixed, training_memory_bytes(net, config.batch_size), available_memory())?;
        Ok(Box::new(CpuEngine::new(net, config, training_set)))
    }
}

/// Computes the memory that does not depend on the batch size: weights, gradient, optimizer
/// moments, transformed kernels of Winograd convolutions, and the copies made for a checkpoint (the
/// state, its blocks as bytes, and their concatenation).
fn parameter_bytes(net: &NetGraph, optimizer: Optimizer) -> u64 {
    let weights: u64 = net.params().iter().map(|param| param.len() as u64).sum();
    let state = 1 + optimizer.moments() as u64;
    let (gradient, transformed, copies) = (1, 2, 3 * state);
    weights.saturating_mul(4 * (state + gradient + transformed + copies))
}

/// A device that reads cached results and never trains.
///
/// Networks whose weights are available are evaluated on the CPU.
pub struct CachedOnly;

impl Device for CachedOnly {
    fn name(&self) -> &'static str {
        "none"
    }

    /// Returns true, so that cached networks are evaluated on as many positions as on an
    /// accelerator.
    fn is_accelerated(&self) -> bool {
        true
    }

    fn can_train(&self) -> bool {
        false
    }

    fn engine(
        &self,
        net: &NetGraph,
        config: CnnConfig,
        training_set: TrainingSet,
    ) -> Result<Box<dyn Engine>, EngineError> {
        CpuDevice.engine(net, config, training_set)
    }
}

/// Returns an error if memory is insufficient; otherwise the system would kill the process.
fn check_memory(fixed: u64, batch: u64, available: Option<u64>) -> Result<(), EngineError> {
    let Some(available) = available else { return Ok(()) };
    let describe = |needed: u64| {
        let [needed, available] = [needed, available].map(|bytes| bytes as f64 / 1e9);
        format!("{needed:.1} GB needed, {available:.1} GB available")
    };
    match fixed.saturating_add(batch) {
        _ if fixed > available => Err(EngineError::TooLarge(describe(fixed))),
        needed if needed > available => Err(EngineError::Memory(describe(needed))),
        _ => Ok(()),
    }
}

/// Creates an engine with trained weights, for inference only.
pub fn load_engine(
    device: &dyn Device,
    net: &NetGraph,
    weights: &Weights,
) -> Result<Box<dyn Engine>, EngineError> {
    // Without a training set the hyperparameters are irrelevant.
    let config = CnnConfig {
        batch_size: 1,
        learning_rate: 0.0,
        schedule: LrSchedule::Constant,
        warmup_steps: 0,
        optimizer: Optimizer::Sgd { momentum: 0.0, nesterov: false },
        weight_decay: 0.0,
        label_smoothing: 0.0,
        seed: 0,
    };
    let words = vec![0; net.input().planes()];
    let training_set = TrainingSet { words, targets: vec![0], items: vec![0] };
    let mut engine = device.engine(net, config, training_set)?;
    engine.restore(&TrainState { step: 0, weights: weights.clone(), moments: Vec::new() })?;
    Ok(engine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_models::nets::{Input, net_by_name};

    #[test]
    fn a_batch_that_does_not_fit_is_an_error() {
        // Conv8 has 1,408 feature maps of 64 cells before and after each ReLU.
        let net = net_by_name("conv8", Input::PIECES).unwrap();
        let needed = training_memory_bytes(&net, 1000);
        let maps = 2 * 1408 * 64 * 4 * 1000;
        assert!((maps..maps + maps / 4).contains(&needed), "{needed}");
        assert!(
            check_memory(1, needed, None).is_ok() && check_memory(0, needed, Some(needed)).is_ok()
        );
        let error = check_memory(1, needed, Some(needed / 2)).unwrap_err().to_string();
        assert!(error.contains("GB") && error.contains("--batch-size"), "{error}");
    }

    /// Sixteen 8192 x 8192 matrices take four gigabytes at any batch size.
    #[test]
    fn a_network_that_does_not_fit_is_an_error() {
        let net = net_by_name("fc16x8192", Input::PIECES).unwrap();
        let fixed = parameter_bytes(&net, Optimizer::Sgd { momentum: 0.9, nesterov: false });
        // At least weights, gradient and velocity.
        assert!(fixed > 3 * 15 * 8192 * 8192 * 4, "{fixed}");
        let error = check_memory(fixed, 1, Some(24 << 30)).unwrap_err().to_string();
        assert!(error.contains("GB") && error.contains("--net"), "{error}");
        let small = net_by_name("conv4", Input::PIECES).unwrap();
        let fixed = parameter_bytes(&small, Optimizer::AdamW { beta1: 0.9, beta2: 0.999 });
        assert!(check_memory(fixed, training_memory_bytes(&small, 64), Some(1 << 30)).is_ok());
    }
}
