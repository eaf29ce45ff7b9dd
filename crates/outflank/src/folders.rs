//! Run folders: gone on with, and what their reports say of how they were made.

use anyhow::{Context, Result};
use outflank_presentation::Provenance;
use outflank_runs::files::remove_temp_files;
use outflank_runs::{RunConfig, RunFolder};
use std::path::Path;

/// The folder of a run that was begun before, without what a process that was killed left half
/// written in it or in the folders of its parts.
pub fn resume(path: &Path, config: &RunConfig, free: &[&str]) -> Result<RunFolder> {
    let folder = RunFolder::resume(path, config, free)?;
    sweep(folder.path())?;
    Ok(folder)
}

/// What the report of a run says of how it was made, with the words of the command.
pub fn about(folder: &RunFolder, words: Vec<String>) -> Result<Provenance> {
    let RunConfig { version, seed, data, .. } = RunFolder::read_config(folder.path())?;
    Ok(Provenance { command: shell_words::join(words), seed, version, data })
}

fn sweep(folder: &Path) -> Result<()> {
    remove_temp_files(folder)?;
    let unread = || format!("cannot read {}", folder.display());
    for entry in std::fs::read_dir(folder).with_context(unread)?.flatten() {
        // A link leads to what is not this run's.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            sweep(&entry.path())?;
        }
    }
    Ok(())
}
