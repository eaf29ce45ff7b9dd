//! Run folders: creating and resuming them, and the provenance of a run for its report.

use crate::config::legacy;
use anyhow::{Context, Result};
use outflank_presentation::Provenance;
use outflank_runs::files::{self, remove_temp_files};
use outflank_runs::{RunConfig, RunFolder};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Opens the folder of an earlier run and removes incomplete files of a killed process.
///
/// A configuration with old option names is upgraded. The settings in `may_change` may differ from
/// the stored ones.
pub fn resume(path: &Path, config: &RunConfig, may_change: &[&str]) -> Result<RunFolder> {
    let folder = RunFolder::resume(path, config, may_change, legacy::upgrade_config)?;
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

/// Opens the folder of a training run to resume, or creates a new one.
///
/// The settings in `may_change` may differ from the stored ones for this call; the stored
/// configuration stays as it is.
pub fn open_training(
    args: &crate::cli::RunArgs,
    config: &RunConfig,
    may_change: &[&str],
) -> Result<RunFolder> {
    let Some(path) = &args.resume else {
        return Ok(RunFolder::create(args.out.as_deref(), config)?);
    };
    let stored = legacy::upgrade_config(&RunFolder::read_config(path)?);
    let mut config = config.clone();
    for key in may_change {
        match stored.settings.get(*key) {
            Some(value) => config.settings.insert((*key).to_owned(), value.clone()),
            None => config.settings.remove(*key),
        };
    }
    resume(path, &config, &[])
}

/// The results of a training run's model: its games, tables and report.
const RESULTS: [&str; 6] =
    ["games.tsv", "report.html", "result.json", "accuracy.csv", "matches.csv", "cross-table.csv"];

/// Removes the results of an earlier model from the folder of a training run.
pub fn remove_results(folder: &RunFolder) -> Result<()> {
    for name in RESULTS {
        files::remove_if_exists(&folder.join(name))?;
    }
    Ok(())
}

/// The file that records by how much a run was extended.
const EXTENSIONS: &str = "extensions.toml";

/// The budgets to which a run was extended, in order.
#[derive(Default, Serialize, Deserialize)]
struct Extensions {
    budgets: Vec<f64>,
}

/// The budget of a training run: that of its configuration, or the one it is extended to.
#[derive(Clone, Debug)]
pub struct Budget {
    /// The option, such as `epochs`.
    pub option: &'static str,
    /// The budget of this call.
    pub value: f64,
    /// The budget of the configuration and those of earlier extensions.
    pub earlier: Vec<f64>,
}

impl Budget {
    /// Reads the budget of the run to resume. `given` is the value of the option, which is that of
    /// the configuration if it was not given.
    pub fn new(args: &crate::cli::RunArgs, option: &'static str, given: f64) -> Result<Budget> {
        let new = Budget { option, value: given, earlier: Vec::new() };
        let Some(path) = &args.resume else { return Ok(new) };
        let config = legacy::upgrade_config(&RunFolder::read_config(path)?);
        let stored = config.settings.get(option).and_then(|value| match value {
            toml::Value::Integer(number) => Some(*number as f64),
            value => value.as_float(),
        });
        let Some(stored) = stored else { return Ok(new) };
        let file = path.join(EXTENSIONS);
        let extensions: Extensions = match file.exists() {
            true => toml::from_str(&String::from_utf8_lossy(&files::read(&file, 1 << 20)?))
                .with_context(|| format!("{} is damaged", file.display()))?,
            false => Extensions::default(),
        };
        let last = extensions.budgets.last().copied().unwrap_or(stored);
        let value = if given == stored { last } else { given };
        Ok(Budget { option, value, earlier: [vec![stored], extensions.budgets].concat() })
    }

    /// Whether this call changes the budget.
    pub fn is_extension(&self) -> bool {
        self.earlier.last().is_some_and(|last| *last != self.value)
    }

    /// Records the extension in the run folder, and removes the results of the earlier model.
    pub fn record(&self, folder: &RunFolder) -> Result<()> {
        if self.is_extension() {
            // Games that stayed would count as games of the new model.
            remove_results(folder)?;
            let mut budgets = self.earlier[1..].to_vec();
            budgets.push(self.value);
            folder.write(EXTENSIONS, toml::to_string(&Extensions { budgets })?.as_bytes())?;
        }
        Ok(())
    }

    /// Says that the run was extended, if it was.
    pub fn remark(&self) -> Option<String> {
        let all: Vec<f64> = match self.is_extension() {
            true => self.earlier.iter().copied().chain([self.value]).collect(),
            false => self.earlier.clone(),
        };
        let [first, rest @ ..] = &all[..] else { return None };
        let rest: Vec<String> = rest.iter().map(ToString::to_string).collect();
        (!rest.is_empty()).then(|| {
            format!(
                "The run was started with --{0} {first} and extended to {1}; config.toml has the first \
                 budget. A learning-rate schedule spans the budget of each part, so a run with --{0} \
                 {2} at once gives other weights where there is one.",
                self.option,
                rest.join(", then "),
                self.value
            )
        })
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Games of the earlier model that could not be removed counted as games of the new one.
    #[test]
    fn games_of_the_earlier_model_that_stay_are_an_error() {
        let root = tempfile::tempdir().unwrap();
        let config = RunConfig {
            command: "train".to_owned(),
            version: "1".to_owned(),
            seed: 1,
            settings: toml::Table::new(),
            data: Vec::new(),
        };
        let folder = RunFolder::create(Some(&root.path().join("run")), &config).unwrap();
        folder.write("report.html", b"old").unwrap();
        let budget = Budget { option: "epochs", value: 4.0, earlier: vec![2.0] };
        budget.record(&folder).unwrap();
        assert!(!folder.join("report.html").exists() && folder.join(EXTENSIONS).exists());
        // A folder is no file that can be removed.
        files::create_folder(&folder.join("games.tsv")).unwrap();
        let error = budget.record(&folder).unwrap_err().to_string();
        assert!(error.contains("games.tsv"), "{error}");
    }
}
