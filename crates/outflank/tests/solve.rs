//! `outflank solve`: exact endgames from the command line.

#[path = "support/sandbox.rs"]
mod sandbox;

use sandbox::{Sandbox, data};
use serde_json::{Value, json};

/// Black has one move, h8, which flips only g8 and wins 64 to 0.
const LAST: &str = "XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXO- X";

#[test]
fn one_position() {
    let sandbox = Sandbox::new();
    let found = sandbox.json(&["solve", LAST]);
    let solved = &found["positions"][0];
    assert_eq!(solved["board"], json!(&LAST[..64]));
    for (key, value) in [("side", json!("black")), ("score", json!(64)), ("best", json!("h8"))] {
        assert_eq!(solved[key], value, "{key}");
    }
    assert!(solved["nodes"].as_u64().is_some() && solved["seconds"].as_f64().is_some());
    // White cannot move: the turn passes, and the score is White's.
    let found = sandbox.json(&["solve", &LAST.replace(" X", " O")]);
    let solved = &found["positions"][0];
    assert_eq!((&solved["best"], &solved["score"]), (&json!("pass"), &json!(-64)));
    // The game is over.
    let over = LAST.replace("O-", "-O");
    let found = sandbox.json(&["solve", &over]);
    let solved = &found["positions"][0];
    assert_eq!((&solved["best"], &solved["score"]), (&Value::Null, &json!(62)));
}

#[test]
fn files_are_solved_and_compared() {
    let sandbox = Sandbox::new();
    let board = &LAST[..64];
    sandbox.write("right.obf", format!("{board} X; h8:+64;\n% a remark\n{board} O;\n"));
    sandbox.write("wrong.obf", format!("{board} X; h8:+2;\n"));
    for threads in ["1", "3"] {
        let text = sandbox.ok(&["solve", "right.obf", "--threads", threads, "--memory", "1"]);
        assert!(text.contains("yes") && !text.contains("NO"), "{text}");
        let text = sandbox.ok(&["solve", "wrong.obf", "--threads", threads]);
        assert!(text.contains("NO") && text.contains("1 scores differ"), "{text}");
    }
}

#[test]
fn wrong_positions_are_errors() {
    let sandbox = Sandbox::new();
    sandbox.write("empty.obf", "\n");
    sandbox.write("bad.obf", "XO X;\n");
    for (what, part) in [
        ("XO", "64 cells"),
        ("123", "'1'"),
        ("nothing.obf", "neither a file nor a position"),
        ("empty.obf", "no position"),
        ("bad.obf", "bad.obf"),
        (&LAST.replace('-', "7"), "'7'"),
        (&LAST[..64], "side"),
    ] {
        let message = sandbox.rejected(&["solve", what]);
        assert!(message.contains(part), "{what}: {message}");
    }
}

#[test]
fn ffo_endgames_have_the_published_scores() {
    let Some(data) = data() else { return };
    let sandbox = Sandbox::new();
    let file = data.join("endgames").join("fforum-1-19.obf");
    let text = sandbox.ok(&["solve", &file.display().to_string()]);
    assert_eq!(text.matches("yes").count(), 19, "{text}");
}
