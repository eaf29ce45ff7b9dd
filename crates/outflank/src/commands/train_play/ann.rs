//! Neural networks under TD(0), after Binkley, Seehart & Hagiwara (2007).

use super::{HEURISTIC, TrainingJob, budget, check, run_job};
use crate::Outcome;
use crate::cli::train_play::{AnnArgs, AnnSchedule, ResultTargetArg};
use crate::errors::{UsageError, ensure_usage};
use crate::output::format_count;
use anyhow::Result;
use outflank_learners::ann::{AnnConfig, AnnLearner, ResultTarget};
use outflank_models::ann::Architecture;

/// Trains a pair of networks, after all settings are checked.
pub fn run(args: &AnnArgs) -> Result<Outcome> {
    let training = &args.training;
    check(training)?;
    let architecture: Architecture = match args.net.parse() {
        Ok(architecture) => architecture,
        Err(error) => {
            let error: outflank_models::ann::ArchitectureError = error;
            return Err(UsageError(format!("--net '{}': {error}", args.net)).into());
        }
    };
    ensure_usage!(
        args.learning_rate > 0.0 && args.learning_rate.is_finite(),
        "--learning-rate must be above 0, not {}",
        args.learning_rate
    );
    ensure_usage!(
        training.games >= 2,
        "--games {} is too small; two games are played from each opening",
        training.games
    );
    for (name, value) in [("lambda", args.lambda), ("epsilon", args.epsilon)] {
        ensure_usage!(
            (0.0..=1.0).contains(&value),
            "--{name} is a number from 0 to 1, not {value}"
        );
    }
    ensure_usage!(
        !args.per_move || args.lambda == 0.0,
        "--lambda has no effect with --per-move; omit one of them"
    );
    let budget = budget(training)?;
    let linear = args.lr_schedule == AnnSchedule::Linear;
    let settings = AnnConfig {
        architecture: architecture.clone(),
        learning_rate: args.learning_rate,
        lr_decay_games: linear.then_some(budget.value as u64),
        lambda: args.lambda,
        epsilon: args.epsilon,
        self_play: args.self_play,
        per_move: args.per_move,
        result_target: match args.result_target {
            ResultTargetArg::Sigmoid => ResultTarget::Sigmoid,
            ResultTargetArg::Sign => ResultTarget::Sign,
        },
        seed: training.common.seed,
    };
    let job = TrainingJob {
        name: "ann",
        stored_name: "ann",
        args: training,
        settings: table(args, &architecture),
        model: format!(
            "{architecture}, {} connections",
            format_count(architecture.connections() as u64)
        ),
        data: Vec::new(),
        workers: None,
        budget,
        monitor: HEURISTIC,
    };
    run_job(&job, AnnLearner::new(settings))
}

/// The settings by option name.
fn table(args: &AnnArgs, architecture: &Architecture) -> toml::Table {
    let mut table = toml::Table::new();
    table.insert("net".to_owned(), architecture.to_string().into());
    for (key, value) in
        [("learning-rate", args.learning_rate), ("lambda", args.lambda), ("epsilon", args.epsilon)]
    {
        table.insert(key.to_owned(), value.into());
    }
    let schedule = if args.lr_schedule == AnnSchedule::Linear { "linear" } else { "constant" };
    table.insert("lr-schedule".to_owned(), schedule.into());
    for (key, value) in [("self-play", args.self_play), ("per-move", args.per_move)] {
        table.insert(key.to_owned(), value.into());
    }
    let target = match args.result_target {
        ResultTargetArg::Sigmoid => "sigmoid",
        ResultTargetArg::Sign => "sign",
    };
    table.insert("result-target".to_owned(), target.into());
    table
}
