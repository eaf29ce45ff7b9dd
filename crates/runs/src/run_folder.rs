//! Run folders: the configuration and the results of one run.

use crate::files::{self, FileError};
use crate::lock::{LOCK, LockError, RunLock};
use crate::text_position::toml_error_message;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

/// The first line of a configuration that a program wrote.
const FIRST_LINE: &str = "# Configuration of a run. It is complete if the last line is \"# end\".";

/// The last line of such a configuration.
const LAST_LINE: &str = "# end";

impl RunConfig {
    /// Returns the text of `config.toml`, with comments that show whether it is complete.
    #[must_use]
    pub fn to_text(&self) -> String {
        let text = toml::to_string(self).unwrap_or_default();
        format!("{FIRST_LINE}\n{text}{LAST_LINE}\n")
    }

    /// Returns whether a text is the beginning of a configuration whose end is missing. A line break
    /// may separate two settings, so a truncated configuration can be valid TOML.
    ///
    /// Configurations of old runs have no comments; their end cannot be checked.
    #[must_use]
    pub fn is_truncated(text: &str) -> bool {
        let begins = match text.split_once('\n') {
            Some((first, _)) => first == FIRST_LINE,
            None => FIRST_LINE.starts_with(text),
        };
        begins && text.lines().last() != Some(LAST_LINE)
    }
}

/// An error while creating or resuming a run folder.
#[derive(Debug, thiserror::Error)]
pub enum RunFolderError {
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Another process is writing the run.
    #[error(transparent)]
    Locked(#[from] LockError),
    /// The folder contains another run, which a new run must not overwrite.
    #[error("{0}: contains a run. Resume it with --resume {0}, or use another folder with --out.")]
    Occupied(String),
    /// The folder contains no run to resume.
    #[error("{0}: no run to resume, because config.toml is not readable ({1})")]
    NoRun(String, String),
    /// The run was stopped before its configuration was written.
    #[error(
        "{0}: nothing to resume, because the run was stopped before it began (there is no config.toml). \
        Start it again with --out {0} and its options."
    )]
    NotBegun(String),
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

/// The folder of a run, locked against other processes.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
    rollback: Rollback,
    lock: Arc<RunLock>,
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
        if let Some(path) = out {
            return RunFolder::create_at(path.to_owned(), config);
        }
        loop {
            match RunFolder::create_at(next_free(Path::new("runs"), &config.command), config) {
                // Another process has just taken this number.
                Err(
                    RunFolderError::Occupied(_) | RunFolderError::Locked(LockError::Locked { .. }),
                ) => {}
                other => return other,
            }
        }
    }

    fn create_at(path: PathBuf, config: &RunConfig) -> Result<RunFolder, RunFolderError> {
        let occupied = || RunFolderError::Occupied(path.display().to_string());
        if path.join(CONFIG).exists() {
            return Err(match RunLock::is_held(&path) {
                true => RunLock::acquire(&path).err().map_or_else(occupied, Into::into),
                false => occupied(),
            });
        }
        let missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let created = path.ancestors().take_while(missing).map(Path::to_owned).collect();
        files::create_folder(&path)?;
        let lock = Arc::new(RunLock::acquire(&path)?);
        // Another process may have finished a run since.
        if path.join(CONFIG).exists() {
            return Err(occupied());
        }
        // A run killed before its configuration was complete leaves a temporary file.
        files::remove_temp_files(&path)?;
        let folder = RunFolder { path, rollback: Rollback::RemoveFolders(created), lock };
        folder.write_config(config)?;
        Ok(folder)
    }

    /// Opens the folder of an earlier run and checks that its settings are the same.
    ///
    /// The settings named in `changeable` may differ; their new values are stored. `upgrade`
    /// converts the configuration of an earlier version.
    pub fn resume(
        path: &Path,
        config: &RunConfig,
        changeable: &[&str],
        upgrade: impl Fn(&RunConfig) -> RunConfig,
    ) -> Result<RunFolder, RunFolderError> {
        let stored = RunFolder::read_config(path)?;
        let lock = Arc::new(RunLock::acquire(path)?);
        let old = upgrade(&stored);
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
        let rollback = Rollback::RestoreConfig(Box::new(stored));
        let folder = RunFolder { path: path.to_owned(), rollback, lock };
        files::remove_temp_files(path)?;
        folder.write_config(config)?;
        Ok(folder)
    }

    /// Reads the configuration of the run in a folder.
    pub fn read_config(path: &Path) -> Result<RunConfig, RunFolderError> {
        let no_run = |reason: String| RunFolderError::NoRun(path.display().to_string(), reason);
        if has_not_begun(path) {
            return Err(RunFolderError::NotBegun(path.display().to_string()));
        }
        let bytes = files::read(&path.join(CONFIG), 1 << 24).map_err(|e| no_run(e.to_string()))?;
        let text =
            String::from_utf8(bytes).map_err(|_| no_run("it is not UTF-8 text".to_owned()))?;
        let file = path.join(CONFIG).display().to_string();
        if RunConfig::is_truncated(&text) {
            let reason = "the file is empty or truncated: its last lines are missing".to_owned();
            return Err(RunFolderError::InvalidConfig(file, reason));
        }
        toml::from_str(&text)
            .map_err(|error| RunFolderError::InvalidConfig(file, toml_error_message(&text, &error)))
    }

    /// Replaces the stored configuration.
    fn write_config(&self, config: &RunConfig) -> Result<(), RunFolderError> {
        self.write(CONFIG, config.to_text().as_bytes())?;
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
        // The lock is a file in the folder.
        drop(self.lock);
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

/// Returns whether a folder has only what [`RunFolder::create`] leaves if it is interrupted.
fn has_not_begun(path: &Path) -> bool {
    let Ok(mut entries) = fs::read_dir(path) else { return false };
    let is_initial =
        |entry: fs::DirEntry| entry.file_name() == LOCK || files::is_temp_file(&entry.path());
    !RunLock::is_held(path) && entries.all(|entry| entry.is_ok_and(is_initial))
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

    /// A run that was killed while it was created could not be resumed, with an error about
    /// `config.toml` that gave no advice.
    #[test]
    fn a_run_that_has_not_begun_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::create_dir(&path).unwrap();
        for _ in 0..2 {
            let error = RunFolder::read_config(&path).unwrap_err().to_string();
            assert!(error.contains("stopped before it began"), "{error}");
            assert!(error.contains(&format!("--out {}", path.display())), "{error}");
            fs::write(path.join(".part-abc"), "half a configuration").unwrap();
        }
        RunFolder::create(Some(&path), &config(1, 10)).unwrap();
        fs::remove_file(path.join(CONFIG)).unwrap();
        fs::write(path.join("games.tsv"), "").unwrap();
        let error = RunFolder::read_config(&path).unwrap_err().to_string();
        assert!(error.contains("not readable"), "{error}");
    }

    #[test]
    fn truncated_configurations_are_recognized() {
        let whole = config(1, 10).to_text();
        for length in 0..whole.len() {
            let is_whole = length == whole.len() - 1; // Only the last line break is missing.
            assert_eq!(RunConfig::is_truncated(&whole[..length]), !is_whole, "{length}");
        }
        assert!(!RunConfig::is_truncated("\n# A file of a user\ngames = 2\n"));
        assert!(!RunConfig::is_truncated("command = \"league\"\nversion = \"1.0\"\n"));
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(CONFIG), whole.trim_end_matches("# end\n")).unwrap();
        let error = RunFolder::read_config(folder.path()).unwrap_err().to_string();
        assert!(error.contains("truncated"), "{error}");
    }

    #[test]
    fn runs_are_neither_overwritten_nor_resumed_with_other_settings() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        RunFolder::create(Some(&path), &config(1, 10)).unwrap();
        let occupied = RunFolder::create(Some(&path), &config(1, 10)).unwrap_err().to_string();
        assert!(occupied.contains("--resume"), "{occupied}");
        RunFolder::resume(&path, &config(1, 10), &[], RunConfig::clone).unwrap();
        let seed = RunFolder::resume(&path, &config(2, 10), &[], RunConfig::clone)
            .unwrap_err()
            .to_string();
        assert!(seed.contains("--seed = 1, not 2"), "{seed}");
        let games = RunFolder::resume(&path, &config(1, 20), &[], RunConfig::clone)
            .unwrap_err()
            .to_string();
        assert!(games.contains("games = 10, not 20"), "{games}");
        fs::write(path.join(".part-abc"), "incomplete").unwrap();
        RunFolder::resume(&path, &config(1, 20), &["games"], RunConfig::clone).unwrap();
        assert_eq!(fs::read_dir(&path).unwrap().count(), 1, "only config.toml remains");
        assert_eq!(RunFolder::read_config(&path).unwrap(), config(1, 20));
        assert!(RunFolder::resume(folder.path(), &config(1, 10), &[], RunConfig::clone).is_err());
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
        RunFolder::resume(&path, &config(1, 10), &[], RunConfig::clone).unwrap().discard();
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
