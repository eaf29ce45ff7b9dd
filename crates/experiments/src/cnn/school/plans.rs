//! How networks learn, in words that are kept beside what they came to: a result is good for as long as
//! networks are still taught so.

use super::super::{LAST_YEAR, Task};
use super::weights::{forget, forget_checkpoint};
use super::{Extent, School, failed};
use crate::lab::ExperimentError;
use outflank_learners::cnn::{Optimizer, Schedule, Split, Taught};
use outflank_models::nets::named;
use outflank_report::text::count;
use outflank_runs::files;
use std::path::Path;

/// The file that says by which plan a checkpoint was come to.
pub(super) const PLAN: &str = "plan.txt";

impl School<'_> {
    /// How a task's network learns, but for the seed: those of whom the same is said are alike.
    pub fn way(&self, task: Task) -> Result<String, ExperimentError> {
        let net = named(task.net, task.input.parse().map_err(failed)?).map_err(failed)?;
        let plan = self.plan(&net, task);
        let extent = match self.extent(task) {
            Extent::Seen(seen) => format!("{} examples", count(seen)),
            Extent::Passes(1.0) => "1 pass".to_owned(),
            Extent::Passes(passes) => format!("{passes} passes"),
        };
        let split = match self.split(task) {
            Split::Example => ", split by example".to_owned(),
            Split::Game(_) => format!(" of games up to {LAST_YEAR}"),
            Split::Both(_) => format!(" of games up to {LAST_YEAR}, split by example"),
        };
        let schedule = match plan.schedule {
            Schedule::Cosine => "along half a cosine",
            Schedule::Halving => "halved twelve times",
            Schedule::Linear => "along a line",
            Schedule::Constant => "throughout",
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

    /// Whether a network would still be taught as this one was. If not, says so and removes what was found
    /// out by its answers, alone and together with others.
    pub(super) fn is_still_so(&self, task: Task, taught: &Taught) -> Result<bool, ExperimentError> {
        let (Some(then), now) = (&taught.plan, self.plan_of(task)?) else { return Ok(true) };
        if *then == now {
            return Ok(true);
        }
        let folder = self.folder(task);
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        (self.lab.say)(&format!(
            "{name} learned otherwise ({then}) than it would now ({now}): teaching it again"
        ));
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
        forget_checkpoint(folder);
    }
    Ok(files::write(&path, plan.as_bytes())?)
}
