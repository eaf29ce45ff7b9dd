//! External engines that are missing, hang, crash or cheat: the match continues.
#![cfg(unix)]

#[path = "support/sandbox.rs"]
mod sandbox;

use sandbox::Sandbox;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

/// A GTP engine that accepts every command and runs a shell command on `genmove`.
fn engine(sandbox: &Sandbox, name: &str, on_genmove: &str) -> String {
    let script = format!(
        "#!/bin/sh\n\
         while read -r command rest; do\n\
         case \"$command\" in\n\
         genmove) {on_genmove};;\n\
         quit) exit 0;;\n\
         *) printf '=\\n\\n';;\n\
         esac\n\
         done\n"
    );
    program(sandbox, name, &script);
    format!("gtp:./{name}?name={name}&seconds=60")
}

fn program(sandbox: &Sandbox, name: &str, script: &str) {
    sandbox.write(name, script);
    fs::set_permissions(sandbox.file(name), fs::Permissions::from_mode(0o755)).unwrap();
}

/// An experiment ends with an error, and stores nothing, if an engine forfeits a game.
#[test]
fn experiments_do_not_count_forfeits_of_an_engine() {
    let sandbox = Sandbox::new();
    let script = "#!/bin/sh\n\
                  while read -r command rest; do\n\
                  case \"$command\" in\n\
                  ping) echo \"pong $rest\";;\n\
                  go) echo out of breath >&2; exit 3;;\n\
                  quit) exit 0;;\n\
                  esac\n\
                  done\n";
    program(&sandbox, "mortal", script);
    let reproduce = |name: &str, edax: &str| {
        let folder = format!("{}-{}", name.replace('/', "-"), edax.len());
        let words = ["reproduce", name, "--scale", "smoke", "--edax", edax, "--cache", "nets"];
        let done = sandbox.run(&[&words[..], &["--out", &folder]].concat());
        assert!(done.code == 1 || done.code == 2, "{name}: {}", done.err);
        done.err
    };
    for name in ["cnn/table7", "cnn/table9", "cnn/fig4", "cnn/fig5"] {
        let message = reproduce(name, "nboard:./mortal");
        assert!(
            message.contains("Edax-1") && message.contains("out of breath"),
            "{name}: {message}"
        );
        let message = reproduce(name, "nboard:./no-such-engine");
        assert!(message.contains("no-such-engine"), "{name}: {message}");
    }
    for entry in fs::read_dir(sandbox.file("nets")).unwrap().flatten() {
        let won = fs::read_to_string(entry.path().join("won-1.toml")).unwrap_or_default();
        assert!(!won.contains("Edax"), "{won}");
    }
    assert!(reproduce("cnn/table9", "edax -nboard").contains("'nboard:edax -nboard'"));
    assert!(reproduce("cnn/table2", "nboard:./mortal").contains("--edax has no effect"));
}

/// Asserts that every game was a forfeit with a reason.
fn assert_all_forfeits(found: &Value, name: &str, part: &str) {
    assert_eq!((&found["wins"], &found["draws"]), (&json!(0), &json!(0)), "{found}");
    assert_eq!(found["losses"], found["games"]);
    assert_eq!(found["complete"], true);
    let forfeits = found["forfeits"].as_array().unwrap();
    assert_eq!(forfeits.len() as u64, found["games"].as_u64().unwrap());
    for forfeit in forfeits {
        assert_eq!(forfeit["player"], name);
        assert!(forfeit["error"].as_str().unwrap().contains(part), "{forfeit}");
    }
}

#[test]
fn a_failing_engine_forfeits_the_game_and_the_match_continues() {
    let sandbox = Sandbox::new();
    for (name, on_genmove, games, part) in [
        ("hanger", "sleep 600", "2", "hanger gave no answer within 1 s"),
        ("quitter", "echo no more >&2; exit 3", "6", "no more"),
        ("cheat", "printf '= a1\\n\\n'", "6", "cheat answered 'a1', which is not a legal move"),
        ("talker", "printf '= hello there\\n\\n'", "6", "hello there"),
        ("passer", "printf '= pass\\n\\n'", "6", "pass"),
        ("mule", "printf '? will not\\n\\n'", "6", "will not"),
    ] {
        // Only the hanging engine has a short limit, so that a busy machine does not affect the others.
        let player = engine(&sandbox, name, on_genmove);
        let player = if name == "hanger" { player.replace("=60", "=1") } else { player };
        let out = format!("{name}-run");
        let run = ["match", &player, "heuristic", "--games", games, "--out", &out];
        assert_all_forfeits(&sandbox.json(&run), name, part);
        let page = sandbox.text(&format!("{out}/report.html"));
        assert!(page.contains(">Forfeits<"), "the report of {name} has no forfeits");
    }
    // Equal forfeits are one line on the terminal.
    let cheat = engine(&sandbox, "cheat", "printf '= a1\\n\\n'");
    let text = sandbox.ok(&["match", "heuristic", &cheat, "--games", "4"]);
    let expected = "cheat forfeited 4 games, first in round 1 against heuristic: cheat answered";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("heuristic against cheat: 4 of 4 points"), "{text}");
}

/// GTP 2 defines `resign` as an answer to `genmove`; it was counted as an illegal move.
#[test]
fn a_resignation_is_a_loss_but_no_forfeit() {
    let sandbox = Sandbox::new();
    let player = engine(&sandbox, "modest", "printf '= resign\n\n'");
    let run = ["match", "heuristic", &player, "--games", "4", "--out", "run"];
    let found = sandbox.json(&run);
    assert_eq!((&found["wins"], &found["forfeits"]), (&json!(4), &json!([])), "{found}");
    let resigned = found["resignations"].as_array().unwrap();
    assert!(resigned.len() == 4 && resigned.iter().all(|game| game["player"] == "modest"));
    assert!(sandbox.text("run/report.html").contains("Forfeits and resignations"));
    // Read back from the journal.
    let text = sandbox.ok(&["match", "--resume", "run"]);
    assert!(text.contains("modest resigned 4 games, first in round 1 against heuristic"), "{text}");
}

/// If outflank is killed, its engines and their child processes are killed.
#[cfg(target_os = "linux")]
#[test]
fn engines_are_killed_with_outflank() {
    let is_running = |id: &str| {
        let state = fs::read_to_string(format!("/proc/{}/stat", id.trim())).unwrap_or_default();
        state.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
    };
    let sandbox = Sandbox::new();
    // The engine ignores the end of its input, and has a child.
    let on_genmove = "sleep 600 & echo $$ $! > ids.part; mv ids.part ids; wait; sleep 600";
    let player = engine(&sandbox, "stubborn", on_genmove);
    let mut child = Command::new(sandbox::PROGRAM)
        .args(["match", &player, "heuristic", "--games", "2", "--quiet"])
        .current_dir(sandbox.path())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while !sandbox.exists("ids") {
        assert!(begin.elapsed() < Duration::from_secs(60), "the engine was not asked for a move");
        std::thread::sleep(Duration::from_millis(10));
    }
    let ids = sandbox.text("ids");
    assert!(ids.split(' ').all(is_running), "{ids}");
    child.kill().unwrap();
    child.wait().unwrap();
    while ids.split(' ').any(is_running) {
        assert!(begin.elapsed() < Duration::from_secs(120), "an engine process remains: {ids}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// An engine that never answers is reported after its start timeout, 10 s by default.
#[test]
fn a_silent_engine_is_reported_soon() {
    let sandbox = Sandbox::new();
    program(&sandbox, "silent", "#!/bin/sh\nsleep 600\n");
    for (keys, limit) in [("", 10), ("?start_timeout=1", 1)] {
        let begin = Instant::now();
        let player = format!("gtp:./silent{keys}");
        let ran = sandbox.run(&["match", &player, "heuristic", "--games", "2"]);
        let seconds = begin.elapsed().as_secs();
        assert!(ran.code != 0 && (limit..limit + 30).contains(&seconds), "{seconds} s");
        sandbox::assert_clear(&ran.err);
        assert!(ran.err.contains(&format!("no answer within {limit} s")), "{}", ran.err);
        assert!(ran.err.contains("start_timeout=60"), "{}", ran.err);
    }
}

#[test]
fn a_failing_engine_does_not_affect_other_games_of_a_league() {
    let sandbox = Sandbox::new();
    let quitter = engine(&sandbox, "quitter", "exit 3");
    let options = ["--games", "10", "--random", "0.1"];
    let with = sandbox.json(&[&["league", "heuristic", &quitter, "random"][..], &options].concat());
    let last = &with["players"][2];
    assert_eq!((&last["name"], &last["points"]), (&json!("quitter"), &json!(0.0)));
    let forfeits = with["forfeits"].as_array().unwrap().len();
    // Random moves are not requested from the engine, so a few games may end without an engine move.
    assert!(forfeits >= 15, "{forfeits}");
    let alone = sandbox.json(&[&["match", "heuristic", "random"][..], &options].concat());
    let points = 10.0 * alone["score"].as_f64().unwrap();
    assert_eq!(
        with["table"][0][1].as_f64().unwrap(),
        points,
        "the games of the other players changed"
    );
}

#[test]
fn an_illegal_move_of_an_nboard_engine_is_a_forfeit() {
    let sandbox = Sandbox::new();
    program(
        &sandbox,
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
    sandbox.write("start.boards", format!("{board}\n"));
    let player = "nboard:./liar?name=liar";
    let run = ["match", player, "heuristic", "--openings", "start.boards", "--games", "4"];
    assert_all_forfeits(&sandbox.json(&run), "liar", "A1");
}

#[test]
fn an_engine_that_does_not_start_is_an_error() {
    let sandbox = Sandbox::new();
    program(&sandbox, "broken", "#!/bin/sh\necho 'no book found' >&2\nexit 1\n");
    sandbox.write("plain", "not a program");
    sandbox.write(
        "boards.txt",
        "-------------------X-------XX------XO--------------------------- O\n",
    );
    let fine = engine(&sandbox, "fine", "printf '= f5\\n\\n'");
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
            let message = sandbox.rejected(&[command, "heuristic", player]);
            assert!(message.contains(part), "{player}: {message}");
        }
    }
    // GTP cannot set up a board, and engines play Othello.
    let message = sandbox.rejected(&["match", "heuristic", &fine, "--openings", "boards.txt"]);
    assert!(message.contains("transcripts"), "{message}");
    let message = sandbox.rejected(&["match", "random", &fine, "--game", "checkers"]);
    assert!(message.contains("Othello"), "{message}");
    let generate = ["data", "generate", "--to", "x.txt", "--player", "gtp:./missing"];
    assert!(sandbox.rejected(&generate).contains("./missing"));
}

#[test]
fn a_failing_player_stops_game_generation() {
    let sandbox = Sandbox::new();
    let quitter = engine(&sandbox, "quitter", "echo no more >&2; exit 3");
    let ran =
        sandbox.run(&["data", "generate", "--to", "x.txt", "--player", &quitter, "--out", "run"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    sandbox::assert_clear(&ran.err);
    assert!(ran.err.contains("no more") && ran.err.contains("--resume run"), "{}", ran.err);
    assert!(!sandbox.exists("x.txt"));
}

#[test]
fn a_real_engine_plays() {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Debian installs games to a folder that is not on the path of every user.
    let folders = std::env::split_paths(&path).chain(["/usr/games".into()]);
    let Some(rhino) = folders.map(|folder| folder.join("gtp-rhino")).find(|file| file.is_file())
    else {
        eprintln!("skipped: gtp-rhino is not installed");
        return;
    };
    let rhino = rhino.display();
    let sandbox = Sandbox::new();
    sandbox.write("o.txt", "f5d6c3d3c4\nf5f6e6f4\n");
    let player = format!("gtp:{rhino}?name=rhino");
    let found = sandbox.json(&["match", &player, "heuristic", "--openings", "o.txt"]);
    assert_eq!((&found["games"], &found["forfeits"]), (&json!(4), &json!([])), "{found}");
    assert!(found["score"].as_f64().unwrap() > 0.5, "{found}");
}

#[test]
fn no_engine_process_remains() {
    let sandbox = Sandbox::new();
    // The name of the engine program is unique among all processes.
    let name = format!("leftover-{}", std::process::id());
    let player = engine(&sandbox, &name, "sleep 600").replace("seconds=60", "seconds=1");
    sandbox.ok(&["match", &player, "heuristic", "--games", "2"]);
    let listed = Command::new("ps").args(["-e", "-o", "args"]).output();
    let Ok(listed) = listed else {
        eprintln!("skipped: there is no ps");
        return;
    };
    assert!(!String::from_utf8_lossy(&listed.stdout).contains(&name));
}
