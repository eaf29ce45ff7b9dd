//! Checkpoints of a run: the measurements and the state of the learner.

use super::{Learner, Measurement, TrainingError};
use outflank_runs::files::{self, FileError};
use outflank_runs::{ProgressLog, sections};
use std::fmt::Write;
use std::path::Path;

/// File name of the checkpoint.
pub const CHECKPOINT: &str = "checkpoint.bin";

/// File name of the previous checkpoint, used if the last one is damaged.
pub const PREVIOUS_CHECKPOINT: &str = "checkpoint-before.bin";

/// File name of the checkpoint with the best value of the monitored metric.
pub const BEST_CHECKPOINT: &str = "checkpoint-best.bin";

/// Largest checkpoint in bytes.
const MAX_BYTES: u64 = 1 << 34;

/// Returns whether a folder has a checkpoint.
#[must_use]
pub fn has_checkpoint(folder: &Path) -> bool {
    [CHECKPOINT, PREVIOUS_CHECKPOINT].iter().any(|name| folder.join(name).exists())
}

/// Removes the checkpoints of a folder.
pub fn remove_checkpoints(folder: &Path) -> Result<(), FileError> {
    for name in [PREVIOUS_CHECKPOINT, BEST_CHECKPOINT, CHECKPOINT] {
        let path = folder.join(name);
        if path.exists() {
            files::remove(&path)?;
        }
    }
    Ok(())
}

/// Saves the state of a learner that was restored from a run of an earlier version, so that a
/// [`Trainer`](super::Trainer) continues it.
pub fn import_checkpoint<L: Learner + ?Sized>(
    learner: &L,
    curve: &[Measurement],
    folder: &Path,
) -> Result<(), TrainingError> {
    save_checkpoint(learner, curve, folder)
}

/// Packs the measurements and the state of a learner.
fn pack<L: Learner + ?Sized>(learner: &L, curve: &[Measurement]) -> Result<Vec<u8>, TrainingError> {
    let mut sections = vec![encode_curve(curve).into_bytes()];
    sections.extend(learner.state().map_err(TrainingError::Step)?);
    Ok(sections::pack(&sections))
}

/// Saves a checkpoint and keeps the previous one.
pub(super) fn save_checkpoint<L: Learner + ?Sized>(
    learner: &L,
    curve: &[Measurement],
    folder: &Path,
) -> Result<(), TrainingError> {
    let bytes = pack(learner, curve)?;
    let (last, previous) = (folder.join(CHECKPOINT), folder.join(PREVIOUS_CHECKPOINT));
    if last.exists() {
        files::rename(&last, &previous)?;
    }
    Ok(files::write(&last, &bytes)?)
}

/// Saves the checkpoint with the best value of the monitored metric.
pub(super) fn save_best_checkpoint<L: Learner + ?Sized>(
    learner: &L,
    curve: &[Measurement],
    folder: &Path,
) -> Result<(), TrainingError> {
    Ok(files::write(&folder.join(BEST_CHECKPOINT), &pack(learner, curve)?)?)
}

/// Restores the learner from a checkpoint file and returns its measurements.
fn restore<L: Learner + ?Sized>(
    learner: &mut L,
    sections: &[Vec<u8>],
) -> Result<Vec<Measurement>, String> {
    let (curve, state) = sections.split_first().ok_or("it is empty")?;
    let curve = std::str::from_utf8(curve).ok().and_then(decode_curve);
    learner.restore(state)?;
    curve.ok_or_else(|| "its measurements are damaged".to_owned())
}

/// Restores the learner from the checkpoint with the best value of the monitored metric.
pub(super) fn load_best_checkpoint<L: Learner + ?Sized>(
    learner: &mut L,
    folder: &Path,
) -> Result<(), TrainingError> {
    let path = folder.join(BEST_CHECKPOINT);
    let failed = |reason| TrainingError::Checkpoint { path: path.display().to_string(), reason };
    let sections = sections::unpack(&files::read(&path, MAX_BYTES)?).map_err(failed)?;
    restore(learner, &sections).map_err(failed)?;
    Ok(())
}

/// Restores the learner from the last undamaged checkpoint, if there is one, and returns its
/// measurements.
pub(super) fn load_checkpoint<L: Learner + ?Sized>(
    learner: &mut L,
    folder: &Path,
) -> Result<Option<Vec<Measurement>>, TrainingError> {
    let mut damage = None;
    for path in [CHECKPOINT, PREVIOUS_CHECKPOINT].map(|name| folder.join(name)) {
        if !path.exists() {
            continue;
        }
        let failed =
            |reason| TrainingError::Checkpoint { path: path.display().to_string(), reason };
        let sections = match sections::unpack(&files::read(&path, MAX_BYTES)?) {
            Ok(sections) => sections,
            Err(reason) => {
                damage.get_or_insert(failed(reason));
                continue;
            }
        };
        let curve = restore(learner, &sections).map_err(failed)?;
        if let Some(TrainingError::Checkpoint { path: last, reason }) = damage {
            let text = format!("{last}: {reason}; resuming from {}", path.display());
            ProgressLog::new(false).println(&text);
            // The next save would otherwise replace the valid checkpoint by the damaged one.
            files::remove(Path::new(&last))?;
        }
        return Ok(Some(curve));
    }
    damage.map_or(Ok(None), Err)
}

/// Encodes one line per measurement: the budget used, then each value, its error and the losses.
/// Rust formats and parses floating-point numbers without loss.
fn encode_curve(curve: &[Measurement]) -> String {
    let mut text = String::new();
    for point in curve {
        let _ = write!(text, "{}", point.spent);
        let Measurement { scores, errors, losses, .. } = point;
        for ((score, error), lost) in scores.iter().zip(errors).zip(losses) {
            let _ = write!(text, " {score} {error} {lost}");
        }
        text.push('\n');
    }
    text
}

fn decode_curve(text: &str) -> Option<Vec<Measurement>> {
    let point = |line: &str| {
        let mut words = line.split(' ');
        let spent = words.next()?.parse().ok()?;
        let numbers: Option<Vec<f64>> = words.map(|word| word.parse().ok()).collect();
        let numbers = numbers?;
        let (triples, rest) = numbers.as_chunks::<3>();
        rest.is_empty().then(|| Measurement {
            spent,
            scores: triples.iter().map(|triple| triple[0]).collect(),
            errors: triples.iter().map(|triple| triple[1]).collect(),
            losses: triples.iter().map(|triple| triple[2]).collect(),
        })
    };
    text.lines().map(point).collect()
}
