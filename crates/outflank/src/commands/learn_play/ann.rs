//! Neural networks under TD(0), after Binkley, Seehart and Hagiwara (2007).

use super::{Job, check, learn};
use crate::Outcome;
use crate::cli::learn_play::AnnArgs;
use crate::output::grouped;
use anyhow::{Context, Result, ensure};
use outflank_learners::ann::{ResultTarget as Worth, AnnLearner, AnnConfig};
use outflank_models::ann::Architecture;

/// Learns by games of two networks; nothing runs before the settings make sense.
pub fn run(args: &AnnArgs) -> Result<Outcome> {
    let training = &args.training;
    check(training)?;
    let architecture: Architecture =
        args.net.parse().with_context(|| format!("--net '{}'", args.net))?;
    ensure!(
        args.alpha > 0.0 && args.alpha.is_finite(),
        "--alpha is the size of a step, above 0, not {}",
        args.alpha
    );
    ensure!(
        training.games >= 2,
        "--games {} are too few: from each beginning two games are played",
        training.games
    );
    for (name, value) in [("lambda", args.lambda), ("epsilon", args.epsilon)] {
        ensure!((0.0..=1.0).contains(&value), "--{name} is a number from 0 to 1, not {value}");
    }
    ensure!(
        !args.per_move || args.lambda == 0.0,
        "--per-move has no --lambda: what follows is not known yet when weights change"
    );
    let settings = AnnConfig {
        architecture: architecture.clone(),
        alpha: args.alpha,
        decay: args.decay.then_some(training.games),
        lambda: args.lambda,
        epsilon: args.epsilon,
        self_play: args.self_play,
        per_move: args.per_move,
        outcome: if args.plain_result { Worth::Sign } else { Worth::Sigmoid },
        seed: training.common.seed,
    };
    let job = Job {
        name: "ann",
        args: training,
        settings: table(args, &architecture),
        what: format!("{architecture}, {} connections", grouped(architecture.connections() as u64)),
        data: Vec::new(),
        others: None,
    };
    learn(&job, AnnLearner::new(settings))
}

/// The settings by the names of the options.
fn table(args: &AnnArgs, architecture: &Architecture) -> toml::Table {
    let mut table = toml::Table::new();
    table.insert("net".to_owned(), architecture.to_string().into());
    for (key, value) in [("alpha", args.alpha), ("lambda", args.lambda), ("epsilon", args.epsilon)]
    {
        table.insert(key.to_owned(), value.into());
    }
    for (key, value) in [
        ("decay", args.decay),
        ("self-play", args.self_play),
        ("per-move", args.per_move),
        ("plain-result", args.plain_result),
    ] {
        table.insert(key.to_owned(), value.into());
    }
    table
}
