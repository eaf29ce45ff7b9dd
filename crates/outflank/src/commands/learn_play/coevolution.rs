//! The methods of Krawiec and Szubert (2011): one engine with different settings.

use super::{Job, check, learn};
use crate::Outcome;
use crate::cli::learn_play::LearnPlayArgs;
use anyhow::{Result, ensure};
use outflank_experiments::coevolution::presets;
use outflank_learners::coevolution::{Coevolution, CoevolutionConfig};

/// Learns by one of them; nothing runs before its settings make sense.
pub fn run(name: &'static str, args: &LearnPlayArgs) -> Result<Outcome> {
    let training = &args.training;
    check(training)?;
    let mut table = presets::table(name, args.operators.as_deref())?;
    table.extend(args.pieces.table());
    let settings = CoevolutionConfig::from_table(&table)?;
    settings.check_budget(training.games)?;
    let (seed, threads) = (training.common.seed, training.common.threads());
    let mut learner = Coevolution::new(settings.clone(), seed, threads)?;
    if args.grid.on.is_some() {
        ensure!(
            settings.population > 1,
            "{name} has one network, which learns a game at a time: workers could play nothing; \
             leave out --on, or take a larger population"
        );
    }
    let others = crate::grid::crew(&args.grid, &training.common)?;
    if let Some((crew, _)) = &others {
        learner = learner.elsewhere(crew.clone());
    }
    let job = Job {
        name,
        args: training,
        settings: settings.to_table(),
        what: format!("shape {}", settings.shape),
        data: Vec::new(),
        others,
    };
    learn(&job, learner)
}
