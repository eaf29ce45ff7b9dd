//! Checkpoints of online training, one file per stage of the game.

use outflank_learners::online::{StageState, StageStore};
use outflank_runs::{Progress, RunFolder, files, stop_requested};
use std::path::PathBuf;

/// Folder of the checkpoints in the run folder.
const FOLDER: &str = "stages";

/// Maximum size of a checkpoint.
const LIMIT: u64 = 1 << 30;

/// Checkpoints of the stages, each written atomically.
pub struct StageCheckpoints<'a> {
    folder: PathBuf,
    progress: &'a Progress,
}

impl StageCheckpoints<'_> {
    /// Uses the checkpoints of a run folder.
    pub fn new<'a>(folder: &RunFolder, progress: &'a Progress) -> StageCheckpoints<'a> {
        StageCheckpoints { folder: folder.join(FOLDER), progress }
    }

    /// Removes the checkpoints once the model is stored.
    pub fn remove(folder: &RunFolder) {
        // Leftover checkpoints do no harm.
        let _ = std::fs::remove_dir_all(folder.join(FOLDER));
    }

    fn path(&self, stage: usize) -> PathBuf {
        self.folder.join(format!("stage-{stage:02}.bin"))
    }
}

impl StageStore for StageCheckpoints<'_> {
    fn load(&self, stage: usize) -> Result<Option<StageState>, String> {
        let path = self.path(stage);
        if !path.exists() {
            return Ok(None);
        }
        let bytes = files::read(&path, LIMIT).map_err(|error| error.to_string())?;
        let state = StageState::from_bytes(&bytes).ok_or_else(|| {
            format!("{} is damaged; delete it to train that stage again", path.display())
        })?;
        self.progress.set_position(state.choices_seen());
        Ok(Some(state))
    }

    fn save(&self, stage: usize, state: &StageState) -> Result<(), String> {
        files::create_folder(&self.folder).map_err(|error| error.to_string())?;
        files::write(&self.path(stage), &state.to_bytes()).map_err(|error| error.to_string())
    }

    fn on_progress(&self, _: usize, _: u32, choices: usize) -> bool {
        self.progress.add(choices as u64);
        !stop_requested()
    }
}
