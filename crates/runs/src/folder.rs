//! The folder that a piece of work leaves behind: what was asked, what came out.

use crate::files::{self, FileError};
use crate::places::toml_error_message;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// A file that was read, so that a reader can tell whether theirs is the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataFile {
    /// Its name without the folder.
    pub file: String,
    /// Its checksum.
    pub sha256: String,
}

/// What was asked, resolved to the last default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunConfig {
    /// The subcommand, such as `league`.
    pub command: String,
    /// The program's version.
    pub version: String,
    /// The seed.
    pub seed: u64,
    /// Every setting that the outcome depends on.
    pub settings: toml::Table,
    /// What was read.
    #[serde(default)]
    pub data: Vec<DataFile>,
}

/// Why a run folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RunFolderError {
    /// The system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// A new run may not overwrite an old one.
    #[error(
        "{0} already holds a run; go on with it by --resume {0}, or name another folder with --out"
    )]
    Ack(String),
    /// Nothing to resume there.
    #[error("{0} holds no run to resume: it has no readable config.toml ({1})")]
    NoRun(String, String),
    /// Its configuration is not what a run writes.
    #[error("{0}: {1}; correct it there, or start a new run with --out")]
    RunConfig(String, String),
    /// The settings differ from those it was begun with.
    #[error(
        "{folder} was begun with {key} = {old}, not {new}; start anew with --out, or resume with the old setting"
    )]
    Changed {
        /// The folder.
        folder: String,
        /// Which setting.
        key: String,
        /// As it was begun.
        old: String,
        /// As it is asked now.
        new: String,
    },
}

/// A folder in which a run writes its files.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
    begun: Begun,
}

/// What is taken back if a run comes to nothing.
#[derive(Clone, Debug)]
enum Begun {
    /// The folders that were made for a new run, the innermost first.
    New(Vec<PathBuf>),
    /// The configuration that a run had before it was resumed.
    Before(Box<RunConfig>),
}

const CONFIG: &str = "config.toml";

impl RunFolder {
    /// A folder for a new run: the one named, or the next free `runs/COMMAND-001`.
    pub fn create(out: Option<&Path>, config: &RunConfig) -> Result<RunFolder, RunFolderError> {
        let path = match out {
            Some(path) => path.to_owned(),
            None => next_free(Path::new("runs"), &config.command),
        };
        if path.join(CONFIG).exists() {
            return Err(RunFolderError::Ack(path.display().to_string()));
        }
        let missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let made = path.ancestors().take_while(missing).map(Path::to_owned).collect();
        files::create_folder(&path)?;
        // A run that was killed before its configuration was there leaves a part of it at most.
        files::remove_temp_files(&path)?;
        let folder = RunFolder { path, begun: Begun::New(made) };
        folder.write_config(config)?;
        Ok(folder)
    }

    /// The folder of a run that was begun before, if its settings are the same.
    ///
    /// Settings named in `free` may differ; the new ones are written.
    pub fn resume(path: &Path, config: &RunConfig, free: &[&str]) -> Result<RunFolder, RunFolderError> {
        let old = RunFolder::read_config(path)?;
        let changed = |key: &str, old: String, new: String| {
            Err(RunFolderError::Changed {
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
        for key in keys.filter(|key| !free.contains(&key.as_str())) {
            let show = |table: &toml::Table| {
                table.get(key).map_or_else(|| "nothing".to_owned(), ToString::to_string)
            };
            if old.settings.get(key) != config.settings.get(key) {
                return changed(key, show(&old.settings), show(&config.settings));
            }
        }
        if !free.contains(&"data") && old.data != config.data {
            return changed("data", "other files or contents".to_owned(), "these".to_owned());
        }
        let folder = RunFolder { path: path.to_owned(), begun: Begun::Before(Box::new(old)) };
        files::remove_temp_files(path)?;
        folder.write_config(config)?;
        Ok(folder)
    }

    /// The configuration of the run in a folder.
    pub fn read_config(path: &Path) -> Result<RunConfig, RunFolderError> {
        let none = |why: String| RunFolderError::NoRun(path.display().to_string(), why);
        let bytes = files::read(&path.join(CONFIG), 1 << 24).map_err(|e| none(e.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| none("it is not text".to_owned()))?;
        toml::from_str(&text).map_err(|error| {
            let file = path.join(CONFIG).display().to_string();
            RunFolderError::RunConfig(file, toml_error_message(&text, &error))
        })
    }

    /// Writes the configuration anew.
    pub fn write_config(&self, config: &RunConfig) -> Result<(), RunFolderError> {
        let text = toml::to_string(config).unwrap_or_default();
        self.write(CONFIG, text.as_bytes())?;
        Ok(())
    }

    /// Takes back a run that came to nothing. Of a new one, its configuration and the folders that were
    /// made for it go, unless something else lies there by now; one that was resumed has the configuration
    /// that it had.
    pub fn discard(self) {
        let made = match self.begun {
            Begun::New(ref made) => made,
            Begun::Before(ref old) => {
                // What cannot be written back is still a whole configuration.
                let _ = self.write_config(old);
                return;
            }
        };
        let _ = fs::remove_file(self.path.join(CONFIG));
        for folder in made {
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file in it.
    #[must_use]
    pub fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file into it, whole or not at all.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), FileError> {
        files::write(&self.path.join(name), bytes)
    }
}

/// The first `COMMAND-001`, `COMMAND-002`, ... that does not exist.
fn next_free(runs: &Path, command: &str) -> PathBuf {
    let taken = |n: &u32| fs::symlink_metadata(runs.join(format!("{command}-{n:03}"))).is_ok();
    let n = (1..).find(|n| !taken(n)).unwrap_or(u32::MAX);
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
    fn what_was_cut_off_before_the_beginning_is_swept_away() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".part-abc"), "half a configuration").unwrap();
        RunFolder::create(Some(folder.path()), &config(1, 10)).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "only config.toml is there");
    }

    #[test]
    fn a_run_is_neither_overwritten_nor_resumed_with_other_settings() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        RunFolder::create(Some(&path), &config(1, 10)).unwrap();
        let taken = RunFolder::create(Some(&path), &config(1, 10)).unwrap_err().to_string();
        assert!(taken.contains("--resume"), "{taken}");
        RunFolder::resume(&path, &config(1, 10), &[]).unwrap();
        let seed = RunFolder::resume(&path, &config(2, 10), &[]).unwrap_err().to_string();
        assert!(seed.contains("--seed = 1, not 2"), "{seed}");
        let games = RunFolder::resume(&path, &config(1, 20), &[]).unwrap_err().to_string();
        assert!(games.contains("games = 10, not 20"), "{games}");
        fs::write(path.join(".part-abc"), "cut off").unwrap();
        RunFolder::resume(&path, &config(1, 20), &["games"]).unwrap();
        assert_eq!(fs::read_dir(&path).unwrap().count(), 1, "only config.toml is left");
        assert_eq!(RunFolder::read_config(&path).unwrap(), config(1, 20));
        assert!(RunFolder::resume(folder.path(), &config(1, 10), &[]).is_err());
        fs::write(path.join(CONFIG), "command = \"league\"\nversion = \"1\"\nseed = \"x\"\n")
            .unwrap();
        let wrong = RunFolder::read_config(&path).unwrap_err().to_string();
        assert!(wrong.contains("x/config.toml: line 3, column 8: "), "{wrong}");
    }

    #[test]
    fn a_run_that_came_to_nothing_leaves_nothing_but_what_was_there() {
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
    fn the_next_free_number_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        assert!(next_free(folder.path(), "learn").ends_with("learn-001"));
        fs::create_dir(folder.path().join("learn-001")).unwrap();
        assert!(next_free(folder.path(), "learn").ends_with("learn-002"));
    }
}
