//! Loads a model: embedded, from a file, or from a run folder.

use crate::errors::bail_usage;
use anyhow::Result;
use outflank_models::Model;
use outflank_models::embedded::{self, Embedded, NAMES};
use outflank_models::files::{Origin, load};
use outflank_players::PlayerSpec;
use outflank_players::registry::run_model_path;
use outflank_players::spec::SearchSpec;
use outflank_runs::did_you_mean;
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

/// Says for each player that searches with values which were not trained to be searched that it
/// plays worse than without search.
pub fn note_search<S: AsRef<str>>(players: &[S], quiet: bool) {
    if quiet {
        return;
    }
    let mut noted = Vec::new();
    for text in players {
        let Ok(spec) = text.as_ref().parse::<PlayerSpec>() else { continue };
        if spec.search == SearchSpec::Default || noted.contains(&spec.model) {
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
            noted.push(spec.model);
        }
    }
}
