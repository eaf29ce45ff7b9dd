//! Run folders: the configuration and the results of one run.

use crate::files::{self, FileError};
use crate::text_position::toml_error_message;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// An input file of a run, identified by its checksum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataFile {
    /// The file name without the folder.
    pub file: String,
    /// The SHA-256 checksum of the content.
    pub sha256: String,
}

/// The configuration of a run with all defaults resolved, as stored in `config.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunConfig {
    /// The subcommand, such as `league`.
    pub command: String,
    /// The version of the program.
    pub version: String,
    /// The random seed.
    pub seed: u64,
    /// All settings that affect the result.
    pub settings: toml::Table,
    /// The input files.
    #[serde(default)]
    pub data: Vec<DataFile>,
}

/// An error while creating or resuming a run folder.
#[derive(Debug, thiserror::Error)]
pub enum RunFolderError {
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The folder contains another run, which a new run must not overwrite.
    #[error("{0}: contains a run. Resume it with --resume {0}, or use another folder with --out.")]
    Occupied(String),
    /// The folder contains no run to resume.
    #[error("{0}: no run to resume, because config.toml is not readable ({1})")]
    NoRun(String, String),
    /// `config.toml` is invalid.
    #[error("{0}: {1}. Correct the file, or start a new run with --out.")]
    InvalidConfig(String, String),
    /// A setting differs from that of the stored configuration.
    #[error(
        "{folder}: this run was started with {key} = {old}, not {new}. Resume with the old setting, or \
        start a new run with --out."
    )]
    SettingChanged {
        /// The folder.
        folder: String,
        /// The name of the setting.
        key: String,
        /// The stored value.
        old: String,
        /// The requested value.
        new: String,
    },
}

/// The folder of a run.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
    rollback: Rollback,
}

/// How [`RunFolder::discard`] undoes the creation or resumption of a run.
#[derive(Clone, Debug)]
enum Rollback {
    /// Removes the folders created for a new run, innermost first.
    RemoveFolders(Vec<PathBuf>),
    /// Restores the configuration from before the run was resumed.
    RestoreConfig(Box<RunConfig>),
}

const CONFIG: &str = "config.toml";

impl RunFolder {
    /// Creates the folder of a new run: `out`, or the next free `runs/COMMAND-001`.
    pub fn create(out: Option<&Path>, config: &RunConfig) -> Result<RunFolder, RunFolderError> {
        let path = match out {
            Some(path) => path.to_owned(),
            None => next_free(Path::new("runs"), &config.command),
        };
        if path.join(CONFIG).exists() {
            return Err(RunFolderError::Occupied(path.display().to_string()));
        }
        let missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let created = path.ancestors().take_while(missing).map(Path::to_owned).collect();
        files::create_folder(&path)?;
        // A run killed before its configuration was complete leaves a temporary file.
        files::remove_temp_files(&path)?;
        let folder = RunFolder { path, rollback: Rollback::RemoveFolders(created) };
        folder.write_config(config)?;
        Ok(folder)
    }

    /// Opens the folder of an earlier run and checks that its settings are the same.
    ///
    /// The settings named in `changeable` may differ; their new values are stored.
    pub fn resume(
        path: &Path,
        config: &RunConfig,
        changeable: &[&str],
    ) -> Result<RunFolder, RunFolderError> {
        let old = RunFolder::read_config(path)?;
        let changed = |key: &str, old: String, new: String| {
            Err(RunFolderError::SettingChanged {
                folder: path.display().to_string(),
                key: key.to_owned(),
                old,
                new,
            })
        };
        if old.command != config.command {
            return changed("command", old.command, config.command.clone());
        }
        if old.version != config.version {
            return changed("version", old.version, config.version.clone());
        }
        if old.seed != config.seed {
            return changed("--seed", old.seed.to_string(), config.seed.to_string());
        }
        let keys = old.settings.keys().chain(config.settings.keys());
        for key in keys.filter(|key| !changeable.contains(&key.as_str())) {
            let format = |table: &toml::Table| {
                table.get(key).map_or_else(|| "(not set)".to_owned(), ToString::to_string)
            };
            if old.settings.get(key) != config.settings.get(key) {
                return changed(key, format(&old.settings), format(&config.settings));
            }
        }
        if !changeable.contains(&"data") && old.data != config.data {
            let (old, new) = ("(other files or contents)", "the files given now");
            return changed("data", old.to_owned(), new.to_owned());
        }
        let folder =
            RunFolder { path: path.to_owned(), rollback: Rollback::RestoreConfig(Box::new(old)) };
        files::remove_temp_files(path)?;
        folder.write_config(config)?;
        Ok(folder)
    }

    /// Reads the configuration of the run in a folder.
    pub fn read_config(path: &Path) -> Result<RunConfig, RunFolderError> {
        let no_run = |reason: String| RunFolderError::NoRun(path.display().to_string(), reason);
        let bytes = files::read(&path.join(CONFIG), 1 << 24).map_err(|e| no_run(e.to_string()))?;
        let text =
            String::from_utf8(bytes).map_err(|_| no_run("it is not UTF-8 text".to_owned()))?;
        toml::from_str(&text).map_err(|error| {
            let file = path.join(CONFIG).display().to_string();
            RunFolderError::InvalidConfig(file, toml_error_message(&text, &error))
        })
    }

    /// Replaces the stored configuration.
    fn write_config(&self, config: &RunConfig) -> Result<(), RunFolderError> {
        let text = toml::to_string(config).unwrap_or_default();
        self.write(CONFIG, text.as_bytes())?;
        Ok(())
    }

    /// Undoes the creation or resumption of a run that did no work.
    ///
    /// The configuration of a new run and the folders created for it are removed, except folders
    /// with other content. A resumed run gets its previous configuration back.
    pub fn discard(self) {
        let created = match self.rollback {
            Rollback::RemoveFolders(ref created) => created,
            Rollback::RestoreConfig(ref old) => {
                // If this fails, the file still has the new configuration.
                let _ = self.write_config(old);
                return;
            }
        };
        let _ = fs::remove_file(self.path.join(CONFIG));
        for folder in created {
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }

    /// Returns the path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of a file in the folder.
    #[must_use]
    pub fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file in the folder atomically.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), FileError> {
        files::write(&self.path.join(name), bytes)
    }
}

/// Returns the first of `COMMAND-001`, `COMMAND-002`, ... that does not exist.
fn next_free(runs: &Path, command: &str) -> PathBuf {
    let exists = |n: &u32| fs::symlink_metadata(runs.join(format!("{command}-{n:03}"))).is_ok();
    let n = (1..).find(|n| !exists(n)).unwrap_or(u32::MAX);
    runs.join(format!("{command}-{n:03}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(seed: u64, games: i64) -> RunConfig {
        let mut settings = toml::Table::new();
        settings.insert("games".to_owned(), games.into());
        settings.insert("players".to_owned(), "a, b".into());
        let version = "1.0".to_owned();
        RunConfig { command: "league".to_owned(), version, seed, settings, data: Vec::new() }
    }

    #[test]
    fn temporary_files_of_an_interrupted_creation_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".part-abc"), "half a configuration").unwrap();
        RunFolder::create(Some(folder.path()), &config(1, 10)).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "only config.toml remains");
    }

    #[test]
    fn runs_are_neither_overwritten_nor_resumed_with_other_settings() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        RunFolder::create(Some(&path), &config(1, 10)).unwrap();
        let occupied = RunFolder::create(Some(&path), &config(1, 10)).unwrap_err().to_string();
        assert!(occupied.contains("--resume"), "{occupied}");
        RunFolder::resume(&path, &config(1, 10), &[]).unwrap();
        let seed = RunFolder::resume(&path, &config(2, 10), &[]).unwrap_err().to_string();
        assert!(seed.contains("--seed = 1, not 2"), "{seed}");
        let games = RunFolder::resume(&path, &config(1, 20), &[]).unwrap_err().to_string();
        assert!(games.contains("games = 10, not 20"), "{games}");
        fs::write(path.join(".part-abc"), "incomplete").unwrap();
        RunFolder::resume(&path, &config(1, 20), &["games"]).unwrap();
        assert_eq!(fs::read_dir(&path).unwrap().count(), 1, "only config.toml remains");
        assert_eq!(RunFolder::read_config(&path).unwrap(), config(1, 20));
        assert!(RunFolder::resume(folder.path(), &config(1, 10), &[]).is_err());
        fs::write(path.join(CONFIG), "command = \"league\"\nversion = \"1\"\nseed = \"x\"\n")
            .unwrap();
        let wrong = RunFolder::read_config(&path).unwrap_err().to_string();
        assert!(wrong.contains("x/config.toml: line 3, column 8: "), "{wrong}");
    }

    #[test]
    fn discarding_a_run_removes_its_files() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a/b/c");
        RunFolder::create(Some(&path), &config(1, 10)).unwrap().discard();
        assert!(!root.path().join("a").exists());
        fs::create_dir(root.path().join("a")).unwrap();
        let folder = RunFolder::create(Some(&path), &config(1, 10)).unwrap();
        folder.write("model", b"something").unwrap();
        folder.discard();
        assert!(path.join("model").exists() && !path.join(CONFIG).exists());
        let folder = RunFolder::create(Some(&path), &config(1, 10)).unwrap();
        drop(folder);
        RunFolder::resume(&path, &config(1, 10), &[]).unwrap().discard();
        assert!(path.join(CONFIG).exists());
    }

    #[test]
    fn new_runs_get_the_next_free_number() {
        let folder = tempfile::tempdir().unwrap();
        assert!(next_free(folder.path(), "train").ends_with("train-001"));
        fs::create_dir(folder.path().join("train-001")).unwrap();
        assert!(next_free(folder.path(), "train").ends_with("train-002"));
    }
}
