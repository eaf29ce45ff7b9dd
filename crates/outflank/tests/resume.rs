//! A run that is interrupted at any moment and resumed ends with the same bytes as an uninterrupted one.

#[path = "support/sandbox.rs"]
mod sandbox;

use sandbox::{PROGRAM, Sandbox, assert_same_files};
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A run that writes a journal.
struct Work {
    arguments: &'static str,
    /// The command that resumes it, without `--resume`.
    resume: &'static str,
    journal: &'static str,
}

const WORK: [Work; 4] = [
    Work {
        arguments: "match heuristic@3 yoshioka@3 --games 120 --random 0.1",
        resume: "match",
        journal: "games.tsv",
    },
    Work {
        arguments: "league heuristic@3 yoshioka@2 random --games 60 --random 0.1 --sub-league 1-2",
        resume: "league",
        journal: "games.tsv",
    },
    Work {
        arguments: "data generate --player heuristic@3 --games 60 --to games.wtb",
        resume: "data generate --to games.wtb",
        journal: "games.tsv",
    },
    Work {
        arguments: "openings --count 60 --ply 6 --simulations 200",
        resume: "openings",
        journal: "tries.tsv",
    },
];

fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

impl Work {
    /// The files of an uninterrupted run.
    fn uninterrupted(&self) -> std::collections::BTreeMap<String, Vec<u8>> {
        let sandbox = Sandbox::new();
        sandbox.ok(&[&words(self.arguments)[..], &["--out", "run"]].concat());
        sandbox.tree(".")
    }

    fn resume(&self, sandbox: &Sandbox, threads: &str) {
        sandbox.ok(&[&words(self.resume)[..], &["--resume", "run", "--threads", threads]].concat());
    }
}

#[test]
fn killed_runs_resume_to_the_same_bytes() {
    for work in WORK {
        let wanted = work.uninterrupted();
        let journal = format!("run/{}", work.journal);
        let lines = wanted[&journal].iter().filter(|&&byte| byte == b'\n').count();
        for (share, threads) in [(0, "2"), (1, "1"), (2, "2"), (3, "2")] {
            let sandbox = Sandbox::new();
            let mut child = Command::new(PROGRAM)
                .args(words(work.arguments))
                .args(["--out", "run", "--threads", threads])
                .current_dir(sandbox.path())
                .env_remove("OUTFLANK_DATA")
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            // Kill it after about this share of the work; the exact time does not matter.
            let done = || {
                let bytes = fs::read(sandbox.file(&journal)).unwrap_or_default();
                bytes.iter().filter(|&&byte| byte == b'\n').count()
            };
            while done() < 1 + lines * share / 4 && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            child.kill().unwrap();
            child.wait().unwrap();
            work.resume(&sandbox, "2");
            assert_same_files(&sandbox.tree("."), &wanted);
        }
    }
}

#[test]
fn truncated_journals_resume_to_the_same_bytes() {
    for work in WORK {
        let wanted = work.uninterrupted();
        let journal = format!("run/{}", work.journal);
        let whole = &wanted[&journal];
        for cut in [0, 1, whole.len() / 3, whole.len() / 2, whole.len() - 1, whole.len()] {
            let sandbox = Sandbox::new();
            fs::create_dir(sandbox.file("run")).unwrap();
            sandbox.write("run/config.toml", &wanted["run/config.toml"]);
            sandbox.write(&journal, &whole[..cut]);
            // An incomplete file of a killed process.
            sandbox.write("run/.part-x1y2z3", "half a page");
            work.resume(&sandbox, "1");
            assert_same_files(&sandbox.tree("."), &wanted);
        }
    }
}

/// Interrupted training continues from its last checkpoint; games are not replayed.
#[test]
fn killed_training_runs_resume_to_the_same_bytes() {
    for (command, moments) in [
        (
            "train --features 1tuple --sample 200 --match-games 200",
            &["config.toml", "checkpoint.bin"][..],
        ),
        ("train pref --solver dual --sample 60 --match-games 100", &["checkpoint-before.bin"]),
        (
            "train mm --sample 60 --match-games 60 --max-iterations 10",
            &["config.toml", "games.tsv"],
        ),
        ("train lstd --sample 60 --match-games 60", &["config.toml", "games.tsv"]),
        ("train classify --sample 60 --match-games 60", &["matches.csv"]),
        // Some epochs are done when it is killed.
        (
            "train ipref --solver online --sample 120 --match-games 2 --epochs 4 --discs-per-stage 10",
            &["checkpoint.bin", "checkpoint-before.bin"],
        ),
        ("train move-predictor --sample 40 --match-games 2 --discs-per-stage 20", &["metrics.csv"]),
    ] {
        let command = [&words(command)[..], &["--out", "run"]].concat();
        let whole = Sandbox::new();
        whole.ok(&command);
        for file in moments {
            let sandbox = Sandbox::new();
            let mut child = Command::new(PROGRAM)
                .args(&command)
                .current_dir(sandbox.path())
                .env_remove("OUTFLANK_DATA")
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            while !sandbox.exists(&format!("run/{file}")) && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            child.kill().unwrap();
            child.wait().unwrap();
            sandbox.ok(&["train", "--resume", "run", "--threads", "1"]);
            assert_same_files(&sandbox.tree("run"), &whole.tree("run"));
        }
    }
}

#[test]
fn training_resumes_from_stored_files_and_rejects_changes() {
    let sandbox = Sandbox::new();
    sandbox.write("t.txt", "a1 b1\n");
    let command = words("train mm --features t.txt --sample 40 --match-games 4 --out run");
    sandbox.ok(&command);
    let whole = sandbox.tree("run");
    for lost in [&["games.tsv", "report.html"][..], &["model.safetensors"], &["checkpoint.bin"]] {
        for name in lost {
            fs::remove_file(sandbox.file(&format!("run/{name}"))).unwrap();
        }
        sandbox.ok(&["train", "--resume", "run"]);
        assert_same_files(&sandbox.tree("run"), &whole);
    }
    for (arguments, part) in [
        ("train pref --resume run", "--prior has no effect with pref"),
        ("train --resume run --max-iterations 3", "are done, more than the requested 3"),
        ("train --resume run --features ntuple", "features"),
    ] {
        let message = sandbox.rejected(&words(arguments));
        assert!(message.contains(part), "{arguments}: {message}");
    }
    sandbox.write("t.txt", "a1 b2\n");
    assert!(sandbox.rejected(&["train", "--resume", "run"]).contains("data"));
    sandbox.write("t.txt", "a1 b1\n");
    sandbox.write("run/checkpoint.bin", "three");
    let ran = sandbox.run(&["train", "--resume", "run"]);
    assert_eq!(ran.code, 1);
    sandbox::assert_clear(&ran.err);
    assert!(ran.err.contains("checkpoint.bin: invalid checkpoint"), "{}", ran.err);
}

#[test]
fn a_player_joins_a_league_without_replaying_games() {
    let sandbox = Sandbox::new();
    let options = words("--games 40 --random 0.1 --seed 6");
    let players = ["heuristic", "random", "yoshioka"];
    let all = ["heuristic", "random", "yoshioka", "heuristic@2"];
    sandbox.ok(&[&["league"], &players[..], &options, &["--out", "grown"]].concat());
    let before = sandbox.read("grown/games.tsv");
    // Other options are taken from the saved configuration.
    sandbox.ok(&[&["league"], &all[..], &["--resume", "grown"]].concat());
    let after = sandbox.read("grown/games.tsv");
    assert!(after.starts_with(&before), "earlier games changed");
    assert_eq!(after.iter().filter(|&&byte| byte == b'\n').count(), 6 * 40);

    sandbox.ok(&[&["league"], &all[..], &options, &["--out", "fresh"]].concat());
    let (mut grown, mut fresh) = (sandbox.tree("grown"), sandbox.tree("fresh"));
    // The two differ only in the order of the journal.
    let sorted = |bytes: Vec<u8>| {
        let mut lines: Vec<String> =
            String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let journals = [&mut grown, &mut fresh].map(|tree| sorted(tree.remove("games.tsv").unwrap()));
    assert_eq!(journals[0], journals[1]);
    assert_same_files(&grown, &fresh);

    // A player can be removed: the table equals that of the first league, and its games stay in the journal.
    sandbox.ok(&[&["league"], &players[..], &["--resume", "grown"]].concat());
    sandbox.ok(&[&["league"], &players[..], &options, &["--out", "small"]].concat());
    assert_eq!(sandbox.read("grown/result.json"), sandbox.read("small/result.json"));
    assert_eq!(sandbox.read("grown/games.tsv"), after);
}

#[test]
fn game_generation_can_be_extended() {
    let sandbox = Sandbox::new();
    let generate = "data generate --player random --random-plies 2 --to g.txt";
    sandbox.ok(&[&words(generate)[..], &["--games", "10", "--out", "run"]].concat());
    let ten = sandbox.text("g.txt");
    sandbox.ok(&["data", "generate", "--resume", "run", "--to", "g.txt", "--games", "15"]);
    let fifteen = sandbox.text("g.txt");
    assert!(fifteen.starts_with(&ten) && fifteen.lines().count() == 15);
}

#[test]
fn changed_settings_are_errors_and_change_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("a.wpc", "1 ".repeat(64));
    sandbox.write("o.txt", "f5d6c3\nf5f6e6\n");
    let run = "match a.wpc random --openings o.txt --games 4 --out run";
    sandbox.ok(&words(run));
    for (arguments, part) in [
        ("match a.wpc random --resume run --seed 2", "--seed = 1"),
        ("match a.wpc random --resume run --games 6", "games = 4"),
        ("match a.wpc random --resume run --random 0.5", "random"),
        ("match a.wpc heuristic --resume run", "b = \"random\""),
        ("match a.wpc random --resume run --openings start", "openings"),
        ("league a.wpc random --resume run", "resume it with outflank match --resume run"),
        ("match a.wpc random --resume missing", "missing"),
        ("match a.wpc random --resume run --out other", "--resume"),
        (run, "--resume run"),
    ] {
        let message = sandbox.rejected(&words(arguments));
        assert!(message.contains(part), "{arguments}: {message}");
    }
    // The same names, but changed files.
    sandbox.write("a.wpc", "2 ".repeat(64));
    assert!(sandbox.rejected(&["match", "--resume", "run"]).contains("a.wpc has changed"));
    sandbox.write("a.wpc", "1 ".repeat(64));
    sandbox.write("o.txt", "f5d6c3\nf5f4e3\n");
    assert!(sandbox.rejected(&["match", "--resume", "run"]).contains("o.txt has changed"));
    sandbox.write("o.txt", "f5d6c3\nf5f6e6\n");
    // An edited journal is an error.
    let good = sandbox.text("run/games.tsv");
    sandbox.write("run/games.tsv", good.replacen("\t0\t", "\t1\t", 1));
    let ran = sandbox.run(&["match", "--resume", "run"]);
    assert_eq!(ran.code, 1);
    sandbox::assert_clear(&ran.err);
    assert!(ran.err.contains("run/games.tsv"), "{}", ran.err);
    sandbox.write("run/games.tsv", good);
    sandbox.ok(&["match", "--resume", "run"]);
}

/// A run folder is locked by the process that writes it.
#[test]
fn a_second_process_on_a_run_folder_is_refused() {
    let sandbox = Sandbox::new();
    let league = words("league heuristic@3 yoshioka@3 --games 4000 --random 0.1 --out run");
    let mut first = Command::new(PROGRAM)
        .args(&league)
        .current_dir(sandbox.path())
        .env_remove("OUTFLANK_DATA")
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while !sandbox.exists("run/games.tsv") {
        assert!(first.try_wait().unwrap().is_none(), "the league ended before it was stopped");
        std::thread::sleep(Duration::from_millis(1));
    }
    for second in [&league[..], &["league", "--resume", "run"]] {
        let message = sandbox.run(second);
        assert_eq!(message.code, 1, "{}", message.err);
        assert!(message.err.contains(&format!("process {} is", first.id())), "{}", message.err);
    }
    assert!(first.try_wait().unwrap().is_none(), "the first process goes on");
    first.kill().unwrap();
    first.wait().unwrap();
    // The lock ends with its process. The finished run has no lock file.
    let short = "match heuristic random --games 4 --out match";
    sandbox.ok(&words(short));
    assert!(!sandbox.exists("match/.lock"));
}
