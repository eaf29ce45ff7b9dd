//! The loop: batches in their order, steps of their size, checkpoints, and an end.

use super::{Checkpoint, CheckpointError, Engine, EngineError, Order, Plan, Seen};
use outflank_models::nets::NetGraph;
use outflank_runs::stop_requested;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::{Duration, Instant};

/// So often the loss is read back.
const LOOK: Duration = Duration::from_secs(10);

/// How much longer a sitting may last than was asked, when that completes what was made to fit into it.
const GRACE: f64 = 1.05;

/// So long the speed is measured, after a few rounds.
const WARM: u64 = 4;
const MEASURED: Duration = Duration::from_secs(5);

/// How long to learn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// How often each example is seen; nothing makes the passes fit into the minutes.
    pub passes: Option<f64>,
    /// This sitting ends after so much time; a twentieth later at the latest, where the passes were made
    /// to fit into it.
    pub time: Option<Duration>,
    /// So often a checkpoint is written.
    pub checkpoint: Duration,
}

/// A point of the learning curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Steps so far.
    pub step: u64,
    /// Steps in all.
    pub steps: u64,
    /// Passes over the examples so far.
    pub passes: f64,
    /// Seconds spent learning, in all sittings.
    pub seconds: f64,
    /// Examples a second since the last point.
    pub speed: f64,
    /// The mean loss since then.
    pub loss: f64,
    /// The share of moves on top since then, in per cent.
    pub hits: f64,
    /// The rate now.
    pub rate: f64,
}

/// How a sitting ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Trained {
    /// Whether all steps were taken.
    pub complete: bool,
    /// Steps so far.
    pub step: u64,
    /// Steps in all.
    pub steps: u64,
    /// Seconds spent learning, in all sittings.
    pub seconds: f64,
}

/// Why learning ended.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// The device gave up.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The checkpoint cannot be read or written.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// There is less than a batch.
    #[error(
        "there are {0} examples to learn from, less than one batch; give more games or a smaller --batch"
    )]
    Few(usize),
    /// More was learned already than is asked for.
    #[error(
        "{made:.4} passes were made already, more than the {wished} asked for; leave out --passes, or give \
         more to learn on"
    )]
    Fewer {
        /// Passes so far.
        made: f64,
        /// Passes that were asked for.
        wished: f64,
    },
    /// Nobody said how long.
    #[error("say how long to learn, with --passes or --minutes")]
    Endless,
}

/// Learns until all steps are taken, the time is up, or somebody asks to stop; from the folder's
/// checkpoint on, if it has one.
pub fn train(
    engine: &mut dyn Engine,
    net: &NetGraph,
    plan: &Plan,
    (examples, budget, folder): (usize, &Budget, &Path),
    mut report: impl FnMut(&Point),
) -> Result<Trained, TrainError> {
    let per_pass = (examples / plan.batch.max(1)) as u64;
    if per_pass == 0 {
        return Err(TrainError::Few(examples));
    }
    let (mut step, mut steps, mut before) = (0, 0, 0.0);
    if let Some((checkpoint, state)) = Checkpoint::load(folder, net, plan.optimizer.moments())? {
        engine.restore(&state)?;
        (step, steps, before) = (checkpoint.step, checkpoint.steps, checkpoint.seconds);
    }
    let wished = budget.passes.map(|passes| (passes * per_pass as f64).ceil().max(1.0) as u64);
    if let (Some(wished), Some(passes)) = (wished, budget.passes) {
        if wished < step {
            let made = step as f64 / per_pass as f64;
            return Err(TrainError::Fewer { made, wished: passes });
        }
        steps = wished;
    }
    if steps == 0 && budget.time.is_none() {
        return Err(TrainError::Endless);
    }
    let mut kept = step;
    let began = Instant::now();
    let mut end = budget.time;
    let ahead = (engine.at_a_time() / plan.batch).clamp(1, 256) as u64;
    let mut order = (u64::MAX, Order::new(1, 0, 0));
    let (mut looked, mut saved, mut since) = (began, began, step);
    // When the measurement of the speed began, and the step that was then.
    let mut measured: Option<(Instant, u64)> = None;
    let seconds = |now: Instant| before + (now - began).as_secs_f64();
    loop {
        let now = Instant::now();
        let late = end.is_some_and(|time| now - began >= time);
        let done = steps > 0 && step >= steps;
        let stop = late || done || stop_requested();
        if step > since && (stop || now - looked >= LOOK) {
            let Seen { examples: seen, loss, hits } = engine.take_stats()?;
            let count = seen.max(1) as f64;
            let mean = loss / count;
            if !mean.is_finite() {
                return Err(EngineError::Diverged(step).into());
            }
            let now = Instant::now();
            report(&Point {
                step,
                steps,
                passes: step as f64 / per_pass as f64,
                seconds: seconds(now),
                speed: count / (now - looked).as_secs_f64().max(1e-9),
                loss: mean,
                hits: 100.0 * hits / count,
                rate: plan.learning_rate_at(step, steps.max(1)),
            });
            (looked, since) = (now, step);
        }
        if step > kept && (stop || now - saved >= budget.checkpoint) {
            kept = step;
            let state = engine.state()?;
            if !state.is_finite() {
                return Err(EngineError::Diverged(step).into());
            }
            Checkpoint::save(folder, &state, steps, seconds(Instant::now()))?;
            saved = Instant::now();
        }
        if stop {
            if kept > 0 {
                Checkpoint::settle(folder, net, plan.optimizer.moments())?;
            }
            let seconds = seconds(Instant::now());
            return Ok(Trained { complete: done, step, steps, seconds });
        }
        let count = if steps > 0 { ahead.min(steps - step) } else { ahead };
        let mut places = Vec::with_capacity(count as usize * plan.batch);
        for step in step..step + count {
            let (pass, first) = (step / per_pass, (step % per_pass) as usize * plan.batch);
            if order.0 != pass {
                order = (pass, Order::new(examples, plan.seed, pass));
            }
            places.extend((first..first + plan.batch).map(|place| order.1.at(place)));
        }
        // While the number of steps is not known the way has only begun.
        let rates: Vec<f64> = (step..step + count)
            .map(|step| plan.learning_rate_at(step, if steps > 0 { steps } else { u64::MAX }))
            .collect();
        engine.train_steps(&places, &rates)?;
        step += count;
        if let (0, Some(time)) = (steps, budget.time)
            && step >= WARM * ahead
        {
            let (from, first) = match measured {
                Some(measured) => measured,
                None => {
                    let seen = engine.take_stats()?;
                    debug_assert!(seen.examples > 0);
                    (looked, since) = (Instant::now(), step);
                    *measured.insert((looked, step))
                }
            };
            if from.elapsed() >= MEASURED {
                engine.take_stats()?;
                let now = Instant::now();
                let speed = (step - first) as f64 / (now - from).as_secs_f64();
                let left = time.saturating_sub(now - began).as_secs_f64();
                steps = step + (0.985 * speed * left) as u64;
                // A machine that becomes slower by a little is no reason to leave the last steps out.
                end = Some(time.mul_f64(GRACE));
                (looked, since) = (now, step);
            }
        }
    }
}
