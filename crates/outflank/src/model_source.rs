//! Loads a model: embedded, from a file, or from a run folder.

use crate::errors::bail_usage;
use anyhow::Result;
use outflank_models::Model;
use outflank_models::embedded::{self, Embedded, NAMES};
use outflank_models::files::{Origin, has_checksum, load};
use outflank_players::PlayerSpec;
use outflank_players::registry::run_model_path;
use outflank_players::spec::SearchSpec;
use outflank_runs::{did_you_mean, files};
use std::path::Path;

/// Loads the model of this name, with its origin.
pub fn load_named(name: &str) -> Result<(Model, Origin)> {
    match embedded::find(name) {
        Some(Embedded::Model(model)) => {
            let note = "part of the program".to_owned();
            Ok((model, Origin { method: name.to_owned(), note, ..Origin::default() }))
        }
        Some(Embedded::Heuristic(_)) => {
            bail_usage!(
                "'{name}' is a heuristic of named features, not a model with weights on squares"
            )
        }
        None => {
            let path = Path::new(name);
            let known = path.exists() || path.extension().is_some();
            if !known {
                bail_usage!("there is no model '{name}'; {}", did_you_mean(name, &NAMES));
            }
            Ok(load(&if path.is_dir() { run_model_path(path) } else { path.to_owned() })?)
        }
    }
}

/// Methods whose values rank the moves of a position and are not comparable between positions.
const RANKING_METHODS: [&str; 6] = ["ipref", "pref", "classify", "mm", "rater", "move-predictor"];

/// Maximum size of a model file, in bytes.
const MAX_FILE_SIZE: u64 = 1 << 30;

/// Notes on players: those that search with values which were not trained to be searched play worse
/// than without search, and model files without a checksum cannot be verified.
pub fn note_players<S: AsRef<str>>(players: &[S], quiet: bool) {
    if quiet {
        return;
    }
    let mut noted = Vec::new();
    for text in players {
        let Ok(spec) = text.as_ref().parse::<PlayerSpec>() else { continue };
        if noted.contains(&(spec.model.clone(), spec.search)) {
            continue;
        }
        noted.push((spec.model.clone(), spec.search));
        note_checksum(&spec.model);
        if spec.search == SearchSpec::Default {
            continue;
        }
        // Engines and unknown models are reported when the player is built.
        let Ok((_, origin)) = load_named(&spec.model) else { continue };
        if RANKING_METHODS.contains(&origin.method.as_str()) {
            eprintln!(
                "note: {0} was trained to rank moves ({1}), not to be searched; {0} without search is \
                 usually stronger (docs/train.md)",
                spec.model, origin.method
            );
        }
    }
}

/// Says of a model file that it has no checksum.
fn note_checksum(model: &str) {
    let path = Path::new(model);
    if embedded::find(model).is_some() || !path.exists() {
        return;
    }
    let file = if path.is_dir() { run_model_path(path) } else { path.to_owned() };
    if file.extension().is_none_or(|extension| extension != "safetensors") {
        return;
    }
    // Errors are reported when the player is built.
    let Ok(bytes) = files::read(&file, MAX_FILE_SIZE) else { return };
    if has_checksum(&bytes) == Ok(false) {
        eprintln!(
            "note: {} has no checksum, because an earlier version wrote it; damage cannot be detected. \
             `outflank players --model {model} --to NEW.safetensors` adds one",
            file.display()
        );
    }
}
