//! Checkpoints of version 0.1: data files of a few megabytes and an index. They are read and
//! removed, no longer written.

use super::{Optimizer, TrainState};
use outflank_models::nets::NetGraph;
use outflank_runs::files::{self, FileError};
use outflank_runs::{sections, toml_error_message};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The index file, and that of the previous checkpoint.
const INDEX: [&str; 2] = ["checkpoint.toml", "checkpoint-before.toml"];

/// The folder of the data files.
const FOLDER: &str = "checkpoint";

/// Maximum size of a data file.
const MAX_FILE_SIZE: u64 = 12 << 20;

/// An error of reading a checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum OldCheckpointError {
    /// A file cannot be read or removed.
    #[error(transparent)]
    File(#[from] FileError),
    /// The checkpoint is damaged or belongs to another network.
    #[error("{0}: damaged checkpoint: {1}. Start a new run with --out.")]
    Damaged(PathBuf, String),
}

/// A checkpoint of version 0.1.
#[derive(Clone, Debug, PartialEq)]
pub struct OldCheckpoint {
    /// Steps planned.
    pub steps: u64,
    /// Training time in seconds.
    pub seconds: f64,
    /// The state.
    pub state: TrainState,
}

/// The index of a checkpoint.
#[derive(Deserialize)]
struct Index {
    step: u64,
    steps: u64,
    seconds: f64,
    pieces: Vec<String>,
    sha256: String,
}

impl OldCheckpoint {
    /// Loads the last valid checkpoint of a run folder, or `None` if there is none.
    pub fn load(
        folder: &Path,
        net: &NetGraph,
        optimizer: Optimizer,
    ) -> Result<Option<OldCheckpoint>, OldCheckpointError> {
        let mut first = None;
        for name in INDEX {
            match load_one(folder, name, net, optimizer) {
                Ok(Some(found)) => return Ok(Some(found)),
                Ok(None) => {}
                Err(error) => drop(first.get_or_insert(error)),
            }
        }
        first.map_or(Ok(None), Err)
    }

    /// Removes all checkpoints of a folder, the index files first.
    pub fn remove_all(folder: &Path) -> Result<(), OldCheckpointError> {
        for path in INDEX.map(|name| folder.join(name)) {
            files::remove_if_exists(&path)?;
        }
        let data_folder = folder.join(FOLDER);
        if data_folder.is_dir() {
            files::remove_folder(&data_folder)?;
        }
        Ok(())
    }
}

fn load_one(
    folder: &Path,
    name: &str,
    net: &NetGraph,
    optimizer: Optimizer,
) -> Result<Option<OldCheckpoint>, OldCheckpointError> {
    let index = folder.join(name);
    if !index.exists() {
        return Ok(None);
    }
    let damaged = |why: String| OldCheckpointError::Damaged(folder.to_owned(), why);
    let text = String::from_utf8(files::read(&index, 1 << 20)?)
        .map_err(|_| damaged(format!("{name} is not text")))?;
    let Index { step, steps, seconds, pieces, sha256 } = toml::from_str(&text)
        .map_err(|error| damaged(format!("{name}: {}", toml_error_message(&text, &error))))?;
    let mut bytes = Vec::new();
    for piece in &pieces {
        if piece.contains(['/', '\\']) {
            return Err(damaged(format!("'{piece}' is not a file name")));
        }
        bytes.extend(files::read(&folder.join(FOLDER).join(piece), MAX_FILE_SIZE)?);
    }
    if files::checksum(&bytes) != sha256 {
        return Err(damaged("the checksum of the data files does not match".to_owned()));
    }
    let prefix = format!("{step:09}-");
    if !pieces.iter().all(|piece| piece.starts_with(&prefix)) || (steps > 0 && step > steps) {
        return Err(damaged(format!(
            "{name}: step {step} of {steps} does not match the data files"
        )));
    }
    let blocks = sections::unpack(&bytes).map_err(damaged)?;
    let values = blocks
        .iter()
        .map(|block| block.as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b)).collect())
        .collect();
    let state = TrainState::from_blocks(net, optimizer, step, values).map_err(damaged)?;
    Ok(Some(OldCheckpoint { steps, seconds, state }))
}
