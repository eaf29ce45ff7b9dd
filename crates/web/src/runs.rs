//! Lists, shows and deletes runs.
//!
//! A run is a direct subfolder of the runs folder with a `config.toml`. Nothing else is read or
//! deleted: requests contain the names of runs, never paths, and symbolic links are not followed.

use crate::error::ApiError;
use outflank_runs::files;
use outflank_runs::{LockError, RunConfig, RunFolder, RunLock};
use serde_json::{Value, json};
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// An unfinished run that changed within this time counts as running.
const RUNNING_WINDOW: Duration = Duration::from_secs(120);

/// The maximum size of a file that is shown.
const MAX_FILE_BYTES: u64 = 32 << 20;

/// The maximum number of points of a curve; longer curves are downsampled.
const MAX_POINTS: usize = 2000;

/// The maximum number of listed runs.
const MAX_RUNS: usize = 1000;

/// The runs in a folder.
#[derive(Clone, Debug)]
pub struct Runs {
    folder: PathBuf,
    /// The key of the confirmation tokens.
    token_key: RandomState,
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunState {
    Finished,
    Running,
    Stopped,
}

impl RunState {
    fn name(self) -> &'static str {
        match self {
            RunState::Finished => "finished",
            RunState::Running => "running",
            RunState::Stopped => "stopped",
        }
    }
}

impl Runs {
    /// Creates an interface to `folder`, which need not exist.
    #[must_use]
    pub fn new(folder: PathBuf) -> Runs {
        Runs { folder, token_key: RandomState::new() }
    }

    /// Returns the folder of the run with this name.
    pub fn folder(&self, name: &str) -> Result<PathBuf, ApiError> {
        let missing = || ApiError::NotFound(format!("run '{name}' does not exist"));
        let is_valid = !name.is_empty()
            && !name.starts_with('.')
            && name.len() < 256
            && !name.contains(['/', '\\', '\0', ':']);
        if !is_valid {
            return Err(missing());
        }
        let path = self.folder.join(name);
        let is_folder = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir());
        let is_run = is_plain_file(&path.join("config.toml"));
        if is_folder && is_run { Ok(path) } else { Err(missing()) }
    }

    /// Returns the names of all runs, sorted.
    fn names(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let mut names: Vec<String> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| self.folder(name).is_ok())
            .collect();
        names.sort();
        names.truncate(MAX_RUNS);
        names
    }

    /// Returns the names of the runs that have a model.
    #[must_use]
    pub fn with_model(&self) -> Vec<String> {
        self.names().into_iter().filter(|name| has_model(&self.folder.join(name))).collect()
    }

    /// Returns all runs as JSON, latest first.
    #[must_use]
    pub fn list(&self) -> Value {
        let mut runs: Vec<(SystemTime, Value)> = Vec::new();
        for name in self.names() {
            let path = self.folder.join(&name);
            let modified = last_modified(&path);
            runs.push((modified, self.summary(&name, &path, modified)));
        }
        runs.sort_by_key(|(modified, _)| std::cmp::Reverse(*modified));
        json!({
            "folder": self.folder.display().to_string(),
            "runs": runs.into_iter().map(|(_, run)| run).collect::<Vec<_>>(),
        })
    }

    fn summary(&self, name: &str, path: &Path, modified: SystemTime) -> Value {
        let config = RunFolder::read_config(path).ok();
        let setting =
            |key: &str| config.as_ref().and_then(|c| c.settings.get(key)).map(ToString::to_string);
        json!({
            "name": name,
            "command": config.as_ref().map(|c| c.command.clone()),
            "method": setting("method"),
            "data": data_of(config.as_ref()),
            "players": players_of(config.as_ref()),
            "figure": main_value(path),
            "seed": config.as_ref().map(|c| c.seed),
            "state": state(path, modified).name(),
            "modified": modified.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs()),
            "has_curve": CURVES.iter().any(|name| is_plain_file(&path.join(name))),
            "has_league": is_plain_file(&path.join("cross-table.csv")),
            "has_report": is_plain_file(&path.join("report.html")),
            "has_model": has_model(path),
        })
    }

    /// Returns a run as JSON: configuration, curve, tables, and the token that confirms its
    /// deletion.
    pub fn show(&self, name: &str) -> Result<Value, ApiError> {
        let path = self.folder(name)?;
        let modified = last_modified(&path);
        let mut run = self.summary(name, &path, modified);
        let config = read_text(&path, "config.toml").unwrap_or_default();
        let games = read_text(&path, "games.tsv").map(|journal| journal.lines().count());
        run["config"] = json!(config);
        run["games"] = json!(games);
        // `workers.txt` of a killed run is outdated.
        let running = state(&path, modified) == RunState::Running;
        run["workers"] = json!(read_text(&path, "workers.txt").filter(|_| running));
        let curve = CURVES.iter().find_map(|name| read_text(&path, name));
        run["curve"] = json!(curve.map(|csv| parse_curve(&csv)));
        run["standings"] = json!(read_text(&path, "standings.csv").map(|csv| csv_rows(&csv)));
        run["cross_table"] = json!(read_text(&path, "cross-table.csv").map(|csv| csv_rows(&csv)));
        run["matches"] = json!(read_text(&path, "matches.csv").map(|csv| csv_rows(&csv)));
        run["confirm"] = json!(self.confirmation_token(name, modified));
        Ok(run)
    }

    /// Returns the report of a run.
    pub fn report(&self, name: &str) -> Result<Vec<u8>, ApiError> {
        let path = self.folder(name)?.join("report.html");
        let missing = || ApiError::NotFound(format!("run '{name}' has no report yet"));
        if !is_plain_file(&path) {
            return Err(missing());
        }
        files::read(&path, MAX_FILE_BYTES).map_err(|_| missing())
    }

    /// Returns the token that confirms the deletion of a run in its current state.
    fn confirmation_token(&self, name: &str, modified: SystemTime) -> String {
        format!("{:016x}", self.token_key.hash_one((name, modified)))
    }

    /// Deletes a run that is not running; `confirm` is the token from [`Runs::show`].
    pub fn delete(&self, name: &str, confirm: &str) -> Result<(), ApiError> {
        let path = self.folder(name)?;
        let modified = last_modified(&path);
        let running =
            || ApiError::Conflict(format!("run '{name}' is running. Stop it before deleting it."));
        if state(&path, modified) == RunState::Running {
            return Err(running());
        }
        if confirm != self.confirmation_token(name, modified) {
            let reason = "the run has changed since it was shown. Reload it, then delete it.";
            return Err(ApiError::Conflict(reason.to_owned()));
        }
        let failed = |error: &dyn std::fmt::Display| {
            ApiError::Internal(format!("cannot delete run '{name}': {error}"))
        };
        // No process may resume the run meanwhile.
        let _lock = RunLock::acquire(&path).map_err(|error| match error {
            LockError::Locked { .. } => running(),
            LockError::File(error) => failed(&error),
        })?;
        fs::remove_dir_all(&path).map_err(|error| failed(&error))
    }
}

/// Describes the games of a run: its records and their selection.
fn data_of(config: Option<&RunConfig>) -> Option<String> {
    let RunConfig { settings, data, .. } = config?;
    let text = |key: &str| {
        let value = settings.get(key)?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    let embedded = || data.iter().any(|file| file.file == "embedded").then_some("embedded games");
    let source = ["records", "data"].into_iter().find_map(text);
    let source = source.or_else(|| embedded().map(str::to_owned));
    let sample = text("sample").map(|count| format!("{count} games"));
    let parts: Vec<String> = source.into_iter().chain(text("years")).chain(sample).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Lists the players of a match or league.
fn players_of(config: Option<&RunConfig>) -> Option<String> {
    let settings = &config?.settings;
    let players: Vec<String> = match settings.get("players") {
        Some(players) => {
            let names = players.as_array()?.iter();
            names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
        }
        None => {
            let names = ["a", "b"].iter().filter_map(|key| settings.get(*key));
            names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
        }
    };
    (!players.is_empty()).then(|| players.join(", "))
}

/// Returns the main value of a finished run: the move-prediction accuracy on held-out games, or the
/// score of the first match.
fn main_value(path: &Path) -> Option<String> {
    let result: Value = serde_json::from_str(&read_text(path, "result.json")?).ok()?;
    let accuracy = &result["accuracy"][0]["choices"]["percent"];
    // A network has several tests; positions of the test by example may be of training games.
    let is_by_game = |test: &&Value| {
        test["symmetries"] == 1
            && test["test"].as_str().is_some_and(|name| !name.ends_with("by example"))
    };
    let by_game = result["tests"].as_array().and_then(|tests| tests.iter().find(is_by_game));
    let tested = by_game.and_then(|test| test["top1_choices"].as_f64());
    if let Some(percent) = accuracy.as_f64().or(tested).or(result["accuracy"].as_f64()) {
        return Some(format!("accuracy {percent:.1}%"));
    }
    let first = &result["matches"][0];
    let score = first["score"].as_f64()?;
    Some(format!("{:.1}% against {}", 100.0 * score, first["b"].as_str()?))
}

/// Returns whether a path is a regular file, not a symbolic link.
fn is_plain_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// Returns the latest modification time of a folder and the files in it.
fn last_modified(path: &Path) -> SystemTime {
    let modified =
        |path: &Path| fs::symlink_metadata(path).and_then(|metadata| metadata.modified()).ok();
    let inside = fs::read_dir(path).into_iter().flatten().flatten();
    let times = inside.filter_map(|entry| modified(&entry.path())).chain(modified(path));
    times.max().unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Returns whether a run has a model.
fn has_model(path: &Path) -> bool {
    ["model.safetensors", "model.toml"].iter().any(|name| is_plain_file(&path.join(name)))
}

/// Metrics of training over time, and their name in runs of version 0.1.
const CURVES: [&str; 2] = ["metrics.csv", "curve.csv"];

/// Files that runs write when they finish.
const FINAL_FILES: [&str; 4] = ["report.html", "report.json", "openings.txt", "generated.json"];

fn state(path: &Path, modified: SystemTime) -> RunState {
    // A finished run that is resumed, such as a league with a further player, keeps its report.
    if RunLock::is_held(path) {
        return RunState::Running;
    }
    if FINAL_FILES.iter().any(|name| is_plain_file(&path.join(name))) {
        return RunState::Finished;
    }
    match modified.elapsed() {
        Ok(age) if age > RUNNING_WINDOW => RunState::Stopped,
        _ => RunState::Running,
    }
}

/// Reads a file of a run as text.
fn read_text(folder: &Path, name: &str) -> Option<String> {
    let path = folder.join(name);
    is_plain_file(&path).then(|| files::read(&path, MAX_FILE_BYTES).ok()).flatten().map(|bytes| {
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    })
}

/// Parses a CSV file, header first.
fn csv_rows(csv: &str) -> Vec<Vec<String>> {
    csv.lines().take(MAX_POINTS).map(csv_cells).collect()
}

/// Parses a CSV line; quoted cells may contain commas.
fn csv_cells(line: &str) -> Vec<String> {
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

/// Parses a curve: the first column is the x axis, and a column `NAME error` follows its column
/// `NAME`.
fn parse_curve(csv: &str) -> Value {
    let mut lines = csv.lines();
    let columns = csv_cells(lines.next().unwrap_or_default());
    let all: Vec<&str> = lines.collect();
    let step = all.len().div_ceil(MAX_POINTS).max(1);
    let last = all.len().saturating_sub(1);
    let downsampled =
        all.iter().enumerate().filter(|(index, _)| index % step == 0 || *index == last);
    let points: Vec<Vec<Option<f64>>> = downsampled
        .map(|(_, line)| {
            csv_cells(line)
                .iter()
                .map(|cell| cell.parse().ok().filter(|x: &f64| x.is_finite()))
                .collect()
        })
        .collect();
    json!({ "columns": columns, "points": points })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs_folder() -> (tempfile::TempDir, Runs) {
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
    fn the_list_shows_data_players_and_the_main_figure() {
        let (home, runs) = runs_folder();
        let folder = |name: &str, config: &str, result: &str| {
            let run = home.path().join("runs").join(name);
            fs::create_dir_all(&run).unwrap();
            fs::write(run.join("config.toml"), format!("{config}# end\n")).unwrap();
            fs::write(run.join("result.json"), result).unwrap();
            let shown = runs.show(name).unwrap();
            ["method", "data", "players", "figure"].map(|key| shown[key].clone())
        };
        let train = "command = 'train'\nversion = '0'\nseed = 1\n[settings]\nmethod = 'mm'\n\
                     sample = 50\n[[data]]\nfile = 'embedded'\nsha256 = '0'\n";
        let result = r#"{"accuracy": [{"choices": {"percent": 41.25}}]}"#;
        let found = folder("train-001", train, result);
        assert_eq!(found[1..3], [json!("embedded games, 50 games"), Value::Null]);
        assert!(found[0].as_str().unwrap().contains("mm") && found[3] == "accuracy 41.2%");
        let played = "command = 'match'\nversion = '0'\nseed = 1\n[settings]\na = 'x@4'\nb = 'y'\n";
        assert_eq!(folder("match-001", played, "{}")[1..3], [Value::Null, json!("x@4, y")]);
        let tests = r#"{"tests": [
            {"test": "unique-s by example", "symmetries": 1, "top1_choices": 60.0},
            {"test": "games held out", "symmetries": 8, "top1_choices": 50.0},
            {"test": "games held out", "symmetries": 1, "top1_choices": 40.5}]}"#;
        let network = "command = 'cnn'\nversion = '0'\nseed = 1\n[settings]\nnet = 'conv4'\n";
        assert_eq!(folder("cnn-001", network, tests)[3], "accuracy 40.5%");
    }

    #[test]
    fn only_run_folders_are_listed() {
        let (home, runs) = runs_folder();
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
        assert_eq!(run["cross_table"][1][1], "a,b");
        assert_eq!((&run["state"], &run["seed"]), (&json!("finished"), &json!(7)));
    }

    #[test]
    fn state_follows_from_the_files_of_a_run() {
        let (home, runs) = runs_folder();
        let path = home.path().join("runs/league-001");
        fs::remove_file(path.join("report.html")).unwrap();
        let long_ago = SystemTime::now() - 2 * RUNNING_WINDOW;
        let current_state = || state(&path, long_ago);
        assert_eq!(current_state(), RunState::Stopped);
        for name in ["openings.txt", "generated.json"] {
            fs::write(path.join(name), "").unwrap();
            assert_eq!(current_state(), RunState::Finished, "{name}");
            fs::remove_file(path.join(name)).unwrap();
        }
        for name in ["checkpoint.toml", "result.json"] {
            fs::write(path.join(name), "").unwrap();
            assert_eq!(current_state(), RunState::Stopped, "{name}");
        }
        fs::write(path.join("report.html"), "").unwrap();
        assert_eq!(current_state(), RunState::Finished);
        assert_eq!(runs.show("league-001").unwrap()["has_model"], json!(false));
        fs::write(path.join("model.toml"), "").unwrap();
        assert_eq!(runs.show("league-001").unwrap()["has_model"], json!(true));
    }

    #[test]
    fn deletion_requires_a_current_token() {
        let (home, runs) = runs_folder();
        let path = home.path().join("runs/league-001");
        assert!(runs.delete("league-001", "yes").is_err() && path.exists());
        let token = runs.show("league-001").unwrap()["confirm"].as_str().unwrap().to_owned();
        assert!(Runs::new(home.path().join("runs")).delete("league-001", &token).is_err());
        runs.delete("league-001", &token).unwrap();
        assert!(!path.exists() && home.path().join("secret.txt").exists());
    }

    /// A finished league to which a player was being added could be deleted.
    #[test]
    fn a_locked_run_is_running_and_is_not_deleted() {
        let (home, runs) = runs_folder();
        let path = home.path().join("runs/league-001");
        let lock = RunLock::acquire(&path).unwrap();
        let run = runs.show("league-001").unwrap();
        assert_eq!(run["state"], json!("running"));
        let token = run["confirm"].as_str().unwrap().to_owned();
        let error = runs.delete("league-001", &token).unwrap_err().to_string();
        assert!(error.contains("is running") && path.join("report.html").exists(), "{error}");
        drop(lock);
        let token = runs.show("league-001").unwrap()["confirm"].as_str().unwrap().to_owned();
        runs.delete("league-001", &token).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn missing_values_of_a_curve_are_null() {
        let points = parse_curve("games,a,a error\n10,50,1.5\n20,,\n");
        assert_eq!(points["columns"], json!(["games", "a", "a error"]));
        assert_eq!(points["points"], json!([[10.0, 50.0, 1.5], [20.0, null, null]]));
    }
}
