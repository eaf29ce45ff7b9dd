//! Runs of version 0.1: a trained model with its log instead of a checkpoint, or the stages of
//! online training.

use super::{MODEL_FILE, Trained};
use anyhow::{Result, anyhow};
use outflank_arena::accuracy::BinomialCount;
use outflank_learners::methods::{MethodOptions, SupervisedLearner};
use outflank_learners::online::load_old_stages;
use outflank_learners::training::{self, Learner, TrainingCounts};
use outflank_models::files as model_files;
use outflank_models::patterns::Stages;
use outflank_presentation::CurvePoint;
use outflank_runs::{RunFolder, files, toml_error_message};
use serde::Deserialize;

/// File name of the training log.
const LOG: &str = "learned.toml";

/// The training log of a model.
#[derive(Deserialize)]
struct TrainingLog {
    summary: String,
    measure: String,
    remarks: Vec<String>,
    curve: Vec<StoredCurvePoint>,
}

/// A point of the training curve in the log.
#[derive(Deserialize)]
struct StoredCurvePoint {
    step: u32,
    value: f64,
    left: f64,
    learned: Option<BinomialCount>,
    held_out: Option<BinomialCount>,
}

impl From<StoredCurvePoint> for CurvePoint {
    fn from(stored: StoredCurvePoint) -> CurvePoint {
        CurvePoint {
            iteration: stored.step,
            objective: stored.value,
            residual: stored.left,
            training: stored.learned,
            validation: stored.held_out,
        }
    }
}

/// Reads the trained model of a run of version 0.1; `None` if the folder has none.
pub fn load(folder: &RunFolder, choices: u64) -> Result<Option<Trained>> {
    let (path, model) = (folder.join(LOG), folder.join(MODEL_FILE));
    if training::has_checkpoint(folder.path()) || !path.exists() || !model.exists() {
        return Ok(None);
    }
    let text = String::from_utf8(files::read(&path, 1 << 30)?).unwrap_or_default();
    let log: TrainingLog = toml::from_str(&text).map_err(|error| {
        let (shown, fault) = (path.display(), toml_error_message(&text, &error));
        anyhow!("{shown} is damaged, {fault}; delete it to train again")
    })?;
    let (model, _) = model_files::load(&model)?;
    let iterations = log.curve.last().map_or(0, |point| u64::from(point.step));
    Ok(Some(Trained {
        model,
        summary: log.summary,
        remarks: log.remarks,
        objective_name: log.measure,
        curve: log.curve.into_iter().map(CurvePoint::from).collect(),
        counts: TrainingCounts { examples: Some(choices), epochs: None },
        complete: true,
        measurable: true,
        spent: (iterations, iterations),
    }))
}

/// Converts the stages of online training to a checkpoint.
pub fn import_stages(
    folder: &RunFolder,
    options: &MethodOptions,
    learner: &mut SupervisedLearner<'_>,
) -> Result<()> {
    if training::has_checkpoint(folder.path()) {
        return Ok(());
    }
    let stages = Stages::with_width(options.discs_per_stage).unwrap_or(Stages::ONE);
    let sections =
        load_old_stages(folder.path(), stages.count()).map_err(|error| anyhow!(error))?;
    if let Some(sections) = sections {
        learner.restore(&sections).map_err(|error| anyhow!(error))?;
        training::import_checkpoint(&**learner, &[], folder.path())?;
        let _ = std::fs::remove_dir_all(folder.join("stages"));
    }
    Ok(())
}
