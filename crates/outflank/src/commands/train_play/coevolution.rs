//! The methods of Krawiec & Szubert (2011): one algorithm with different settings.

use super::{HEURISTIC, TrainingJob, budget, check, run_job};
use crate::Outcome;
use crate::cli::train_coevolution::CoevolutionArgs;
use crate::errors::ensure_usage;
use anyhow::Result;
use outflank_experiments::coevolution::presets;
use outflank_learners::coevolution::{Coevolution, CoevolutionConfig};

/// Trains by one of the methods, after all settings are checked.
pub fn run(name: &'static str, args: &CoevolutionArgs) -> Result<Outcome> {
    let training = &args.training;
    check(training)?;
    let mut table = presets::table(name, args.operators.as_deref())?;
    table.extend(args.settings.table());
    let settings = CoevolutionConfig::from_table(&table)?;
    settings.validate_budget(training.games)?;
    let (seed, threads) = (training.common.seed, training.common.threads());
    let mut learner = Coevolution::new(settings.clone(), seed, threads)?;
    ensure_usage!(
        args.remote.on.is_none() || settings.population > 1,
        "{name} trains one network, game by game, so workers have nothing to do; omit --on, or use a \
         larger --population"
    );
    let workers = crate::remote::connect(&args.remote, &training.common)?;
    if let Some((queue, _)) = &workers {
        learner = learner.with_remote(queue.clone());
    }
    let job = TrainingJob {
        name,
        stored_name: name,
        args: training,
        settings: settings.to_table(),
        model: format!("shape {}", settings.shape),
        data: Vec::new(),
        workers,
        budget: budget(training)?,
        monitor: HEURISTIC,
    };
    run_job(&job, learner)
}
