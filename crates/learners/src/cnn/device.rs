//! Where networks learn and answer: the CPU, or what another crate brings.

use super::{CpuEngine, Engine, EngineError, Optimizer, Plan, Schedule, State, Study};
use outflank_models::nets::{Net, Weights};

/// A place with engines.
pub trait Device: Sync {
    /// What it is called, such as `cpu`.
    fn name(&self) -> &'static str;

    /// Whether millions of examples a minute can be learned from there.
    fn is_quick(&self) -> bool;

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
        Ok(Box::new(CpuEngine::new(net, plan, study)))
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
