//! Every file operation of a run fails once, as SQLite tests its file operations: the run ends with a
//! clear error or succeeds, and then resumes to the same bytes as an undisturbed run.
//!
//! The first `OUTFLANK_FAULT_STEPS` operations are tried; without it, all.

#[path = "support/sandbox.rs"]
mod sandbox;

use assert_cmd::Command;
use sandbox::{PROGRAM, Sandbox};
use std::collections::BTreeMap;
use std::time::Duration;

/// The files of a run and what it writes beside its folder.
type Tree = BTreeMap<String, Vec<u8>>;

/// A command, and the command that resumes it without `--resume run`.
struct Work<'a> {
    start: &'a str,
    resume: &'a str,
    /// File names that contain times or depend on interruptions.
    ignored: &'a [&'static str],
}

/// What a run with a failing operation did.
struct Faulty {
    succeeded: bool,
    /// Whether the operation took place.
    injected: bool,
}

/// The words of a command; a `#` is a space within a word.
fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(|word| word.replace('#', " ")).collect()
}

impl Work<'_> {
    fn tree(&self, sandbox: &Sandbox) -> Tree {
        let mut tree = sandbox.tree(".");
        tree.retain(|name, _| !self.ignored.iter().any(|ignored| name.ends_with(ignored)));
        tree
    }

    /// Runs a command in which this operation fails; with `+`, all later ones too.
    fn run_with_fault(&self, sandbox: &Sandbox, command: &[&str], fault: &str) -> Faulty {
        let output = Command::new(PROGRAM)
            .args(command)
            .current_dir(sandbox.path())
            .env_remove("OUTFLANK_DATA")
            .env("OUTFLANK_FAIL_FILE_OPERATION", fault)
            .timeout(Duration::from_secs(120))
            .output()
            .expect("the program runs");
        let text = String::from_utf8(output.stderr).expect("text");
        let is_report = |line: &&str| line.starts_with("injected failure");
        let injected = text.lines().any(|line| is_report(&line));
        let rest: Vec<&str> = text.lines().filter(|line| !is_report(line)).collect();
        let message = rest.join("\n");
        let succeeded = output.status.success();
        assert!(!message.contains("panicked"), "operation {fault}: {message}");
        if !succeeded {
            assert_eq!(output.status.code(), Some(1), "operation {fault}: {message}");
            sandbox::assert_clear(&message);
            assert!(message.contains("injected for a test"), "operation {fault}: {message}");
        }
        Faulty { succeeded, injected }
    }

    /// Lets each operation fail in turn, once and with all later ones, until the command runs through.
    fn check(&self) {
        let [start, resume] = [(self.start, "--out"), (self.resume, "--resume")]
            .map(|(command, option)| words(&format!("{command} {option} run --threads 1 --quiet")));
        let [start, resume]: [Vec<&str>; 2] =
            [&start, &resume].map(|words| words.iter().map(String::as_str).collect());
        let whole = Sandbox::new();
        whole.ok(&start);
        let wanted = self.tree(&whole);
        let steps = std::env::var("OUTFLANK_FAULT_STEPS").ok().and_then(|text| text.parse().ok());
        let (mut tries, mut failures) = (0, 0);
        for suffix in ["", "+"] {
            for number in 1..=steps.unwrap_or(u32::MAX) {
                let sandbox = Sandbox::new();
                let fault = format!("{number}{suffix}");
                let faulty = self.run_with_fault(&sandbox, &start, &fault);
                if !faulty.injected {
                    assert!(faulty.succeeded);
                    break;
                }
                tries += 1;
                failures += usize::from(!faulty.succeeded);
                if !faulty.succeeded {
                    // A run that has not begun is started again, as the error of --resume says.
                    let next = || match sandbox.exists("run/config.toml") {
                        true => &resume,
                        false => &start,
                    };
                    // The same operation of the resumed run may fail as well.
                    if !self.run_with_fault(&sandbox, next(), &fault).succeeded {
                        sandbox.ok(next());
                    }
                }
                let found = self.tree(&sandbox);
                let names = |tree: &Tree| tree.keys().cloned().collect::<Vec<_>>();
                assert_eq!(names(&found), names(&wanted), "{}, operation {fault}", self.start);
                for (name, bytes) in &wanted {
                    assert!(found[name] == *bytes, "{}, operation {fault}: {name}", self.start);
                }
            }
        }
        println!("{}: {failures} of {tries} runs failed, all resumed", self.start);
        assert!(failures > 0);
    }
}

#[test]
fn leagues_survive_failing_file_operations() {
    Work {
        start: "league heuristic yoshioka random --games 20 --random 0.1",
        resume: "league",
        ignored: &[],
    }
    .check();
}

#[test]
fn generated_games_survive_failing_file_operations() {
    Work {
        start: "data generate --player heuristic --games 20 --to games.wtb",
        resume: "data generate --to games.wtb",
        ignored: &[],
    }
    .check();
}

#[test]
#[ignore = "takes minutes: .ci/nightly runs it"]
fn reproduced_experiments_survive_failing_file_operations() {
    Work {
        start: "reproduce coevolution/fig5 --scale smoke",
        resume: "reproduce", // Kept if it cannot be removed; the run does not need it.
        ignored: &["checkpoint-before.bin"],
    }
    .check();
}

/// One method of each family.
fn check_training(start: &str, resume: &str) {
    let ignored: &[&str] = match resume {
        // These files of networks contain times.
        "train cnn" => &["result.json", "report.html", "metrics.csv", "checkpoint.bin"],
        _ => &[],
    };
    // The previous checkpoint is kept if it cannot be removed; the run does not need it.
    Work { start, resume, ignored: &[ignored, &["checkpoint-before.bin"]].concat() }.check();
}

#[test]
#[ignore = "takes minutes: .ci/nightly runs it"]
fn training_on_games_survives_failing_file_operations() {
    let small = "--features 1tuple --sample 10 --match-games 2 --max-iterations 2";
    check_training(&format!("train {small}"), "train");
    check_training(&format!("train mm {small}"), "train");
    let network =
        "train cnn --net fc2x8 --sample 6 --epochs 2 --batch-size 1000 --test-positions 10";
    check_training(network, "train cnn");
}

#[test]
#[ignore = "takes minutes: .ci/nightly runs it"]
fn training_by_playing_survives_failing_file_operations() {
    for (method, options) in [
        ("tdl", "--shape 3x3 --games 400"),
        (
            "ctdl",
            "--population 2 --tournament-size 2 --shape 3x3 --games 40 --set self-play-games=4 \
             --set archive-games=2",
        ),
        ("self-play", "--games 20 --games-per-batch 10 --discs-per-stage 30"),
        ("ann", "--net FC#192-8-1 --games 20"),
    ] {
        let start = format!("train {method} {options} --measurements 2 --match-games 2");
        check_training(&start, &format!("train {method}"));
    }
    let start =
        "train gp --rounds 2 --initial 3 --depth 1 --match-games 2 --restarts 1 --test-pairs 4";
    check_training(start, "train gp");
}
