//! Model files: `.safetensors` (Outflank's own format, with a checksum), `.player` and `.wpc`
//! (Othello League), `.toml` (heuristics), ONNX export, and lists of tuples.

mod checksum;
mod heuristic;
mod onnx;
mod packed;
mod player;
mod policy_net;
mod published;
mod safetensors_file;
mod save_model;
mod tuple_list;
mod wpc;

use crate::{Model, NTupleNetwork};
use outflank_runs::files::{self, FileError};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use heuristic::{
    AnyHeuristic, load_heuristic, read_heuristic, read_heuristic_for, save_heuristic,
    write_heuristic,
};
pub use onnx::write_onnx;
pub use packed::{pack, unpack};
pub use player::{read_player, write_player};
pub use policy_net::{POLICY_KIND, policy_checksum, read_policy, write_policy};
pub use safetensors_file::{has_checksum, read_safetensors, write_safetensors};
pub use save_model::SaveModel;
pub use tuple_list::{load_tuples, read_tuples};
pub use wpc::{read_wpc, write_wpc};

/// The error of a text file whose last number may be cut short.
const NO_LINE_BREAK: &str = "the file does not end with a line break, so its last number may be \
                             truncated; if the file is complete, add a line break";

/// Maximum size of a model file.
const LIMIT: u64 = 1 << 30;

/// An error in reading or writing a model file.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The content is invalid.
    #[error("{path}: {reason}")]
    Content {
        /// The file.
        path: PathBuf,
        /// The reason, with the location in the file.
        reason: String,
    },
    /// The file extension is unknown.
    #[error("{0}: unknown model format; use a .safetensors, .player, .wpc or .toml file")]
    UnknownExtension(PathBuf),
}

/// How a model was made, as stored in its file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// The training method, such as `ipref`; empty if unknown.
    #[serde(default)]
    pub method: String,
    /// The random seed of the training run.
    #[serde(default)]
    pub seed: Option<u64>,
    /// The version of the program that wrote it.
    #[serde(default)]
    pub version: String,
    /// Free text.
    #[serde(default)]
    pub note: String,
}

/// Returns whether a path names a heuristic (`.toml`), which may be of either game.
#[must_use]
pub fn is_heuristic(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

/// Loads an Othello model; the file extension selects the format.
pub fn load(path: &Path) -> Result<(Model, Origin), ModelError> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
    if extension == "toml" {
        let reason = "a .toml file contains a heuristic over named features; use a .safetensors, \
                      .player or .wpc file"
            .to_owned();
        return Err(ModelError::Content { path: path.to_owned(), reason });
    }
    if !["player", "wpc", "safetensors"].contains(&extension.as_str()) {
        return Err(ModelError::UnknownExtension(path.to_owned()));
    }
    let bytes = files::read(path, LIMIT)?;
    let invalid = |reason: String| ModelError::Content { path: path.to_owned(), reason };
    if extension == "safetensors" {
        return read_safetensors(&bytes).map_err(invalid);
    }
    let text = std::str::from_utf8(&bytes)
        .map_err(|e| invalid(format!("byte {} is not text", e.valid_up_to())))?;
    let network = match extension.as_str() {
        "wpc" => read_wpc(text),
        _ => read_player(text).map(|network| match published::known_view(&bytes) {
            Some(view) => network.with_view(view),
            None => network,
        }),
    };
    Ok((network.map_err(invalid)?.into(), Origin::default()))
}

/// Loads an n-tuple network; a model of another kind is an error.
pub fn load_network(path: &Path) -> Result<(NTupleNetwork, Origin), ModelError> {
    let (model, origin) = load(path)?;
    match model {
        Model::NTuple(network) => Ok((Arc::unwrap_or_clone(network), origin)),
        other => {
            let reason = format!("the model is of kind '{}', not an n-tuple network", other.kind());
            Err(ModelError::Content { path: path.to_owned(), reason })
        }
    }
}

/// Saves a model; the file extension selects the format.
pub fn save(path: &Path, model: &Model, origin: &Origin) -> Result<(), ModelError> {
    let network = || match model {
        Model::NTuple(network) => Ok(network),
        other => {
            let kind = other.kind();
            let onnx = if matches!(other, Model::PolicyNet(_)) { " or .onnx" } else { "" };
            Err(format!("a model of kind '{kind}' can only be written as .safetensors{onnx}"))
        }
    };
    let bytes = match path.extension().and_then(|e| e.to_str()) {
        Some("safetensors") => write_safetensors(model, origin),
        Some("onnx") => match model {
            Model::PolicyNet(policy) => Ok(write_onnx(policy.net(), policy.weights())),
            other => Err(format!(
                "a model of kind '{}' cannot be written as .onnx; only policy networks can",
                other.kind()
            )),
        },
        Some("player") => network().and_then(|network| {
            write_player(network).map(String::into_bytes).ok_or_else(|| {
                "a network with binary features cannot be written as .player, whose readers count \
                 repeated features; write it as .safetensors"
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
