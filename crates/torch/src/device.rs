//! libtorch's devices.

use crate::TorchEngine;
use outflank_learners::cnn::{Device, Engine, EngineError, Plan, Study};
use outflank_models::nets::NetGraph;

/// The first graphics processor, or the CPU by way of libtorch.
pub struct OnTorch {
    /// Which of the two.
    pub gpu: bool,
    /// Whether a step may be recorded and replayed there, rather than named operation by operation.
    pub graphs: bool,
    /// Whether normalisation and the ReLU after it may be one operation there.
    pub fused: bool,
    /// Hears why they are not.
    pub say: fn(&str),
}

impl Device for OnTorch {
    fn name(&self) -> &'static str {
        if self.gpu { "gpu" } else { "torch-cpu" }
    }

    fn is_quick(&self) -> bool {
        self.gpu
    }

    fn engine(
        &self,
        net: &NetGraph,
        plan: Plan,
        study: Study,
    ) -> Result<Box<dyn Engine>, EngineError> {
        Ok(Box::new(TorchEngine::new(net, plan, &study, self)?))
    }
}
