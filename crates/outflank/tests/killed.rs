//! Every long command, killed at random moments many times over and resumed each time, ends with the
//! bytes of a run that nobody disturbed.

#[path = "support/lab.rs"]
mod lab;

use lab::{Lab, PROGRAM, same};
use outflank_runs::{RngExt, Rng, rng};
use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How often each is killed.
const TIMES: u32 = 3;

/// The words of a command; a `#` is a space within a word.
fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(|word| word.replace('#', " ")).collect()
}

/// Runs a command in one go, then again with kills at moments that the stream gives, and compares
/// all files, or those with these names.
fn killed(rng: &mut Rng, command: &str, only: &[&str]) {
    let name = command.split_whitespace().next().unwrap_or_default();
    // Learning by play says which method is gone on with; a command's options are in its folder.
    let method = command.split_whitespace().nth(1).filter(|_| name == "learn");
    let method = method.filter(|word| BY_PLAY.contains(word)).unwrap_or_default();
    let begin = words(&format!("{command} --quiet --out run"));
    let go_on = words(&format!("{name} {method} --quiet --resume run"));
    let [begin, go_on]: [Vec<&str>; 2] =
        [&begin, &go_on].map(|words| words.iter().map(String::as_str).collect());
    let tree = |lab: &Lab| -> BTreeMap<String, Vec<u8>> {
        let mut tree = lab.tree("run");
        tree.retain(|name, _| only.is_empty() || only.contains(&name.as_str()));
        tree
    };
    let whole = Lab::new();
    let began = Instant::now();
    whole.ok(&begin);
    let longest = began.elapsed().as_millis() as u32;
    let lab = Lab::new();
    let mut begun = false;
    for _ in 0..TIMES {
        let moment = u64::from(rng.below(longest + 1));
        begun = lab.killed_after(moment, if begun { &go_on } else { &begin });
    }
    lab.ok(if begun { &go_on } else { &begin });
    same(&tree(&lab), &tree(&whole));
}

const BY_PLAY: [&str; 10] =
    ["tdl", "cel", "hof", "ptdl", "ctdl", "etdl", "selfplay", "ann", "gp", "cnn"];

fn all(seed: u64, commands: &[&str]) {
    let mut rng = rng::stream(seed, &["killed"]);
    for command in commands {
        killed(&mut rng, command, &[]);
    }
}

#[test]
fn killed_contests_and_exhibits() {
    all(
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
fn killed_learning_from_games() {
    all(
        2,
        &[
            "learn --features 1tuple --sample 100 --games 40",
            "learn mm --features 1tuple --sample 40 --games 20 --sweeps 5",
            "learn lstd --features 1tuple --sample 40 --games 20",
            "learn classify --features 1tuple --sample 40 --games 20",
            "learn ipref --solver online --sample 60 --games 2 --passes 2 --stage 10",
        ],
    );
    // How long it took is in other files of the folder.
    let cnn = "learn cnn --net fc2x32 --sample 60 --passes 4 --batch 64 --warmup 5 \
               --checkpoint 0.0005 --tested 100";
    killed(&mut rng::stream(2, &["network"]), cnn, &["config.toml", "model.safetensors"]);
}

#[test]
fn killed_learning_by_play() {
    let small = "--population 4 --tournament 2 --shape 3x3 --games 4000 --points 8 \
                 --measured-games 20";
    let coevolved = ["cel", "hof", "ctdl", "etdl"].map(|name| format!("learn {name} {small}"));
    let mut commands = vec![
        "learn tdl --shape 4x4 --games 4000 --points 8 --measured-games 20",
        "learn ptdl --population 4 --shape 3x3 --games 4000 --points 8 --measured-games 20",
        "learn selfplay --games 300 --batch 30 --points 5 --stage 30 --measured-games 4",
        "learn ann --net FC#192-8-1 --games 200 --points 5 --measured-games 4",
        "learn gp --rounds 4 --initial 3 --depth 1 --measured-games 4 --restarts 2 --tests 20",
    ];
    commands.extend(coevolved.iter().map(String::as_str));
    all(3, &commands);
}

/// Whose last checkpoint is damaged is told so and goes on from the one before.
#[test]
fn a_damaged_checkpoint_is_named() {
    let learn = "learn tdl --shape 4x4 --games 20000 --points 20 --measured-games 20 --quiet";
    let learn = words(&format!("{learn} --out run"));
    let (whole, lab) = (Lab::new(), Lab::new());
    whole.ok(&learn.iter().map(String::as_str).collect::<Vec<_>>());
    let mut child = Command::new(PROGRAM)
        .args(&learn)
        .current_dir(lab.path())
        .env_remove("OUTFLANK_DATA")
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while !lab.exists("run/checkpoint-before.bin") {
        assert!(child.try_wait().unwrap().is_none(), "it ended too soon");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let mut bytes = fs::read(lab.file("run/checkpoint.bin")).unwrap_or_default();
    bytes.truncate(bytes.len() / 2);
    lab.write("run/checkpoint.bin", bytes);
    let ran = lab.run(&["learn", "tdl", "--resume", "run", "--quiet"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let told = ran.err.trim_end();
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(told.contains("run/checkpoint.bin: it is damaged"), "{told}");
    assert!(told.contains("going on from run/checkpoint-before.bin"), "{told}");
    same(&lab.tree("run"), &whole.tree("run"));
}
