//! `outflank learn` and `outflank accuracy`.

#[path = "support/lab.rs"]
mod lab;

use lab::{Lab, data, has_keys, same};
use serde_json::json;

const ACCURACY: [&str; 8] =
    ["name", "choices", "all", "ties_as_hits_percent", "top_k", "pairs_percent", "stages", "plies"];

#[test]
fn learning_does_a_whole_job() {
    let lab = Lab::new();
    let found = lab.json(&["learn", "--sample", "150", "--games", "40"]);
    has_keys(&found, &["method", "run", "model", "seconds", "accuracy", "matches"]);
    assert_eq!(found["method"], "ipref");
    assert_eq!(found["run"], "runs/learn-001");
    let model = found["model"].as_str().unwrap();
    assert!(lab.exists(model), "{model}");
    for file in ["config.toml", "report.html", "curve.csv", "accuracy.csv", "matches.csv"] {
        assert!(lab.exists(&format!("runs/learn-001/{file}")), "{file}");
    }
    let accuracy = found["accuracy"].as_array().unwrap();
    for model in accuracy {
        has_keys(model, &ACCURACY);
        // Moves without an alternative are always hit, so all moves are the easier measure.
        assert!(model["all"]["count"].as_u64() > model["choices"]["count"].as_u64());
        assert!(model["all"]["percent"].as_f64() > model["choices"]["percent"].as_f64());
    }
    let percent = |i: usize| accuracy[i]["choices"]["percent"].as_f64().unwrap();
    assert_eq!(accuracy[0]["name"], "learned");
    assert!(percent(0) > percent(1), "it has learned more than the heuristic knows: {found}");
    let matches = found["matches"].as_array().unwrap();
    for report in matches {
        has_keys(report, &["a", "b", "games", "wins", "draws", "losses", "score", "error"]);
        assert_eq!((&report["a"], &report["games"]), (&json!("learned"), &json!(40)));
    }
    let random = matches.iter().find(|report| report["b"] == "random").unwrap();
    assert!(random["score"].as_f64().unwrap() > 0.7, "{random}");

    // The player can be played and measured by its folder and by its file.
    let score = lab.json(&["match", "runs/learn-001@2", "random", "--games", "20"]);
    assert_eq!(score["a"], "learn-001@2");
    assert!(score["score"].as_f64().unwrap() > 0.8, "{score}");
    let by_file = format!("{model}?name=file");
    let both = lab.json(&["accuracy", "runs/learn-001", &by_file, "--sample", "20"]);
    assert_eq!(both["models"][0]["choices"], both["models"][1]["choices"]);
    let text = lab.ok(&["learn", "--features", "1tuple", "--sample", "20", "--games", "2"]);
    for part in ["192 weights", "Next: ", "runs/learn-002/report.html", "outflank match"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn any_number_of_threads_learns_the_same() {
    let lab = Lab::new();
    let learn = ["learn", "--sample", "60", "--games", "20", "--seed", "3", "--threads"];
    lab.ok(&[&learn[..], &["1", "--out", "one"]].concat());
    lab.ok(&[&learn[..], &["2", "--out", "two"]].concat());
    same(&lab.tree("one"), &lab.tree("two"));
    let other = ["learn", "--sample", "60", "--games", "20", "--seed", "4", "--out", "other"];
    lab.ok(&other);
    assert_ne!(lab.read("one/model.safetensors"), lab.read("other/model.safetensors"));
}

#[test]
fn learning_that_cannot_work_is_refused_before_anything_is_written() {
    let lab = Lab::new();
    lab.write("few.txt", "f5d6c3\nf5f6\n");
    lab.write("bad.txt", "f5d6c3\nf5a1\n");
    lab.write("x.boards", "---------------------------OX------XO--------------------------- X\n");
    for (more, part) in [
        (&["nosuch"][..], "ipref"),
        (&["--features", "pixels"], "ntuple, 1tuple"),
        (&["--c", "0"], "--c must be a positive number"),
        (&["--c", "-1"], "--c must be a positive number, not -1"),
        (&["--c", "nan"], "--c must be a positive number"),
        (&["--tolerance", "inf"], "--tolerance must be"),
        (&["--held-out", "1"], "--held-out is a share"),
        (&["--held-out", "nan"], "--held-out is a share"),
        (&["--games", "3"], "--games must be an even number"),
        (&["--sample", "0"], "--sample"),
        (&["--records", "few.txt"], "too few"),
        (&["--records", "bad.txt"], "bad.txt: game 2"),
        (&["--records", "none"], "cannot read none"),
        (&["--data", "none"], "none/wthor"),
        (&["--by", "Nobody At All"], "Nobody At All"),
        (&["--resume", "none"], "none holds no run"),
    ] {
        let message = lab.refused(&[&["learn"], more].concat());
        assert!(message.contains(part), "{more:?}: {message}");
    }
}

#[test]
fn one_move_can_be_measured_by_hand() {
    let lab = Lab::new();
    // Four moves of equal worth, of which one was played.
    lab.write("one.txt", "f5\n");
    let found = lab.json(&["accuracy", "heuristic", "--records", "one.txt"]);
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
fn a_folder_holds_table_document_and_page() {
    let lab = Lab::new();
    lab.write("games.txt", "f5d6c3d3c4\nf5f6e6f4\n");
    let run = ["accuracy", "heuristic", "yoshioka", "--records", "games.txt", "--out"];
    let printed = lab.json(&[&run[..], &["one", "--threads", "1"]].concat());
    lab.ok(&[&run[..], &["two", "--threads", "2"]].concat());
    same(&lab.tree("one"), &lab.tree("two"));
    let written: serde_json::Value = serde_json::from_str(&lab.text("one/accuracy.json")).unwrap();
    assert_eq!(written, printed);
    assert!(lab.text("one/accuracy.csv").starts_with("discs,choices,heuristic,yoshioka\n1-16,9,"));
    assert!(lab.text("one/report.html").contains("--records games.txt"));
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let lab = Lab::new();
    lab.write("games.txt", "f5d6c3d3c4\n");
    lab.write("x.boards", "---------------------------OX------XO--------------------------- X\n");
    lab.ok(&["match", "heuristic", "random", "--games", "2", "--out", "run"]);
    for (more, part) in [
        (&["heuristic@4"][..], "leave out @"),
        (&["heuristic?random=0.1"], "leave out @"),
        (&["random"], "rates no moves"),
        (&["material"], "plays checkers"),
        (&["gtp:engine"], "is an engine"),
        (&["nobody"], "there is no player 'nobody'"),
        (&["heuristic", "heuristic"], "two models are called 'heuristic'"),
        (&["heuristic", "--records", "x.boards"], "no moves to predict"),
        (&["heuristic", "--records", "none"], "cannot read none"),
        (&["heuristic", "--years", "1990-1980"], "--years"),
        (&["heuristic", "--out", "run"], "run holds a run"),
        (&["heuristic", "--records", "games.txt", "--out", "games.txt/x"], "games.txt/x"),
        (&[], "<MODEL>"),
    ] {
        let message = lab.refused(&[&["accuracy"], more].concat());
        assert!(message.contains(part), "{more:?}: {message}");
    }
}

#[test]
fn the_published_player_predicts_what_was_found_before() {
    let Some(data) = data() else { return };
    let lab = Lab::new();
    let model = data.join("players/RunnarsonLucas2014IPrefN.player");
    let records = data.join("wthor");
    let found = lab.json(&[
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
    // A tie that counts as a hit gives about 1.6 points more.
    let tied = model["ties_as_hits_percent"].as_f64().unwrap() - percent("choices");
    assert!((0.8..2.4).contains(&tied), "{tied}");
    assert!(percent("all") > percent("choices"));
    assert!((48.0..60.0).contains(&model["stages"][0]["percent"].as_f64().unwrap()));
}
