//! What a run leaves behind as a model file, in the format of its kind.

use super::heuristic::text_of;
use super::{ModelError, Origin, save};
use crate::{NamedFeatures, Heuristic, Model, Net, Network, Patterns};
use outflank_runs::files;
use std::path::Path;

/// A model that can be written as a file of its kind.
pub trait Keep {
    /// The ending of the file's name.
    const ENDING: &'static str;

    /// Writes it.
    fn keep(&self, path: &Path, origin: &Origin) -> Result<(), ModelError>;
}

impl Keep for Model {
    const ENDING: &'static str = "safetensors";

    fn keep(&self, path: &Path, origin: &Origin) -> Result<(), ModelError> {
        save(path, self, origin)
    }
}

impl Keep for Network {
    const ENDING: &'static str = Model::ENDING;

    fn keep(&self, path: &Path, origin: &Origin) -> Result<(), ModelError> {
        save(path, &self.clone().into(), origin)
    }
}

impl Keep for Patterns {
    const ENDING: &'static str = Model::ENDING;

    fn keep(&self, path: &Path, origin: &Origin) -> Result<(), ModelError> {
        save(path, &self.clone().into(), origin)
    }
}

impl Keep for Net {
    const ENDING: &'static str = Model::ENDING;

    fn keep(&self, path: &Path, origin: &Origin) -> Result<(), ModelError> {
        save(path, &self.clone().into(), origin)
    }
}

impl<P: NamedFeatures> Keep for Heuristic<P> {
    const ENDING: &'static str = "toml";

    fn keep(&self, path: &Path, origin: &Origin) -> Result<(), ModelError> {
        let text = text_of(self, origin)
            .map_err(|reason| ModelError::Content { path: path.to_owned(), reason })?;
        Ok(files::write(path, text.as_bytes())?)
    }
}
