//! Loads a model: embedded, from a file, or from a run folder.

use crate::errors::bail_usage;
use anyhow::Result;
use outflank_models::Model;
use outflank_models::embedded::{self, Embedded, NAMES};
use outflank_models::files::{Origin, load};
use outflank_players::registry::run_model_path;
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
