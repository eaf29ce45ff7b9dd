//! A run's state on disk: pieces of a few megabytes, and an index that is written last.
//!
//! The pieces of a new checkpoint have names of their own, so that until its index replaces the old
//! one the old checkpoint is whole; a run that dies in between has lost only what came after it. The
//! checkpoint before the last stays until the end of a sitting, when the last was read again.

use super::State;
use outflank_models::nets::{NetGraph, NetError, Weights};
use outflank_runs::files::{self, FileError};
use outflank_runs::{ProgressLog, shards, toml_error_message};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The index.
const INDEX: &str = "checkpoint.toml";

/// The index of the checkpoint before.
const BEFORE: &str = "checkpoint-before.toml";

/// The folder of the pieces.
const FOLDER: &str = "checkpoint";

/// No piece is larger.
const PIECE: usize = 12 << 20;

/// Why a checkpoint cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is damaged.
    #[error("the checkpoint in {0} cannot be used: {1}; begin anew with --out")]
    Damaged(PathBuf, String),
    /// It belongs to another network.
    #[error(transparent)]
    NetGraph(#[from] NetError),
}

/// What is kept besides the state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// How many steps were taken.
    pub step: u64,
    /// How many there will be.
    pub steps: u64,
    /// Seconds spent learning.
    pub seconds: f64,
    /// The pieces.
    pub pieces: Vec<String>,
    /// The checksum of all pieces together.
    pub sha256: String,
}

impl Checkpoint {
    /// Writes a state into a run's folder; of the earlier ones the last stays.
    pub fn save(
        folder: &Path,
        state: &State,
        steps: u64,
        seconds: f64,
    ) -> Result<Checkpoint, CheckpointError> {
        let inner = folder.join(FOLDER);
        files::create_folder(&inner)?;
        let blocks =
            std::iter::once(state.weights.values()).chain(state.moments.iter().map(Vec::as_slice));
        let blocks: Vec<Vec<u8>> = blocks
            .flatten()
            .map(|block| block.iter().flat_map(|value| value.to_le_bytes()).collect())
            .collect();
        let bytes = shards::pack(&blocks);
        let mut pieces = Vec::new();
        for (number, piece) in bytes.chunks(PIECE).enumerate() {
            let name = format!("{:09}-{number:03}.part", state.step);
            files::write(&inner.join(&name), piece)?;
            pieces.push(name);
        }
        let sha256 = files::checksum(&bytes);
        let checkpoint = Checkpoint { step: state.step, steps, seconds, pieces, sha256 };
        let mut needed = checkpoint.pieces.clone();
        if let Ok(Some(last)) = Checkpoint::index(folder, INDEX) {
            last.write(&folder.join(BEFORE))?;
            needed.extend(last.pieces);
        }
        checkpoint.write(&folder.join(INDEX))?;
        Checkpoint::clear(&inner, &needed)?;
        Ok(checkpoint)
    }

    fn write(&self, path: &Path) -> Result<(), CheckpointError> {
        let text = toml::to_string(self)
            .map_err(|error| CheckpointError::Damaged(path.to_owned(), error.to_string()))?;
        Ok(files::write(path, text.as_bytes())?)
    }

    /// Removes all pieces but these.
    fn clear(inner: &Path, needed: &[String]) -> Result<(), CheckpointError> {
        for entry in std::fs::read_dir(inner).map_err(FileError::on("read", inner))?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(".part") && !needed.contains(&name) {
                // What cannot be removed now is removed next time.
                let _ = std::fs::remove_file(entry.path());
            }
        }
        Ok(())
    }

    /// Removes all checkpoints of a folder: first what says that there is one.
    pub fn forget(folder: &Path) -> Result<(), CheckpointError> {
        for name in [INDEX, BEFORE] {
            let path = folder.join(name);
            if path.exists() {
                std::fs::remove_file(&path).map_err(FileError::on("remove", &path))?;
            }
        }
        let inner = folder.join(FOLDER);
        if inner.is_dir() {
            std::fs::remove_dir_all(&inner).map_err(FileError::on("remove", &inner))?;
        }
        Ok(())
    }

    /// Reads the last checkpoint again and, if it is whole, removes the one before.
    pub fn settle(folder: &Path, net: &NetGraph, moments: usize) -> Result<(), CheckpointError> {
        if let Some((last, _)) = Checkpoint::load_one(folder, INDEX, net, moments)? {
            let _ = std::fs::remove_file(folder.join(BEFORE));
            Checkpoint::clear(&folder.join(FOLDER), &last.pieces)?;
        }
        Ok(())
    }

    /// The last state of a run that is whole, if it has one.
    pub fn load(
        folder: &Path,
        net: &NetGraph,
        moments: usize,
    ) -> Result<Option<(Checkpoint, State)>, CheckpointError> {
        let last = match Checkpoint::load_one(folder, INDEX, net, moments) {
            Ok(None) if folder.join(BEFORE).exists() => {
                let reason = format!("{INDEX} is missing");
                Err(CheckpointError::Damaged(folder.to_owned(), reason))
            }
            last => last,
        };
        match last {
            Err(error) => match Checkpoint::load_one(folder, BEFORE, net, moments) {
                Ok(Some(found)) => {
                    let [last, before] = [INDEX, BEFORE].map(|name| folder.join(name));
                    let reason = match error {
                        CheckpointError::Damaged(_, reason) => reason,
                        other => other.to_string(),
                    };
                    let (shown, other) = (last.display(), before.display());
                    ProgressLog::new(false).println(&format!("{shown}: {reason}; going on from {other}"));
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
    ) -> Result<Option<(Checkpoint, State)>, CheckpointError> {
        let damaged = |why: String| CheckpointError::Damaged(folder.to_owned(), why);
        let Some(checkpoint) = Checkpoint::index(folder, name)? else { return Ok(None) };
        let mut bytes = Vec::new();
        for piece in &checkpoint.pieces {
            if piece.contains(['/', '\\']) {
                return Err(damaged(format!("'{piece}' is not a piece")));
            }
            bytes.extend(files::read(&folder.join(FOLDER).join(piece), PIECE as u64)?);
        }
        if files::checksum(&bytes) != checkpoint.sha256 {
            return Err(damaged("its pieces are not those that were written".to_owned()));
        }
        let (step, steps) = (checkpoint.step, checkpoint.steps);
        let of_step = format!("{step:09}-");
        let is_its = checkpoint.pieces.iter().all(|piece| piece.starts_with(&of_step));
        if !is_its || (steps > 0 && step > steps) {
            return Err(damaged(format!("{name} says step {step} of {steps}, which it is not")));
        }
        let blocks = shards::unpack(&bytes).map_err(damaged)?;
        let mut values: Vec<Vec<f32>> = blocks
            .iter()
            .map(|block| block.as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b)).collect())
            .collect();
        let each = net.params().len();
        if values.len() != each * (1 + moments) {
            let (has, needs) = (values.len(), each * (1 + moments));
            return Err(damaged(format!("{} needs {needs} blocks, it has {has}", net.name())));
        }
        let rest = values.split_off(each);
        let weights = Weights::new(net, values)?;
        let moments: Vec<Vec<Vec<f32>>> = rest.chunks(each).map(<[_]>::to_vec).collect();
        for moment in &moments {
            // The same shapes as the weights, and finite.
            Weights::new(net, moment.clone())?;
        }
        Ok(Some((checkpoint.clone(), State { step: checkpoint.step, weights, moments })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_models::nets::{Input, named};

    #[test]
    fn a_checkpoint_comes_back_and_damage_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let net = named("conv4", Input::PIECES).unwrap();
        assert_eq!(Checkpoint::load(folder.path(), &net, 1).unwrap(), None);
        let state = |step| State {
            step,
            weights: Weights::init(&net, step),
            moments: vec![Weights::init(&net, step + 7).values().to_vec()],
        };
        Checkpoint::save(folder.path(), &state(3), 10, 1.5).unwrap();
        let saved = Checkpoint::save(folder.path(), &state(5), 10, 2.5).unwrap();
        let found = Checkpoint::load(folder.path(), &net, 1).unwrap().unwrap();
        assert_eq!(found, (saved.clone(), state(5)));
        // The last two are there, and after a look at the last it alone, in pieces that fit where files
        // must be small.
        let inner = folder.path().join(FOLDER);
        let all = || std::fs::read_dir(&inner).unwrap().flatten().collect::<Vec<_>>();
        assert_eq!(all().len(), 2 * saved.pieces.len());
        let piece = inner.join(&saved.pieces[0]);
        let whole = std::fs::read(&piece).unwrap();
        std::fs::write(&piece, &whole[..500]).unwrap();
        assert_eq!(Checkpoint::load(folder.path(), &net, 1).unwrap().unwrap().1, state(3));
        // The same where the last has no index, or one that names another step.
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
        assert!(Checkpoint::settle(folder.path(), &net, 1).is_err());
        std::fs::write(&piece, &whole).unwrap();
        Checkpoint::settle(folder.path(), &net, 1).unwrap();
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
        assert!(error.contains("begin anew"), "{error}");
        // What was forgotten is not missed, whether one was there or two.
        Checkpoint::save(folder.path(), &state(8), 10, 4.0).unwrap();
        Checkpoint::save(folder.path(), &state(9), 10, 5.0).unwrap();
        assert!(folder.path().join(BEFORE).exists());
        for _ in 0..2 {
            Checkpoint::remove_all(folder.path()).unwrap();
            assert_eq!(Checkpoint::load(folder.path(), &net, 1).unwrap(), None);
        }
    }
}
