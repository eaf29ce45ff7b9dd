//! `outflank accuracy`.

#[path = "support/sandbox.rs"]
mod sandbox;

use sandbox::{Sandbox, assert_same_files, data, has_keys};
use serde_json::json;

const ACCURACY: [&str; 8] =
    ["name", "choices", "all", "ties_as_hits_percent", "top_k", "pairs_percent", "stages", "plies"];

#[test]
fn the_accuracy_of_a_single_move() {
    let sandbox = Sandbox::new();
    // Four moves of equal value, of which one was played.
    sandbox.write("one.txt", "f5\n");
    let found = sandbox.json(&["accuracy", "heuristic", "--records", "one.txt"]);
    has_keys(&found, &["models"]);
    let model = &found["models"][0];
    has_keys(model, &ACCURACY);
    for (key, percent) in [("choices", 25.0), ("all", 25.0)] {
        assert_eq!(model[key]["hits"], 0.25);
        assert_eq!(model[key]["count"], 1);
        assert_eq!(model[key]["percent"], percent);
    }
    assert_eq!(model["ties_as_hits_percent"], 100.0);
    assert_eq!(model["pairs_percent"], 50.0);
    let top: Vec<f64> = model["top_k"]
        .as_array()
        .unwrap()
        .iter()
        .map(|top| top["percent"].as_f64().unwrap())
        .collect();
    assert_eq!(top[..4], [25.0, 50.0, 75.0, 100.0]);
    let stages = model["stages"].as_array().unwrap();
    assert_eq!(stages.len(), 13);
    has_keys(&stages[0], &["discs", "count", "percent"]);
    assert_eq!((&stages[0]["discs"], &stages[0]["count"]), (&json!("1-16"), &json!(1)));
    assert_eq!((&stages[12]["discs"], &stages[12]["count"]), (&json!("61-64"), &json!(0)));
    assert_eq!(model["plies"][0]["count"], 1);
}

#[test]
fn accuracy_writes_csv_json_and_html() {
    let sandbox = Sandbox::new();
    sandbox.write("games.txt", "f5d6c3d3c4\nf5f6e6f4\n");
    let run = ["accuracy", "heuristic", "yoshioka", "--records", "games.txt", "--out"];
    let printed = sandbox.json(&[&run[..], &["one", "--threads", "1"]].concat());
    sandbox.ok(&[&run[..], &["two", "--threads", "2"]].concat());
    assert_same_files(&sandbox.tree("one"), &sandbox.tree("two"));
    let written: serde_json::Value =
        serde_json::from_str(&sandbox.text("one/accuracy.json")).unwrap();
    assert_eq!(written, printed);
    assert!(
        sandbox.text("one/accuracy.csv").starts_with("discs,choices,heuristic,yoshioka\n1-16,9,")
    );
    assert!(sandbox.text("one/report.html").contains("--records games.txt"));
}

#[test]
fn wrong_inputs_of_accuracy_are_errors() {
    let sandbox = Sandbox::new();
    sandbox.write("games.txt", "f5d6c3d3c4\n");
    sandbox
        .write("x.boards", "---------------------------OX------XO--------------------------- X\n");
    sandbox.ok(&["match", "heuristic", "random", "--games", "2", "--out", "run"]);
    for (more, part) in [
        (&["heuristic@4"][..], "accuracy measures the model alone"),
        (&["heuristic?random=0.1"], "accuracy measures the model alone"),
        (&["random"], "does not score moves"),
        (&["material"], "plays checkers"),
        (&["gtp:engine"], "is an engine"),
        (&["nobody"], "there is no player 'nobody'"),
        (&["heuristic", "heuristic"], "two models are called 'heuristic'"),
        (&["heuristic", "--records", "x.boards"], "no moves to predict"),
        (&["heuristic", "--records", "none"], "cannot read none"),
        (&["heuristic", "--years", "1990-1980"], "--years"),
        (&["heuristic", "--out", "run"], "run is a run folder"),
        (&["heuristic", "--records", "games.txt", "--out", "games.txt/x"], "games.txt/x"),
        (&[], "<MODEL>"),
    ] {
        let message = sandbox.rejected(&[&["accuracy"], more].concat());
        assert!(message.contains(part), "{more:?}: {message}");
    }
}

#[test]
fn the_accuracy_of_the_published_player_is_reproduced() {
    let Some(data) = data() else { return };
    let sandbox = Sandbox::new();
    let model = data.join("players/RunnarsonLucas2014IPrefN.player");
    let records = data.join("wthor");
    let found = sandbox.json(&[
        "accuracy",
        model.to_str().unwrap(),
        "--records",
        records.to_str().unwrap(),
        "--sample",
        "1000",
    ]);
    assert_eq!(found["games"], 1000);
    let model = &found["models"][0];
    let percent = |key: &str| model[key]["percent"].as_f64().unwrap();
    assert!((46.5..49.5).contains(&percent("choices")), "{}", percent("choices"));
    // Counting ties as hits adds about 1.6 points.
    let tied = model["ties_as_hits_percent"].as_f64().unwrap() - percent("choices");
    assert!((0.8..2.4).contains(&tied), "{tied}");
    assert!(percent("all") > percent("choices"));
    assert!((48.0..60.0).contains(&model["stages"][0]["percent"].as_f64().unwrap()));
}
