//! `outflank solve`: exact endgames from the command line.

#[path = "support/lab.rs"]
mod lab;

use lab::{Lab, data};
use serde_json::{Value, json};

/// Black has one move, h8, which turns over nothing but g8 and wins 64 to 0 by counting.
const LAST: &str = "XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXO- X";

#[test]
fn one_position() {
    let lab = Lab::new();
    let found = lab.json(&["solve", LAST]);
    let solved = &found["positions"][0];
    assert_eq!(solved["board"], json!(&LAST[..64]));
    for (key, value) in [("side", json!("black")), ("score", json!(64)), ("best", json!("h8"))] {
        assert_eq!(solved[key], value, "{key}");
    }
    assert!(solved["nodes"].as_u64().is_some() && solved["seconds"].as_f64().is_some());
    // White cannot move: the turn passes, and the score is White's.
    let found = lab.json(&["solve", &LAST.replace(" X", " O")]);
    let solved = &found["positions"][0];
    assert_eq!((&solved["best"], &solved["score"]), (&json!("pass"), &json!(-64)));
    // Nobody can move any more.
    let over = LAST.replace("O-", "-O");
    let found = lab.json(&["solve", &over]);
    let solved = &found["positions"][0];
    assert_eq!((&solved["best"], &solved["score"]), (&Value::Null, &json!(62)));
}

#[test]
fn files_are_solved_and_compared_on_any_number_of_threads() {
    let lab = Lab::new();
    let board = &LAST[..64];
    lab.write("right.obf", format!("{board} X; h8:+64;\n% a remark\n{board} O;\n"));
    lab.write("wrong.obf", format!("{board} X; h8:+2;\n"));
    for threads in ["1", "3"] {
        let text = lab.ok(&["solve", "right.obf", "--threads", threads, "--memory", "1"]);
        assert!(text.contains("the same") && !text.contains("ANOTHER"), "{text}");
        let text = lab.ok(&["solve", "wrong.obf", "--threads", threads]);
        assert!(text.contains("ANOTHER SCORE") && text.contains("1 of the file's"), "{text}");
    }
}

#[test]
fn what_is_no_position_is_refused() {
    let lab = Lab::new();
    lab.write("empty.obf", "\n");
    lab.write("bad.obf", "XO X;\n");
    for (what, part) in [
        ("XO", "64 cells"),
        ("123", "cells"),
        ("nothing.obf", "neither a file nor a position"),
        ("empty.obf", "no position"),
        ("bad.obf", "bad.obf"),
        (&LAST.replace('-', "7"), "'7'"),
        (&LAST[..64], "side"),
    ] {
        let message = lab.refused(&["solve", what]);
        assert!(message.contains(part), "{what}: {message}");
    }
}

#[test]
fn the_published_endgames_have_their_published_scores() {
    let Some(data) = data() else { return };
    let lab = Lab::new();
    let file = data.join("endgames").join("fforum-1-19.obf");
    let text = lab.ok(&["solve", &file.display().to_string()]);
    assert_eq!(text.matches("the same").count(), 19, "{text}");
}
