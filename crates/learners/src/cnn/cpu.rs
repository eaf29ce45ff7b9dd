//! Learning on the CPU.

use super::{Engine, EngineError, Optimizer, Plan, Seen, State, TrainingSet};
use outflank_games::othello::Symmetry;
use outflank_models::nets::{CpuNet, NetGraph, Role, BufferPool, Weights, classes_of, forward_backward};
use rayon::prelude::*;

/// How far a running mean or variance follows that of each batch.
pub const FOLLOW: f32 = 0.1;

/// A network and its examples in the machine's own memory.
pub struct CpuEngine {
    net: NetGraph,
    plan: Plan,
    study: TrainingSet,
    state: State,
    seen: Seen,
    /// Where classes go under each symmetry.
    classes: [[usize; outflank_models::nets::CLASSES]; 8],
    /// The network as it answers, until it learns on.
    answers: Option<CpuNet>,
    /// What a step needs, kept for the next.
    space: BufferPool,
}

impl CpuEngine {
    /// A network at its start.
    #[must_use]
    pub fn new(net: &NetGraph, plan: Plan, study: TrainingSet) -> CpuEngine {
        let weights = Weights::init(net, plan.seed);
        CpuEngine {
            net: net.clone(),
            plan,
            study,
            state: State::start(net, weights, plan.optimizer),
            seen: Seen::default(),
            classes: Symmetry::ALL.map(classes_of),
            answers: None,
            space: BufferPool::default(),
        }
    }

    fn batch(&self, places: &[u32]) -> (Vec<u64>, Vec<u8>) {
        let planes = self.net.input().planes();
        let mut words = Vec::with_capacity(places.len() * planes);
        let mut targets = Vec::with_capacity(places.len());
        for &place in places {
            let item = self.study.items[place as usize];
            let (at, symmetry) = ((item / 8) as usize, (item % 8) as usize);
            let own = &self.study.words[at * planes..(at + 1) * planes];
            words.extend(own.iter().map(|&word| Symmetry::ALL[symmetry].bits(word)));
            let target = usize::from(self.study.targets[at]);
            targets.push(self.classes[symmetry][target] as u8);
        }
        (words, targets)
    }

    fn step(&mut self, places: &[u32], rate: f64) -> Result<(), EngineError> {
        let (words, targets) = self.batch(places);
        let name = (self.plan.seed, self.state.step);
        let batch = (&words[..], &targets[..]);
        let (weights, smoothing) = (&self.state.weights, self.plan.smoothing);
        let learned = forward_backward(&self.net, weights, batch, name, smoothing, &mut self.space);
        self.seen.examples += places.len() as u64;
        self.seen.loss += learned.loss * places.len() as f64;
        self.seen.hits += learned.hits as f64;
        self.state.step += 1;
        if !learned.loss.is_finite() {
            return Err(EngineError::Diverged(self.state.step));
        }
        let step = self.state.step;
        let values = self.state.weights.values_mut();
        for (at, (values, param)) in values.zip(self.net.params()).enumerate() {
            let gradient = &learned.gradient[at];
            let mut moments = self.state.moments.iter_mut().map(|moment| &mut moment[at][..]);
            let moments = (moments.next().unwrap_or_default(), moments.next().unwrap_or_default());
            match param.role {
                Role::RunningMean | Role::RunningVariance => {
                    // A running variance is that of the whole, of which a batch is a sample.
                    let whole = match param.role {
                        Role::RunningVariance => {
                            let cells = self.net.nodes()[param.node].shape.cells();
                            let count = (places.len() * cells) as f32;
                            count / (count - 1.0).max(1.0)
                        }
                        _ => 1.0,
                    };
                    for (value, new) in values.iter_mut().zip(gradient) {
                        *value += FOLLOW * (whole * new - *value);
                    }
                }
                role => {
                    let decay = self.plan.weight_decay_for(role) as f32;
                    update(self.plan.optimizer, values, gradient, moments, (rate, decay, step));
                }
            }
        }
        learned.gradient.into_iter().for_each(|block| self.space.release(block));
        self.answers = None;
        Ok(())
    }
}

/// So many weights are a thread's at a time.
const PART: usize = 1 << 13;

/// A step of the optimizer for one parameter; what it does not remember is empty.
fn update(
    optimizer: Optimizer,
    values: &mut [f32],
    gradient: &[f32],
    (first, second): (&mut [f32], &mut [f32]),
    (rate, decay, step): (f64, f32, u64),
) {
    let parts = values.par_chunks_mut(PART).zip(gradient.par_chunks(PART));
    let parts = parts.zip(first.par_chunks_mut(PART));
    let rate = rate as f32;
    match optimizer {
        Optimizer::Sgd { momentum, nesterov } => {
            let momentum = momentum as f32;
            parts.for_each(|((values, gradient), velocities)| {
                for ((value, gradient), velocity) in values.iter_mut().zip(gradient).zip(velocities)
                {
                    let gradient = gradient + decay * *value;
                    *velocity = momentum * *velocity + gradient;
                    let by = if nesterov { gradient + momentum * *velocity } else { *velocity };
                    *value -= rate * by;
                }
            });
        }
        Optimizer::AdamW { first, second: slow } => {
            let correct = |slow: f64| 1.0 - libm::pow(slow, step as f64);
            let (c1, c2) = (correct(first) as f32, correct(slow) as f32);
            let (first, slow) = (first as f32, slow as f32);
            parts.zip(second.par_chunks_mut(PART)).for_each(|(parts, squares)| {
                let ((values, gradient), means) = parts;
                let moments = means.iter_mut().zip(squares);
                for ((value, gradient), (mean, square)) in
                    values.iter_mut().zip(gradient).zip(moments)
                {
                    *mean += (1.0 - first) * (gradient - *mean);
                    *square += (1.0 - slow) * (gradient * gradient - *square);
                    let by = *mean / c1 / ((*square / c2).sqrt() + 1e-8);
                    *value -= rate * (by + decay * *value);
                }
            });
        }
    }
}

impl Engine for CpuEngine {
    fn learn(&mut self, places: &[u32], rates: &[f64]) -> Result<(), EngineError> {
        let batch = places.len() / rates.len().max(1);
        for (places, &rate) in places.chunks(batch.max(1)).zip(rates) {
            self.step(places, rate)?;
        }
        Ok(())
    }

    fn at_a_time(&self) -> usize {
        self.plan.batch
    }

    fn seen(&mut self) -> Result<Seen, EngineError> {
        Ok(std::mem::take(&mut self.seen))
    }

    fn logits(&mut self, words: &[u64]) -> Result<Vec<f32>, EngineError> {
        let cpu = self.answers.get_or_insert_with(|| CpuNet::new(&self.net, &self.state.weights));
        let planes = self.net.input().planes();
        Ok(words.chunks(256 * planes).flat_map(|words| cpu.logits(words)).collect())
    }

    fn state(&mut self) -> Result<State, EngineError> {
        Ok(self.state.clone())
    }

    fn restore(&mut self, state: &State) -> Result<(), EngineError> {
        Weights::new(&self.net, state.weights.values().to_vec())?;
        self.state = state.clone();
        self.answers = None;
        Ok(())
    }
}
