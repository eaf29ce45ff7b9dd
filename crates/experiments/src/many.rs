//! Many runs of several methods, as many at a time as there are threads.

use crate::elsewhere;
use crate::lab::{ExperimentError, Lab};
use outflank_learners::training::{Evaluator, Learner, TrainingPlan, TrainingOutcome, train};
use outflank_runs::files::create_folder;
use outflank_runs::{parallel_in_order, stop_requested};
use std::path::Path;

/// Learns every run of every method; gives for each method what came of its runs, in their order.
/// `learn` is told the method and the number of the run, from 0. `sent` names files of the lab's
/// folder that runs need, for those who learn elsewhere.
pub fn learn_all<T: Send>(
    lab: &Lab,
    methods: usize,
    runs: usize,
    sent: &[String],
    learn: impl Fn(usize, usize) -> Result<T, ExperimentError> + Sync,
) -> Result<Vec<Vec<T>>, ExperimentError> {
    let count = methods * runs;
    if let Some(part) = lab.part {
        if part >= count {
            return Err(ExperimentError::Learn(format!("there is no run {part}")));
        }
        learn(part % methods, part / methods)?;
        return Err(ExperimentError::Part);
    }
    if let Some(others) = &lab.elsewhere {
        elsewhere::learn(lab, others, count, sent)?;
    }
    let mut all: Vec<Vec<T>> = (0..methods).map(|_| Vec::with_capacity(runs)).collect();
    let mut failed = None;
    parallel_in_order(
        count,
        lab.threads,
        || (),
        // Run by run, so that a stop leaves all methods equally far.
        |(), job| match stop_requested() {
            true => Err(ExperimentError::Stopped),
            false => learn(job % methods, job / methods),
        },
        |job, result| match result {
            Ok(found) => {
                all[job % methods].push(found);
                (lab.say)(&format!("learned {} of {count}", job + 1));
                true
            }
            Err(error) => {
                failed = Some(error);
                false
            }
        },
    );
    if failed.is_none() && lab.elsewhere.is_some() {
        elsewhere::forget_marks(lab);
    }
    failed.map_or(Ok(all), Err)
}

/// The seed of a run. Runs of different methods share it, so that they begin alike.
pub fn seed_of(lab: &Lab, run: usize) -> u64 {
    lab.seed.wrapping_mul(1000).wrapping_add(run as u64)
}

/// Learns one run to its end, going on from what its folder holds; `name` is for errors.
pub fn learn_one<L: Learner>(
    learner: &mut L,
    gauge: &impl Evaluator<L>,
    plan: &TrainingPlan,
    folder: &Path,
    name: &str,
) -> Result<TrainingOutcome<L::Model>, ExperimentError> {
    create_folder(folder)?;
    let trained = train(learner, gauge, plan, folder, |_| true)
        .map_err(|error| ExperimentError::Learn(format!("{name}: {error}")))?;
    match trained.complete {
        true => Ok(trained),
        false => Err(ExperimentError::Stopped),
    }
}
