//! Repeated training runs of several methods, in parallel.

use crate::context::{ExperimentContext, ExperimentError};
use crate::remote;
use outflank_learners::training::{Evaluator, Learner, Trainer, TrainingOutcome, TrainingPlan};
use outflank_runs::files::create_folder;
use outflank_runs::{parallel_in_order, stop_requested};
use std::path::Path;

/// Trains every run of every method and returns the results of each method in the order of its
/// runs. Returns `None` if it trained only [`ExperimentContext::only_run`].
///
/// `train_run` receives the index of the method and the number of the run. `needed_files` are files
/// in the run folder that the runs read; they are sent to remote workers.
pub fn train_all<T: Send>(
    context: &ExperimentContext,
    methods: usize,
    runs: usize,
    needed_files: &[String],
    train_run: impl Fn(usize, usize) -> Result<T, ExperimentError> + Sync,
) -> Result<Option<Vec<Vec<T>>>, ExperimentError> {
    let count = methods * runs;
    if let Some(run) = context.only_run {
        if run >= count {
            return Err(ExperimentError::Training(format!("run {run} of {count} does not exist")));
        }
        train_run(run % methods, run / methods)?;
        return Ok(None);
    }
    if let Some(remote) = &context.remote {
        remote::train(context, remote, count, needed_files)?;
    }
    let mut all: Vec<Vec<T>> = (0..methods).map(|_| Vec::with_capacity(runs)).collect();
    let mut first_error = None;
    parallel_in_order(
        count,
        context.threads,
        || (),
        // Every method trains its first run before any trains its second, so that after a stop all
        // methods have similar numbers of runs.
        |(), job| match stop_requested() {
            true => Err(ExperimentError::Stopped),
            false => train_run(job % methods, job / methods),
        },
        |job, result| match result {
            Ok(trained) => {
                all[job % methods].push(trained);
                (context.log)(&format!("trained {} of {count} runs", job + 1));
                true
            }
            Err(error) => {
                first_error = Some(error);
                false
            }
        },
    );
    if first_error.is_none() && context.remote.is_some() {
        remote::delete_markers(context);
    }
    first_error.map_or(Ok(Some(all)), Err)
}

/// Returns the seed of a run. Runs with the same number share it across methods.
pub fn run_seed(context: &ExperimentContext, run: usize) -> u64 {
    context.seed.wrapping_mul(1000).wrapping_add(run as u64)
}

/// Trains one run to its end, resuming from its folder. `name` is used in error messages.
pub fn train_run<L: Learner>(
    learner: &mut L,
    evaluator: &impl Evaluator<L>,
    plan: &TrainingPlan,
    folder: &Path,
    name: &str,
) -> Result<TrainingOutcome<L::Model>, ExperimentError> {
    create_folder(folder)?;
    let trained = Trainer::new(plan.clone())
        .run(learner, evaluator, folder, |_| true)
        .map_err(|error| ExperimentError::Training(format!("{name}: {error}")))?;
    match trained.complete {
        true => Ok(trained),
        false => Err(ExperimentError::Stopped),
    }
}
