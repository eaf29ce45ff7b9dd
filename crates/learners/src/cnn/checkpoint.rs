//! Checkpoints on disk: files of a few megabytes, and an index that is written last.
//!
//! The files of a new checkpoint have new names, so the previous checkpoint stays valid until the
//! index is replaced. A run that is killed in between loses only the steps since that checkpoint.
//! The previous checkpoint is removed at the end of the run, after the last one was read back and
//! verified.

use super::TrainState;
use outflank_models::nets::{NetError, NetGraph, Weights};
use outflank_runs::files::{self, FileError};
use outflank_runs::{ProgressLog, shards, toml_error_message};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The index file.
const INDEX: &str = "checkpoint.toml";

/// The index file of the previous checkpoint.
const PREVIOUS: &str = "checkpoint-before.toml";

/// The folder of the data files.
const FOLDER: &str = "checkpoint";

/// Maximum size of a data file.
const MAX_FILE_SIZE: usize = 12 << 20;

/// An error of reading or writing a checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The checkpoint is damaged.
    #[error("{0}: damaged checkpoint: {1}. Start a new run with --out.")]
    Damaged(PathBuf, String),
    /// The checkpoint belongs to another network.
    #[error(transparent)]
    NetGraph(#[from] NetError),
}

/// The index of a checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Steps taken.
    pub step: u64,
    /// Steps planned.
    pub steps: u64,
    /// Training time in seconds.
    pub seconds: f64,
    /// Names of the data files, which are consecutive pieces of the packed state.
    pub pieces: Vec<String>,
    /// Checksum of the concatenated data files.
    pub sha256: String,
}

impl Checkpoint {
    /// Writes a checkpoint into a run folder and keeps the previous one.
    pub fn save(
        folder: &Path,
        state: &TrainState,
        steps: u64,
        seconds: f64,
    ) -> Result<Checkpoint, CheckpointError> {
        let data_folder = folder.join(FOLDER);
        files::create_folder(&data_folder)?;
        let blocks =
            std::iter::once(state.weights.values()).chain(state.moments.iter().map(Vec::as_slice));
        let blocks: Vec<Vec<u8>> = blocks
            .flatten()
            .map(|block| block.iter().flat_map(|value| value.to_le_bytes()).collect())
            .collect();
        let bytes = shards::pack(&blocks);
        let mut pieces = Vec::new();
        for (number, piece) in bytes.chunks(MAX_FILE_SIZE).enumerate() {
            let name = format!("{:09}-{number:03}.part", state.step);
            files::write(&data_folder.join(&name), piece)?;
            pieces.push(name);
        }
        let sha256 = files::checksum(&bytes);
        let checkpoint = Checkpoint { step: state.step, steps, seconds, pieces, sha256 };
        let mut in_use = checkpoint.pieces.clone();
        if let Ok(Some(last)) = Checkpoint::index(folder, INDEX) {
            last.write(&folder.join(PREVIOUS))?;
            in_use.extend(last.pieces);
        }
        checkpoint.write(&folder.join(INDEX))?;
        Checkpoint::remove_unused(&data_folder, &in_use)?;
        Ok(checkpoint)
    }

    fn write(&self, path: &Path) -> Result<(), CheckpointError> {
        let text = toml::to_string(self)
            .map_err(|error| CheckpointError::Damaged(path.to_owned(), error.to_string()))?;
        Ok(files::write(path, text.as_bytes())?)
    }

    /// Removes all data files except `in_use`.
    fn remove_unused(data_folder: &Path, in_use: &[String]) -> Result<(), CheckpointError> {
        for entry in
            std::fs::read_dir(data_folder).map_err(FileError::on("read", data_folder))?.flatten()
        {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(".part") && !in_use.contains(&name) {
                // A file that cannot be removed now is removed with the next checkpoint.
                let _ = std::fs::remove_file(entry.path());
            }
        }
        Ok(())
    }

    /// Removes all checkpoints of a folder, the index files first.
    pub fn remove_all(folder: &Path) -> Result<(), CheckpointError> {
        for name in [INDEX, PREVIOUS] {
            let path = folder.join(name);
            if path.exists() {
                std::fs::remove_file(&path).map_err(FileError::on("remove", &path))?;
            }
        }
        let data_folder = folder.join(FOLDER);
        if data_folder.is_dir() {
            std::fs::remove_dir_all(&data_folder).map_err(FileError::on("remove", &data_folder))?;
        }
        Ok(())
    }

    /// Reads the last checkpoint back and, if it is valid, removes the previous one.
    pub fn verify_last(
        folder: &Path,
        net: &NetGraph,
        moments: usize,
    ) -> Result<(), CheckpointError> {
        if let Some((last, _)) = Checkpoint::load_one(folder, INDEX, net, moments)? {
            let _ = std::fs::remove_file(folder.join(PREVIOUS));
            Checkpoint::remove_unused(&folder.join(FOLDER), &last.pieces)?;
        }
        Ok(())
    }

    /// Loads the last valid checkpoint of a run folder, or `None` if there is none.
    pub fn load(
        folder: &Path,
        net: &NetGraph,
        moments: usize,
    ) -> Result<Option<(Checkpoint, TrainState)>, CheckpointError> {
        let last = match Checkpoint::load_one(folder, INDEX, net, moments) {
            Ok(None) if folder.join(PREVIOUS).exists() => {
                let reason = format!("{INDEX} is missing");
                Err(CheckpointError::Damaged(folder.to_owned(), reason))
            }
            last => last,
        };
        match last {
            Err(error) => match Checkpoint::load_one(folder, PREVIOUS, net, moments) {
                Ok(Some(found)) => {
                    let [last, previous] = [INDEX, PREVIOUS].map(|name| folder.join(name));
                    let reason = match error {
                        CheckpointError::Damaged(_, reason) => reason,
                        other => other.to_string(),
                    };
                    let (last, previous) = (last.display(), previous.display());
                    ProgressLog::new(false)
                        .println(&format!("{last}: {reason}; resuming from {previous}"));
                    Ok(Some(found))
                }
                _ => Err(error),
            },
            found => found,
        }
    }

    fn index(folder: &Path, name: &str) -> Result<Option<Checkpoint>, CheckpointError> {
        let index = folder.join(name);
        if !index.exists() {
            return Ok(None);
        }
        let damaged = |why: String| CheckpointError::Damaged(folder.to_owned(), why);
        let text = String::from_utf8(files::read(&index, 1 << 20)?)
            .map_err(|_| damaged(format!("{name} is not text")))?;
        toml::from_str(&text)
            .map(Some)
            .map_err(|e| damaged(format!("{name}: {}", toml_error_message(&text, &e))))
    }

    fn load_one(
        folder: &Path,
        name: &str,
        net: &NetGraph,
        moments: usize,
    ) -> Result<Option<(Checkpoint, TrainState)>, CheckpointError> {
        let damaged = |why: String| CheckpointError::Damaged(folder.to_owned(), why);
        let Some(checkpoint) = Checkpoint::index(folder, name)? else { return Ok(None) };
        let mut bytes = Vec::new();
        for piece in &checkpoint.pieces {
            if piece.contains(['/', '\\']) {
                return Err(damaged(format!("'{piece}' is not a file name")));
            }
            bytes.extend(files::read(&folder.join(FOLDER).join(piece), MAX_FILE_SIZE as u64)?);
        }
        if files::checksum(&bytes) != checkpoint.sha256 {
            return Err(damaged("the checksum of the data files does not match".to_owned()));
        }
        let (step, steps) = (checkpoint.step, checkpoint.steps);
        let prefix = format!("{step:09}-");
        let matches = checkpoint.pieces.iter().all(|piece| piece.starts_with(&prefix));
        if !matches || (steps > 0 && step > steps) {
            return Err(damaged(format!(
                "{name}: step {step} of {steps} does not match the data files"
            )));
        }
        let blocks = shards::unpack(&bytes).map_err(damaged)?;
        let mut values: Vec<Vec<f32>> = blocks
            .iter()
            .map(|block| block.as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b)).collect())
            .collect();
        let parameters = net.params().len();
        if values.len() != parameters * (1 + moments) {
            let (found, expected) = (values.len(), parameters * (1 + moments));
            return Err(damaged(format!("{found} blocks, {expected} expected for {}", net.name())));
        }
        let rest = values.split_off(parameters);
        let weights = Weights::new(net, values)?;
        let moments: Vec<Vec<Vec<f32>>> = rest.chunks(parameters).map(<[_]>::to_vec).collect();
        for moment in &moments {
            // Moments have the shapes of the weights, and are finite.
            Weights::new(net, moment.clone())?;
        }
        Ok(Some((checkpoint.clone(), TrainState { step: checkpoint.step, weights, moments })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_models::nets::{Input, named};

    #[test]
    fn checkpoints_round_trip_and_damage_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let net = named("conv4", Input::PIECES).unwrap();
        assert_eq!(Checkpoint::load(folder.path(), &net, 1).unwrap(), None);
        let state = |step| TrainState {
            step,
            weights: Weights::init(&net, step),
            moments: vec![Weights::init(&net, step + 7).values().to_vec()],
        };
        Checkpoint::save(folder.path(), &state(3), 10, 1.5).unwrap();
        let saved = Checkpoint::save(folder.path(), &state(5), 10, 2.5).unwrap();
        let found = Checkpoint::load(folder.path(), &net, 1).unwrap().unwrap();
        assert_eq!(found, (saved.clone(), state(5)));
        // The last two checkpoints are kept.
        let data_folder = folder.path().join(FOLDER);
        let all = || std::fs::read_dir(&data_folder).unwrap().flatten().collect::<Vec<_>>();
        assert_eq!(all().len(), 2 * saved.pieces.len());
        let piece = data_folder.join(&saved.pieces[0]);
        let whole = std::fs::read(&piece).unwrap();
        std::fs::write(&piece, &whole[..500]).unwrap();
        assert_eq!(Checkpoint::load(folder.path(), &net, 1).unwrap().unwrap().1, state(3));
        // The previous one is used where the last has no index, or one for another step.
        std::fs::write(&piece, &whole).unwrap();
        let index = folder.path().join(INDEX);
        let text = std::fs::read_to_string(&index).unwrap();
        for other in [None, Some(text.replace("step = 5", "step = 7"))] {
            match other {
                None => std::fs::remove_file(&index).unwrap(),
                Some(other) => std::fs::write(&index, other).unwrap(),
            }
            assert_eq!(Checkpoint::load(folder.path(), &net, 1).unwrap().unwrap().1, state(3));
        }
        std::fs::write(&index, text).unwrap();
        std::fs::write(&piece, &whole[..500]).unwrap();
        assert!(Checkpoint::verify_last(folder.path(), &net, 1).is_err());
        std::fs::write(&piece, &whole).unwrap();
        Checkpoint::verify_last(folder.path(), &net, 1).unwrap();
        let files = all();
        assert_eq!(files.len(), saved.pieces.len());
        assert!(files.iter().all(|file| file.metadata().unwrap().len() <= 12 << 20));

        let other = named("conv6", Input::PIECES).unwrap();
        assert!(Checkpoint::load(folder.path(), &other, 1).is_err());
        assert!(Checkpoint::load(folder.path(), &net, 2).is_err());
        let mut bytes = std::fs::read(&piece).unwrap();
        bytes[1000] ^= 1;
        std::fs::write(&piece, &bytes).unwrap();
        let error = Checkpoint::load(folder.path(), &net, 1).unwrap_err().to_string();
        assert!(error.contains("Start a new run with --out"), "{error}");
        // Removing is idempotent.
        Checkpoint::save(folder.path(), &state(8), 10, 4.0).unwrap();
        Checkpoint::save(folder.path(), &state(9), 10, 5.0).unwrap();
        assert!(folder.path().join(PREVIOUS).exists());
        for _ in 0..2 {
            Checkpoint::remove_all(folder.path()).unwrap();
            assert_eq!(Checkpoint::load(folder.path(), &net, 1).unwrap(), None);
        }
    }
}
