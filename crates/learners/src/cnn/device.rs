//! Where networks learn and answer: the CPU, or what another crate brings.

use super::{CpuEngine, Engine, EngineError, Optimizer, Plan, LrSchedule, State, TrainingSet};
use outflank_models::nets::{NetGraph, Weights, training_memory_bytes};
use outflank_runs::available_memory;

/// A place with engines.
pub trait Device: Sync {
    /// What it is called, such as `cpu`.
    fn name(&self) -> &'static str;

    /// Whether millions of examples a minute can be learned from there.
    fn is_accelerated(&self) -> bool;

    /// Whether networks are taught there at all.
    fn can_train(&self) -> bool {
        true
    }

    /// A network at its start, with what it is to learn from.
    fn engine(&self, net: &NetGraph, plan: Plan, study: TrainingSet) -> Result<Box<dyn Engine>, EngineError>;
}

/// The machine's own processors.
pub struct CpuDevice;

impl Device for CpuDevice {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn is_accelerated(&self) -> bool {
        false
    }

    fn engine(&self, net: &NetGraph, plan: Plan, study: TrainingSet) -> Result<Box<dyn Engine>, EngineError> {
        let kept = kept_bytes(net, plan.optimizer);
        enough(kept, training_memory_bytes(net, plan.batch), available_memory())?;
        Ok(Box::new(CpuEngine::new(net, plan, study)))
    }
}

/// The bytes that the weights take, whatever the batch: themselves, their gradient, what the optimizer
/// remembers, fields written out for Winograd's method, and the copies that a checkpoint is made of (the
/// state, its bytes, and those in one piece).
fn kept_bytes(net: &NetGraph, optimizer: Optimizer) -> u64 {
    let weights: u64 = net.params().iter().map(|param| param.len() as u64).sum();
    let state = 1 + optimizer.moments() as u64;
    let (gradient, written_out, copies) = (1, 2, 3 * state);
    weights.saturating_mul(4 * (state + gradient + written_out + copies))
}

/// Nowhere to learn: what networks came to on a graphics processor is known or it is not. Those whose weights
/// are here answer on the machine's own processors.
pub struct CachedOnly;

impl Device for CachedOnly {
    fn name(&self) -> &'static str {
        "none"
    }

    /// As much is asked of them as where they learned.
    fn is_accelerated(&self) -> bool {
        true
    }

    fn can_train(&self) -> bool {
        false
    }

    fn engine(&self, net: &NetGraph, plan: Plan, study: TrainingSet) -> Result<Box<dyn Engine>, EngineError> {
        CpuDevice.engine(net, plan, study)
    }
}

/// Refuses what there is no room for: the system would end the program without a word.
fn enough(kept: u64, batch: u64, left: Option<u64>) -> Result<(), EngineError> {
    let Some(left) = left else { return Ok(()) };
    let told = |needed: u64| {
        let [needed, left] = [needed, left].map(|bytes| bytes as f64 / 1e9);
        format!("{needed:.1} GB are needed, {left:.1} are left")
    };
    match kept.saturating_add(batch) {
        _ if kept > left => Err(EngineError::TooLarge(told(kept))),
        needed if needed > left => Err(EngineError::Memory(told(needed))),
        _ => Ok(()),
    }
}

/// A network that has learned, ready to answer on a device.
pub fn ready(
    device: &dyn Device,
    net: &NetGraph,
    weights: &Weights,
) -> Result<Box<dyn Engine>, EngineError> {
    // It has nothing to learn from, and nothing is made of how it would.
    let plan = Plan {
        batch: 1,
        rate: 0.0,
        schedule: LrSchedule::Constant,
        warmup: 0,
        optimizer: Optimizer::Sgd { momentum: 0.0, nesterov: false },
        decay: 0.0,
        smoothing: 0.0,
        seed: 0,
    };
    let words = vec![0; net.input().planes()];
    let study = TrainingSet { words, targets: vec![0], items: vec![0] };
    let mut engine = device.engine(net, plan, study)?;
    engine.restore(&State { step: 0, weights: weights.clone(), moments: Vec::new() })?;
    Ok(engine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_models::nets::{Input, named};

    #[test]
    fn a_batch_that_does_not_fit_is_refused() {
        // Conv8 alone gives 1,408 maps of 64 numbers before and after each rectifier.
        let net = named("conv8", Input::PIECES).unwrap();
        let needed = training_memory_bytes(&net, 1000);
        let maps = 2 * 1408 * 64 * 4 * 1000;
        assert!((maps..maps + maps / 4).contains(&needed), "{needed}");
        assert!(enough(1, needed, None).is_ok() && enough(0, needed, Some(needed)).is_ok());
        let refused = enough(1, needed, Some(needed / 2)).unwrap_err().to_string();
        assert!(refused.contains("GB") && refused.contains("--batch"), "{refused}");
    }

    /// Sixteen matrices of 8192 x 8192 are four gigabytes alone, and no smaller batch makes room for them.
    #[test]
    fn a_network_that_does_not_fit_is_refused() {
        let net = named("fc16x8192", Input::PIECES).unwrap();
        let kept = kept_bytes(&net, Optimizer::Sgd { momentum: 0.9, nesterov: false });
        // Weights, gradient and velocity at the least.
        assert!(kept > 3 * 15 * 8192 * 8192 * 4, "{kept}");
        let refused = enough(kept, 1, Some(24 << 30)).unwrap_err().to_string();
        assert!(refused.contains("GB") && refused.contains("--net"), "{refused}");
        let small = named("conv4", Input::PIECES).unwrap();
        let kept = kept_bytes(&small, Optimizer::AdamW { first: 0.9, second: 0.999 });
        assert!(enough(kept, training_memory_bytes(&small, 64), Some(1 << 30)).is_ok());
    }
}
