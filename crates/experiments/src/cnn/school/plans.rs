//! How networks learn, in words that are kept beside what they came to: a result is good for as long as
//! networks are still taught so.

use super::super::{
    BATCH, DECAY, LAST_YEAR, MOMENTUM, RATE, SHORT_DECAY, SHORT_MOMENTUM, SHORT_RATE,
    SHORT_RATE_BARE, SHORT_WARMUP, Task, WARMUP,
};
use super::known::Why;
use super::weights::forget;
use super::{Extent, School, failed};
use crate::Scale;
use crate::lab::ExperimentError;
use outflank_learners::cnn::{Checkpoint, Optimizer, CnnConfig, LrSchedule, Split, TrainReport};
use outflank_models::nets::{NetGraph, Op, named};
use outflank_report::text::count;
use outflank_runs::files;
use std::path::Path;

/// The file that says by which plan a checkpoint was come to.
pub(super) const PLAN: &str = "plan.txt";

impl School<'_> {
    /// How a task's network learns; those of a bag differ in all that is chance.
    pub(super) fn plan(&self, net: &NetGraph, task: Task) -> CnnConfig {
        let plan = self.common_plan(net, task);
        task.bag.map_or(plan, |number| plan.ensemble_member(number))
    }

    fn common_plan(&self, net: &NetGraph, task: Task) -> CnnConfig {
        let seed = self.lab.seed;
        if self.lab.scale == Scale::Paper {
            return CnnConfig {
                batch: BATCH,
                rate: RATE,
                schedule: LrSchedule::Halving,
                warmup: WARMUP,
                optimizer: Optimizer::Sgd { momentum: MOMENTUM, nesterov: false },
                decay: DECAY,
                smoothing: 0.0,
                seed,
            };
        }
        // On a CPU there are too few steps to warm up for long, or to recover from large ones.
        let quick = self.lab.device.is_accelerated();
        // Without normalisation a large step is the end of it, and in small batches a very deep network
        // cannot be sure of its beginning either.
        let normalised = net.nodes().iter().any(|node| node.op == Op::BatchNorm);
        let rate = match (normalised, task.quarter) {
            (false, _) => SHORT_RATE_BARE,
            (true, true) => RATE,
            (true, false) if quick => SHORT_RATE,
            (true, false) => SHORT_RATE_BARE,
        };
        // A short way leaves no time to learn too much by heart. What networks of a bag know so they know
        // each in its own way, and their mean does not.
        let short = matches!(self.extent(task), Extent::BatchStats(_));
        let light = short || (task.bag.is_some() && task.in_full);
        CnnConfig {
            batch: self.size_of(task).batch,
            rate,
            schedule: LrSchedule::Cosine,
            warmup: if quick { WARMUP } else { SHORT_WARMUP },
            optimizer: Optimizer::Sgd { momentum: SHORT_MOMENTUM, nesterov: true },
            decay: if light { SHORT_DECAY } else { DECAY },
            smoothing: 0.0,
            seed,
        }
    }

    /// How a task's network learns, but for the seed: those of whom the same is said are alike.
    pub fn way(&self, task: Task) -> Result<String, ExperimentError> {
        let net = named(task.net, task.input.parse().map_err(failed)?).map_err(failed)?;
        let plan = self.plan(&net, task);
        let extent = match self.extent(task) {
            Extent::BatchStats(seen) => format!("{} examples", count(seen)),
            Extent::Passes(1.0) => "1 pass".to_owned(),
            Extent::Passes(passes) => format!("{passes} passes"),
        };
        let split = match self.split(task) {
            Split::Example => ", split by example".to_owned(),
            Split::Game(_) => format!(" of games up to {LAST_YEAR}"),
            Split::Both(_) => format!(" of games up to {LAST_YEAR}, split by example"),
        };
        let schedule = match plan.schedule {
            LrSchedule::Cosine => "along half a cosine",
            LrSchedule::Halving => "halved twelve times",
            LrSchedule::Linear => "along a line",
            LrSchedule::Constant => "throughout",
        };
        let steps = match plan.optimizer {
            Optimizer::Sgd { momentum, nesterov: false } => format!("momentum {momentum}"),
            Optimizer::Sgd { momentum, .. } => format!("momentum {momentum} looking ahead"),
            Optimizer::AdamW { first, second } => format!("AdamW {first} {second}"),
        };
        let smoothing = match plan.smoothing {
            0.0 => String::new(),
            smoothing => format!(", smoothing {smoothing}"),
        };
        Ok(format!(
            "{extent}{split}, in batches of {}, rate {} {schedule} after {} steps of warming up, {steps}, \
             decay {:e}{smoothing}",
            plan.batch, plan.rate, plan.warmup, plan.decay
        ))
    }

    /// How a task's network learns.
    pub(super) fn plan_of(&self, task: Task) -> Result<String, ExperimentError> {
        let net = named(task.net, task.input.parse().map_err(failed)?).map_err(failed)?;
        Ok(format!("{}, seed {}", self.way(task)?, self.plan(&net, task).seed))
    }

    /// Whether a network would still be taught as this one was. If not, says so and, unless none is taught,
    /// removes what was found out by its answers, alone and together with others.
    pub(super) fn is_still_so(&self, task: Task, taught: &TrainReport) -> Result<bool, ExperimentError> {
        let (Some(then), now) = (&taught.plan, self.plan_of(task)?) else { return Ok(true) };
        if *then == now {
            return Ok(true);
        }
        let folder = self.folder(task);
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let otherwise = format!("{name} learned otherwise ({then}) than it would now ({now})");
        if !self.lab.device.can_train() {
            (self.lab.say)(&format!("{otherwise}: it does not count"));
            self.leave_out(Why::Otherwise, &[task]);
            return Ok(false);
        }
        (self.lab.say)(&format!("{otherwise}: teaching it again"));
        forget(&folder)?;
        if task.bag.is_some() {
            // What several found out together lies with the first.
            forget(&self.folder(task.of_bag(1)))?;
        }
        Ok(false)
    }
}

/// Notes the plan of what begins in a folder. A checkpoint of another one is of no use.
pub(super) fn begin(folder: &Path, plan: &str) -> Result<(), ExperimentError> {
    let path = folder.join(PLAN);
    if path.is_file() && files::read(&path, 1 << 20)? != plan.as_bytes() {
        Checkpoint::remove_all(folder).map_err(failed)?;
    }
    Ok(files::write(&path, plan.as_bytes())?)
}
