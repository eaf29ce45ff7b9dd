//! `outflank book`.

#[path = "support/sandbox.rs"]
mod sandbox;

use sandbox::Sandbox;
use serde_json::Value;

/// Games that begin with the same moves up to symmetry.
const GAMES: &str = "f5d6c3d3c4f4\nd3c5f6f5\nc4e3f6e6f5\nf5f6\n";

fn build<'a>(depth: &'a str, to: &'a str) -> Vec<&'a str> {
    vec![
        "book",
        "build",
        "--records",
        "games.txt",
        "--plies",
        "3",
        "--min-games",
        "3",
        "--depth",
        depth,
        "--to",
        to,
    ]
}

#[test]
fn a_book_has_the_common_positions_and_consistent_values() {
    let sandbox = Sandbox::new();
    sandbox.write("games.txt", GAMES);
    let built = sandbox.json(&build("3", "book.txt"));
    // Start, one move, the perpendicular reply, and the third move.
    assert_eq!(built["positions"], 4);
    assert!(!sandbox.file("book.txt.journal").exists());
    let show = |moves: &str| sandbox.json(&["book", "show", "book.txt", moves]);
    let start = show("");
    assert_eq!((&start["games"], start["moves"].as_array().unwrap().len()), (&Value::from(4), 4));
    let best = |found: &Value| found["moves"][0]["value"].as_f64().unwrap();
    // The four first moves are equal, and the value of a move is that of the best reply.
    let all = start["moves"].as_array().unwrap();
    assert!(all.iter().all(|one| one["value"] == start["moves"][0]["value"]));
    for first in ["f5", "d3", "c4", "e6"] {
        assert_eq!(best(&show(first)), -best(&start), "{first}");
    }
    // A symmetric line has the same values.
    let values = |moves: &str| -> Vec<f64> {
        let found = show(moves)["moves"].as_array().unwrap().clone();
        found.iter().map(|one| one["value"].as_f64().unwrap()).collect()
    };
    assert_eq!(values("f5d6"), values("d3c5"));
    let message = sandbox.rejected(&["book", "show", "book.txt", "f5f4"]);
    assert!(message.contains("not in the book"), "{message}");
    // The result does not depend on the number of threads.
    sandbox.ok(&[&build("3", "one.txt")[..], &["--threads", "1"]].concat());
    assert_eq!(sandbox.text("one.txt"), sandbox.text("book.txt"));
}

/// A build goes on from its journal and writes the same book.
#[test]
fn an_interrupted_build_goes_on() {
    let sandbox = Sandbox::new();
    sandbox.write("games.txt", GAMES);
    sandbox.ok(&build("3", "whole.txt"));
    // The journal of a build that was stopped after two positions.
    let whole = sandbox.text("whole.txt");
    let header = format!("{}; positions 4", whole.lines().next().unwrap());
    let searched: Vec<&str> = whole.lines().skip(1).collect();
    let mut by_discs = searched.clone();
    by_discs.sort_by_key(|line| line[..64].bytes().filter(|byte| *byte != b'-').count());
    let lines: Vec<&str> =
        std::iter::once(&header[..]).chain(by_discs[..2].iter().copied()).collect();
    sandbox.write("part.txt.journal", outflank_runs::Journal::encode(&lines));
    sandbox.ok(&build("3", "part.txt"));
    assert_eq!(sandbox.text("part.txt"), whole);
    // A journal of other settings is not mixed in.
    sandbox.write("part.txt.journal", outflank_runs::Journal::encode(&lines));
    let message = sandbox.rejected(&build("2", "part.txt"));
    assert!(message.contains("other settings"), "{message}");
}

#[test]
fn wrong_inputs_are_errors() {
    let sandbox = Sandbox::new();
    sandbox.write("games.txt", GAMES);
    sandbox.write("bad.txt", "hello\n");
    for (arguments, part) in [
        (&["book", "show", "bad.txt"][..], "not an opening book"),
        (&["book", "show", "none.txt"], "none.txt"),
        (&["book", "build", "--records", "games.txt"], "--to"),
        (&["book", "build", "--records", "games.txt", "--min-games", "50", "--to", "x.txt"], "50"),
    ] {
        let message = sandbox.rejected(arguments);
        assert!(message.contains(part), "{arguments:?}: {message}");
    }
}
