//! `outflank train gp`: curve, player, stop and resume, and answers through a pipe.

#[path = "support/sandbox.rs"]
mod sandbox;

use sandbox::{PROGRAM, Sandbox, assert_same_files, has_keys};
use std::io::Write;
use std::process::{Command, Stdio};

/// A run of a second or so.
const BARE: &str = "train gp --rounds 6 --depth 1 --match-games 10 --opponents 2 --restarts 2 \
                    --quiet --out run";
const MEASURED: &str = "--test-pairs 70 --benchmark-opponents 4";

/// The same with test pairs and a benchmark.
fn small(more: &str) -> String {
    format!("{BARE} {MEASURED} {more}")
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[test]
fn a_run_writes_a_player_and_a_curve_for_each_game() {
    for (game, other, weights) in
        [("othello", "heuristic", 8), ("checkers", "material", 6), ("othello6", "corners", 5)]
    {
        let sandbox = Sandbox::new();
        let value = sandbox.json(&words(&small(&format!("--game {game}"))));
        has_keys(&value, &["method", "run", "model", "seconds", "accuracy", "matches", "curve"]);
        assert_eq!((&value["method"], &value["rounds"]), (&"gp".into(), &6.into()));
        assert_eq!(value["settings"]["game"], game);
        assert_eq!(value["weights"].as_object().unwrap().len(), weights);
        let curve = value["curve"].as_array().unwrap();
        let rounds: Vec<u64> = curve.iter().map(|p| p["round"].as_u64().unwrap()).collect();
        assert_eq!(rounds, [0, 1, 2, 3, 4, 5, 6]);
        for point in curve {
            has_keys(point, &["accuracy", "evidence", "mean", "variance", "best", "predicted"]);
            let accuracy = point["accuracy"].as_f64().unwrap();
            assert!((0.0..=100.0).contains(&accuracy));
            assert!(point["evidence"].as_f64().unwrap() < 0.0);
        }
        assert_eq!(value["accuracy"], curve[6]["accuracy"]);
        // Five heuristics meet each other at first; then a new one meets the best and two others.
        assert_eq!(curve[0]["games"].as_f64(), Some(30.0));
        assert_eq!(curve[1]["games"].as_f64(), Some(39.0));
        let table = sandbox.text("run/metrics.csv");
        assert!(table.starts_with("round,games,comparisons,predicted,evidence,mean,"), "{table}");
        assert_eq!(table.lines().count(), 8);
        let events = sandbox.read("run/events.out.tfevents.0.outflank");
        assert!(events.windows(11).any(|w| w == b"gp/accuracy"));
        assert!(sandbox.text("run/report.html").contains("</html>"));
        assert!(sandbox.text("run/model.toml").contains(&format!("game = \"{game}\"")));
        let rest = ["--games", "4", "--random", "0.1", "--quiet", "--game", game, "--out", "m"];
        sandbox.ok(&[&["match", "run@2", &format!("{other}@2")], &rest[..]].concat());
        // The configuration of the match has the checksum of the model.
        assert!(sandbox.text("m/config.toml").contains("sha256"));
    }
}

#[test]
fn all_acquisition_functions_and_targets() {
    for options in [
        "--test-pairs 20 --benchmark-opponents 3 --acquisition random --accuracy-limit",
        "--test-pairs 20 --benchmark-opponents 3 --opponents-by acquisition",
        "--test-pairs 20 --benchmark-opponents 3 --acquisition uncertainty --propose pair",
        "--test-pairs 20 --benchmark-opponents 3 --propose pair --ard --space weights",
        "--test-pairs 0 --benchmark-opponents 0",
    ] {
        let sandbox = Sandbox::new();
        let value = sandbox.json(&words(&format!("{BARE} {options}")));
        assert_eq!(value["accuracy"].is_null(), options.contains("--test-pairs 0"));
        assert_eq!(value["held_out_score"].is_null(), options.contains("--benchmark-opponents 0"));
        assert_eq!(value["accuracy_limit"].is_number(), options.contains("--accuracy-limit"));
    }
}

#[test]
fn killed_runs_resume_to_the_same_bytes_on_any_number_of_threads() {
    let wanted = {
        let sandbox = Sandbox::new();
        sandbox.ok(&words(&small("--threads 1")));
        sandbox.tree("run")
    };
    for milliseconds in [10, 60, 150, 300] {
        let sandbox = Sandbox::new();
        let small = small("");
        let begun = [&words(&small)[..], &["--threads", "3"]].concat();
        let begun = sandbox.killed_after(milliseconds, &begun);
        match begun {
            true => sandbox.ok(&words("train gp --resume run --threads 2 --quiet")),
            false => sandbox.ok(&words(&small)),
        };
        assert_same_files(&sandbox.tree("run"), &wanted);
    }
}

/// Runs the program with answers on standard input; returns the exit code and standard error.
fn answer(sandbox: &Sandbox, arguments: &str, answers: impl AsRef<[u8]>) -> (i32, String) {
    let mut child = Command::new(PROGRAM)
        .args(words(arguments))
        .current_dir(sandbox.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The program may be done before it has read everything.
    let _ = child.stdin.take().unwrap().write_all(answers.as_ref());
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_person_can_stop_and_resume() {
    let rest = "--rounds 3 --initial 3 --depth 1 --match-games 4 --restarts 2 --out run";
    for (shown, game) in [("positions", "othello"), ("games", "othello"), ("positions", "checkers")]
    {
        // The default shows positions.
        let value = if (shown, game) == ("positions", "othello") { "" } else { shown };
        let start = format!("train gp --ask {value} --game {game} {rest}");
        let wanted = {
            let sandbox = Sandbox::new();
            let (code, message) = answer(&sandbox, &start, "1\n2\n=\n".repeat(20));
            assert_eq!(code, 0, "{message}");
            assert!(message.contains("a b c d e f g h"), "{message}");
            let question =
                if shown == "games" { "player do you prefer" } else { "position do you prefer as" };
            assert!(message.contains(question), "{message}");
            sandbox.tree("run")
        };
        assert!(String::from_utf8_lossy(&wanted["model.toml"]).contains("a person"));
        // An invalid answer is asked again; the end of the input and q stop the run.
        let sandbox = Sandbox::new();
        let (code, message) = answer(&sandbox, &start, b"perhaps\n\xff\xfe\n1\n2\n");
        assert_eq!(code, 130, "{message}");
        assert!(
            message.contains("'perhaps' is not an answer") && message.contains("--resume"),
            "{message}"
        );
        let (code, message) = answer(&sandbox, "train gp --resume run", "=\n1\nq\n");
        assert_eq!(code, 130, "{message}");
        let left = "2\n=\n".to_owned() + &"1\n2\n=\n".repeat(20);
        let (code, message) = answer(&sandbox, "train gp --resume run", &left);
        assert_eq!(code, 0, "{message}");
        assert_same_files(&sandbox.tree("run"), &wanted);
    }
}

#[test]
fn wrong_options_are_errors_before_anything_runs() {
    let sandbox = Sandbox::new();
    for (arguments, words) in [
        ("--rounds 0", "--rounds is a number from 1 to 2000, not 0"),
        ("--rounds 100000", "--rounds"),
        ("--initial 1", "--initial is a number from 2"),
        ("--games-per-pair 0", "--games-per-pair is a number from 1"),
        ("--depth 0", "--depth is a number from 1"),
        ("--random-plies 99", "--random-plies is a number from 0 to 40, not 99"),
        ("--tolerance 0", "--tolerance must be above 0"),
        ("--tolerance nan", "--tolerance must be above 0"),
        ("--match-games 3", "even"),
        ("--test-pairs 0 --accuracy-limit", "--accuracy-limit is measured on test pairs"),
        ("--acquisition luck", "luck"),
        ("--sweeps 3", "--max-iterations"),
        ("--steps 3", "--kernel-iterations"),
        ("--game chess", "chess"),
        ("--ask me", "me"),
        ("--resume nowhere", "nowhere"),
    ] {
        let given: Vec<&str> = ["train", "gp"].into_iter().chain(arguments.split(' ')).collect();
        let message = sandbox.rejected(&given);
        assert!(message.contains(words), "{arguments}: {message}");
    }
}
