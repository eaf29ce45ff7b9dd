//! The training loop: batches, learning rates, metrics, checkpoints and the budget.

use super::{BatchStats, Checkpoint, CheckpointError, CnnConfig, Engine, EngineError, EpochOrder};
use outflank_models::nets::NetGraph;
use outflank_runs::stop_requested;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::{Duration, Instant};

/// Interval at which the loss is read back from the device.
const REPORT_INTERVAL: Duration = Duration::from_secs(10);

/// Factor by which a run may exceed its time limit to finish the steps that were planned for it.
const TIME_LIMIT_GRACE: f64 = 1.05;

/// Calls of the engine before its speed is measured.
const WARMUP_CALLS: u64 = 4;

/// How long the speed is measured before the number of steps is chosen.
const SPEED_MEASUREMENT: Duration = Duration::from_secs(5);

/// Share of the remaining time that is planned for steps.
const PLANNED_SHARE: f64 = 0.985;

/// Maximum number of steps per call of the engine.
const MAX_STEPS_PER_CALL: usize = 256;

/// The budget of a training run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CnnBudget {
    /// Number of epochs; `None` plans as many as fit into the time limit.
    pub epochs: Option<f64>,
    /// Time limit of this run. If the number of steps is planned from it, the run may exceed it by
    /// 5%.
    pub time_limit: Option<Duration>,
    /// Time between checkpoints.
    pub checkpoint_interval: Duration,
}

/// Training metrics since the previous report: a point of the learning curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepMetrics {
    /// Steps taken.
    pub step: u64,
    /// Steps planned; 0 while the number is unknown.
    pub steps: u64,
    /// Epochs completed.
    pub epochs: f64,
    /// Training time in seconds, including earlier runs.
    pub seconds: f64,
    /// Examples per second.
    pub examples_per_second: f64,
    /// Mean loss.
    pub loss: f64,
    /// Training accuracy (top-1) in percent.
    pub accuracy: f64,
    /// Current learning rate.
    pub learning_rate: f64,
}

/// The result of a training run.
#[derive(Clone, Debug, PartialEq)]
pub struct CnnOutcome {
    /// Whether all planned steps were taken.
    pub complete: bool,
    /// Steps taken.
    pub step: u64,
    /// Steps planned.
    pub steps: u64,
    /// Training time in seconds, including earlier runs.
    pub seconds: f64,
}

/// An error of [`train`].
#[derive(Debug, thiserror::Error)]
pub enum CnnError {
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The checkpoint cannot be read or written.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The training set is smaller than one batch.
    #[error(
        "{0} training examples are fewer than one batch. Give more games or a smaller --batch-size."
    )]
    TooFewExamples(usize),
    /// The run has already exceeded the requested epochs.
    #[error(
        "{done:.4} epochs are done, more than the requested {requested}. Omit --epochs, or request more."
    )]
    EpochsExceeded {
        /// Epochs completed.
        done: f64,
        /// Epochs requested.
        requested: f64,
    },
    /// The budget has no limit.
    #[error("no training budget. Set --epochs or --time-limit.")]
    NoBudget,
}

/// Trains until all steps are taken, the time limit is reached, or a stop is requested. Resumes
/// from the checkpoint in `folder`, if there is one.
///
/// `examples` is the size of the training set. `report` receives the metrics about every ten
/// seconds.
pub fn train(
    engine: &mut dyn Engine,
    net: &NetGraph,
    config: &CnnConfig,
    (examples, budget, folder): (usize, &CnnBudget, &Path),
    mut report: impl FnMut(&StepMetrics),
) -> Result<CnnOutcome, CnnError> {
    let mut run = Run::resume(engine, net, config, (examples, budget, folder))?;
    loop {
        let now = Instant::now();
        let done = run.is_done();
        let stop = run.is_over_time(now) || done || stop_requested();
        if let Some(metrics) = run.metrics(now, stop)? {
            report(&metrics);
        }
        run.save_checkpoint(now, stop)?;
        if stop {
            return run.finish(done);
        }
        run.take_steps()?;
        run.plan_steps()?;
    }
}

/// A training run in progress.
struct Run<'a> {
    engine: &'a mut dyn Engine,
    net: &'a NetGraph,
    config: &'a CnnConfig,
    budget: &'a CnnBudget,
    folder: &'a Path,
    examples: usize,
    steps_per_epoch: u64,
    steps_per_call: u64,
    /// Steps taken, and steps planned or 0.
    step: u64,
    steps: u64,
    /// The current epoch and its order.
    order: (u64, EpochOrder),
    started: Instant,
    /// Training time of earlier runs in seconds.
    earlier_seconds: f64,
    time_limit: Option<Duration>,
    /// Time and step of the last report.
    reported: (Instant, u64),
    /// Time and step of the last checkpoint.
    saved: (Instant, u64),
    /// Time and step at which the measurement of the speed began.
    speed_from: Option<(Instant, u64)>,
}

impl<'a> Run<'a> {
    fn resume(
        engine: &'a mut dyn Engine,
        net: &'a NetGraph,
        config: &'a CnnConfig,
        (examples, budget, folder): (usize, &'a CnnBudget, &'a Path),
    ) -> Result<Run<'a>, CnnError> {
        let steps_per_epoch = (examples / config.batch_size.max(1)) as u64;
        if steps_per_epoch == 0 {
            return Err(CnnError::TooFewExamples(examples));
        }
        let (mut step, mut steps, mut earlier_seconds) = (0, 0, 0.0);
        if let Some((checkpoint, state)) =
            Checkpoint::load(folder, net, config.optimizer.moments())?
        {
            engine.restore(&state)?;
            (step, steps, earlier_seconds) =
                (checkpoint.step, checkpoint.steps, checkpoint.seconds);
        }
        if let Some(requested) = budget.epochs {
            let planned = (requested * steps_per_epoch as f64).ceil().max(1.0) as u64;
            if planned < step {
                let done = step as f64 / steps_per_epoch as f64;
                return Err(CnnError::EpochsExceeded { done, requested });
            }
            steps = planned;
        }
        if steps == 0 && budget.time_limit.is_none() {
            return Err(CnnError::NoBudget);
        }
        let started = Instant::now();
        let steps_per_call =
            (engine.examples_per_call() / config.batch_size).clamp(1, MAX_STEPS_PER_CALL) as u64;
        Ok(Run {
            engine,
            net,
            config,
            budget,
            folder,
            examples,
            steps_per_epoch,
            steps_per_call,
            step,
            steps,
            order: (u64::MAX, EpochOrder::new(1, 0, 0)),
            started,
            earlier_seconds,
            time_limit: budget.time_limit,
            reported: (started, step),
            saved: (started, step),
            speed_from: None,
        })
    }

    fn is_over_time(&self, now: Instant) -> bool {
        self.time_limit.is_some_and(|limit| now - self.started >= limit)
    }

    fn is_done(&self) -> bool {
        self.steps > 0 && self.step >= self.steps
    }

    fn seconds(&self, now: Instant) -> f64 {
        self.earlier_seconds + (now - self.started).as_secs_f64()
    }

    /// Returns the metrics since the last report if a report is due.
    fn metrics(&mut self, now: Instant, stop: bool) -> Result<Option<StepMetrics>, CnnError> {
        let (last, since) = self.reported;
        if self.step <= since || !(stop || now - last >= REPORT_INTERVAL) {
            return Ok(None);
        }
        let BatchStats { examples, loss, hits } = self.engine.take_stats()?;
        let count = examples.max(1) as f64;
        let loss = loss / count;
        if !loss.is_finite() {
            return Err(EngineError::Diverged(self.step).into());
        }
        let now = Instant::now();
        self.reported = (now, self.step);
        Ok(Some(StepMetrics {
            step: self.step,
            steps: self.steps,
            epochs: self.step as f64 / self.steps_per_epoch as f64,
            seconds: self.seconds(now),
            examples_per_second: count / (now - last).as_secs_f64().max(1e-9),
            loss,
            accuracy: 100.0 * hits / count,
            learning_rate: self.config.learning_rate_at(self.step, self.steps.max(1)),
        }))
    }

    /// Writes a checkpoint if one is due.
    fn save_checkpoint(&mut self, now: Instant, stop: bool) -> Result<(), CnnError> {
        let (last, since) = self.saved;
        if self.step <= since || !(stop || now - last >= self.budget.checkpoint_interval) {
            return Ok(());
        }
        let state = self.engine.state()?;
        if !state.is_finite() {
            return Err(EngineError::Diverged(self.step).into());
        }
        Checkpoint::save(self.folder, &state, self.steps, self.seconds(Instant::now()))?;
        self.saved = (Instant::now(), self.step);
        Ok(())
    }

    fn finish(self, complete: bool) -> Result<CnnOutcome, CnnError> {
        if self.saved.1 > 0 {
            Checkpoint::verify_last(self.folder, self.net, self.config.optimizer.moments())?;
        }
        let seconds = self.seconds(Instant::now());
        Ok(CnnOutcome { complete, step: self.step, steps: self.steps, seconds })
    }

    /// Takes the steps of one call of the engine.
    fn take_steps(&mut self) -> Result<(), CnnError> {
        let batch_size = self.config.batch_size;
        let count = match self.steps {
            0 => self.steps_per_call,
            steps => self.steps_per_call.min(steps - self.step),
        };
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
        self.engine.train_steps(&indices, &learning_rates)?;
        self.step += count;
        Ok(())
    }

    /// Plans the number of steps from the measured speed, where only a time limit is given.
    fn plan_steps(&mut self) -> Result<(), CnnError> {
        let (0, Some(limit)) = (self.steps, self.budget.time_limit) else { return Ok(()) };
        if self.step < WARMUP_CALLS * self.steps_per_call {
            return Ok(());
        }
        let (from, first) = match self.speed_from {
            Some(start) => start,
            None => {
                let stats = self.engine.take_stats()?;
                debug_assert!(stats.examples > 0);
                self.reported = (Instant::now(), self.step);
                *self.speed_from.insert(self.reported)
            }
        };
        if from.elapsed() >= SPEED_MEASUREMENT {
            self.engine.take_stats()?;
            let now = Instant::now();
            let speed = (self.step - first) as f64 / (now - from).as_secs_f64();
            let left = limit.saturating_sub(now - self.started).as_secs_f64();
            self.steps = self.step + (PLANNED_SHARE * speed * left) as u64;
            // Allow a slightly slower machine to finish the planned steps.
            self.time_limit = Some(limit.mul_f64(TIME_LIMIT_GRACE));
            self.reported = (now, self.step);
        }
        Ok(())
    }
}
