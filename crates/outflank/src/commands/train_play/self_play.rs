//! TD(λ) by self-play on large patterns with weights per stage of the game.

use super::{HEURISTIC, TrainingJob, budget, check, run_job};
use crate::Outcome;
use crate::cli::train_play::SelfPlayArgs;
use crate::contest_setup::model_file;
use crate::errors::{UsageError, bail_usage, ensure_usage};
use crate::output::set_threads;
use anyhow::{Context, Result};
use outflank_games::othello::Othello;
use outflank_learners::self_play::{SelfPlay, SelfPlayConfig};
use outflank_models::files::load_tuples;
use outflank_models::patterns::{AfterstateFeatures, Count, Stages, whole_board};
use outflank_players::PlayerSpec;
use outflank_players::registry::{self, PlayerModel};
use outflank_players::spec::SearchSpec;
use outflank_runs::DataFile;
use outflank_runs::files::{checksum, read};
use std::path::Path;

/// Default of `--opponent-share`.
const OPPONENT_SHARE: f64 = 0.25;

/// Trains by self-play, after all settings are checked.
pub fn run(args: &SelfPlayArgs) -> Result<Outcome> {
    let training = &args.training;
    check(training)?;
    ensure_usage!(
        args.opponent.is_some() || args.opponent_share.is_none(),
        "--opponent-share requires --opponent: add --opponent MODEL, or omit --opponent-share"
    );
    let share = opponent_share(args);
    let probabilities =
        [("epsilon", args.epsilon), ("lambda", args.lambda), ("opponent-share", share)];
    for (name, value) in probabilities {
        ensure_usage!(
            (0.0..=1.0).contains(&value),
            "--{name} is a number from 0 to 1, not {value}"
        );
    }
    ensure_usage!(
        args.learning_rate > 0.0 && args.learning_rate <= 100.0,
        "--learning-rate must be above 0 and at most 100, not {}",
        args.learning_rate
    );
    ensure_usage!(
        args.max_random_plies <= 60,
        "--max-random-plies is a number up to 60, not {}",
        args.max_random_plies
    );
    let stages = Stages::with_width(args.discs_per_stage).ok_or_else(|| {
        UsageError(format!("--discs-per-stage must be from 1 to 60, not {}", args.discs_per_stage))
    })?;
    ensure_usage!(args.games_per_batch > 0, "--games-per-batch must be at least 1");
    let budget = budget(training)?;
    let batches = budget.value as u64 / u64::from(args.games_per_batch);
    ensure_usage!(
        batches > 0,
        "--games {} is less than a batch of {}; use more games or a smaller --games-per-batch",
        training.games,
        args.games_per_batch
    );
    let (features, mut data) = features(args)?;
    let settings = SelfPlayConfig {
        batches: u32::try_from(batches).context("--games has too many batches")?,
        games_per_batch: args.games_per_batch,
        epsilon: args.epsilon,
        max_random_plies: args.max_random_plies,
        opponent_share: if args.opponent.is_some() { share } else { 0.0 },
        lambda: args.lambda,
        learning_rate: args.learning_rate,
        seed: training.common.seed,
    };
    let mut learner = SelfPlay::new(features, stages, settings);
    if let Some(text) = &args.opponent {
        let spec: PlayerSpec = text.parse()?;
        ensure_usage!(
            spec.search == SearchSpec::Default
                && (spec.random, spec.noise) == (0.0, 0.0)
                && spec.ply_switch.is_none(),
            "--opponent '{text}' plays at 1-ply with the random moves of --epsilon; name the model alone"
        );
        match registry::find_model::<Othello>(&spec)? {
            PlayerModel::Value(value) => learner = learner.with_opponent(value),
            _ => bail_usage!("--opponent takes a model that evaluates positions, not '{text}'"),
        }
        data.extend(model_file(text));
    }
    set_threads(training.common.threads())?;
    let job = TrainingJob {
        name: "self-play",
        // As in version 0.1, so that a resumed run gives the same bytes.
        stored_name: "selfplay",
        args: training,
        settings: table(args),
        model: format!("features {}, stages of {} discs", args.features, args.discs_per_stage),
        data,
        workers: None,
        budget,
        monitor: HEURISTIC,
    };
    run_job(&job, learner)
}

/// The share of games against the opponent, if there is one.
fn opponent_share(args: &SelfPlayArgs) -> f64 {
    args.opponent_share.unwrap_or(OPPONENT_SHARE)
}

/// The features, and the file that lists them.
fn features(args: &SelfPlayArgs) -> Result<(AfterstateFeatures, Vec<DataFile>)> {
    if args.features == "patterns" {
        return Ok((AfterstateFeatures::new(whole_board(), Count::ALL.to_vec())?, Vec::new()));
    }
    let path = Path::new(&args.features);
    let tuples =
        load_tuples(path).context("--features takes patterns or a file that lists tuples")?;
    let sha256 = checksum(&read(path, 1 << 30)?);
    let file = DataFile { file: args.features.clone(), sha256 };
    Ok((AfterstateFeatures::new(tuples, Vec::new())?, vec![file]))
}

/// The settings by option name.
fn table(args: &SelfPlayArgs) -> toml::Table {
    let mut table = toml::Table::new();
    table.insert("features".to_owned(), args.features.clone().into());
    let counts = [
        ("discs-per-stage", args.discs_per_stage),
        ("games-per-batch", args.games_per_batch),
        ("max-random-plies", args.max_random_plies),
    ];
    for (key, value) in counts {
        table.insert(key.to_owned(), i64::from(value).into());
    }
    let numbers =
        [("epsilon", args.epsilon), ("lambda", args.lambda), ("learning-rate", args.learning_rate)];
    for (key, value) in numbers {
        table.insert(key.to_owned(), value.into());
    }
    if let Some(opponent) = &args.opponent {
        table.insert("opponent".to_owned(), opponent.clone().into());
        table.insert("opponent-share".to_owned(), opponent_share(args).into());
    }
    table
}
