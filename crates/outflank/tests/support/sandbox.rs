//! A temporary folder for a test, in which the program runs.

// Each test binary includes this file and uses a part of it.
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

/// A temporary folder in which the program runs, removed when dropped.
pub struct Sandbox {
    folder: TempDir,
}

/// The output of a run of the program.
pub struct Ran {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Sandbox {
    pub fn new() -> Sandbox {
        Sandbox { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The path of a file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file and returns its name.
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

    /// Runs the program with this on standard input.
    pub fn run_with_input(&self, arguments: &[&str], input: &str) -> Ran {
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

    /// Runs the program, expects success and returns its standard output.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.err);
        ran.out
    }

    /// Runs the program with `--json` and returns the document on standard output.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let out = self.ok(&[arguments, &["--json"]].concat());
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {out}"))
    }

    /// Runs the program, asserts that it fails with a clear message and changes no file, and returns
    /// the message.
    pub fn rejected(&self, arguments: &[&str]) -> String {
        let before = self.tree(".");
        let ran = self.run(arguments);
        assert!(
            ran.code == 1 || ran.code == 2,
            "{arguments:?} ended with {}: {}",
            ran.code,
            ran.err
        );
        assert_eq!(ran.out, "", "{arguments:?} printed something on standard output");
        assert_clear(&ran.err);
        assert_eq!(self.tree("."), before, "{arguments:?} left something behind");
        ran.err
    }

    /// Kills the program after some milliseconds; returns whether its run folder exists.
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

    /// All files below a folder by name; folders end with a slash. The record of the workers that
    /// played the games is left out: only runs with workers have it.
    pub fn tree(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let mut tree = BTreeMap::new();
        walk(&self.file(folder), "", &mut tree);
        tree.retain(|name, _| !name.ends_with("game-workers.tsv"));
        tree
    }
}

/// Asserts that an error message is short and has no internals.
pub fn assert_clear(message: &str) {
    assert!(message.starts_with("error: "), "not an error message: {message}");
    for word in ["panicked", "internal error", "RUST_BACKTRACE", "unwrap", "os error 0", ".part-"] {
        assert!(!message.contains(word), "{message}");
    }
    // Errors of the command-line parser (clap) have several lines.
    if message.trim_end().lines().count() == 1 {
        let sentence = message.trim_start_matches("error: ").trim_end();
        let parts: Vec<&str> = sentence.split(": ").collect();
        for (i, part) in parts.iter().enumerate() {
            assert!(part.len() < 12 || !parts[i + 1..].contains(part), "repeated: {message}");
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

/// Asserts that two sets of files have the same names and bytes.
pub fn assert_same_files(found: &BTreeMap<String, Vec<u8>>, wanted: &BTreeMap<String, Vec<u8>>) {
    let names = |tree: &BTreeMap<String, Vec<u8>>| tree.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(found), names(wanted));
    for (name, bytes) in wanted {
        assert!(found[name] == *bytes, "{name} differs");
    }
}

/// A model file without its checksum, as version 0.1 wrote it.
pub fn without_checksum(model: &[u8]) -> Vec<u8> {
    let length = u64::from_le_bytes(model[..8].try_into().expect("a header")) as usize;
    let header = String::from_utf8(model[8..8 + length].to_vec()).expect("text");
    let key = r#",\"sha256\":\""#;
    let at = header.find(key).expect("a checksum");
    let rest = &header[at + key.len() + 64 + r#"\""#.len()..];
    let old = [&header[..at], rest].concat().replacen(r#"\"format\":2"#, r#"\"format\":1"#, 1);
    // The header is padded with spaces to a multiple of eight bytes.
    let mut old = old.trim_end().to_owned();
    while !old.len().is_multiple_of(8) {
        old.push(' ');
    }
    [&(old.len() as u64).to_le_bytes()[..], old.as_bytes(), &model[8 + length..]].concat()
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

/// The data folder with real games and published players, if it is set.
pub fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("OUTFLANK_DATA").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: OUTFLANK_DATA is not set");
    }
    folder
}
