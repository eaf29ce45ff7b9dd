//! Models as files: the League's `.player` and `.wpc` text, our own `.safetensors`, heuristics as
//! `.toml`; and lists of tuples to learn with.

mod features;
mod heuristic;
mod keep;
mod onnx;
mod packed;
mod player;
mod policy;
mod published;
mod tensors;
mod wpc;

use crate::{Model, Network};
use outflank_runs::files::{self, FileError};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use features::{load_tuples, read_tuples};
pub use heuristic::{
    AnyHeuristic, load_heuristic, read_heuristic, save_heuristic, write_heuristic,
};
pub use keep::Keep;
pub use onnx::write_onnx;
pub use packed::{pack, unpack};
pub use player::{read_player, write_player};
pub use policy::{POLICY_KIND, read_policy, write_policy};
pub use tensors::{read_safetensors, write_safetensors};
pub use wpc::{read_wpc, write_wpc};

/// No model file is larger than this.
const LIMIT: u64 = 1 << 30;

/// Why a file is not a model.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The system could not read or write it.
    #[error(transparent)]
    File(#[from] FileError),
    /// The content is wrong.
    #[error("{path}: {reason}")]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        reason: String,
    },
    /// The ending of its name says nothing we know.
    #[error("{0} is no model: its name ends neither in .player, .wpc, .safetensors nor .toml")]
    Kind(PathBuf),
}

/// What a model file tells about how it was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// The method, such as `ipref`; empty when nobody said.
    #[serde(default)]
    pub method: String,
    /// The seed it was learned with.
    #[serde(default)]
    pub seed: Option<u64>,
    /// The version of the program that made it.
    #[serde(default)]
    pub version: String,
    /// Anything else worth knowing, in words.
    #[serde(default)]
    pub note: String,
}

/// Whether a file of this name holds a heuristic, which may be of either game.
#[must_use]
pub fn is_heuristic(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
}

/// A model of the board's squares from a file, by the ending of its name.
pub fn load(path: &Path) -> Result<(Model, Origin), ModelError> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
    if ending == "toml" {
        let reason = "a heuristic has named features; give a model of squares".to_owned();
        return Err(ModelError::Content { path: path.to_owned(), reason });
    }
    if !["player", "wpc", "safetensors"].contains(&ending.as_str()) {
        return Err(ModelError::Kind(path.to_owned()));
    }
    let bytes = files::read(path, LIMIT)?;
    let content = |reason: String| ModelError::Content { path: path.to_owned(), reason };
    if ending == "safetensors" {
        return read_safetensors(&bytes).map_err(content);
    }
    let text = std::str::from_utf8(&bytes)
        .map_err(|e| content(format!("byte {} is not text", e.valid_up_to())))?;
    let network = match ending.as_str() {
        "wpc" => read_wpc(text),
        _ => read_player(text).map(|network| match published::view(&bytes) {
            Some(view) => network.with_view(view),
            None => network,
        }),
    };
    Ok((network.map_err(content)?.into(), Origin::default()))
}

/// A network from a file; a model of another kind is an error.
pub fn load_network(path: &Path) -> Result<(Network, Origin), ModelError> {
    let (model, origin) = load(path)?;
    match model {
        Model::NTuple(network) => Ok((Arc::unwrap_or_clone(network), origin)),
        other => {
            let reason =
                format!("it is a model of kind '{}', not an n-tuple network", other.kind());
            Err(ModelError::Content { path: path.to_owned(), reason })
        }
    }
}

/// Writes a model in the format that the ending of the name asks for.
pub fn save(path: &Path, model: &Model, origin: &Origin) -> Result<(), ModelError> {
    let network = || match model {
        Model::NTuple(network) => Ok(network),
        other => {
            let kind = other.kind();
            let deep = if matches!(other, Model::PolicyNet(_)) { " or .onnx" } else { "" };
            Err(format!("a model of kind '{kind}' can only be written as .safetensors{deep}"))
        }
    };
    let bytes = match path.extension().and_then(|e| e.to_str()) {
        Some("safetensors") => write_safetensors(model, origin),
        Some("onnx") => match model {
            Model::PolicyNet(deep) => Ok(write_onnx(deep.net(), deep.weights())),
            other => Err(format!(
                "a model of kind '{}' is not written as .onnx, only policy networks are",
                other.kind()
            )),
        },
        Some("player") => network().and_then(|network| {
            write_player(network).map(String::into_bytes).ok_or_else(|| {
            "a model whose features count once cannot be written as .player, whose readers count \
             every occurrence; write it as .safetensors"
                .to_owned()
        })
        }),
        Some("wpc") => network().and_then(|network| {
            write_wpc(network)
                .map(String::into_bytes)
                .ok_or_else(|| "only a piece counter can be written as .wpc".to_owned())
        }),
        _ => Err("models are written as .safetensors, .onnx, .player or .wpc".to_owned()),
    };
    let bytes = bytes.map_err(|reason| ModelError::Content { path: path.to_owned(), reason })?;
    Ok(files::write(path, &bytes)?)
}
