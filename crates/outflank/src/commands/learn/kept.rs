//! The model in the run folder and how it came about, so that a run that is resumed need not learn
//! again.

use crate::VERSION;
use crate::cli::LearnArgs;
use crate::games::Source;
use anyhow::{Result, anyhow};
use outflank_models::Model;
use outflank_models::files::{Origin, load, save};
use outflank_presentation::CurvePoint;
use outflank_runs::{RunFolder, files, toml_error_message};
use serde::{Deserialize, Serialize};

/// The model.
pub const MODEL: &str = "model.safetensors";

/// How it came about, in the words of [`Notes`].
const NOTES: &str = "learned.toml";

/// How the model came about, kept beside it.
#[derive(Serialize, Deserialize)]
pub struct Notes {
    /// How it went, in a sentence.
    pub summary: String,
    /// What the values of the curve are.
    pub measure: String,
    /// Where it did something else than it was asked to.
    pub remarks: Vec<String>,
    /// How it went, step by step.
    pub curve: Vec<CurvePoint>,
}

/// Whether learning was finished by an earlier part of this run.
pub fn is_kept(folder: &RunFolder) -> bool {
    folder.join(MODEL).exists() && folder.join(NOTES).exists()
}

/// Keeps the model and how it came about; the model comes last, since where it lies learning is
/// done.
pub fn keep(
    args: &LearnArgs,
    source: &Source,
    folder: &RunFolder,
    model: &Model,
    notes: &Notes,
) -> Result<()> {
    folder.write(NOTES, toml::to_string(notes)?.as_bytes())?;
    let origin = Origin {
        method: args.method.0.name().to_owned(),
        seed: Some(args.common.seed),
        version: VERSION.to_owned(),
        note: format!("{}, features {}", source.from, args.features),
    };
    save(&folder.join(MODEL), model, &origin)?;
    Ok(())
}

/// What an earlier part of this run has kept.
pub fn recall(folder: &RunFolder) -> Result<(Model, Notes)> {
    let path = folder.join(NOTES);
    let text = String::from_utf8(files::read(&path, 1 << 30)?).unwrap_or_default();
    let notes: Notes = toml::from_str(&text).map_err(|error| {
        let (shown, fault) = (path.display(), toml_error_message(&text, &error));
        anyhow!("{shown} is damaged, {fault}; delete it to learn anew")
    })?;
    let (model, _) = load(&folder.join(MODEL))?;
    Ok((model, notes))
}
