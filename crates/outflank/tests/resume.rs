//! Stopped at any moment, a run that is resumed ends with the same bytes as one that was not.

#[path = "support/lab.rs"]
mod lab;

use lab::{Lab, PROGRAM, same};
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A run that writes a journal.
struct Work {
    arguments: &'static str,
    /// How it is resumed; what is not given again is as it was.
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
    /// The files of a run that nothing disturbed.
    fn undisturbed(&self) -> std::collections::BTreeMap<String, Vec<u8>> {
        let lab = Lab::new();
        lab.ok(&[&words(self.arguments)[..], &["--out", "run"]].concat());
        lab.tree(".")
    }

    fn resume(&self, lab: &Lab, threads: &str) {
        lab.ok(&[&words(self.resume)[..], &["--resume", "run", "--threads", threads]].concat());
    }
}

#[test]
fn killed_in_the_middle() {
    for work in WORK {
        let wanted = work.undisturbed();
        let journal = format!("run/{}", work.journal);
        let lines = wanted[&journal].iter().filter(|&&byte| byte == b'\n').count();
        for (share, threads) in [(0, "2"), (1, "1"), (2, "2"), (3, "2")] {
            let lab = Lab::new();
            let mut child = Command::new(PROGRAM)
                .args(words(work.arguments))
                .args(["--out", "run", "--threads", threads])
                .current_dir(lab.path())
                .env_remove("OUTFLANK_DATA")
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            // At some moment when about so much is done; which one does not matter.
            let done = || {
                let bytes = fs::read(lab.file(&journal)).unwrap_or_default();
                bytes.iter().filter(|&&byte| byte == b'\n').count()
            };
            while done() < 1 + lines * share / 4 && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            child.kill().unwrap();
            child.wait().unwrap();
            work.resume(&lab, "2");
            same(&lab.tree("."), &wanted);
        }
    }
}

#[test]
fn cut_off_at_any_byte() {
    for work in WORK {
        let wanted = work.undisturbed();
        let journal = format!("run/{}", work.journal);
        let whole = &wanted[&journal];
        for cut in [0, 1, whole.len() / 3, whole.len() / 2, whole.len() - 1, whole.len()] {
            let lab = Lab::new();
            fs::create_dir(lab.file("run")).unwrap();
            lab.write("run/config.toml", &wanted["run/config.toml"]);
            lab.write(&journal, &whole[..cut]);
            // What a write that was cut off leaves behind.
            lab.write("run/.part-x1y2z3", "half a page");
            work.resume(&lab, "1");
            same(&lab.tree("."), &wanted);
        }
    }
}

/// Learning that was stopped begins anew, unless the model is there or stages of it are; games are
/// never played twice.
#[test]
fn killed_while_learning() {
    for (learn, moments) in [
        ("learn --features 1tuple --sample 200 --games 200", &["config.toml", "learned.toml"][..]),
        ("learn pref --solver dual --sample 60 --games 100", &["model.safetensors"]),
        ("learn mm --sample 60 --games 60 --sweeps 10", &["config.toml", "games.tsv"]),
        ("learn lstd --sample 60 --games 60", &["config.toml", "games.tsv"]),
        ("learn classify --sample 60 --games 60", &["matches.csv"]),
        // Some stages are done, others not, when it is killed.
        (
            "learn ipref --solver online --sample 120 --games 2 --passes 4 --stage 10",
            &["stages/stage-00.bin", "stages/stage-02.bin", "stages/stage-05.bin"],
        ),
        ("learn rater --sample 40 --games 2 --stage 20", &["stages", "stages/stage-01.bin"]),
    ] {
        let learn = [&words(learn)[..], &["--out", "run"]].concat();
        let whole = Lab::new();
        whole.ok(&learn);
        for file in moments {
            let lab = Lab::new();
            let mut child = Command::new(PROGRAM)
                .args(&learn)
                .current_dir(lab.path())
                .env_remove("OUTFLANK_DATA")
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            while !lab.exists(&format!("run/{file}")) && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            child.kill().unwrap();
            child.wait().unwrap();
            lab.ok(&["learn", "--resume", "run", "--threads", "1"]);
            same(&lab.tree("run"), &whole.tree("run"));
        }
    }
}

#[test]
fn learning_goes_on_from_what_is_kept_and_refuses_what_was_changed() {
    let lab = Lab::new();
    lab.write("t.txt", "a1 b1\n");
    let learn = words("learn mm --features t.txt --sample 40 --games 4 --out run");
    lab.ok(&learn);
    let whole = lab.tree("run");
    for lost in [&["games.tsv", "report.html"][..], &["model.safetensors"], &["learned.toml"]] {
        for name in lost {
            fs::remove_file(lab.file(&format!("run/{name}"))).unwrap();
        }
        // A model without a word about how it was learned is as good as none.
        if lost == ["learned.toml"] {
            fs::remove_file(lab.file("run/model.safetensors")).unwrap();
        }
        lab.ok(&["learn", "--resume", "run"]);
        same(&lab.tree("run"), &whole);
    }
    for (arguments, part) in [
        ("learn pref --resume run", "--prior is an option of mm"),
        ("learn --resume run --sweeps 3", "sweeps = 200, not 3"),
        ("learn --resume run --features ntuple", "features"),
    ] {
        let message = lab.refused(&words(arguments));
        assert!(message.contains(part), "{arguments}: {message}");
    }
    lab.write("t.txt", "a1 b2\n");
    assert!(lab.refused(&["learn", "--resume", "run"]).contains("data"));
    lab.write("t.txt", "a1 b1\n");
    lab.write("run/learned.toml", "summary = 3");
    let ran = lab.run(&["learn", "--resume", "run"]);
    assert_eq!(ran.code, 1);
    lab::clear(&ran.err);
    assert!(ran.err.contains("learned.toml is damaged"), "{}", ran.err);
}

#[test]
fn a_player_joins_without_replaying_the_rest() {
    let lab = Lab::new();
    let terms = words("--games 40 --random 0.1 --seed 6");
    let players = ["heuristic", "random", "yoshioka"];
    let all = ["heuristic", "random", "yoshioka", "heuristic@2"];
    lab.ok(&[&["league"], &players[..], &terms, &["--out", "grown"]].concat());
    let before = lab.read("grown/games.tsv");
    // Games, randomness and seed are as they were, without being given again.
    lab.ok(&[&["league"], &all[..], &["--resume", "grown"]].concat());
    let after = lab.read("grown/games.tsv");
    assert!(after.starts_with(&before), "the games that were played stay as they are");
    assert_eq!(after.iter().filter(|&&byte| byte == b'\n').count(), 6 * 40);

    lab.ok(&[&["league"], &all[..], &terms, &["--out", "fresh"]].concat());
    let (mut grown, mut fresh) = (lab.tree("grown"), lab.tree("fresh"));
    // Only the order of the journal tells the two apart.
    let sorted = |bytes: Vec<u8>| {
        let mut lines: Vec<String> =
            String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let journals = [&mut grown, &mut fresh].map(|tree| sorted(tree.remove("games.tsv").unwrap()));
    assert_eq!(journals[0], journals[1]);
    same(&grown, &fresh);

    // And may leave again: the table is that of the first league, the games are kept.
    lab.ok(&[&["league"], &players[..], &["--resume", "grown"]].concat());
    lab.ok(&[&["league"], &players[..], &terms, &["--out", "small"]].concat());
    assert_eq!(lab.read("grown/result.json"), lab.read("small/result.json"));
    assert_eq!(lab.read("grown/games.tsv"), after);
}

#[test]
fn a_run_can_be_made_longer_where_that_makes_sense() {
    let lab = Lab::new();
    let generate = "data generate --player random --opening 2 --to g.txt";
    lab.ok(&[&words(generate)[..], &["--games", "10", "--out", "run"]].concat());
    let ten = lab.text("g.txt");
    lab.ok(&["data", "generate", "--resume", "run", "--to", "g.txt", "--games", "15"]);
    let fifteen = lab.text("g.txt");
    assert!(fifteen.starts_with(&ten) && fifteen.lines().count() == 15);
}

#[test]
fn other_settings_are_refused_and_change_nothing() {
    let lab = Lab::new();
    lab.write("a.wpc", "1 ".repeat(64));
    lab.write("o.txt", "f5d6c3\nf5f6e6\n");
    let run = "match a.wpc random --openings o.txt --games 4 --out run";
    lab.ok(&words(run));
    for (arguments, part) in [
        ("match a.wpc random --resume run --seed 2", "--seed = 1, not 2"),
        ("match a.wpc random --resume run --games 6", "games = 4, not 6"),
        ("match a.wpc random --resume run --random 0.5", "random"),
        ("match a.wpc heuristic --resume run", "b = \"random\""),
        ("match a.wpc random --resume run --openings start", "openings"),
        ("league a.wpc random --resume run", "go on with it by outflank match --resume run"),
        ("match a.wpc random --resume elsewhere", "elsewhere: no run to resume"),
        ("match a.wpc random --resume run --out other", "--resume"),
        (run, "run: contains a run. Resume it with --resume run"),
    ] {
        let message = lab.refused(&words(arguments));
        assert!(message.contains(part), "{arguments}: {message}");
    }
    // The same names, but not the same files.
    lab.write("a.wpc", "2 ".repeat(64));
    assert!(lab.refused(&["match", "--resume", "run"]).contains("another content of a.wpc"));
    lab.write("a.wpc", "1 ".repeat(64));
    lab.write("o.txt", "f5d6c3\nf5f4e3\n");
    assert!(lab.refused(&["match", "--resume", "run"]).contains("another content of o.txt"));
    lab.write("o.txt", "f5d6c3\nf5f6e6\n");
    // A journal that somebody edited is not believed.
    let good = lab.text("run/games.tsv");
    lab.write("run/games.tsv", good.replacen("\t0\t", "\t1\t", 1));
    let ran = lab.run(&["match", "--resume", "run"]);
    assert_eq!(ran.code, 1);
    lab::clear(&ran.err);
    assert!(ran.err.contains("run/games.tsv, line 1: damaged"), "{}", ran.err);
    lab.write("run/games.tsv", good);
    lab.ok(&["match", "--resume", "run"]);
}
