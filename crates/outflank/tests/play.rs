//! `outflank play`, with scripted input.

#[path = "support/sandbox.rs"]
mod sandbox;

use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Position, Side};
use sandbox::{PROGRAM, Sandbox, has_keys};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::process::{Command, Stdio};

/// The output of a game; asserts success.
fn output_of(sandbox: &Sandbox, arguments: &[&str], script: &str) -> String {
    let ran = sandbox.run_with_input(&[&["play"], arguments].concat(), script);
    assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.err);
    assert_eq!(ran.err, "", "{arguments:?}");
    assert!(ran.out.is_ascii(), "{}", ran.out);
    assert!(!ran.out.contains('\x1b'), "colors without a terminal: {}", ran.out);
    ran.out
}

/// The document at the end of a game.
fn document(sandbox: &Sandbox, arguments: &[&str], script: &str) -> Value {
    let ran = sandbox.run_with_input(&[&["play", "--json"], arguments].concat(), script);
    assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.err);
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.out))
}

/// Replays the moves of a document; asserts that each is legal.
fn line(found: &Value) -> Line<Othello> {
    let mut line = Line::<Othello>::default();
    for mv in found["moves"].as_array().unwrap() {
        let mv = line.position().parse_move(mv.as_str().unwrap()).unwrap();
        line.push(mv).unwrap();
    }
    line
}

#[test]
fn a_complete_game() {
    let sandbox = Sandbox::new();
    let options = ["--player", "random", "--side", "white", "--seed", "7"];
    let mut script = String::new();
    // Replies depend only on the seed and the moves, so the script grows move by move.
    let found = loop {
        let found = document(&sandbox, &options, &script);
        let line = line(&found);
        if line.position().is_over() {
            break found;
        }
        assert_eq!(line.position().to_move(), Side::White);
        script += &format!("{}\n", line.position().moves().last().unwrap());
    };
    has_keys(&found, &["game", "player", "side", "moves", "transcript", "result", "winner", "end"]);
    let end = *line(&found).position();
    let score = end.tournament_score().unwrap();
    assert_eq!((&found["over"], &found["result"]), (&json!(true), &json!(score)));
    assert_eq!((&found["side"], &found["end"]), (&json!("white"), &json!("input")));
    assert_eq!(found["black"], json!(end.discs(Side::Black).count_ones()));
    let winner = ["white", "draw", "black"][(score.signum() + 1) as usize];
    assert_eq!(found["winner"], json!(winner));
    let output = output_of(&sandbox, &options, &script);
    assert!(output.contains("The game is over."), "{output}");
    assert!(
        output.contains(&format!("Moves: {}", found["transcript"].as_str().unwrap())),
        "{output}"
    );
    // Commands still work after the end.
    let more = output_of(&sandbox, &options, &(script + "f5\nundo\nquit\n"));
    assert!(more.contains("The game is over. Take back with undo"), "{more}");
}

#[test]
fn wrong_moves_are_explained() {
    let sandbox = Sandbox::new();
    let output =
        output_of(&sandbox, &["--player", "heuristic"], "a1\nzz\nhello there\npass\n\nf5\n");
    assert!(output.contains("a1 is not legal for black. You may play d3 c4 f5 e6"), "{output}");
    for wrong in ["zz", "hello there", "pass"] {
        assert!(output.contains(&format!("'{wrong}' is not a move")), "{wrong}: {output}");
    }
    assert!(output.contains("Black (X) 3, White (O) 3; Black to move."), "{output}");
    // The board marks legal moves.
    assert!(output.contains("  3 . . . + . . . ."), "{output}");
    // Control characters are not a move.
    let ran = sandbox.run_with_input(&["play"], "\u{0}\u{1}\n");
    assert_eq!(ran.code, 0, "{}", ran.err);
}

#[test]
fn undo_and_the_same_replies() {
    let sandbox = Sandbox::new();
    let options = ["--player", "heuristic@2"];
    let once = document(&sandbox, &options, "f5\n");
    assert_eq!(once["moves"].as_array().unwrap().len(), 2);
    assert_eq!(document(&sandbox, &options, "f5\nundo\nf5\n"), once);
    let other = document(&sandbox, &options, "f5\nundo\nd3\n");
    assert_eq!(other["moves"][0], "d3");
    assert_eq!(document(&sandbox, &options, "undo\nf5\n"), once);
    assert!(output_of(&sandbox, &options, "undo\n").contains("no move of yours to take back"));
    // White has no move to take back at first.
    let white = document(&sandbox, &["--player", "heuristic", "--side", "white"], "undo\n");
    assert_eq!(white["moves"].as_array().unwrap().len(), 1);
    // After the sides are swapped, the other side moves.
    let switched = document(&sandbox, &options, "switch\n");
    assert_eq!(
        (&switched["side"], switched["moves"].as_array().unwrap().len()),
        (&json!("white"), 1)
    );
}

#[test]
fn the_end_of_input_prints_the_moves() {
    let sandbox = Sandbox::new();
    assert!(output_of(&sandbox, &[], "").ends_with("Moves: none\n"));
    let output = output_of(&sandbox, &["--level", "newcomer"], "f5");
    assert!(output.contains("You play black against Newcomer, heuristic, "), "{output}");
    let moves = output.trim_end().rsplit_once("Moves: f5").unwrap().1;
    assert_eq!(moves.len(), 2, "the opponent replied to the last move: {output}");
    let quit = document(&sandbox, &["--player", "random"], "quit\nf5\n");
    assert_eq!(
        (&quit["end"], &quit["moves"], &quit["winner"]),
        (&json!("quit"), &json!([]), &Value::Null)
    );
    let resigned = document(&sandbox, &["--player", "random"], "resign\n");
    assert_eq!((&resigned["end"], &resigned["winner"]), (&json!("resigned"), &json!("white")));
}

#[test]
fn all_commands() {
    let sandbox = Sandbox::new();
    let script = "help\nmoves\nexperts\nhint\ntranscript\nsave x.ggf\nsave x.ggf\nsave none/x\n\
                  save\nboard\nnew\nmoves\n";
    let output = output_of(&sandbox, &["--player", "heuristic", "--from", "f5d6c3d3c4f4"], script);
    for part in [
        "take",
        "Played: f5d6c3d3c4f4",
        "Probability that an expert plays each move:",
        "in discs (",
        "Saved as x.ggf",
        "none",
        "Played: nothing yet",
    ] {
        assert!(output.contains(part), "{part} in {output}");
    }
    // Probabilities are those of all moves.
    let percent = |line: &str| -> Option<f64> {
        line.trim_end().strip_suffix('%')?.rsplit(' ').next()?.parse().ok()
    };
    let sum: f64 = output.lines().filter_map(percent).sum();
    assert!((sum - 100.0).abs() <= 6.0, "{sum}: {output}");
    // A saved game can be continued.
    assert!(sandbox.text("x.ggf").contains("PB[Human]"));
    let again = document(&sandbox, &["--player", "random", "--from", "x.ggf"], "");
    assert!(again["transcript"].as_str().unwrap().starts_with("f5d6c3d3c4f4"));
    // Existing files are not overwritten.
    sandbox.write("y.txt", "mine");
    assert!(output_of(&sandbox, &[], "save y.txt\n").contains("already exists"));
    assert_eq!(sandbox.text("y.txt"), "mine");
}

/// A position in which Black can move so that White must pass.
fn before_a_pass() -> (Line<Othello>, Square) {
    for step in 1..1000usize {
        let mut line = Line::<Othello>::default();
        while !line.position().is_over() {
            let position = *line.position();
            let passes = |mv: &Square| {
                let after = position.play(*mv);
                !after.is_over() && after.to_move() == Side::Black
            };
            if position.to_move() == Side::Black
                && let Some(mv) = position.moves().find(passes)
            {
                return (line, mv);
            }
            let moves: Vec<Square> = position.moves().collect();
            line.push(moves[(step * (line.moves().len() + 3)) % moves.len()]).unwrap();
        }
    }
    panic!("some game has a pass");
}

#[test]
fn a_pass_is_announced() {
    let sandbox = Sandbox::new();
    let (line, mv) = before_a_pass();
    let moves: String = line.moves().iter().map(ToString::to_string).collect();
    let output = output_of(&sandbox, &["--player", "random", "--from", &moves], &format!("{mv}\n"));
    assert!(output.contains("White has no move and passes; black moves again."), "{output}");
    assert!(output.ends_with(&format!("Moves: {moves}{mv}\n")), "{output}");
}

#[test]
fn a_game_of_checkers() {
    let sandbox = Sandbox::new();
    let options = ["--game", "checkers", "--level", "casual"];
    let found = document(&sandbox, &options, "11-15\n");
    assert_eq!((&found["player"], &found["moves"][0]), (&json!("material@2"), &json!("11-15")));
    assert_eq!(found["moves"].as_array().unwrap().len(), 2);
    let output = output_of(&sandbox, &options, "1-2\n11-15\nhint\nexperts\nsave game.txt\nundo\n");
    for part in [
        "      b 9*      b10*",
        "12-16",
        "in men (",
        "no expert predictions for this game",
        "Saved as",
    ] {
        assert!(output.contains(part), "{part} in {output}");
    }
    let again = document(&sandbox, &["--game", "checkers", "--from", "game.txt"], "");
    assert_eq!(again["moves"], found["moves"]);
}

#[test]
fn a_game_on_six_by_six_squares() {
    let sandbox = Sandbox::new();
    let options = ["--game", "othello6", "--level", "casual"];
    let found = document(&sandbox, &options, "b3\n");
    assert_eq!((&found["player"], &found["moves"][0]), (&json!("corners@2"), &json!("b3")));
    assert_eq!(found["moves"].as_array().unwrap().len(), 2);
    let output = output_of(&sandbox, &options, "g1\nb3\nhint\nsave game.txt\nundo\n");
    for part in ["    a b c d e f\n", "  3 . + O X . .", "g1 is not legal", "Saved as"] {
        assert!(output.contains(part), "{part} in {output}");
    }
    let again = document(&sandbox, &["--game", "othello6", "--from", "game.txt"], "");
    assert_eq!(again["moves"], found["moves"]);
}

/// With --seconds a level has no depth limit; a player keeps its depth.
#[test]
fn a_time_limit_replaces_the_depth_of_a_level() {
    let sandbox = Sandbox::new();
    for (arguments, player) in [
        (["--level", "casual"], "heuristic"),
        (["--player", "heuristic@2"], "heuristic@2"),
        (["--level", "strong club player"], "champion"),
    ] {
        let found = document(&sandbox, &[&arguments[..], &["--seconds", "0.05"]].concat(), "f5\n");
        assert_eq!(found["player"], json!(player));
        assert_eq!(line(&found).moves().len(), 2);
    }
}

#[test]
fn wrong_options_are_errors() {
    let sandbox = Sandbox::new();
    for (arguments, part) in [
        (&["--level", "godlike"][..], "club player"),
        (&["--level", "casual", "--player", "random"], "--player"),
        (&["--player", "nobody"], "nobody"),
        (&["--player", "random", "--seconds", "1"], "random"),
        (&["--seconds", "0"], "--seconds"),
        (&["--seconds=-1"], "--seconds"),
        (&["--game", "checkers", "--player", "champion"], "plays othello"),
        (&["--from", "f5a1"], "a1"),
        (&["--from", "none.txt"], "none.txt"),
        (&["--game", "checkers", "--from", "11-16x"], "11-16x"),
        (&["--side", "red"], "black"),
    ] {
        let message = sandbox.rejected(&[&["play"], arguments].concat());
        assert!(message.contains(part), "{arguments:?}: {message}");
    }
}

/// An interrupt ends a long search, and the moves are printed.
#[cfg(unix)]
#[test]
fn an_interrupt_prints_the_moves() {
    let mut child = Command::new(PROGRAM)
        .args(["play", "--player", "heuristic@40"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut out = child.stdout.take().unwrap();
    input.write_all(b"f5\n").unwrap();
    let (mut output, mut buffer) = (Vec::new(), [0u8; 4096]);
    // Once the move is repeated, the opponent thinks.
    while !String::from_utf8_lossy(&output).contains("> f5") {
        let count = out.read(&mut buffer).unwrap();
        assert!(count > 0, "{}", String::from_utf8_lossy(&output));
        output.extend_from_slice(&buffer[..count]);
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    out.read_to_end(&mut output).unwrap();
    let status = child.wait().unwrap();
    let output = String::from_utf8_lossy(&output);
    assert!(output.ends_with("Moves: f5\n"), "{output}");
    assert_eq!(status.code(), Some(130), "{output}");
}
