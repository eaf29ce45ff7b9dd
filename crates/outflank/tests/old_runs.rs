//! Run folders of version 0.1, written before options were renamed, resume to the same bytes.
//!
//! Each folder of `data/v0.1` has an interrupted run of one kind in `run`, the files it reads, and files of
//! the finished run as `expected-NAME`.

#[path = "support/sandbox.rs"]
mod sandbox;

use sandbox::{Sandbox, without_checksum};
use std::fs;
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/v0.1").join(name)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}

/// Resumes a run with a command and compares the files of the finished run.
fn resumes(name: &str, command: &str, more: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    copy(&folder(name), sandbox.path());
    let words: Vec<&str> = command.split(' ').collect();
    sandbox.ok(&[&words[..], &["--resume", "run", "--quiet"], more].concat());
    let mut compared = 0;
    for entry in fs::read_dir(folder(name)).unwrap().map(Result::unwrap) {
        let file = entry.file_name().to_string_lossy().into_owned();
        let Some(file) = file.strip_prefix("expected-") else { continue };
        let inside = format!("run/{file}");
        let mut found = sandbox.read(if sandbox.exists(&inside) { &inside } else { file });
        if file == "model.safetensors" {
            found = without_checksum(&found);
        }
        assert!(found == fs::read(entry.path()).unwrap(), "{name}: {file} differs");
        compared += 1;
    }
    assert!(compared > 0, "{name}: there is no file to compare with");
    sandbox
}

#[test]
fn contests_and_generated_files() {
    resumes("match", "match", &[]);
    resumes("league", "league", &[]);
    resumes("openings", "openings", &[]);
    resumes("generate", "data generate", &[]);
}

#[test]
fn training_on_games() {
    for name in ["learn", "mm", "rater", "online"] {
        let sandbox = resumes(name, "train", &[]);
        let config = sandbox.text("run/config.toml");
        assert!(config.contains("command = \"train\""), "{config}");
        assert!(config.contains("match-games = "), "{config}");
        for old in ["passes", "rate", "steps", "sweeps", "games"] {
            assert!(!config.lines().any(|line| line.starts_with(&format!("{old} ="))), "{config}");
        }
    }
}

#[test]
fn training_by_playing() {
    for (name, method) in
        [("tdl", "tdl"), ("ctdl", "ctdl"), ("selfplay", "self-play"), ("ann", "ann"), ("gp", "gp")]
    {
        let sandbox = resumes(name, &format!("train {method}"), &[]);
        let config = sandbox.text("run/config.toml");
        assert!(config.contains("match-games = "), "{config}");
    }
}

#[test]
fn networks() {
    let sandbox = resumes("cnn", "train cnn", &[]);
    let config = sandbox.text("run/config.toml");
    for line in [
        "ensemble-member = 2",
        "bootstrap = true",
        "precision = \"f32\"",
        "symmetries = true",
        "test-positions = 50",
        "weight-decay = 0.001",
    ] {
        assert!(config.lines().any(|found| found == line), "{line}: {config}");
    }
}

#[test]
fn experiments() {
    resumes("reproduce", "reproduce", &[]);
    let sandbox = Sandbox::new();
    let cached = "learned/resnet-32-pieces-unique-s-both-9250000-x1024-seed-1";
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/cnn");
    copy(&results.join(cached), &sandbox.file(cached));
    copy(&folder("cached"), sandbox.path());
    sandbox.ok(&["reproduce", "--resume", "run", "--cache", "learned", "--quiet"]);
    let (expected, found) = (sandbox.read("expected-cells.csv"), sandbox.read("run/cells.csv"));
    assert!(expected == found, "cells.csv differs");
    assert!(sandbox.text("run/config.toml").contains("cached = true"));
}

/// The configuration of an old run also works with `--config`.
#[test]
fn old_configurations_repeat_runs() {
    let sandbox = Sandbox::new();
    copy(&folder("mm"), sandbox.path());
    sandbox.ok(&["train", "--config", "run/config.toml", "--out", "again", "--quiet"]);
    assert_eq!(sandbox.read("again/games.tsv"), sandbox.read("expected-games.tsv"));
    // A run that cannot be resumed keeps its old configuration.
    let before = sandbox.text("run/config.toml");
    sandbox.rejected(&["train", "--resume", "run", "--seed", "2"]);
    assert_eq!(sandbox.text("run/config.toml"), before);
}
