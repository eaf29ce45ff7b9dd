//! A folder of its own for each test, and the program run in it.

// Every test binary has this file to itself and uses its own part of it.
#![allow(dead_code)]

use assert_cmd::Command;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_outflank");

/// An empty folder in which the program runs; it goes with the test.
pub struct Lab {
    folder: TempDir,
}

/// What a run of the program left behind.
pub struct Ran {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Lab {
    pub fn new() -> Lab {
        Lab { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file and returns its name, to be passed on.
    pub fn write<'a>(&self, name: &'a str, content: impl AsRef<[u8]>) -> &'a str {
        fs::write(self.file(name), content).expect(name);
        name
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.file(name)).expect(name)
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("text")
    }

    pub fn exists(&self, name: &str) -> bool {
        self.file(name).exists()
    }

    /// Runs the program to its end, without a data folder.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        let output = Command::new(PROGRAM)
            .args(arguments)
            .current_dir(self.path())
            .env_remove("OUTFLANK_DATA")
            .timeout(Duration::from_secs(600))
            .output()
            .expect("the program runs");
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).expect("text"),
            err: String::from_utf8(output.stderr).expect("text"),
        }
    }

    /// Runs it to its end with this on standard input.
    pub fn told(&self, arguments: &[&str], input: &str) -> Ran {
        let output = Command::new(PROGRAM)
            .args(arguments)
            .current_dir(self.path())
            .env_remove("OUTFLANK_DATA")
            .write_stdin(input)
            .timeout(Duration::from_secs(600))
            .output()
            .expect("the program runs");
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).expect("text"),
            err: String::from_utf8(output.stderr).expect("text"),
        }
    }

    /// Runs it, expects success, and returns what it printed.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.err);
        ran.out
    }

    /// Runs it with `--json` and returns the one document on standard output.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let out = self.ok(&[arguments, &["--json"]].concat());
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {out}"))
    }

    /// Runs it and expects a clear refusal that leaves everything as it was; returns the message.
    pub fn refused(&self, arguments: &[&str]) -> String {
        let before = self.tree(".");
        let ran = self.run(arguments);
        assert!(
            ran.code == 1 || ran.code == 2,
            "{arguments:?} ended with {}: {}",
            ran.code,
            ran.err
        );
        assert_eq!(ran.out, "", "{arguments:?} printed something on standard output");
        clear(&ran.err);
        assert_eq!(self.tree("."), before, "{arguments:?} left something behind");
        ran.err
    }

    /// Starts it, kills it after so many milliseconds, and says whether its run had begun.
    pub fn killed_after(&self, milliseconds: u64, arguments: &[&str]) -> bool {
        let mut child = std::process::Command::new(PROGRAM)
            .args(arguments)
            .current_dir(self.path())
            .env_remove("OUTFLANK_DATA")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program runs");
        std::thread::sleep(Duration::from_millis(milliseconds));
        let _ = child.kill();
        let _ = child.wait();
        self.exists("run/config.toml")
    }

    /// All files below a folder by name, folders with a slash and nothing.
    pub fn tree(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let mut tree = BTreeMap::new();
        walk(&self.file(folder), "", &mut tree);
        tree
    }
}

/// A message for users: it says something, in few lines, and nothing about our insides.
pub fn clear(message: &str) {
    assert!(
        message.starts_with("outflank: ") || message.starts_with("error: "),
        "not a message of ours: {message}"
    );
    for word in ["panicked", "internal error", "RUST_BACKTRACE", "unwrap", "os error 0", ".part-"] {
        assert!(!message.contains(word), "{message}");
    }
    if message.starts_with("outflank: ") {
        assert_eq!(message.trim_end().lines().count(), 1, "one line: {message}");
        let sentence = message.trim_start_matches("outflank: ").trim_end();
        let halves: Vec<&str> = sentence.split(": ").collect();
        for (i, half) in halves.iter().enumerate() {
            assert!(half.len() < 12 || !halves[i + 1..].contains(half), "twice: {message}");
        }
    }
}

fn walk(folder: &Path, name: &str, tree: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
        let name = format!("{name}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            tree.insert(format!("{name}/"), Vec::new());
            walk(&entry.path(), &format!("{name}/"), tree);
        } else {
            tree.insert(name, fs::read(entry.path()).expect("a file"));
        }
    }
}

/// Asserts that two sets of files are the same to the last byte, naming the first that is not.
pub fn same(found: &BTreeMap<String, Vec<u8>>, wanted: &BTreeMap<String, Vec<u8>>) {
    let names = |tree: &BTreeMap<String, Vec<u8>>| tree.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(found), names(wanted));
    for (name, bytes) in wanted {
        assert!(found[name] == *bytes, "{name} differs");
    }
}

/// The keys of an object, sorted.
pub fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> =
        value.as_object().map(|map| map.keys().map(String::as_str).collect()).unwrap_or_default();
    keys.sort_unstable();
    keys
}

/// Asserts that an object has at least these keys.
pub fn has_keys(value: &Value, wanted: &[&str]) {
    for key in wanted {
        assert!(value.get(key).is_some(), "no {key} in {value}");
    }
}

/// The folder with real games and published players, if there is one here.
pub fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("OUTFLANK_DATA").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: OUTFLANK_DATA is not set");
    }
    folder
}
