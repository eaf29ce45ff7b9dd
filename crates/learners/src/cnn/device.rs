//! Where networks learn and answer: the CPU, or what another crate brings.

use super::{CpuEngine, Engine, EngineError, Optimizer, Plan, Schedule, State, Study};
use outflank_models::nets::{Net, Weights, learning_bytes};
use outflank_runs::available_memory;

/// A place with engines.
pub trait Device: Sync {
    /// What it is called, such as `cpu`.
    fn name(&self) -> &'static str;

    /// Whether millions of examples a minute can be learned from there.
    fn is_quick(&self) -> bool;

    /// Whether networks are taught there at all.
    fn teaches(&self) -> bool {
        true
    }

    /// A network at its start, with what it is to learn from.
    fn engine(&self, net: &Net, plan: Plan, study: Study) -> Result<Box<dyn Engine>, EngineError>;
}

/// The machine's own processors.
pub struct OnCpu;

impl Device for OnCpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn is_quick(&self) -> bool {
        false
    }

    fn engine(&self, net: &Net, plan: Plan, study: Study) -> Result<Box<dyn Engine>, EngineError> {
        enough(learning_bytes(net, plan.batch), available_memory())?;
        Ok(Box::new(CpuEngine::new(net, plan, study)))
    }
}

/// Nowhere to learn: what networks came to on a graphics processor is known or it is not. Those whose weights
/// are here answer on the machine's own processors.
pub struct Nowhere;

impl Device for Nowhere {
    fn name(&self) -> &'static str {
        "none"
    }

    /// As much is asked of them as where they learned.
    fn is_quick(&self) -> bool {
        true
    }

    fn teaches(&self) -> bool {
        false
    }

    fn engine(&self, net: &Net, plan: Plan, study: Study) -> Result<Box<dyn Engine>, EngineError> {
        OnCpu.engine(net, plan, study)
    }
}

/// Refuses what there is no room for: the system would end the program without a word.
fn enough(needed: u64, left: Option<u64>) -> Result<(), EngineError> {
    let gigabytes = |bytes: u64| bytes as f64 / 1e9;
    match left {
        Some(left) if needed > left => Err(EngineError::Memory(format!(
            "{:.1} GB are needed, {:.1} are left",
            gigabytes(needed),
            gigabytes(left)
        ))),
        _ => Ok(()),
    }
}

/// A network that has learned, ready to answer on a device.
pub fn ready(
    device: &dyn Device,
    net: &Net,
    weights: &Weights,
) -> Result<Box<dyn Engine>, EngineError> {
    // It has nothing to learn from, and nothing is made of how it would.
    let plan = Plan {
        batch: 1,
        rate: 0.0,
        schedule: Schedule::Constant,
        warmup: 0,
        optimizer: Optimizer::Sgd { momentum: 0.0, nesterov: false },
        decay: 0.0,
        smoothing: 0.0,
        seed: 0,
    };
    let words = vec![0; net.input().planes()];
    let study = Study { words, targets: vec![0], items: vec![0] };
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
        let needed = learning_bytes(&net, 1000);
        let maps = 2 * 1408 * 64 * 4 * 1000;
        assert!((maps..maps + maps / 4).contains(&needed), "{needed}");
        assert!(enough(needed, None).is_ok() && enough(needed, Some(needed)).is_ok());
        let refused = enough(needed, Some(needed / 2)).unwrap_err().to_string();
        assert!(refused.contains("GB") && refused.contains("--batch"), "{refused}");
    }
}
