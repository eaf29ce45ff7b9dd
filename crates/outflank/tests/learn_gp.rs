//! `outflank learn gp` as its users see it: curve, player, stop and resume, and a person's answers
//! through a pipe.

#[path = "support/lab.rs"]
mod lab;

use lab::{Lab, PROGRAM, has_keys, same};
use std::io::Write;
use std::process::{Command, Stdio};

/// A run of a second or so.
const BARE: &str = "learn gp --rounds 6 --depth 1 --measured-games 10 --opponents 2 --restarts 2 \
                    --quiet --out run";
const MEASURED: &str = "--tests 70 --benchmark 4";

/// The same with test pairs and a benchmark.
fn small(more: &str) -> String {
    format!("{BARE} {MEASURED} {more}")
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[test]
fn a_run_leaves_a_heuristic_that_plays_and_a_curve_for_either_game() {
    for (game, other, weights) in [("othello", "heuristic", 8), ("checkers", "material", 6)] {
        let lab = Lab::new();
        let value = lab.json(&words(&small(&format!("--game {game}"))));
        has_keys(&value, &["method", "run", "model", "seconds", "accuracy", "matches", "curve"]);
        assert_eq!((&value["method"], &value["rounds"]), (&"gp".into(), &6.into()));
        assert_eq!(value["settings"]["game"], game);
        assert_eq!(value["weights"].as_object().unwrap().len(), weights);
        let curve = value["curve"].as_array().unwrap();
        let rounds: Vec<u64> = curve.iter().map(|p| p["round"].as_u64().unwrap()).collect();
        assert_eq!(rounds, [0, 1, 2, 3, 4, 5, 6]);
        for point in curve {
            has_keys(point, &["accuracy", "evidence", "mean", "variance", "best", "foreseen"]);
            let accuracy = point["accuracy"].as_f64().unwrap();
            assert!((0.0..=100.0).contains(&accuracy));
            assert!(point["evidence"].as_f64().unwrap() < 0.0);
        }
        assert_eq!(value["accuracy"], curve[6]["accuracy"]);
        // Five heuristics meet each other at first; then a new one meets the best and two others.
        assert_eq!(curve[0]["games"].as_f64(), Some(30.0));
        assert_eq!(curve[1]["games"].as_f64(), Some(39.0));
        let table = lab.text("run/curve.csv");
        assert!(table.starts_with("round,games,comparisons,foreseen,evidence,mean,"), "{table}");
        assert_eq!(table.lines().count(), 8);
        let events = lab.read("run/events.out.tfevents.0.outflank");
        assert!(events.windows(11).any(|w| w == b"gp/accuracy"));
        assert!(lab.text("run/report.html").contains("</html>"));
        assert!(lab.text("run/model.toml").contains(&format!("game = \"{game}\"")));
        let rest = ["--games", "4", "--random", "0.1", "--quiet", "--game", game, "--out", "m"];
        lab.ok(&[&["match", "run@2", &format!("{other}@2")], &rest[..]].concat());
        // The match remembers which model it was.
        assert!(lab.text("m/config.toml").contains("sha256"));
    }
}

#[test]
fn every_way_to_sample_and_both_things_to_find() {
    for options in [
        "--tests 20 --benchmark 3 --sampling random --ceiling",
        "--tests 20 --benchmark 3 --opponents-by sampling",
        "--tests 20 --benchmark 3 --sampling uncertainty --find pair",
        "--tests 20 --benchmark 3 --find pair --ard --space weights",
        "--tests 0 --benchmark 0",
    ] {
        let lab = Lab::new();
        let value = lab.json(&words(&format!("{BARE} {options}")));
        assert_eq!(value["accuracy"].is_null(), options.contains("--tests 0"));
        assert_eq!(value["fresh"].is_null(), options.contains("--benchmark 0"));
        assert_eq!(value["ceiling"].is_number(), options.contains("--ceiling"));
    }
}

#[test]
fn killed_and_resumed_it_comes_to_the_same_bytes_on_any_number_of_threads() {
    let wanted = {
        let lab = Lab::new();
        lab.ok(&words(&small("--threads 1")));
        lab.tree("run")
    };
    for milliseconds in [10, 60, 150, 300] {
        let lab = Lab::new();
        let small = small("");
        let begun = [&words(&small)[..], &["--threads", "3"]].concat();
        let begun = lab.killed_after(milliseconds, &begun);
        match begun {
            true => lab.ok(&words("learn gp --resume run --threads 2 --quiet")),
            false => lab.ok(&words(&small)),
        };
        same(&lab.tree("run"), &wanted);
    }
}

/// Runs the program with answers on its standard input; returns the exit code and what it said.
fn answer(lab: &Lab, arguments: &str, answers: impl AsRef<[u8]>) -> (i32, String) {
    let mut child = Command::new(PROGRAM)
        .args(words(arguments))
        .current_dir(lab.path())
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
fn a_person_is_asked_and_may_stop_and_go_on() {
    let rest = "--rounds 3 --initial 3 --depth 1 --measured-games 4 --restarts 2 --out run";
    for (shown, game) in [("positions", "othello"), ("games", "othello"), ("positions", "checkers")]
    {
        // Positions are what is shown where nothing is said.
        let asked = if (shown, game) == ("positions", "othello") { "" } else { shown };
        let start = format!("learn gp --ask {asked} --game {game} {rest}");
        let wanted = {
            let lab = Lab::new();
            let (code, said) = answer(&lab, &start, "1\n2\n=\n".repeat(20));
            assert_eq!(code, 0, "{said}");
            assert!(said.contains("a b c d e f g h"), "{said}");
            let question = if shown == "games" { "like better" } else { "rather have as" };
            assert!(said.contains(question), "{said}");
            lab.tree("run")
        };
        assert!(String::from_utf8_lossy(&wanted["model.toml"]).contains("a person"));
        // Nonsense is asked again, the end of the input stops, and so does q.
        let lab = Lab::new();
        let (code, said) = answer(&lab, &start, b"perhaps\n\xff\xfe\n1\n2\n");
        assert_eq!(code, 130, "{said}");
        assert!(said.contains("'perhaps' is no answer") && said.contains("--resume"), "{said}");
        let (code, said) = answer(&lab, "learn gp --resume run", "=\n1\nq\n");
        assert_eq!(code, 130, "{said}");
        let left = "2\n=\n".to_owned() + &"1\n2\n=\n".repeat(20);
        let (code, said) = answer(&lab, "learn gp --resume run", &left);
        assert_eq!(code, 0, "{said}");
        same(&lab.tree("run"), &wanted);
    }
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_runs() {
    let lab = Lab::new();
    for (arguments, words) in [
        ("--rounds 0", "--rounds is a number from 1 to 2000, not 0"),
        ("--rounds 100000", "--rounds"),
        ("--initial 1", "--initial is a number from 2"),
        ("--pair-games 0", "--pair-games is a number from 1"),
        ("--depth 0", "--depth is a number from 1"),
        ("--opening 99", "--opening is a number from 0 to 40, not 99"),
        ("--tolerance 0", "--tolerance must be above 0"),
        ("--tolerance nan", "--tolerance must be above 0"),
        ("--measured-games 3", "even"),
        ("--tests 0 --ceiling", "--ceiling is measured on test pairs"),
        ("--sampling luck", "luck"),
        ("--game chess", "chess"),
        ("--ask me", "me"),
        ("--resume nowhere", "nowhere"),
    ] {
        let given: Vec<&str> = ["learn", "gp"].into_iter().chain(arguments.split(' ')).collect();
        let message = lab.refused(&given);
        assert!(message.contains(words), "{arguments}: {message}");
    }
}
