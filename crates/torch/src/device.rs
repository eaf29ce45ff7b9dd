//! libtorch's devices.

use crate::TorchEngine;
use outflank_learners::cnn::{Device, Engine, EngineError, CnnConfig, TrainingSet};
use outflank_models::nets::NetGraph;

/// The first graphics processor, or the CPU by way of libtorch.
pub struct TorchDevice {
    /// Which of the two.
    pub gpu: bool,
    /// Whether a step may be recorded and replayed there, rather than named operation by operation.
    pub graphs: bool,
    /// Whether normalisation and the ReLU after it may be one operation there.
    pub fused: bool,
    /// Hears why they are not.
    pub say: fn(&str),
}

impl Device for TorchDevice {
    fn name(&self) -> &'static str {
        if self.gpu { "gpu" } else { "torch-cpu" }
    }

    fn is_accelerated(&self) -> bool {
        self.gpu
    }

    fn engine(&self, net: &NetGraph, plan: CnnConfig, study: TrainingSet) -> Result<Box<dyn Engine>, EngineError> {
        Ok(Box::new(TorchEngine::new(net, plan, &study, self)?))
    }
}
