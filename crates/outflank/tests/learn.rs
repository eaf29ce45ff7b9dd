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
    for file in [
        "config.toml",
        "report.html",
        "curve.csv",
        "accuracy.csv",
        "matches.csv",
        "cross-table.csv",
        "games.tsv",
        "learned.toml",
    ] {
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
    let heuristic = accuracy.iter().position(|model| model["name"] == "heuristic").unwrap();
    assert!(
        percent(0) > percent(heuristic),
        "it has learned more than the heuristic knows: {found}"
    );
    let matches = found["matches"].as_array().unwrap();
    for report in matches {
        has_keys(report, &["a", "b", "games", "wins", "draws", "losses", "score", "error"]);
        assert_eq!((&report["a"], &report["games"]), (&json!("learned"), &json!(40)));
    }
    // Everybody embedded is met but the heuristic of named features, which is made for a search, and the
    // deep networks, which take their time; the cross table holds the same games.
    let players = lab.json(&["players", "--game", "othello"]);
    let players = players["players"].as_array().unwrap().iter();
    let names = players.filter_map(|player| player["name"].as_str());
    let embedded = names
        .filter(|name| !name.contains('@') && !["gp", "cnn", "experts"].contains(name))
        .count();
    assert_eq!(matches.len(), embedded);
    let league = &found["league"]["players"];
    assert_eq!(league.as_array().unwrap().len(), embedded + 1);
    let standing = league.as_array().unwrap().iter().find(|p| p["name"] == "learned").unwrap();
    let points =
        |m: &serde_json::Value| m["wins"].as_f64().unwrap() + 0.5 * m["draws"].as_f64().unwrap();
    assert_eq!(standing["points"].as_f64().unwrap(), matches.iter().map(points).sum::<f64>());
    let page = lab.text("runs/learn-001/report.html");
    for part in [
        "Choices predicted as it learns",
        "The objective",
        "Percentage of points, row against column",
        "An own disc instead of the opponent",
        "X-square, its corner empty",
        "What it likes best.",
        "The 15 tuples, each in its first image",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("NaN"));
    let random = matches.iter().find(|report| report["b"] == "random").unwrap();
    assert!(random["score"].as_f64().unwrap() > 0.7, "{random}");

    // The player can be played and measured by its folder and by its file.
    let score = lab.json(&["match", "runs/learn-001@2", "random", "--games", "20"]);
    assert_eq!(score["a"], "learn-001@2");
    assert!(score["score"].as_f64().unwrap() > 0.5, "{score}");
    let by_file = format!("{model}?name=file");
    let both = lab.json(&["accuracy", "runs/learn-001", &by_file, "--sample", "20"]);
    assert_eq!(both["models"][0]["choices"], both["models"][1]["choices"]);
    let text = lab.ok(&["learn", "--features", "1tuple", "--sample", "20", "--games", "2"]);
    for part in ["192 weights", "Next: ", "runs/learn-002/report.html", "outflank match"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

/// The methods, each with options of its own and the number of weights that makes.
const METHODS: [(&[&str], usize); 11] = [
    (&["ipref", "--features", "1tuple"], 192),
    (&["ipref", "--binary", "--steps", "3"], 6561),
    (&["pref", "--solver", "dual", "--tolerance", "1", "--features", "tuples.txt"], LISTED),
    (&["lstd", "--features", "1tuple", "--lambda", "0.5", "--ridge", "1e-5"], 192),
    (&["lstd", "--features", "tuples.txt"], LISTED),
    (&["mm", "--features", "tuples.txt", "--prior", "2", "--sweeps", "6"], LISTED),
    (&["mm", "--multivalued", "--sweeps", "3"], 6561),
    (&["classify", "--unbalanced", "--c", "0.5", "--features", "tuples.txt"], LISTED),
    // A set of weights for each stage, here two of thirty discs.
    (&["ipref", "--solver", "online", "--stage", "30", "--features", "tuples.txt"], 2 * LISTED),
    (
        &["ipref", "--solver", "online", "--loss", "margin", "--passes", "2", "--rate", "0.05"],
        15 * 6561,
    ),
    // A table for each square of a tuple that may be the move, and two counts.
    (
        &["rater", "--features", "tuples.txt", "--passes", "2", "--stage", "60"],
        4 * 81 + 8 * 6561 + 4 * 81 + 2 * 64,
    ),
];

/// The entries of the tables of the tuples below.
const LISTED: usize = 81 + 6561 + 81;

const TUPLES: &str = "# a corner, an edge, and the middle as it stands\na1 b1 a2 b2\n\
                      0,1,2,3,4,5,6,7\nplain\nd4 e4 d5 e5\n";

#[test]
fn large_patterns_and_test_years() {
    let Some(data) = data() else { return };
    let lab = Lab::new();
    let wthor = data.join("wthor").display().to_string();
    let common = ["--records", &wthor, "--years", "2010-2014", "--sample", "400", "--games", "2"];
    let online = ["learn", "ipref", "--solver", "online", "--features", "patterns"];
    let years = ["--test-years", "2013-2014", "--passes", "3"];
    let found = lab.json(&[&online[..], &common, &years].concat());
    // 18 patterns with 501,876 entries and five counts of 64, for each of 15 stages.
    assert_eq!(found["weights"], json!(15 * (501_876 + 5 * 64)));
    let percent = |i: usize| found["accuracy"][i]["choices"]["percent"].as_f64().unwrap();
    let names: Vec<&str> = (0..5).map(|i| found["accuracy"][i]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["learned", "champion", "ipref", "ann", "heuristic"]);
    // A few games teach more than the heuristic knows, and less than all games taught ipref, whose
    // choices of years that it has not seen were 58.3% right.
    assert!(percent(0) > percent(4) && percent(2) > percent(0), "{found}");
    assert!((percent(2) - 58.3).abs() < 3.0, "{}", percent(2));
    let games = &found["games"];
    let split = (games["learned_from"].as_u64().unwrap(), games["measured_on"].as_u64().unwrap());
    assert!(split.0 + split.1 == 400 && split.1 > 100, "{games}");
    let page = lab.text("runs/learn-001/report.html");
    assert!(page.contains("Moves that the opponent has") && page.contains("The 18 tuples"));
    let text = lab.refused(&[&["learn"], &common[..], &["--test-years", "1950-1960"]].concat());
    assert!(text.contains("--test-years needs games of these years and of others"), "{text}");
}

#[test]
fn options_of_the_other_solver_are_refused() {
    let lab = Lab::new();
    for (words, why) in [
        (&["learn", "--passes", "3"][..], "--passes is an option of --solver online"),
        (&["learn", "rater", "--c", "2"], "--c is an option of ipref"),
        (&["learn", "--solver", "online", "--steps", "3"], "--steps is not looked at"),
        (&["learn", "pref", "--solver", "online"], "--solver online is for ipref"),
        (&["learn", "--solver", "online", "--stage", "61"], "--stage must be a number of discs"),
        (&["learn", "--solver", "online", "--rate", "nan"], "--rate must be a positive number"),
        (&["learn", "rater", "--passes", "0"], "--passes must be at least 1"),
    ] {
        let text = lab.refused(words);
        assert!(text.contains(why), "{words:?}: {text}");
    }
}

#[test]
fn every_method_learns_the_same_on_any_number_of_threads() {
    let lab = Lab::new();
    lab.write("tuples.txt", TUPLES);
    for (number, (method, wanted)) in METHODS.iter().enumerate() {
        let name = method[0];
        let few = ["--sample", "60", "--games", "2", "--seed", "5"];
        let (one, two) = (format!("{number}-one"), format!("{number}-two"));
        let run = |threads: &str, out: &str| {
            let words = [&["learn"], *method, &few, &["--threads", threads, "--out", out]].concat();
            lab.json(&words)
        };
        let found = run("1", &one);
        run("2", &two);
        same(&lab.tree(&one), &lab.tree(&two));
        has_keys(&found, &["method", "run", "model", "seconds", "accuracy", "matches"]);
        assert_eq!(found["method"], name);
        let learned = &found["accuracy"][0];
        assert_eq!(learned["name"], "learned");
        // A move at random is right about one time in eight. What lstd learns are results of games, of
        // which there are few here.
        let percent = learned["choices"]["percent"].as_f64().unwrap();
        assert!(percent > if name == "lstd" { 5.0 } else { 15.0 }, "{method:?}: {percent}");
        assert_eq!(found["weights"], json!(wanted), "{method:?}");
        // The page says how it was made, and with that it can be made again.
        let page = lab.text(&format!("{one}/report.html"));
        assert!(page.contains(&format!("outflank learn {name} --features")), "{method:?}");
        let config = format!("{one}/config.toml");
        let again = format!("{number}-again");
        lab.ok(&["learn", "--config", &config, "--out", &again]);
        same(&lab.tree(&again), &lab.tree(&one));
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
    lab.write("one.txt", "f5d6c3d3c4\n");
    lab.write("alike.txt", "f5d6c3d3c4\n".repeat(40));
    // The four first moves are images of each other.
    lab.write("first.txt", "f5\nd3\nc4\ne6\n");
    lab.write("none.txt", "");
    lab.write("range.tuples", "a1 b1\n0 1 64\n");
    lab.write("name.tuples", "a1 j1\n");
    lab.write("twice.tuples", "# one\n\na1 b2 A1\n");
    lab.write("long.tuples", "0 1 2 3 4 5 6 7 8 9 10 11 12\n");
    lab.write("void.tuples", "# nothing\n");
    lab.write("bytes.tuples", [0xff, 0xfe, 0x00]);
    lab.write("huge.tuples", "0 1 2 3 4 5 6 7 8 9 10 11\n".repeat(8));
    lab.write("vast.tuples", "0 1 2 3 4 5 6 7 8 9 10 11\n".repeat(200));
    lab.write("lstd.toml", "lambda = 0.5\n");
    for (more, part) in [
        (&["nosuch"][..], "ipref, pref, lstd, mm, classify"),
        (&["--features", "range.tuples"], "range.tuples: line 2: 64 is not a square"),
        (&["--features", "name.tuples"], "name.tuples: line 1: 'j1' is not a square"),
        (&["--features", "twice.tuples"], "twice.tuples: line 3: a1 (square 0) occurs twice"),
        (&["--features", "long.tuples"], "long.tuples: line 1: a tuple has 1 to 12 squares"),
        (&["--features", "void.tuples"], "void.tuples: the file contains no tuples"),
        (&["--features", "bytes.tuples"], "bytes.tuples: byte 0 is not text"),
        (&["--features", "huge.tuples", "--sample", "20"], "fewer or shorter tuples"),
        (&["--features", "vast.tuples"], "vast.tuples: line 127: a network has"),
        (&["lstd", "--lambda", "1.5"], "--lambda must be a number from 0 to 1, not 1.5"),
        (&["lstd", "--lambda", "-0.1"], "--lambda must be a number from 0 to 1"),
        (&["lstd", "--lambda", "nan"], "--lambda must be a number from 0 to 1"),
        (&["lstd", "--ridge", "-1"], "--ridge must be a positive number"),
        (&["lstd", "--ridge", "0"], "without it the equations are singular"),
        (&["lstd", "--ridge", "nan"], "--ridge must be a positive number"),
        (&["lstd", "--records", "few.txt", "--held-out", "0.5"], "a known result"),
        (&["mm", "--sweeps", "0"], "--sweeps must be at least 1"),
        (&["mm", "--prior", "0"], "--prior must be a number from 1e-9 to 1e9"),
        (&["mm", "--tolerance", "-1"], "--tolerance must be a positive number"),
        (&["classify", "--steps", "0"], "--steps must be at least 1"),
        (&["--lambda", "0.5"], "--lambda is an option of lstd; ipref does not look at it"),
        (&["--set", "lambda=0.5"], "--lambda is an option of lstd"),
        (&["--config", "lstd.toml"], "--lambda is an option of lstd"),
        (&["lstd", "--c", "1"], "--c is an option of ipref, pref, classify; lstd"),
        (&["mm", "--solver", "dual"], "--solver is an option of ipref, pref; mm"),
        (&["classify", "--solver", "dual"], "--solver is an option of ipref, pref"),
        (&["mm", "--binary"], "--binary is an option of ipref, pref"),
        (&["pref", "--unbalanced"], "--unbalanced is an option of classify"),
        (&["pref", "--multivalued"], "--multivalued is an option of mm"),
        (&["lstd", "--tolerance", "1"], "--tolerance is an option of ipref, pref, classify, mm"),
        (&["--records", "none.txt"], "none.txt"),
        (&["--records", "one.txt"], "1 game cannot be both learned from and measured on"),
        (&["--records", "alike.txt"], "give different games"),
        (&["--records", "first.txt", "--held-out", "0.25"], "look alike"),
        (&["pref", "--records", "first.txt", "--held-out", "0.25"], "look alike"),
        (&["classify", "--records", "first.txt", "--held-out", "0.25"], "look alike"),
        (&["mm", "--records", "first.txt", "--held-out", "0.25"], "look alike"),
        (&["--records", "first.txt", "--held-out", "0.25", "--out", "a/b/c"], "look alike"),
        (&["--features", "pixels"], "ntuple, 1tuple"),
        (&["--c", "0"], "--c must be a number from 1e-6 to 1e6"),
        (&["--c", "-1"], "--c must be a number from 1e-6 to 1e6, not -1"),
        (&["--c", "1e-300"], "--c must be a number from 1e-6 to 1e6"),
        (&["--c", "nan"], "--c must be a number from 1e-6 to 1e6"),
        (&["--tolerance", "inf"], "--tolerance must be"),
        (&["--held-out", "1"], "--held-out is a share"),
        (&["--held-out", "nan"], "--held-out is a share"),
        (&["--games", "3"], "--games must be an even number"),
        (&["--sample", "0"], "--sample"),
        (&["--records", "few.txt"], "2 games cannot be both learned from and measured on"),
        (&["--records", "bad.txt"], "bad.txt: game 2"),
        (&["--records", "none"], "cannot read none"),
        (&["--data", "none"], "none/wthor"),
        (&["--by", "Nobody At All"], "Nobody At All"),
        (&["--resume", "none"], "none: no run to resume"),
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
