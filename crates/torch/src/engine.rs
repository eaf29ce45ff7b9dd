//! Learning with libtorch.

use crate::ahead::Ahead;
use crate::decode::Examples;
use crate::forward::forward;
use crate::graph::Graph;
use crate::norm_relu::NormRelu;
use crate::store::Store;
use crate::{TorchDevice, shim};
use outflank_learners::cnn::{Engine, EngineError, Optimizer, CnnConfig, BatchStats, TrainState, TrainingSet};
use outflank_models::nets::{CLASSES, NetGraph, Weights};
use tch::{Device, Kind, Reduction, TchError, Tensor};

/// So many examples are handed over at a time: the device is waited for once in so many.
const AT_A_TIME: usize = 1 << 18;

/// Nor more steps than these.
const MOST: usize = 256;

/// So many positions are answered at a time.
const ANSWERED: usize = 8192;

/// Fewer are filled up to this.
const FEWEST: usize = 64;

/// A network and its examples on a device.
pub struct TorchEngine {
    net: NetGraph,
    plan: CnnConfig,
    kind: Kind,
    examples: Examples,
    store: Store,
    moments: Vec<Tensor>,
    ahead: Ahead,
    /// Where steps are recorded rather than named operation by operation.
    graph: Option<Graph>,
    /// Where normalisation and the ReLU after it are one operation.
    fused: Option<NormRelu>,
    say: fn(&str),
    step: u64,
    /// Sums on the device since somebody asked: losses of batches and hits.
    loss: Tensor,
    hits: Tensor,
    seen: u64,
}

fn failed(error: TchError) -> EngineError {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default().to_owned();
    match text.contains("out of memory") {
        true => EngineError::Memory(first),
        false => EngineError::Device(first),
    }
}

impl TorchEngine {
    /// A network at its start on the first graphics processor, in half precision where that is safe;
    /// or on the CPU, in single precision.
    pub fn new(
        net: &NetGraph,
        plan: CnnConfig,
        study: &TrainingSet,
        &TorchDevice { gpu, graphs, fused, say }: &TorchDevice,
    ) -> Result<TorchEngine, EngineError> {
        if gpu && !tch::Cuda::is_available() {
            let why = "libtorch sees no graphics processor; check the driver and that libtorch_cuda \
                       is on the library path, or learn with --device cpu";
            return Err(EngineError::Missing(why.to_owned()));
        }
        let (device, kind) = match gpu {
            true => (Device::Cuda(0), Kind::BFloat16),
            false => (Device::Cpu, Kind::Float),
        };
        if gpu {
            tch::Cuda::cudnn_set_benchmark(true);
        }
        tch::manual_seed(plan.seed as i64);
        let build = || -> Result<TorchEngine, TchError> {
            let store = Store::new(net, device, kind)?;
            let zeros = || Tensor::f_zeros([0i64; 0], (Kind::Float, device));
            let moment = |_| store.flat.f_zeros_like();
            let rows = (AT_A_TIME / plan.batch.max(1)).clamp(1, MOST);
            Ok(TorchEngine {
                net: net.clone(),
                plan,
                kind,
                examples: Examples::new(study, net.input().planes(), device)?,
                moments: (0..plan.optimizer.moments()).map(moment).collect::<Result<_, _>>()?,
                store,
                ahead: Ahead::new(rows, plan.batch, device)?,
                graph: None,
                fused: None,
                say,
                step: 0,
                loss: zeros()?,
                hits: zeros()?,
                seen: 0,
            })
        };
        let mut engine = build().map_err(failed)?;
        if gpu && graphs {
            match Graph::new() {
                Ok(graph) => engine.graph = Some(graph),
                Err(error) => say(&format!("steps cannot be recorded: {error}")),
            }
        }
        if gpu && fused {
            match NormRelu::new(device) {
                Ok(fused) => engine.fused = Some(fused),
                Err(error) => {
                    let text = error.to_string();
                    let first = text.lines().next().unwrap_or_default();
                    say(&format!(
                        "normalisation and ReLU stay two operations, which is slower: {first}"
                    ));
                }
            }
        }
        engine.set_weights(&Weights::init(net, plan.seed)).map_err(failed)?;
        Ok(engine)
    }

    fn set_weights(&mut self, weights: &Weights) -> Result<(), TchError> {
        let _guard = tch::no_grad_guard();
        let mut flat = self.store.flat.shallow_clone();
        self.store.load(weights.values(), &mut flat, true)?;
        self.store.refresh()
    }

    /// Lays out steps and takes them, by the recording where there is one.
    fn take_steps(
        &mut self,
        places: &[u32],
        rates: &[f64],
        mut graph: Option<&mut Graph>,
    ) -> Result<(), TchError> {
        let rows = self.ahead.rows();
        let batches = places.chunks(rows * self.plan.batch.max(1));
        for (places, rates) in batches.zip(rates.chunks(rows)) {
            self.ahead.lay_out(places, rates, self.step + 1)?;
            for _ in rates {
                let say = self.say;
                match &mut graph {
                    Some(graph) => graph.step(|| self.take_step(), say)?,
                    None => self.take_step()?,
                }
                self.step += 1;
            }
        }
        Ok(())
    }

    /// The next step. It reads and writes the same memory of the device every time and never asks it
    /// for a number, so that it can be recorded.
    fn take_step(&mut self) -> Result<(), TchError> {
        let (places, terms) = self.ahead.next()?;
        let (planes, targets) = self.examples.batch(&places, self.kind)?;
        let logits = forward(&self.net, &self.store.leaves, planes, true, self.fused.as_ref())?;
        let smoothing = f64::from(self.plan.smoothing);
        let loss = logits.f_cross_entropy_loss(
            &targets,
            None::<Tensor>,
            Reduction::Mean,
            -100,
            smoothing,
        )?;
        let gradients = Tensor::f_run_backward(&[&loss], &self.store.learned(), false, false)?;
        let _guard = tch::no_grad_guard();
        self.store.gather(&gradients)?;
        self.update(&terms)?;
        self.store.refresh()?;
        let hits = logits.f_argmax(1, false)?.f_eq_tensor(&targets)?.f_sum(Kind::Float)?;
        let _ = self.hits.f_add_(&hits)?;
        let _ = self.loss.f_add_(&loss.f_detach()?)?;
        Ok(())
    }

    /// A step of the optimizer: the part of the long vector that is pulled toward zero, and the rest.
    fn update(&mut self, [rate, step]: &[Tensor; 2]) -> Result<(), TchError> {
        let (decaying, all) = (self.store.decaying, self.store.flat.size()[0]);
        let parts = [(0, decaying, self.plan.decay), (decaying, all - decaying, 0.0)];
        for (from, length, decay) in parts {
            if length == 0 {
                continue;
            }
            let part = |whole: &Tensor| whole.f_narrow(0, from, length);
            let (weights, gradient) = (part(&self.store.flat)?, part(&self.store.gradient)?);
            match (self.plan.optimizer, &self.moments[..]) {
                (Optimizer::Sgd { momentum, nesterov }, [velocity]) => {
                    let of = [&weights, &gradient, &part(velocity)?];
                    shim::sgd(of, rate, decay, (momentum, nesterov))?;
                }
                (Optimizer::AdamW { first, second }, [mean, square]) => {
                    let of = [&weights, &gradient, &part(mean)?, &part(square)?];
                    shim::adamw(of, [rate, step], decay, (first, second))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn answer(&self, words: &[u64]) -> Result<Vec<f32>, TchError> {
        let _guard = tch::no_grad_guard();
        let planes = self.net.input().planes();
        let mut answers = Vec::with_capacity(words.len() / planes * CLASSES);
        for words in words.chunks(ANSWERED * planes) {
            let asked = words.len() / planes;
            // cuDNN looks for its quickest kernels anew for every number of positions: empty boards fill
            // up to one of a few.
            let filled = asked.next_power_of_two().max(FEWEST);
            let mut boards = words.to_vec();
            boards.resize(filled * planes, 0);
            let x = self.examples.decode(&boards, Kind::Float)?;
            let logits = forward(&self.net, &self.store.full, x, false, None)?;
            let logits = logits.f_narrow(0, 0, asked as i64)?.f_to_device(Device::Cpu)?;
            let mut part = vec![0.0f32; asked * CLASSES];
            let count = part.len();
            logits.f_contiguous()?.f_copy_data(&mut part, count)?;
            answers.extend(part);
        }
        Ok(answers)
    }
}

impl Engine for TorchEngine {
    fn learn(&mut self, places: &[u32], rates: &[f64]) -> Result<(), EngineError> {
        let taken = match self.graph.take() {
            Some(mut graph) => {
                let taken = graph.within(|graph| self.take_steps(places, rates, Some(graph)));
                self.graph = Some(graph);
                taken
            }
            None => self.take_steps(places, rates, None),
        };
        taken.map_err(failed)?;
        self.seen += places.len() as u64;
        Ok(())
    }

    fn at_a_time(&self) -> usize {
        AT_A_TIME
    }

    fn seen(&mut self) -> Result<BatchStats, EngineError> {
        let mut read = || -> Result<BatchStats, TchError> {
            let loss = self.loss.f_double_value(&[])? * self.plan.batch as f64;
            let hits = self.hits.f_double_value(&[])?;
            let _ = self.loss.f_zero_()?;
            let _ = self.hits.f_zero_()?;
            Ok(BatchStats { examples: std::mem::take(&mut self.seen), loss, hits })
        };
        read().map_err(failed)
    }

    fn logits(&mut self, words: &[u64]) -> Result<Vec<f32>, EngineError> {
        self.answer(words).map_err(failed)
    }

    fn state(&mut self) -> Result<TrainState, EngineError> {
        let weights = self.store.weights(&self.net).map_err(failed)?;
        // Their shapes are right: some are no numbers.
        let weights = weights.map_err(|_| EngineError::Diverged(self.step))?;
        let moments: Result<Vec<_>, TchError> =
            self.moments.iter().map(|moment| self.store.save(moment, false)).collect();
        Ok(TrainState { step: self.step, weights, moments: moments.map_err(failed)? })
    }

    fn restore(&mut self, state: &TrainState) -> Result<(), EngineError> {
        Weights::new(&self.net, state.weights.values().to_vec())?;
        self.set_weights(&state.weights).map_err(failed)?;
        for (moment, values) in self.moments.iter_mut().zip(&state.moments) {
            self.store.load(values, moment, false).map_err(failed)?;
        }
        self.step = state.step;
        // Dropout does not begin again with the draws of the first sitting.
        tch::manual_seed(self.plan.seed.wrapping_add(state.step) as i64);
        Ok(())
    }
}
