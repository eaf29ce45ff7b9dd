//! Where a run that learns choices one by one keeps the stages of the game between two sittings.

use anyhow::Result;
use outflank_learners::online::{StageState, StageStore};
use outflank_runs::{Progress, RunFolder, files, stop_requested};
use std::path::PathBuf;

/// The files of the stages, each written beside and renamed.
pub struct Sittings<'a> {
    folder: PathBuf,
    progress: &'a Progress,
}

impl Sittings<'_> {
    /// In a run's folder.
    pub fn new<'a>(folder: &RunFolder, progress: &'a Progress) -> Result<Sittings<'a>> {
        Ok(Sittings { folder: folder.join("stages"), progress })
    }

    fn path(&self, stage: usize) -> PathBuf {
        self.folder.join(format!("stage-{stage:02}.bin"))
    }

    /// Forgets the stages, once the model that they make is kept.
    pub fn forget(folder: &RunFolder) {
        // What cannot be removed is in nobody's way.
        let _ = std::fs::remove_dir_all(folder.join("stages"));
    }
}

/// No stage is larger than this.
const LIMIT: u64 = 1 << 30;

impl StageStore for Sittings<'_> {
    fn load(&self, stage: usize) -> Result<Option<StageState>, String> {
        let path = self.path(stage);
        if !path.exists() {
            return Ok(None);
        }
        let bytes = files::read(&path, LIMIT).map_err(|error| error.to_string())?;
        let state = StageState::from_bytes(&bytes).ok_or_else(|| {
            format!("{} is damaged; delete it to learn that stage anew", path.display())
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
