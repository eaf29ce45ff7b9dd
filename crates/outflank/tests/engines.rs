//! Engines of other people: they may be missing, hang, die or cheat, and the match goes on.
#![cfg(unix)]

#[path = "support/lab.rs"]
mod lab;

use lab::Lab;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// A GTP engine that answers everything, and does this when it is to move.
fn engine(lab: &Lab, name: &str, to_move: &str) -> String {
    let script = format!(
        "#!/bin/sh\n\
         while read -r command rest; do\n\
         case \"$command\" in\n\
         genmove) {to_move};;\n\
         quit) exit 0;;\n\
         *) printf '=\\n\\n';;\n\
         esac\n\
         done\n"
    );
    program(lab, name, &script);
    format!("gtp:./{name}?name={name}&seconds=60")
}

fn program(lab: &Lab, name: &str, script: &str) {
    lab.write(name, script);
    fs::set_permissions(lab.file(name), fs::Permissions::from_mode(0o755)).unwrap();
}

/// In an exhibit the games of an engine that fails do not count: it says why and keeps nothing.
#[test]
fn an_exhibit_does_not_count_games_that_an_engine_lost_by_failing() {
    let lab = Lab::new();
    let script = "#!/bin/sh\n\
                  while read -r command rest; do\n\
                  case \"$command\" in\n\
                  ping) echo \"pong $rest\";;\n\
                  go) echo out of breath >&2; exit 3;;\n\
                  quit) exit 0;;\n\
                  esac\n\
                  done\n";
    program(&lab, "mortal", script);
    let exhibit = |name: &str, edax: &str| {
        let folder = format!("{}-{}", name.replace('/', "-"), edax.len());
        let words = ["reproduce", name, "--scale", "smoke", "--edax", edax, "--share", "nets"];
        let done = lab.run(&[&words[..], &["--out", &folder]].concat());
        assert_eq!(done.code, 1, "{name}: {}", done.err);
        done.err
    };
    for name in ["cnn/table7", "cnn/table9", "cnn/fig4", "cnn/fig5"] {
        let said = exhibit(name, "nboard:./mortal");
        assert!(said.contains("Edax-1") && said.contains("out of breath"), "{name}: {said}");
        let said = exhibit(name, "nboard:./no-such-engine");
        assert!(said.contains("no-such-engine"), "{name}: {said}");
    }
    for entry in fs::read_dir(lab.file("nets")).unwrap().flatten() {
        let won = fs::read_to_string(entry.path().join("won-1.toml")).unwrap_or_default();
        assert!(!won.contains("Edax"), "{won}");
    }
    assert!(exhibit("cnn/table9", "edax -nboard").contains("'nboard:edax -nboard'"));
    assert!(exhibit("cnn/table2", "nboard:./mortal").contains("no rows of Edax"));
}

/// Asserts that every game was lost by failing, and that it is said why.
fn all_lost(found: &Value, name: &str, part: &str) {
    assert_eq!((&found["wins"], &found["draws"]), (&json!(0), &json!(0)), "{found}");
    assert_eq!(found["losses"], found["games"]);
    assert_eq!(found["complete"], true);
    let faults = found["faults"].as_array().unwrap();
    assert_eq!(faults.len() as u64, found["games"].as_u64().unwrap());
    for fault in faults {
        assert_eq!(fault["player"], name);
        assert!(fault["what"].as_str().unwrap().contains(part), "{fault}");
    }
}

#[test]
fn an_engine_that_fails_loses_the_game_and_the_match_goes_on() {
    let lab = Lab::new();
    for (name, to_move, games, part) in [
        ("hanger", "sleep 600", "2", "hanger gave no answer within 1 s"),
        ("quitter", "echo no more >&2; exit 3", "6", "no more"),
        ("cheat", "printf '= a1\\n\\n'", "6", "cheat answered 'a1', which is not a legal move"),
        ("talker", "printf '= hello there\\n\\n'", "6", "hello there"),
        ("passer", "printf '= pass\\n\\n'", "6", "pass"),
        ("mule", "printf '? will not\\n\\n'", "6", "will not"),
    ] {
        // Only who hangs has little time, lest a busy machine make others look as if they hung.
        let player = engine(&lab, name, to_move);
        let player = if name == "hanger" { player.replace("=60", "=1") } else { player };
        let out = format!("{name}-run");
        let run = ["match", &player, "heuristic", "--games", games, "--out", &out];
        all_lost(&lab.json(&run), name, part);
        let page = lab.text(&format!("{out}/report.html"));
        assert!(page.contains("Games lost by failing"), "the page of {name} says so");
    }
    // On the terminal one line says it, however many games it was.
    let cheat = engine(&lab, "cheat", "printf '= a1\\n\\n'");
    let text = lab.ok(&["match", "heuristic", &cheat, "--games", "4"]);
    let said = "cheat lost 4 games by failing, first in round 1 against heuristic: cheat answered";
    assert!(text.contains(said), "{text}");
    assert!(text.contains("heuristic against cheat: 4 of 4 points"), "{text}");
}

#[test]
fn the_others_of_a_league_are_not_disturbed() {
    let lab = Lab::new();
    let quitter = engine(&lab, "quitter", "exit 3");
    let terms = ["--games", "10", "--random", "0.1"];
    let with = lab.json(&[&["league", "heuristic", &quitter, "random"][..], &terms].concat());
    let last = &with["players"][2];
    assert_eq!((&last["name"], &last["points"]), (&json!("quitter"), &json!(0.0)));
    let faults = with["faults"].as_array().unwrap().len();
    // With forced random moves a game may be over before it is asked, but hardly any is.
    assert!(faults >= 15, "{faults}");
    let alone = lab.json(&[&["match", "heuristic", "random"][..], &terms].concat());
    let points = 10.0 * alone["score"].as_f64().unwrap();
    assert_eq!(with["table"][0][1].as_f64().unwrap(), points, "the same games as without it");
}

#[test]
fn an_nboard_engine_that_cheats_is_caught_too() {
    let lab = Lab::new();
    program(
        &lab,
        "liar",
        "#!/bin/sh\n\
         while read -r command rest; do\n\
         case \"$command\" in\n\
         ping) echo \"pong $rest\";;\n\
         go) echo 'status thinking'; echo '=== A1/1.00/0.10';;\n\
         quit) exit 0;;\n\
         esac\n\
         done\n",
    );
    let board = "---------------------------OX------XO--------------------------- X";
    lab.write("start.boards", format!("{board}\n"));
    let player = "nboard:./liar?name=liar";
    let run = ["match", player, "heuristic", "--openings", "start.boards", "--games", "4"];
    all_lost(&lab.json(&run), "liar", "A1");
}

#[test]
fn an_engine_that_cannot_be_had_is_refused_before_anything_is_written() {
    let lab = Lab::new();
    program(&lab, "broken", "#!/bin/sh\necho 'no book found' >&2\nexit 1\n");
    lab.write("plain", "not a program");
    lab.write("boards.txt", "-------------------X-------XX------XO--------------------------- O\n");
    let fine = engine(&lab, "fine", "printf '= f5\\n\\n'");
    for (player, part) in [
        ("gtp:./missing -x", "there is no program './missing'"),
        ("nboard:no-such-engine-here", "there is no program 'no-such-engine-here'"),
        ("gtp:./broken", "no book found"),
        ("gtp:./plain", "may not be run"),
        ("gtp:", "names no program"),
        ("gtp:'x", "quotation mark"),
        ("gtp:./fine@4", "searches by itself"),
        ("gtp:./fine?seconds=0", "seconds"),
        ("gtp:./fine?level=x", "level"),
    ] {
        for command in ["match", "league"] {
            let message = lab.refused(&[command, "heuristic", player]);
            assert!(message.contains(part), "{player}: {message}");
        }
    }
    // GTP cannot set up a board, and engines play Othello.
    let message = lab.refused(&["match", "heuristic", &fine, "--openings", "boards.txt"]);
    assert!(message.contains("transcripts"), "{message}");
    let message = lab.refused(&["match", "random", &fine, "--game", "checkers"]);
    assert!(message.contains("Othello"), "{message}");
    let generate = ["data", "generate", "--to", "x.txt", "--player", "gtp:./missing"];
    assert!(lab.refused(&generate).contains("./missing"));
}

#[test]
fn games_are_not_generated_with_a_player_that_fails() {
    let lab = Lab::new();
    let quitter = engine(&lab, "quitter", "echo no more >&2; exit 3");
    let ran = lab.run(&["data", "generate", "--to", "x.txt", "--player", &quitter, "--out", "run"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    lab::clear(&ran.err);
    assert!(ran.err.contains("no more") && ran.err.contains("--resume run"), "{}", ran.err);
    assert!(!lab.exists("x.txt"));
}

#[test]
fn a_real_engine_plays() {
    let places = ["/usr/games/gtp-rhino", "/usr/bin/gtp-rhino"];
    let Some(rhino) = places.into_iter().find(|place| fs::metadata(place).is_ok()) else {
        eprintln!("skipped: gtp-rhino is not installed");
        return;
    };
    let lab = Lab::new();
    lab.write("o.txt", "f5d6c3d3c4\nf5f6e6f4\n");
    let player = format!("gtp:{rhino}?name=rhino");
    let found = lab.json(&["match", &player, "heuristic", "--openings", "o.txt"]);
    assert_eq!((&found["games"], &found["faults"]), (&json!(4), &json!([])), "{found}");
    assert!(found["score"].as_f64().unwrap() > 0.5, "{found}");
}

#[test]
fn no_engine_is_left_behind() {
    let lab = Lab::new();
    // A name that no other process has.
    let name = format!("leftover-{}", std::process::id());
    let player = engine(&lab, &name, "sleep 600").replace("seconds=60", "seconds=1");
    lab.ok(&["match", &player, "heuristic", "--games", "2"]);
    let listed = Command::new("ps").args(["-e", "-o", "args"]).output();
    let Ok(listed) = listed else {
        eprintln!("skipped: there is no ps");
        return;
    };
    assert!(!String::from_utf8_lossy(&listed.stdout).contains(&name));
}
