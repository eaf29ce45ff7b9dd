//! Training and inference with libtorch.

use crate::TorchDevice;
use crate::cuda_graph::CudaGraph;
use crate::examples::DeviceExamples;
use crate::forward::forward;
use crate::norm_relu::NormRelu;
use crate::parameters::ParameterStore;
use crate::shim;
use crate::step_queue::StepQueue;
use outflank_learners::cnn::{
    BatchStats, CnnConfig, Engine, EngineError, Optimizer, TrainState, TrainingSet,
};
use outflank_models::nets::{CLASSES, NetGraph, Weights};
use tch::{Device, Kind, Reduction, TchError, Tensor};

/// Number of examples per call; the host synchronizes with the device once per call.
const EXAMPLES_PER_CALL: usize = 1 << 18;

/// Upper limit for the steps of one call.
const MAX_STEPS_PER_CALL: usize = 256;

/// Upper limit for the positions of an inference batch.
const MAX_INFERENCE_BATCH: usize = 8192;

/// Smaller inference batches are padded to this size.
const MIN_INFERENCE_BATCH: usize = 64;

/// A network, its optimizer and its training set on a device.
pub(crate) struct TorchEngine {
    net: NetGraph,
    config: CnnConfig,
    /// The precision of the training activations.
    kind: Kind,
    examples: DeviceExamples,
    parameters: ParameterStore,
    /// The moments of the optimizer, each laid out like the flat parameters.
    moments: Vec<Tensor>,
    queue: StepQueue,
    /// The captured training step, if CUDA graphs are in use.
    graph: Option<CudaGraph>,
    /// The fused batch normalization and ReLU, if in use.
    fused: Option<NormRelu>,
    warn: fn(&str),
    step: u64,
    /// Sum of the batch losses since the statistics were last read, on the device.
    loss: Tensor,
    /// Number of top-1 hits since then, on the device.
    hits: Tensor,
    /// Number of examples since then.
    examples_seen: u64,
}

/// Converts an error of libtorch; only its first line is informative.
fn engine_error(error: TchError) -> EngineError {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default().to_owned();
    match text.contains("out of memory") {
        true => EngineError::Memory(first),
        false => EngineError::Device(first),
    }
}

impl TorchEngine {
    /// Creates a network with random initial weights: on the first GPU, in bfloat16 where that is
    /// safe, or on the CPU in single precision.
    pub(crate) fn new(
        net: &NetGraph,
        config: CnnConfig,
        training_set: &TrainingSet,
        &TorchDevice { cuda, cuda_graphs, fused_norm_relu, warn }: &TorchDevice,
    ) -> Result<TorchEngine, EngineError> {
        if cuda && !tch::Cuda::is_available() {
            let reason = "libtorch found no CUDA GPU. Check the driver and that libtorch_cuda is on \
                          the library path, or use --device cpu.";
            return Err(EngineError::Missing(reason.to_owned()));
        }
        let (device, kind) = match cuda {
            true => (Device::Cuda(0), Kind::BFloat16),
            false => (Device::Cpu, Kind::Float),
        };
        if cuda {
            tch::Cuda::cudnn_set_benchmark(true);
        }
        tch::manual_seed(config.seed as i64);
        let build = || -> Result<TorchEngine, TchError> {
            let parameters = ParameterStore::new(net, device, kind)?;
            let zero = || Tensor::f_zeros([0i64; 0], (Kind::Float, device));
            let moment = |_| parameters.flat.f_zeros_like();
            let steps = (EXAMPLES_PER_CALL / config.batch_size.max(1)).clamp(1, MAX_STEPS_PER_CALL);
            Ok(TorchEngine {
                net: net.clone(),
                config,
                kind,
                examples: DeviceExamples::new(training_set, net.input().planes(), device)?,
                moments: (0..config.optimizer.moments()).map(moment).collect::<Result<_, _>>()?,
                parameters,
                queue: StepQueue::new(steps, config.batch_size, device)?,
                graph: None,
                fused: None,
                warn,
                step: 0,
                loss: zero()?,
                hits: zero()?,
                examples_seen: 0,
            })
        };
        let mut engine = build().map_err(engine_error)?;
        if cuda && cuda_graphs {
            match CudaGraph::new() {
                Ok(graph) => engine.graph = Some(graph),
                Err(error) => {
                    warn(&format!("CUDA graphs are unavailable, training is slower: {error}"));
                }
            }
        }
        if cuda && fused_norm_relu {
            match NormRelu::new(device) {
                Ok(fused) => engine.fused = Some(fused),
                Err(error) => {
                    let text = error.to_string();
                    let first = text.lines().next().unwrap_or_default();
                    warn(&format!(
                        "fused batch normalization and ReLU are unavailable, training is slower: \
                         {first}"
                    ));
                }
            }
        }
        engine.set_weights(&Weights::init(net, config.seed)).map_err(engine_error)?;
        Ok(engine)
    }

    fn set_weights(&mut self, weights: &Weights) -> Result<(), TchError> {
        let _guard = tch::no_grad_guard();
        let mut flat = self.parameters.flat.shallow_clone();
        self.parameters.load(weights.values(), &mut flat, true)?;
        self.parameters.refresh()
    }

    /// Queues steps and executes them, with the CUDA graph if there is one.
    fn take_steps(
        &mut self,
        indices: &[u32],
        learning_rates: &[f64],
        mut graph: Option<&mut CudaGraph>,
    ) -> Result<(), TchError> {
        let capacity = self.queue.capacity();
        let batches = indices.chunks(capacity * self.config.batch_size.max(1));
        for (indices, learning_rates) in batches.zip(learning_rates.chunks(capacity)) {
            self.queue.fill(indices, learning_rates, self.step + 1)?;
            for _ in learning_rates {
                let warn = self.warn;
                match &mut graph {
                    Some(graph) => graph.step(|| self.take_step(), warn)?,
                    None => self.take_step()?,
                }
                self.step += 1;
            }
        }
        Ok(())
    }

    /// Executes the next step of the queue. It uses the same device memory every time and never
    /// synchronizes with the host, so that it can be captured.
    fn take_step(&mut self) -> Result<(), TchError> {
        let (indices, scalars) = self.queue.next()?;
        let (planes, targets) = self.examples.batch(&indices, self.kind)?;
        let leaves = &self.parameters.leaves;
        let logits = forward(&self.net, leaves, planes, true, self.fused.as_ref())?;
        let smoothing = f64::from(self.config.label_smoothing);
        let loss = logits.f_cross_entropy_loss(
            &targets,
            None::<Tensor>,
            Reduction::Mean,
            -100,
            smoothing,
        )?;
        let trainable = self.parameters.trainable();
        let gradients = Tensor::f_run_backward(&[&loss], &trainable, false, false)?;
        let _guard = tch::no_grad_guard();
        self.parameters.gather(&gradients)?;
        self.update(&scalars)?;
        self.parameters.refresh()?;
        let hits = logits.f_argmax(1, false)?.f_eq_tensor(&targets)?.f_sum(Kind::Float)?;
        let _ = self.hits.f_add_(&hits)?;
        let _ = self.loss.f_add_(&loss.f_detach()?)?;
        Ok(())
    }

    /// Applies the optimizer to the part of the flat vector with weight decay and to the rest.
    fn update(&mut self, [learning_rate, step]: &[Tensor; 2]) -> Result<(), TchError> {
        let (decayed, all) = (self.parameters.decayed, self.parameters.flat.size()[0]);
        let ranges = [(0, decayed, self.config.weight_decay), (decayed, all - decayed, 0.0)];
        for (from, length, decay) in ranges {
            if length == 0 {
                continue;
            }
            let range = |whole: &Tensor| whole.f_narrow(0, from, length);
            let weights = range(&self.parameters.flat)?;
            let gradient = range(&self.parameters.gradient)?;
            match (self.config.optimizer, &self.moments[..]) {
                (Optimizer::Sgd { momentum, nesterov }, [velocity]) => {
                    let tensors = [&weights, &gradient, &range(velocity)?];
                    shim::sgd(tensors, learning_rate, decay, (momentum, nesterov))?;
                }
                (Optimizer::AdamW { beta1, beta2 }, [mean, square]) => {
                    let tensors = [&weights, &gradient, &range(mean)?, &range(square)?];
                    shim::adamw(tensors, [learning_rate, step], decay, (beta1, beta2))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn infer(&self, words: &[u64]) -> Result<Vec<f32>, TchError> {
        let _guard = tch::no_grad_guard();
        let planes = self.net.input().planes();
        let mut all = Vec::with_capacity(words.len() / planes * CLASSES);
        for words in words.chunks(MAX_INFERENCE_BATCH * planes) {
            let count = words.len() / planes;
            // cuDNN benchmarks its kernels for every new batch size, so batches are padded with
            // empty boards to one of a few sizes.
            let padded = count.next_power_of_two().max(MIN_INFERENCE_BATCH);
            let mut boards = words.to_vec();
            boards.resize(padded * planes, 0);
            let x = self.examples.decode(&boards, Kind::Float)?;
            let logits = forward(&self.net, &self.parameters.full, x, false, None)?;
            let logits = logits.f_narrow(0, 0, count as i64)?.f_to_device(Device::Cpu)?;
            let mut batch = vec![0.0f32; count * CLASSES];
            let length = batch.len();
            logits.f_contiguous()?.f_copy_data(&mut batch, length)?;
            all.extend(batch);
        }
        Ok(all)
    }
}

impl Engine for TorchEngine {
    fn train_steps(&mut self, indices: &[u32], learning_rates: &[f64]) -> Result<(), EngineError> {
        let taken = match self.graph.take() {
            Some(mut graph) => {
                let taken =
                    graph.on_stream(|graph| self.take_steps(indices, learning_rates, Some(graph)));
                self.graph = Some(graph);
                taken
            }
            None => self.take_steps(indices, learning_rates, None),
        };
        taken.map_err(engine_error)?;
        self.examples_seen += indices.len() as u64;
        Ok(())
    }

    fn examples_per_call(&self) -> usize {
        EXAMPLES_PER_CALL
    }

    fn take_stats(&mut self) -> Result<BatchStats, EngineError> {
        let mut read = || -> Result<BatchStats, TchError> {
            let loss = self.loss.f_double_value(&[])? * self.config.batch_size as f64;
            let hits = self.hits.f_double_value(&[])?;
            let _ = self.loss.f_zero_()?;
            let _ = self.hits.f_zero_()?;
            Ok(BatchStats { examples: std::mem::take(&mut self.examples_seen), loss, hits })
        };
        read().map_err(engine_error)
    }

    fn logits(&mut self, words: &[u64]) -> Result<Vec<f32>, EngineError> {
        self.infer(words).map_err(engine_error)
    }

    fn state(&mut self) -> Result<TrainState, EngineError> {
        let weights = self.parameters.weights(&self.net).map_err(engine_error)?;
        // The shapes are right, so an error means that a weight is not finite.
        let weights = weights.map_err(|_| EngineError::Diverged(self.step))?;
        let moments: Result<Vec<_>, TchError> =
            self.moments.iter().map(|moment| self.parameters.save(moment, false)).collect();
        Ok(TrainState { step: self.step, weights, moments: moments.map_err(engine_error)? })
    }

    fn restore(&mut self, state: &TrainState) -> Result<(), EngineError> {
        Weights::new(&self.net, state.weights.values().to_vec())?;
        self.set_weights(&state.weights).map_err(engine_error)?;
        for (moment, values) in self.moments.iter_mut().zip(&state.moments) {
            self.parameters.load(values, moment, false).map_err(engine_error)?;
        }
        self.step = state.step;
        // A resumed run must not repeat the dropout masks of the first steps.
        tch::manual_seed(self.config.seed.wrapping_add(state.step) as i64);
        Ok(())
    }
}
