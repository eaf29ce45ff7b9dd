//! The trained model and its training log in the run folder, so that a resumed run does not train
//! again.

use crate::VERSION;
use crate::cli::TrainArgs;
use crate::game_source::GameSource;
use anyhow::{Result, anyhow};
use outflank_learners::methods::Method;
use outflank_models::Model;
use outflank_models::files::{self as model_files, Origin};
use outflank_presentation::CurvePoint;
use outflank_runs::{RunFolder, files, toml_error_message};
use serde::{Deserialize, Serialize};

/// File name of the model.
pub const MODEL: &str = "model.safetensors";

/// File name of the [`TrainingLog`].
const LOG: &str = "learned.toml";

/// The training log of a model.
#[derive(Serialize, Deserialize)]
pub struct TrainingLog {
    /// Summary of the training in a sentence.
    pub summary: String,
    /// Name of the values of the curve.
    pub measure: String,
    /// Warnings, such as a tolerance that was not reached.
    pub remarks: Vec<String>,
    /// Values and accuracy by iteration.
    pub curve: Vec<CurvePoint>,
}

/// Whether a run folder has a trained model and its log.
pub fn exists(folder: &RunFolder) -> bool {
    folder.join(MODEL).exists() && folder.join(LOG).exists()
}

/// Writes the log and the model; the model comes last, since its presence means that training is
/// done.
pub fn save(
    args: &TrainArgs,
    source: &GameSource,
    folder: &RunFolder,
    model: &Model,
    log: &TrainingLog,
) -> Result<()> {
    folder.write(LOG, toml::to_string(log)?.as_bytes())?;
    let origin = Origin {
        method: stored_name(args.method.0).to_owned(),
        seed: Some(args.common.seed),
        version: VERSION.to_owned(),
        note: format!("{}, features {}", source.from, args.features),
    };
    model_files::save(&folder.join(MODEL), model, &origin)?;
    Ok(())
}

/// The name of a method in model files: that of version 0.1, so that a resumed run gives the same
/// bytes.
fn stored_name(method: Method) -> &'static str {
    match method {
        Method::MovePredictor => "rater",
        other => other.name(),
    }
}

/// Reads the model and its log.
pub fn load(folder: &RunFolder) -> Result<(Model, TrainingLog)> {
    let path = folder.join(LOG);
    let text = String::from_utf8(files::read(&path, 1 << 30)?).unwrap_or_default();
    let log: TrainingLog = toml::from_str(&text).map_err(|error| {
        let (shown, fault) = (path.display(), toml_error_message(&text, &error));
        anyhow!("{shown} is damaged, {fault}; delete it to train again")
    })?;
    let (model, _) = model_files::load(&folder.join(MODEL))?;
    Ok((model, log))
}
