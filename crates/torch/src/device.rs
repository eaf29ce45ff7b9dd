//! The devices of libtorch.

use crate::engine::TorchEngine;
use outflank_learners::cnn::{CnnConfig, Device, Engine, EngineError, TrainingSet};
use outflank_models::nets::NetGraph;

/// The first CUDA GPU, or the CPU through libtorch.
pub struct TorchDevice {
    /// Whether to use the GPU.
    pub cuda: bool,
    /// Whether to capture training steps as a CUDA graph and replay it.
    pub cuda_graphs: bool,
    /// Whether to fuse batch normalization and ReLU into one operation on the GPU.
    pub fused_norm_relu: bool,
    /// Receives a warning when one of these optimizations is unavailable.
    pub warn: fn(&str),
}

impl Device for TorchDevice {
    fn name(&self) -> &'static str {
        if self.cuda { "cuda" } else { "torch-cpu" }
    }

    fn is_accelerated(&self) -> bool {
        self.cuda
    }

    fn engine(
        &self,
        net: &NetGraph,
        config: CnnConfig,
        training_set: TrainingSet,
    ) -> Result<Box<dyn Engine>, EngineError> {
        Ok(Box::new(TorchEngine::new(net, config, &training_set, self)?))
    }
}
