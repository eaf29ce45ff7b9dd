//! Regression of pattern evaluations on labeled games.

use super::{TrainingJob, budget, check, run_job};
use crate::Outcome;
use crate::cli::train_play::LabelsArgs;
use crate::contest_setup::model_file;
use crate::errors::{UsageError, bail_usage, ensure_usage};
use crate::output::set_threads;
use anyhow::{Context, Result};
use outflank_learners::labels::{LabelRegression, LabelTrainingConfig, VALIDATION_ERROR};
use outflank_models::patterns::{AfterstateFeatures, Count, Stages, whole_board};
use outflank_models::{Model, Patterns};
use outflank_players::registry;
use outflank_records::labels::{self, LabeledGame};
use outflank_runs::DataFile;
use outflank_runs::files::{checksum, read};
use std::sync::Arc;

/// Maximum size of a file of labels, to catch mistakes.
const MAX_FILE_BYTES: u64 = 16 << 30;

/// Trains on labels, after all settings are checked.
pub fn run(args: &LabelsArgs) -> Result<Outcome> {
    let training = &args.training;
    check(training)?;
    ensure_usage!(
        args.learning_rate > 0.0 && args.learning_rate <= 100.0,
        "--learning-rate must be above 0, not {}",
        args.learning_rate
    );
    ensure_usage!(args.games_per_batch > 0, "--games-per-batch must be at least 1");
    let stages = Stages::with_width(args.discs_per_stage).ok_or_else(|| {
        UsageError(format!("--discs-per-stage must be from 1 to 60, not {}", args.discs_per_stage))
    })?;
    let initial = args.init_from.as_deref().map(initial_model).transpose()?;
    let budget = budget(training)?;
    let batches = budget.value as u64 / u64::from(args.games_per_batch);
    ensure_usage!(
        batches > 0,
        "--games {} is less than a batch of {}; use more games or a smaller --games-per-batch",
        training.games,
        args.games_per_batch
    );
    let (games, mut data) = read_labels(args)?;
    let config = LabelTrainingConfig {
        batches: u32::try_from(batches).context("--games has too many batches")?,
        games_per_batch: args.games_per_batch,
        learning_rate: args.learning_rate,
        seed: training.common.seed,
    };
    let (features, stages) = match &initial {
        Some(model) => (model.features().clone(), model.stages()),
        None => (AfterstateFeatures::new(whole_board(), Count::ALL.to_vec())?, stages),
    };
    let learner = LabelRegression::new(features, stages, &games, config)
        .context("the files have no labeled positions")?;
    drop(games);
    let learner = match &initial {
        Some(model) => learner.with_initial(model).context("--init-from has other features")?,
        None => learner,
    };
    if let Some(text) = &args.init_from {
        data.extend(model_file(text));
    }
    set_threads(training.common.threads())?;
    let job = TrainingJob {
        name: "labels",
        stored_name: "labels",
        args: training,
        settings: table(args),
        model: format!("patterns, stages of {} discs", stages.width()),
        data,
        workers: None,
        budget,
        monitor: VALIDATION_ERROR,
    };
    run_job(&job, learner)
}

/// Loads the pattern model of `--init-from`.
fn initial_model(text: &str) -> Result<Arc<Patterns>> {
    match registry::load_model(text)? {
        Some(Model::Patterns(patterns)) => Ok(patterns),
        _ => bail_usage!("--init-from takes a pattern model such as champion, not '{text}'"),
    }
}

/// Reads the labeled games.
fn read_labels(args: &LabelsArgs) -> Result<(Vec<LabeledGame>, Vec<DataFile>)> {
    let (mut games, mut data) = (Vec::new(), Vec::new());
    for path in &args.labels {
        let bytes = read(path, MAX_FILE_BYTES)?;
        let file = path.display().to_string();
        data.push(DataFile { file: file.clone(), sha256: checksum(&bytes) });
        let text = std::str::from_utf8(&bytes).with_context(|| format!("{file} is not text"))?;
        let parsed = labels::parse(text).with_context(|| {
            format!("{file} is not a file of labeled games, which data generate --label writes")
        })?;
        games.extend(parsed);
    }
    Ok((games, data))
}

/// The settings by option name.
fn table(args: &LabelsArgs) -> toml::Table {
    let mut table = toml::Table::new();
    let files = args.labels.iter().map(|path| path.display().to_string());
    table.insert("labels".to_owned(), files.collect::<Vec<_>>().into());
    match &args.init_from {
        Some(model) => table.insert("init-from".to_owned(), model.clone().into()),
        None => {
            let width = i64::from(args.discs_per_stage);
            table.insert("discs-per-stage".to_owned(), width.into())
        }
    };
    table.insert("games-per-batch".to_owned(), i64::from(args.games_per_batch).into());
    table.insert("learning-rate".to_owned(), args.learning_rate.into());
    table
}
