//! Runs of the laboratory: listed, looked into while they go on, deleted when one asks twice.
//!
//! A run is a folder right below the runs folder that has a `config.toml`. Nothing else is ever
//! read or removed: no path comes from a request, only the name of such a folder, and links are
//! not followed.

use crate::error::ApiError;
use outflank_runs::RunFolder;
use outflank_runs::files;
use serde_json::{Value, json};
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A run without results that wrote something within this time is taken to be going on.
const LIVELY: Duration = Duration::from_secs(120);

/// No file of a run that is larger is shown.
const LARGEST: u64 = 32 << 20;

/// A curve with more points is thinned.
const MOST_POINTS: usize = 2000;

/// More runs than this are not listed.
const MOST_RUNS: usize = 1000;

/// The runs folder.
#[derive(Clone, Debug)]
pub struct Runs {
    folder: PathBuf,
    /// Makes the words that confirm a deletion ours alone.
    secret: RandomState,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Finished,
    Running,
    Stopped,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Finished => "finished",
            State::Running => "running",
            State::Stopped => "stopped",
        }
    }
}

impl Runs {
    /// The runs in this folder, which need not exist.
    #[must_use]
    pub fn new(folder: PathBuf) -> Runs {
        Runs { folder, secret: RandomState::new() }
    }

    /// The folder of the run with this name.
    pub fn folder(&self, name: &str) -> Result<PathBuf, ApiError> {
        let missing = || ApiError::Missing(format!("there is no run '{name}'"));
        let plain = !name.is_empty()
            && !name.starts_with('.')
            && name.len() < 256
            && !name.contains(['/', '\\', '\0', ':']);
        if !plain {
            return Err(missing());
        }
        let path = self.folder.join(name);
        let is_folder = fs::symlink_metadata(&path).is_ok_and(|about| about.is_dir());
        let is_run = is_plain_file(&path.join("config.toml"));
        if is_folder && is_run { Ok(path) } else { Err(missing()) }
    }

    /// The names of all runs, sorted.
    fn names(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let mut names: Vec<String> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| self.folder(name).is_ok())
            .collect();
        names.sort();
        names.truncate(MOST_RUNS);
        names
    }

    /// The runs that have learned a model.
    #[must_use]
    pub fn learned(&self) -> Vec<String> {
        self.names().into_iter().filter(|name| has_model(&self.folder.join(name))).collect()
    }

    /// All runs, the latest first.
    #[must_use]
    pub fn list(&self) -> Value {
        let mut runs: Vec<(SystemTime, Value)> = Vec::new();
        for name in self.names() {
            let path = self.folder.join(&name);
            let changed = last_change(&path);
            runs.push((changed, self.summary(&name, &path, changed)));
        }
        runs.sort_by_key(|(changed, _)| std::cmp::Reverse(*changed));
        json!({
            "folder": self.folder.display().to_string(),
            "runs": runs.into_iter().map(|(_, run)| run).collect::<Vec<_>>(),
        })
    }

    fn summary(&self, name: &str, path: &Path, changed: SystemTime) -> Value {
        let config = RunFolder::read_config(path).ok();
        let setting =
            |key: &str| config.as_ref().and_then(|c| c.settings.get(key)).map(ToString::to_string);
        json!({
            "name": name,
            "command": config.as_ref().map(|c| c.command.clone()),
            "method": setting("method"),
            "seed": config.as_ref().map(|c| c.seed),
            "state": state(path, changed).name(),
            "changed": changed.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs()),
            "curve": is_plain_file(&path.join("curve.csv")),
            "league": is_plain_file(&path.join("cross-table.csv")),
            "report": is_plain_file(&path.join("report.html")),
            "model": has_model(path),
        })
    }

    /// One run: what was asked, its curve so far, its tables, and the word that confirms a
    /// deletion.
    pub fn show(&self, name: &str) -> Result<Value, ApiError> {
        let path = self.folder(name)?;
        let changed = last_change(&path);
        let mut run = self.summary(name, &path, changed);
        let config = text(&path, "config.toml").unwrap_or_default();
        let games = text(&path, "games.tsv").map(|journal| journal.lines().count());
        run["config"] = json!(config);
        run["games"] = json!(games);
        // Of a run that was killed it says who worked then, not now.
        let running = state(&path, changed) == State::Running;
        run["workers"] = json!(text(&path, "workers.txt").filter(|_| running));
        run["points"] = json!(text(&path, "curve.csv").map(|csv| curve(&csv)));
        run["standings"] = json!(text(&path, "standings.csv").map(|csv| rows(&csv)));
        run["cross"] = json!(text(&path, "cross-table.csv").map(|csv| rows(&csv)));
        run["matches"] = json!(text(&path, "matches.csv").map(|csv| rows(&csv)));
        run["confirm"] = json!(self.confirmation(name, changed));
        Ok(run)
    }

    /// The report that a run wrote.
    pub fn report(&self, name: &str) -> Result<Vec<u8>, ApiError> {
        let path = self.folder(name)?.join("report.html");
        let missing = || ApiError::Missing(format!("the run '{name}' has no report yet"));
        if !is_plain_file(&path) {
            return Err(missing());
        }
        files::read(&path, LARGEST).map_err(|_| missing())
    }

    /// The word that must be said to delete a run as it is now.
    fn confirmation(&self, name: &str, changed: SystemTime) -> String {
        format!("{:016x}", self.secret.hash_one((name, changed)))
    }

    /// Deletes a run that is not going on, if the word is right.
    pub fn delete(&self, name: &str, confirm: &str) -> Result<(), ApiError> {
        let path = self.folder(name)?;
        let changed = last_change(&path);
        if state(&path, changed) == State::Running {
            let reason = format!("the run '{name}' is going on; stop it before deleting it");
            return Err(ApiError::Conflict(reason));
        }
        if confirm != self.confirmation(name, changed) {
            let reason = "the confirmation does not fit; look at the run again, then delete it";
            return Err(ApiError::Conflict(reason.to_owned()));
        }
        fs::remove_dir_all(&path).map_err(|error| {
            ApiError::Failed(format!("the run '{name}' could not be deleted: {error}"))
        })
    }
}

/// Whether there is a file itself, not a link to one.
fn is_plain_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_file())
}

/// When something in a run's folder last changed.
fn last_change(path: &Path) -> SystemTime {
    let of = |path: &Path| fs::symlink_metadata(path).and_then(|about| about.modified()).ok();
    let inside = fs::read_dir(path).into_iter().flatten().flatten();
    let times = inside.filter_map(|entry| of(&entry.path())).chain(of(path));
    times.max().unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Whether a run has learned something that plays.
fn has_model(path: &Path) -> bool {
    ["model.safetensors", "model.toml"].iter().any(|name| is_plain_file(&path.join(name)))
}

/// What a run writes when it is done: a report, a list of openings, or where its games are.
const LAST: [&str; 4] = ["report.html", "report.json", "openings.txt", "generated.json"];

fn state(path: &Path, changed: SystemTime) -> State {
    if LAST.iter().any(|name| is_plain_file(&path.join(name))) {
        return State::Finished;
    }
    match changed.elapsed() {
        Ok(age) if age > LIVELY => State::Stopped,
        _ => State::Running,
    }
}

/// A file of a run as text.
fn text(folder: &Path, name: &str) -> Option<String> {
    let path = folder.join(name);
    is_plain_file(&path).then(|| files::read(&path, LARGEST).ok()).flatten().map(|bytes| {
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    })
}

/// The cells of a CSV file, the heads first. A cell in quotation marks may hold commas.
fn rows(csv: &str) -> Vec<Vec<String>> {
    csv.lines().take(MOST_POINTS).map(cells).collect()
}

fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            _ => cell.push(character),
        }
    }
    cells.push(cell);
    cells
}

/// A curve as columns: the first is where, the others what, an ` error` column beside its own.
fn curve(csv: &str) -> Value {
    let mut lines = csv.lines();
    let heads = cells(lines.next().unwrap_or_default());
    let all: Vec<&str> = lines.collect();
    let step = all.len().div_ceil(MOST_POINTS).max(1);
    let last = all.len().saturating_sub(1);
    let kept = all.iter().enumerate().filter(|(place, _)| place % step == 0 || *place == last);
    let points: Vec<Vec<Option<f64>>> = kept
        .map(|(_, line)| {
            cells(line)
                .iter()
                .map(|cell| cell.parse().ok().filter(|x: &f64| x.is_finite()))
                .collect()
        })
        .collect();
    json!({ "heads": heads, "points": points })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lab() -> (tempfile::TempDir, Runs) {
        let home = tempfile::tempdir().unwrap();
        let run = home.path().join("runs/league-001");
        fs::create_dir_all(&run).unwrap();
        fs::write(
            run.join("config.toml"),
            "command = 'league'\nversion = '0'\nseed = 7\n[settings]\n",
        )
        .unwrap();
        fs::write(run.join("cross-table.csv"), ",player,1,2\n1,\"a,b\",-,3\n2,c,1,-\n").unwrap();
        fs::write(run.join("report.html"), "<p>x").unwrap();
        fs::write(home.path().join("secret.txt"), "no").unwrap();
        let runs = Runs::new(home.path().join("runs"));
        (home, runs)
    }

    #[test]
    fn only_runs_are_seen() {
        let (home, runs) = lab();
        fs::create_dir_all(home.path().join("runs/other")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("league-001", home.path().join("runs/link")).unwrap();
        assert_eq!(runs.names(), ["league-001"]);
        for name in
            ["", ".", "..", "../runs/league-001", "other", "link", "a/b", "league-001/", "\0"]
        {
            assert!(runs.show(name).is_err(), "{name:?}");
            assert!(runs.report(name).is_err() && runs.delete(name, "").is_err());
        }
        let run = runs.show("league-001").unwrap();
        assert_eq!(run["cross"][1][1], "a,b");
        assert_eq!((&run["state"], &run["seed"]), (&json!("finished"), &json!(7)));
    }

    /// A report is the last that is written; runs that write none are finished all the same, and a
    /// heuristic is a model.
    #[test]
    fn what_a_run_left_tells_how_it_stands() {
        let (home, runs) = lab();
        let path = home.path().join("runs/league-001");
        fs::remove_file(path.join("report.html")).unwrap();
        let long_ago = SystemTime::now() - 2 * LIVELY;
        let stands = || state(&path, long_ago);
        assert_eq!(stands(), State::Stopped);
        for name in ["openings.txt", "generated.json"] {
            fs::write(path.join(name), "").unwrap();
            assert_eq!(stands(), State::Finished, "{name}");
            fs::remove_file(path.join(name)).unwrap();
        }
        for name in ["checkpoint.toml", "result.json"] {
            fs::write(path.join(name), "").unwrap();
            assert_eq!(stands(), State::Stopped, "{name}");
        }
        fs::write(path.join("report.html"), "").unwrap();
        assert_eq!(stands(), State::Finished);
        assert_eq!(runs.show("league-001").unwrap()["model"], json!(false));
        fs::write(path.join("model.toml"), "").unwrap();
        assert_eq!(runs.show("league-001").unwrap()["model"], json!(true));
    }

    #[test]
    fn a_run_is_deleted_only_with_the_word_for_it_as_it_is() {
        let (home, runs) = lab();
        let path = home.path().join("runs/league-001");
        assert!(runs.delete("league-001", "yes").is_err() && path.exists());
        let word = runs.show("league-001").unwrap()["confirm"].as_str().unwrap().to_owned();
        assert!(Runs::new(home.path().join("runs")).delete("league-001", &word).is_err());
        runs.delete("league-001", &word).unwrap();
        assert!(!path.exists() && home.path().join("secret.txt").exists());
    }

    #[test]
    fn curves_keep_their_gaps() {
        let points = curve("games,a,a error\n10,50,1.5\n20,,\n");
        assert_eq!(points["heads"], json!(["games", "a", "a error"]));
        assert_eq!(points["points"], json!([[10.0, 50.0, 1.5], [20.0, null, null]]));
    }
}
