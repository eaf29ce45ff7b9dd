//! Run folders: creating and resuming them, and the provenance of a run for its report.

use crate::config::legacy;
use anyhow::{Context, Result};
use outflank_presentation::Provenance;
use outflank_runs::files::{self, remove_temp_files};
use outflank_runs::{RunConfig, RunFolder};
use std::path::Path;

/// Opens the folder of an earlier run and removes incomplete files of a killed process.
///
/// A configuration with old option names is upgraded first, and restored if the run cannot be
/// resumed. The settings in `may_change` may differ from the stored ones.
pub fn resume(path: &Path, config: &RunConfig, may_change: &[&str]) -> Result<RunFolder> {
    let old = RunFolder::read_config(path)?;
    let upgraded = legacy::upgrade_config(&old);
    let file = path.join("config.toml");
    let write = |config: &RunConfig| -> Result<()> {
        Ok(files::write(&file, toml::to_string(config)?.as_bytes())?)
    };
    if upgraded != old {
        write(&upgraded)?;
    }
    let folder = match RunFolder::resume(path, config, may_change) {
        Ok(folder) => folder,
        Err(error) => {
            if upgraded != old {
                write(&old)?;
            }
            return Err(error.into());
        }
    };
    remove_incomplete_files(folder.path())?;
    Ok(folder)
}

/// Opens the folder to resume, or creates a new one.
pub fn open(
    args: &crate::cli::RunArgs,
    config: &RunConfig,
    may_change: &[&str],
) -> Result<RunFolder> {
    Ok(match &args.resume {
        Some(path) => resume(path, config, may_change)?,
        None => RunFolder::create(args.out.as_deref(), config)?,
    })
}

/// The provenance of a run for its report: the command, seed, version and data files.
pub fn provenance(folder: &RunFolder, words: Vec<String>) -> Result<Provenance> {
    let RunConfig { version, seed, data, .. } = RunFolder::read_config(folder.path())?;
    Ok(Provenance { command: shell_words::join(words), seed, version, data })
}

fn remove_incomplete_files(folder: &Path) -> Result<()> {
    remove_temp_files(folder)?;
    let context = || format!("cannot read {}", folder.display());
    for entry in std::fs::read_dir(folder).with_context(context)?.flatten() {
        // Links are not followed: their targets are outside the run.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_incomplete_files(&entry.path())?;
        }
    }
    Ok(())
}
