//! Saving any trained model in its default format.

use super::{ModelError, Origin, save_heuristic};
use crate::{Heuristic, Mlp, Model, NTupleNetwork, NamedFeatures, Patterns};
use std::path::Path;

/// A model with a default file format.
pub trait SaveModel {
    /// The file extension of the format.
    const EXTENSION: &'static str;

    /// Saves the model to `path`.
    fn save(&self, path: &Path, origin: &Origin) -> Result<(), ModelError>;
}

impl SaveModel for Model {
    const EXTENSION: &'static str = "safetensors";

    fn save(&self, path: &Path, origin: &Origin) -> Result<(), ModelError> {
        super::save(path, self, origin)
    }
}

impl SaveModel for NTupleNetwork {
    const EXTENSION: &'static str = Model::EXTENSION;

    fn save(&self, path: &Path, origin: &Origin) -> Result<(), ModelError> {
        super::save(path, &self.clone().into(), origin)
    }
}

impl SaveModel for Patterns {
    const EXTENSION: &'static str = Model::EXTENSION;

    fn save(&self, path: &Path, origin: &Origin) -> Result<(), ModelError> {
        super::save(path, &self.clone().into(), origin)
    }
}

impl SaveModel for Mlp {
    const EXTENSION: &'static str = Model::EXTENSION;

    fn save(&self, path: &Path, origin: &Origin) -> Result<(), ModelError> {
        super::save(path, &self.clone().into(), origin)
    }
}

impl<P: NamedFeatures> SaveModel for Heuristic<P> {
    const EXTENSION: &'static str = "toml";

    fn save(&self, path: &Path, origin: &Origin) -> Result<(), ModelError> {
        save_heuristic(path, &(*self).into(), origin)
    }
}
