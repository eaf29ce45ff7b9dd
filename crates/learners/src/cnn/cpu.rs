//! The CPU engine.

use super::{BatchStats, CnnConfig, Engine, EngineError, Optimizer, TrainState, TrainingSet};
use outflank_games::othello::Symmetry;
use outflank_models::nets::{
    BufferPool, CpuNet, NetGraph, Role, Weights, class_permutation, forward_backward,
};
use rayon::prelude::*;

/// Momentum of the running mean and variance of batch normalization.
pub const NORM_MOMENTUM: f32 = 0.1;

/// An engine that runs on the CPU threads of this process.
pub struct CpuEngine {
    net: NetGraph,
    config: CnnConfig,
    training_set: TrainingSet,
    state: TrainState,
    stats: BatchStats,
    /// The permutation of classes under each symmetry.
    classes: [[usize; outflank_models::nets::CLASSES]; 8],
    /// The network for inference, until the next training step.
    inference: Option<CpuNet>,
    /// Buffers reused from step to step.
    space: BufferPool,
}

impl CpuEngine {
    /// Creates a network with random initial weights.
    #[must_use]
    pub fn new(net: &NetGraph, config: CnnConfig, training_set: TrainingSet) -> CpuEngine {
        let weights = Weights::init(net, config.seed);
        CpuEngine {
            net: net.clone(),
            config,
            training_set,
            state: TrainState::start(net, weights, config.optimizer),
            stats: BatchStats::default(),
            classes: Symmetry::ALL.map(class_permutation),
            inference: None,
            space: BufferPool::default(),
        }
    }

    /// Assembles the input planes and target classes of a batch.
    fn batch(&self, indices: &[u32]) -> (Vec<u64>, Vec<u8>) {
        let planes = self.net.input().planes();
        let mut words = Vec::with_capacity(indices.len() * planes);
        let mut targets = Vec::with_capacity(indices.len());
        for &index in indices {
            let item = self.training_set.items[index as usize];
            let (at, symmetry) = ((item / 8) as usize, (item % 8) as usize);
            let own = &self.training_set.words[at * planes..(at + 1) * planes];
            words.extend(own.iter().map(|&word| Symmetry::ALL[symmetry].transform_bits(word)));
            let target = usize::from(self.training_set.targets[at]);
            targets.push(self.classes[symmetry][target] as u8);
        }
        (words, targets)
    }

    /// Takes one optimizer step.
    fn step(&mut self, indices: &[u32], learning_rate: f64) -> Result<(), EngineError> {
        let (words, targets) = self.batch(indices);
        let stream = (self.config.seed, self.state.step);
        let batch = (&words[..], &targets[..]);
        let (weights, smoothing) = (&self.state.weights, self.config.label_smoothing);
        let output =
            forward_backward(&self.net, weights, batch, stream, smoothing, &mut self.space);
        self.stats.examples += indices.len() as u64;
        self.stats.loss += output.loss * indices.len() as f64;
        self.stats.hits += output.hits as f64;
        self.state.step += 1;
        if !output.loss.is_finite() {
            return Err(EngineError::Diverged(self.state.step));
        }
        let step = self.state.step;
        let values = self.state.weights.values_mut();
        for (at, (values, param)) in values.zip(self.net.params()).enumerate() {
            let gradient = &output.gradient[at];
            let mut moments = self.state.moments.iter_mut().map(|moment| &mut moment[at][..]);
            let moments = (moments.next().unwrap_or_default(), moments.next().unwrap_or_default());
            match param.role {
                Role::RunningMean | Role::RunningVariance => {
                    // The running variance is the unbiased estimate.
                    let correction = match param.role {
                        Role::RunningVariance => {
                            let cells = self.net.nodes()[param.node].shape.cells();
                            let count = (indices.len() * cells) as f32;
                            count / (count - 1.0).max(1.0)
                        }
                        _ => 1.0,
                    };
                    for (value, new) in values.iter_mut().zip(gradient) {
                        *value += NORM_MOMENTUM * (correction * new - *value);
                    }
                }
                role => {
                    let decay = self.config.weight_decay_for(role) as f32;
                    let step_params = (learning_rate, decay, step);
                    update(self.config.optimizer, values, gradient, moments, step_params);
                }
            }
        }
        output.gradient.into_iter().for_each(|block| self.space.release(block));
        self.inference = None;
        Ok(())
    }
}

/// Weights per parallel task.
const CHUNK: usize = 1 << 13;

/// Applies one optimizer step to a parameter. Moments that the optimizer does not have are empty.
fn update(
    optimizer: Optimizer,
    values: &mut [f32],
    gradient: &[f32],
    (first, second): (&mut [f32], &mut [f32]),
    (learning_rate, decay, step): (f64, f32, u64),
) {
    let chunks = values.par_chunks_mut(CHUNK).zip(gradient.par_chunks(CHUNK));
    let chunks = chunks.zip(first.par_chunks_mut(CHUNK));
    let learning_rate = learning_rate as f32;
    match optimizer {
        Optimizer::Sgd { momentum, nesterov } => {
            let momentum = momentum as f32;
            chunks.for_each(|((values, gradient), velocities)| {
                for ((value, gradient), velocity) in values.iter_mut().zip(gradient).zip(velocities)
                {
                    let gradient = gradient + decay * *value;
                    *velocity = momentum * *velocity + gradient;
                    let by = if nesterov { gradient + momentum * *velocity } else { *velocity };
                    *value -= learning_rate * by;
                }
            });
        }
        Optimizer::AdamW { beta1, beta2 } => {
            let bias_correction = |beta: f64| 1.0 - libm::pow(beta, step as f64);
            let (c1, c2) = (bias_correction(beta1) as f32, bias_correction(beta2) as f32);
            let (beta1, beta2) = (beta1 as f32, beta2 as f32);
            chunks.zip(second.par_chunks_mut(CHUNK)).for_each(|(chunk, squares)| {
                let ((values, gradient), means) = chunk;
                let moments = means.iter_mut().zip(squares);
                for ((value, gradient), (mean, square)) in
                    values.iter_mut().zip(gradient).zip(moments)
                {
                    *mean += (1.0 - beta1) * (gradient - *mean);
                    *square += (1.0 - beta2) * (gradient * gradient - *square);
                    let by = *mean / c1 / ((*square / c2).sqrt() + 1e-8);
                    *value -= learning_rate * (by + decay * *value);
                }
            });
        }
    }
}

impl Engine for CpuEngine {
    fn train_steps(&mut self, indices: &[u32], learning_rates: &[f64]) -> Result<(), EngineError> {
        let batch = indices.len() / learning_rates.len().max(1);
        for (indices, &learning_rate) in indices.chunks(batch.max(1)).zip(learning_rates) {
            self.step(indices, learning_rate)?;
        }
        Ok(())
    }

    fn examples_per_call(&self) -> usize {
        self.config.batch_size
    }

    fn take_stats(&mut self) -> Result<BatchStats, EngineError> {
        Ok(std::mem::take(&mut self.stats))
    }

    fn logits(&mut self, words: &[u64]) -> Result<Vec<f32>, EngineError> {
        let cpu = self.inference.get_or_insert_with(|| CpuNet::new(&self.net, &self.state.weights));
        let planes = self.net.input().planes();
        Ok(words.chunks(256 * planes).flat_map(|words| cpu.logits(words)).collect())
    }

    fn state(&mut self) -> Result<TrainState, EngineError> {
        Ok(self.state.clone())
    }

    fn restore(&mut self, state: &TrainState) -> Result<(), EngineError> {
        Weights::new(&self.net, state.weights.values().to_vec())?;
        self.state = state.clone();
        self.inference = None;
        Ok(())
    }
}
