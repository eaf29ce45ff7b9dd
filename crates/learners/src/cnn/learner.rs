//! A convolutional network as a learner: one step is a call of the engine, which takes several
//! optimizer steps. The budget is counted in optimizer steps.

use super::{BatchStats, CnnConfig, Engine, EngineError, EpochOrder, TrainState};
use crate::training::encoding::{f32_bytes, f32_numbers, mismatch};
use crate::training::{Learner, MetricColumn, StepError, TrainingCounts};
use outflank_models::files::{ModelError, Origin, SaveModel, write_policy};
use outflank_models::nets::{NetGraph, Weights};
use outflank_runs::files;
use serde::{Deserialize, Serialize};
use std::cell::{RefCell, RefMut};
use std::path::Path;
use std::time::{Duration, Instant};

/// Calls of the engine before its speed is measured.
const WARMUP_CALLS: u64 = 4;

/// How long the speed is measured before the number of steps is chosen.
const SPEED_MEASUREMENT: Duration = Duration::from_secs(5);

/// Share of the remaining time that is planned for steps.
const PLANNED_SHARE: f64 = 0.985;

/// Maximum number of optimizer steps per call of the engine.
const MAX_STEPS_PER_CALL: usize = 256;

/// The length of a training run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CnnBudget {
    /// Number of epochs; `None` plans as many as fit into the time limit.
    pub epochs: Option<f64>,
    /// Time limit of this call. If the number of steps is planned from it, the run may exceed it by
    /// 5%.
    pub time_limit: Option<Duration>,
}

/// An error of [`CnnLearner::new`].
#[derive(Debug, thiserror::Error)]
pub enum CnnError {
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The training set is smaller than one batch.
    #[error(
        "{0} training examples are fewer than one batch. Give more games or a smaller --batch-size."
    )]
    TooFewExamples(usize),
    /// The budget has no limit.
    #[error("no training budget. Set --epochs or --time-limit.")]
    NoBudget,
}

/// A trained network, with the precision of its file.
#[derive(Clone, Debug, PartialEq)]
pub struct CnnModel {
    /// The network.
    pub net: NetGraph,
    /// The weights.
    pub weights: Weights,
    /// Whether the file stores half-precision weights.
    pub half: bool,
}

impl SaveModel for CnnModel {
    const EXTENSION: &'static str = "safetensors";

    fn save(&self, path: &Path, origin: &Origin) -> Result<(), ModelError> {
        let bytes = write_policy(&self.net, &self.weights, origin, self.half)
            .map_err(|reason| ModelError::Content { path: path.to_owned(), reason })?;
        Ok(files::write(path, &bytes)?)
    }
}

/// A network in training.
pub struct CnnLearner {
    engine: RefCell<Box<dyn Engine>>,
    net: NetGraph,
    config: CnnConfig,
    budget: CnnBudget,
    half: bool,
    examples: usize,
    steps_per_epoch: u64,
    steps_per_call: u64,
    /// Optimizer steps taken, and steps planned or 0.
    step: u64,
    steps: u64,
    /// The current epoch and its order.
    order: (u64, EpochOrder),
    /// Statistics since the last call of [`Learner::metrics`].
    stats: RefCell<BatchStats>,
    started: Instant,
    /// Training time of earlier calls in seconds.
    earlier_seconds: f64,
    /// Time and step at which the measurement of the speed began.
    speed_from: Option<(Instant, u64)>,
}

/// The numbers of a state besides weights and moments.
#[derive(Serialize, Deserialize)]
struct CnnHeader {
    step: u64,
    steps: u64,
    seconds: f64,
    stats: (u64, f64, f64),
}

impl CnnLearner {
    /// Creates a learner on an engine with its initial weights and `examples` training examples.
    pub fn new(
        engine: Box<dyn Engine>,
        net: &NetGraph,
        config: CnnConfig,
        examples: usize,
        budget: CnnBudget,
    ) -> Result<CnnLearner, CnnError> {
        let steps_per_epoch = (examples / config.batch_size.max(1)) as u64;
        if steps_per_epoch == 0 {
            return Err(CnnError::TooFewExamples(examples));
        }
        let steps_per_call =
            (engine.examples_per_call() / config.batch_size).clamp(1, MAX_STEPS_PER_CALL) as u64;
        let planned = |epochs: f64| (epochs * steps_per_epoch as f64).ceil().max(1.0) as u64;
        Ok(CnnLearner {
            engine: RefCell::new(engine),
            net: net.clone(),
            config,
            budget,
            half: true,
            examples,
            steps_per_epoch,
            steps_per_call,
            step: 0,
            steps: budget.epochs.map_or(0, planned),
            order: (u64::MAX, EpochOrder::new(1, 0, 0)),
            stats: RefCell::default(),
            started: Instant::now(),
            earlier_seconds: 0.0,
            speed_from: None,
        })
    }

    /// Stores weights in files in single precision.
    #[must_use]
    pub fn single_precision(mut self) -> CnnLearner {
        self.half = false;
        self
    }

    /// Returns the budget in optimizer steps; `u64::MAX` while it is not known.
    #[must_use]
    pub fn budget(&self) -> u64 {
        if self.steps > 0 { self.steps } else { u64::MAX }
    }

    /// Returns the number of optimizer steps planned; 0 while it is not known.
    #[must_use]
    pub fn planned_steps(&self) -> u64 {
        self.steps
    }

    /// Returns the number of optimizer steps of an epoch.
    #[must_use]
    pub fn steps_per_epoch(&self) -> u64 {
        self.steps_per_epoch
    }

    /// Returns the training time in seconds, earlier calls included.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.earlier_seconds + self.started.elapsed().as_secs_f64()
    }

    /// Returns the engine.
    pub fn engine(&self) -> RefMut<'_, Box<dyn Engine>> {
        self.engine.borrow_mut()
    }

    /// Returns for each training example whether a step has used it.
    #[must_use]
    pub fn seen(&self) -> Vec<bool> {
        let mut seen = vec![false; self.examples];
        let mut missing = self.examples;
        let batch = self.config.batch_size as u64;
        for epoch in 0..self.step.div_ceil(self.steps_per_epoch) {
            let steps = (self.step - epoch * self.steps_per_epoch).min(self.steps_per_epoch);
            let order = EpochOrder::new(self.examples, self.config.seed, epoch);
            for position in 0..(steps * batch) as usize {
                let seen = &mut seen[order.at(position) as usize];
                missing -= usize::from(!std::mem::replace(seen, true));
            }
            if missing == 0 {
                break;
            }
        }
        seen
    }

    /// Restores the weights, moments and counters of a checkpoint of version 0.1.
    pub fn restore_state(
        &mut self,
        state: &TrainState,
        steps: u64,
        seconds: f64,
    ) -> Result<(), EngineError> {
        self.engine.get_mut().restore(state)?;
        self.step = state.step;
        if self.budget.epochs.is_none() {
            self.steps = steps;
        }
        self.earlier_seconds = seconds;
        self.started = Instant::now();
        Ok(())
    }

    /// Returns the state of the engine, which must be finite.
    fn engine_state(&self) -> Result<TrainState, String> {
        let state = self.engine.borrow_mut().state().map_err(|error| error.to_string())?;
        match state.is_finite() {
            true => Ok(state),
            false => Err(EngineError::Diverged(self.step).to_string()),
        }
    }

    /// Adds the statistics of the engine to those not yet reported.
    fn read_stats(&self) -> Result<(), EngineError> {
        let new = self.engine.borrow_mut().take_stats()?;
        let mut stats = self.stats.borrow_mut();
        stats.examples += new.examples;
        stats.loss += new.loss;
        stats.hits += new.hits;
        Ok(())
    }

    /// Takes the optimizer steps of one call of the engine.
    fn take_steps(&mut self) -> Result<(), EngineError> {
        let batch_size = self.config.batch_size;
        let count = self.next_cost();
        let mut indices = Vec::with_capacity(count as usize * batch_size);
        for step in self.step..self.step + count {
            let epoch = step / self.steps_per_epoch;
            let first = (step % self.steps_per_epoch) as usize * batch_size;
            if self.order.0 != epoch {
                self.order = (epoch, EpochOrder::new(self.examples, self.config.seed, epoch));
            }
            let order = &self.order.1;
            indices.extend((first..first + batch_size).map(|position| order.at(position)));
        }
        // While the number of steps is unknown, the schedule is at its start.
        let steps = if self.steps > 0 { self.steps } else { u64::MAX };
        let learning_rates: Vec<f64> = (self.step..self.step + count)
            .map(|step| self.config.learning_rate_at(step, steps))
            .collect();
        self.engine.get_mut().train_steps(&indices, &learning_rates)?;
        self.step += count;
        Ok(())
    }

    /// Plans the number of steps from the measured speed, where only a time limit is given.
    fn plan_steps(&mut self) -> Result<(), EngineError> {
        let (0, Some(limit)) = (self.steps, self.budget.time_limit) else { return Ok(()) };
        if self.step < WARMUP_CALLS * self.steps_per_call {
            return Ok(());
        }
        let (from, first) = match self.speed_from {
            Some(start) => start,
            None => {
                // Waits for the device.
                self.read_stats()?;
                *self.speed_from.insert((Instant::now(), self.step))
            }
        };
        if from.elapsed() >= SPEED_MEASUREMENT {
            self.read_stats()?;
            let now = Instant::now();
            let speed = (self.step - first) as f64 / (now - from).as_secs_f64();
            let left = limit.saturating_sub(now - self.started).as_secs_f64();
            self.steps = self.step + (PLANNED_SHARE * speed * left) as u64;
        }
        Ok(())
    }
}

fn failed(error: impl ToString) -> StepError {
    StepError::Failed(error.to_string())
}

/// Rounds a metric, so that it does not depend on where its sum was interrupted.
fn rounded(value: f64, digits: i32) -> f64 {
    let unit = 10f64.powi(digits);
    (value * unit).round() / unit
}

impl Learner for CnnLearner {
    type Model = CnnModel;

    fn spent(&self) -> u64 {
        self.step
    }

    fn next_cost(&self) -> u64 {
        match self.steps {
            0 => self.steps_per_call,
            steps => self.steps_per_call.min(steps.saturating_sub(self.step)).max(1),
        }
    }

    fn planned_budget(&self) -> Option<u64> {
        (self.budget.epochs.is_none() && self.steps > 0).then_some(self.steps)
    }

    fn step(&mut self) -> Result<(), StepError> {
        if self.steps == 0 && self.budget.time_limit.is_none() {
            return Err(failed(CnnError::NoBudget));
        }
        self.take_steps().map_err(failed)?;
        self.plan_steps().map_err(failed)
    }

    fn model(&self) -> Result<CnnModel, StepError> {
        let weights = self.engine_state()?.weights;
        Ok(CnnModel { net: self.net.clone(), weights, half: self.half })
    }

    fn state(&self) -> Result<Vec<Vec<u8>>, String> {
        self.read_stats().map_err(|error| error.to_string())?;
        let state = self.engine_state()?;
        let BatchStats { examples, loss, hits } = *self.stats.borrow();
        let header = CnnHeader {
            step: self.step,
            steps: self.steps,
            seconds: self.seconds(),
            stats: (examples, loss, hits),
        };
        let mut sections = vec![serde_json::to_vec(&header).map_err(|error| error.to_string())?];
        let blocks =
            std::iter::once(state.weights.values()).chain(state.moments.iter().map(Vec::as_slice));
        sections.extend(blocks.flatten().map(|block| f32_bytes(block)));
        Ok(sections)
    }

    fn restore(&mut self, sections: &[Vec<u8>]) -> Result<(), String> {
        let (header, blocks) = sections.split_first().ok_or_else(mismatch)?;
        let CnnHeader { step, steps, seconds, stats: (examples, loss, hits) } =
            serde_json::from_slice(header).map_err(|_| mismatch())?;
        let values: Option<Vec<Vec<f32>>> = blocks.iter().map(|block| f32_numbers(block)).collect();
        let state = TrainState::from_blocks(
            &self.net,
            self.config.optimizer,
            step,
            values.ok_or_else(mismatch)?,
        )?;
        self.restore_state(&state, steps, seconds).map_err(|error| error.to_string())?;
        *self.stats.get_mut() = BatchStats { examples, loss, hits };
        Ok(())
    }

    fn columns(&self) -> Vec<MetricColumn> {
        ["loss", "training accuracy", "learning rate", "epochs"].map(MetricColumn::new).to_vec()
    }

    /// The mean loss in nats per move and the accuracy in percent of the examples since the last
    /// call, each with the weights at that time; the current learning rate; the epochs.
    fn metrics(&mut self) -> Result<Vec<f64>, StepError> {
        self.read_stats().map_err(failed)?;
        let BatchStats { examples, loss, hits } = std::mem::take(self.stats.get_mut());
        let count = examples as f64;
        let loss = loss / count;
        if examples > 0 && !loss.is_finite() {
            return Err(failed(EngineError::Diverged(self.step)));
        }
        let learning_rate = self.config.learning_rate_at(self.step, self.steps.max(1));
        let epochs = self.step as f64 / self.steps_per_epoch as f64;
        Ok(vec![
            rounded(loss, 5),
            rounded(100.0 * hits / count, 3),
            rounded(learning_rate, 9),
            rounded(epochs, 4),
        ])
    }

    fn counts(&self) -> TrainingCounts {
        TrainingCounts {
            examples: Some(self.step * self.config.batch_size as u64),
            epochs: Some(self.step as f64 / self.steps_per_epoch as f64),
        }
    }
}
