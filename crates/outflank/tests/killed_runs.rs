//! Every long command, killed at random moments and resumed each time, ends with the same bytes as an
//! uninterrupted run.

#[path = "support/sandbox.rs"]
mod sandbox;

use outflank_runs::{Rng, RngExt, rng};
use sandbox::{PROGRAM, Sandbox, assert_same_files};
use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Number of kills per command.
const TIMES: u32 = 3;

/// Splits a command into words; a `#` stands for a space within a word.
fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(|word| word.replace('#', " ")).collect()
}

/// Runs a command without interruption, then again with kills at random times, and asserts that all
/// files are equal, or only those named in `only` if it is not empty.
fn assert_same_after_kills(rng: &mut Rng, command: &str, only: &[&str]) {
    let name = command.split_whitespace().next().unwrap_or_default();
    // A resumed run needs the method only if it is a subcommand; the options are in its configuration.
    let method = command.split_whitespace().nth(1).filter(|_| name == "train");
    let method = method.filter(|word| SUBCOMMANDS.contains(word)).unwrap_or_default();
    let start = words(&format!("{command} --quiet --out run"));
    let resume = words(&format!("{name} {method} --quiet --resume run"));
    let [start, resume]: [Vec<&str>; 2] =
        [&start, &resume].map(|words| words.iter().map(String::as_str).collect());
    let tree = |sandbox: &Sandbox| -> BTreeMap<String, Vec<u8>> {
        let mut tree = sandbox.tree("run");
        tree.retain(|name, _| only.is_empty() || only.contains(&name.as_str()));
        tree
    };
    let uninterrupted = Sandbox::new();
    let began = Instant::now();
    uninterrupted.ok(&start);
    let longest = began.elapsed().as_millis() as u32;
    let sandbox = Sandbox::new();
    let mut started = false;
    for _ in 0..TIMES {
        let milliseconds = u64::from(rng.below(longest + 1));
        started = sandbox.killed_after(milliseconds, if started { &resume } else { &start });
    }
    sandbox.ok(if started { &resume } else { &start });
    assert_same_files(&tree(&sandbox), &tree(&uninterrupted));
}

const SUBCOMMANDS: [&str; 10] =
    ["tdl", "cel", "hof", "ptdl", "ctdl", "etdl", "self-play", "ann", "gp", "cnn"];

fn check_all(seed: u64, commands: &[&str]) {
    let mut rng = rng::stream(seed, &["killed"]);
    for command in commands {
        assert_same_after_kills(&mut rng, command, &[]);
    }
}

#[test]
fn killed_contests_and_experiments() {
    check_all(
        1,
        &[
            "match heuristic@3 yoshioka@2 --games 100 --random 0.1",
            "league heuristic@2 yoshioka@2 random --games 60 --random 0.1",
            "reproduce coevolution/fig5 --scale smoke",
            "reproduce gp/fig1 --scale smoke",
            "reproduce preference/fig3 --scale smoke",
        ],
    );
}

#[test]
fn killed_training_on_games() {
    check_all(
        2,
        &[
            "train --features 1tuple --sample 100 --match-games 40",
            "train mm --features 1tuple --sample 40 --match-games 20 --max-iterations 5",
            "train lstd --features 1tuple --sample 40 --match-games 20",
            "train classify --features 1tuple --sample 40 --match-games 20",
            "train ipref --solver online --sample 60 --match-games 2 --epochs 2 --discs-per-stage 10",
        ],
    );
    // Other files of the run contain times.
    let cnn = "train cnn --net fc2x32 --sample 60 --epochs 4 --batch-size 64 --warmup-steps 5 \
               --checkpoint-every 0.03s --test-positions 100";
    assert_same_after_kills(
        &mut rng::stream(2, &["network"]),
        cnn,
        &["config.toml", "model.safetensors"],
    );
}

#[test]
fn killed_training_by_playing() {
    let small = "--population 4 --tournament-size 2 --shape 3x3 --games 4000 --measurements 8 \
                 --match-games 20";
    let coevolved = ["cel", "hof", "ctdl", "etdl"].map(|name| format!("train {name} {small}"));
    let mut commands = vec![
        "train tdl --shape 4x4 --games 4000 --measurements 8 --match-games 20",
        "train ptdl --population 4 --shape 3x3 --games 4000 --measurements 8 --match-games 20",
        "train self-play --games 300 --games-per-batch 30 --measurements 5 --discs-per-stage 30 --match-games 4",
        "train ann --net FC#192-8-1 --games 200 --measurements 5 --match-games 4",
        "train gp --rounds 4 --initial 3 --depth 1 --match-games 4 --restarts 2 --test-pairs 20",
    ];
    commands.extend(coevolved.iter().map(String::as_str));
    check_all(3, &commands);
}

/// A run with a damaged checkpoint reports it and resumes from the one before.
#[test]
fn a_damaged_checkpoint_is_reported() {
    let command = "train tdl --shape 4x4 --games 20000 --measurements 20 --match-games 20 --quiet";
    let command = words(&format!("{command} --out run"));
    let (uninterrupted, sandbox) = (Sandbox::new(), Sandbox::new());
    uninterrupted.ok(&command.iter().map(String::as_str).collect::<Vec<_>>());
    let mut child = Command::new(PROGRAM)
        .args(&command)
        .current_dir(sandbox.path())
        .env_remove("OUTFLANK_DATA")
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while !sandbox.exists("run/checkpoint-before.bin") {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it was killed");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let mut bytes = fs::read(sandbox.file("run/checkpoint.bin")).unwrap_or_default();
    bytes.truncate(bytes.len() / 2);
    sandbox.write("run/checkpoint.bin", bytes);
    let ran = sandbox.run(&["train", "tdl", "--resume", "run", "--quiet"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let message = ran.err.trim_end();
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(message.contains("run/checkpoint.bin: it is damaged"), "{message}");
    assert!(message.contains("resuming from run/checkpoint-before.bin"), "{message}");
    assert_same_files(&sandbox.tree("run"), &uninterrupted.tree("run"));
}
