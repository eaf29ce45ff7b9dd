//! `outflank train` with methods that train on games.

#[path = "support/sandbox.rs"]
mod sandbox;

use sandbox::{Sandbox, assert_same_files, data, has_keys};
use serde_json::json;

const ACCURACY: [&str; 8] =
    ["name", "choices", "all", "ties_as_hits_percent", "top_k", "pairs_percent", "stages", "plies"];

#[test]
fn a_training_run_trains_measures_and_reports() {
    let sandbox = Sandbox::new();
    let found = sandbox.json(&["train", "--sample", "150", "--match-games", "40"]);
    has_keys(
        &found,
        &["method", "run", "model", "seconds", "accuracy", "matches", "examples_seen"],
    );
    assert_eq!(found["method"], "ipref");
    assert!(
        found["examples_seen"].as_u64().unwrap() > 1000 && found["epochs"].is_null(),
        "{found}"
    );
    assert_eq!(found["run"], "runs/train-001");
    let model = found["model"].as_str().unwrap();
    assert!(sandbox.exists(model), "{model}");
    for file in [
        "config.toml",
        "report.html",
        "metrics.csv",
        "accuracy.csv",
        "matches.csv",
        "cross-table.csv",
        "games.tsv",
        "checkpoint.bin",
        "model.safetensors",
    ] {
        assert!(sandbox.exists(&format!("runs/train-001/{file}")), "{file}");
    }
    // Every training choice is seen. `test_overlap` is the percentage of test choices whose position
    // is in the training set.
    assert_eq!(found["examples_seen"], found["choices"]);
    let distinct = found["distinct_positions"].as_u64().unwrap();
    assert!(distinct > 0 && distinct <= found["choices"].as_u64().unwrap(), "{found}");
    let overlap = found["test_overlap"].as_f64().unwrap();
    assert!((0.0..60.0).contains(&overlap), "{found}");
    let accuracy = found["accuracy"].as_array().unwrap();
    for model in accuracy {
        has_keys(model, &ACCURACY);
        // Forced moves are always predicted, so the accuracy on all moves is higher.
        assert!(model["all"]["count"].as_u64() > model["choices"]["count"].as_u64());
        assert!(model["all"]["percent"].as_f64() > model["choices"]["percent"].as_f64());
    }
    let percent = |i: usize| accuracy[i]["choices"]["percent"].as_f64().unwrap();
    assert_eq!(accuracy[0]["name"], "trained");
    let heuristic = accuracy.iter().position(|model| model["name"] == "heuristic").unwrap();
    assert!(percent(0) > percent(heuristic), "the accuracy exceeds that of the heuristic: {found}");
    let matches = found["matches"].as_array().unwrap();
    for report in matches {
        has_keys(report, &["a", "b", "games", "wins", "draws", "losses", "score", "error"]);
        assert_eq!((&report["a"], &report["games"]), (&json!("trained"), &json!(40)));
    }
    // References are all embedded players but the heuristic of named features, which needs a search, and the
    // convolutional networks, which are slow; the cross table has the same games.
    let players = sandbox.json(&["players", "--game", "othello"]);
    let players = players["players"].as_array().unwrap().iter();
    let names = players.filter_map(|player| player["name"].as_str());
    let embedded = names
        .filter(|name| !name.contains('@') && !["gp", "cnn", "experts"].contains(name))
        .count();
    assert_eq!(matches.len(), embedded);
    let league = &found["league"]["players"];
    assert_eq!(league.as_array().unwrap().len(), embedded + 1);
    let standing = league.as_array().unwrap().iter().find(|p| p["name"] == "trained").unwrap();
    let points =
        |m: &serde_json::Value| m["wins"].as_f64().unwrap() + 0.5 * m["draws"].as_f64().unwrap();
    assert_eq!(standing["points"].as_f64().unwrap(), matches.iter().map(points).sum::<f64>());
    let page = sandbox.text("runs/train-001/report.html");
    for part in [
        "Training and validation accuracy",
        "objective",
        "Percentage of points, row against column",
        "in a league of players without search. It was trained on 120 games",
        "Strongest patterns",
        "The 15 tuples, each in its first placement",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("NaN"));
    let random = matches.iter().find(|report| report["b"] == "random").unwrap();
    assert!(random["score"].as_f64().unwrap() > 0.7, "{random}");

    // The run folder and the model file are players and models.
    let score = sandbox.json(&["match", "runs/train-001@2", "random", "--games", "20"]);
    assert_eq!(score["a"], "train-001@2");
    assert!(score["score"].as_f64().unwrap() > 0.5, "{score}");
    let by_file = format!("{model}?name=file");
    let both = sandbox.json(&["accuracy", "runs/train-001", &by_file, "--sample", "20"]);
    assert_eq!(both["models"][0]["choices"], both["models"][1]["choices"]);
    let text =
        sandbox.ok(&["train", "--features", "1tuple", "--sample", "20", "--match-games", "2"]);
    for part in ["192 weights", "Next: ", "runs/train-002/report.html", "outflank match"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

/// The methods with some of their options and the resulting number of weights.
const METHODS: [(&[&str], usize); 11] = [
    (&["ipref", "--features", "1tuple"], 192),
    (&["ipref", "--binary", "--max-iterations", "3"], 6561),
    (&["pref", "--solver", "dual", "--tolerance", "1", "--features", "tuples.txt"], LISTED),
    (&["lstd", "--features", "1tuple", "--lambda", "0.5", "--ridge", "1e-5"], 192),
    (&["lstd", "--features", "tuples.txt"], LISTED),
    (&["mm", "--features", "tuples.txt", "--prior", "2", "--max-iterations", "6"], LISTED),
    (&["mm", "--multivalued", "--max-iterations", "3"], 6561),
    (&["classify", "--unbalanced", "--c", "0.5", "--features", "tuples.txt"], LISTED),
    // A set of weights for each stage, here two of thirty discs.
    (
        &["ipref", "--solver", "online", "--discs-per-stage", "30", "--features", "tuples.txt"],
        2 * LISTED,
    ),
    (
        &[
            "ipref",
            "--solver",
            "online",
            "--loss",
            "margin",
            "--epochs",
            "2",
            "--learning-rate",
            "0.05",
        ],
        15 * 6561,
    ),
    // A table for each square of a tuple that may be the move, and two counts.
    (
        &["move-predictor", "--features", "tuples.txt", "--epochs", "2", "--discs-per-stage", "60"],
        4 * 81 + 8 * 6561 + 4 * 81 + 2 * 64,
    ),
];

/// The weights of the tuples below.
const LISTED: usize = 81 + 6561 + 81;

const TUPLES: &str = "# a corner, an edge, and the center without symmetries\na1 b1 a2 b2\n\
                      0,1,2,3,4,5,6,7\nplain\nd4 e4 d5 e5\n";

#[test]
fn online_training_with_large_patterns_and_test_years() {
    let Some(data) = data() else { return };
    let sandbox = Sandbox::new();
    let wthor = data.join("wthor").display().to_string();
    let common =
        ["--records", &wthor, "--years", "2010-2014", "--sample", "400", "--match-games", "2"];
    let online = ["train", "ipref", "--solver", "online", "--features", "patterns"];
    let years = ["--test-years", "2013-2014", "--epochs", "3"];
    let found = sandbox.json(&[&online[..], &common, &years].concat());
    // 18 patterns with 501,876 entries and five counts of 64, for each of 15 stages.
    assert_eq!(found["weights"], json!(15 * (501_876 + 5 * 64)));
    let percent = |i: usize| found["accuracy"][i]["choices"]["percent"].as_f64().unwrap();
    let names: Vec<&str> = (0..5).map(|i| found["accuracy"][i]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["trained", "champion", "ipref", "ann", "heuristic"]);
    // A few games suffice to beat the heuristic, but not ipref, which was trained on all games and has an
    // accuracy of 58.3% on later years.
    assert!(percent(0) > percent(4) && percent(2) > percent(0), "{found}");
    assert!((percent(2) - 58.3).abs() < 3.0, "{}", percent(2));
    let games = &found["games"];
    let split = (games["training"].as_u64().unwrap(), games["test"].as_u64().unwrap());
    assert!(split.0 + split.1 == 400 && split.1 > 100, "{games}");
    let page = sandbox.text("runs/train-001/report.html");
    assert!(page.contains("Moves of the opponent") && page.contains("The 18 tuples"));
    let text =
        sandbox.rejected(&[&["train"], &common[..], &["--test-years", "1950-1960"]].concat());
    assert!(
        text.contains("--test-years 1950-1960: of 400 games, 0 are from these years"),
        "{text}"
    );
}

#[test]
fn options_without_effect_are_errors() {
    let sandbox = Sandbox::new();
    for (words, why) in [
        (&["train", "--epochs", "3"][..], "--epochs requires --solver online"),
        (&["train", "move-predictor", "--c", "2"], "--c has no effect with move-predictor"),
        (
            &["train", "--solver", "online", "--max-iterations", "3"],
            "--max-iterations has no effect",
        ),
        (&["train", "pref", "--solver", "online"], "--solver online is for ipref"),
        (
            &["train", "--solver", "online", "--discs-per-stage", "61"],
            "--discs-per-stage must be from 1 to 60",
        ),
        (
            &["train", "--solver", "online", "--lr", "nan"],
            "--learning-rate must be a positive number",
        ),
        (&["train", "move-predictor", "--epochs", "0"], "--epochs must be at least 1"),
    ] {
        let text = sandbox.rejected(words);
        assert!(text.contains(why), "{words:?}: {text}");
    }
}

#[test]
fn no_method_depends_on_the_number_of_threads() {
    let sandbox = Sandbox::new();
    sandbox.write("tuples.txt", TUPLES);
    for (number, (method, wanted)) in METHODS.iter().enumerate() {
        let name = method[0];
        let few = ["--sample", "60", "--match-games", "2", "--seed", "5"];
        let (one, two) = (format!("{number}-one"), format!("{number}-two"));
        let run = |threads: &str, out: &str| {
            let words = [&["train"], *method, &few, &["--threads", threads, "--out", out]].concat();
            sandbox.json(&words)
        };
        let found = run("1", &one);
        run("2", &two);
        assert_same_files(&sandbox.tree(&one), &sandbox.tree(&two));
        has_keys(&found, &["method", "run", "model", "seconds", "accuracy", "matches"]);
        assert_eq!(found["method"], name);
        let trained = &found["accuracy"][0];
        assert_eq!(trained["name"], "trained");
        // A random move is right one time in eight. lstd predicts results of games, of which there are few.
        let percent = trained["choices"]["percent"].as_f64().unwrap();
        assert!(percent > if name == "lstd" { 5.0 } else { 15.0 }, "{method:?}: {percent}");
        assert_eq!(found["weights"], json!(wanted), "{method:?}");
        // The report has the command, and the configuration repeats the run.
        let page = sandbox.text(&format!("{one}/report.html"));
        assert!(page.contains(&format!("outflank train {name} --features")), "{method:?}");
        let config = format!("{one}/config.toml");
        let again = format!("{number}-again");
        sandbox.ok(&["train", "--config", &config, "--out", &again]);
        assert_same_files(&sandbox.tree(&again), &sandbox.tree(&one));
    }
}

#[test]
fn results_depend_on_the_seed_and_not_on_the_number_of_threads() {
    let sandbox = Sandbox::new();
    let learn = ["train", "--sample", "60", "--match-games", "20", "--seed", "3", "--threads"];
    sandbox.ok(&[&learn[..], &["1", "--out", "one"]].concat());
    sandbox.ok(&[&learn[..], &["2", "--out", "two"]].concat());
    assert_same_files(&sandbox.tree("one"), &sandbox.tree("two"));
    let other = ["train", "--sample", "60", "--match-games", "20", "--seed", "4", "--out", "other"];
    sandbox.ok(&other);
    assert_ne!(sandbox.read("one/model.safetensors"), sandbox.read("other/model.safetensors"));
}

#[test]
fn wrong_inputs_are_errors_and_leave_no_folder() {
    let sandbox = Sandbox::new();
    sandbox.write("few.txt", "f5d6c3\nf5f6\n");
    sandbox.write("bad.txt", "f5d6c3\nf5a1\n");
    sandbox
        .write("x.boards", "---------------------------OX------XO--------------------------- X\n");
    sandbox.write("one.txt", "f5d6c3d3c4\n");
    sandbox.write("alike.txt", "f5d6c3d3c4\n".repeat(40));
    // The four first moves are symmetric.
    sandbox.write("first.txt", "f5\nd3\nc4\ne6\n");
    sandbox.write("none.txt", "");
    sandbox.write("range.tuples", "a1 b1\n0 1 64\n");
    sandbox.write("name.tuples", "a1 j1\n");
    sandbox.write("twice.tuples", "# one\n\na1 b2 A1\n");
    sandbox.write("long.tuples", "0 1 2 3 4 5 6 7 8 9 10 11 12\n");
    sandbox.write("void.tuples", "# nothing\n");
    sandbox.write("bytes.tuples", [0xff, 0xfe, 0x00]);
    sandbox.write("huge.tuples", "0 1 2 3 4 5 6 7 8 9 10 11\n".repeat(8));
    sandbox.write("vast.tuples", "0 1 2 3 4 5 6 7 8 9 10 11\n".repeat(200));
    sandbox.write("lstd.toml", "lambda = 0.5\n");
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
        (&["mm", "--max-iterations", "0"], "--max-iterations must be at least 1"),
        (&["mm", "--prior", "0"], "--prior must be a number from 1e-9 to 1e9"),
        (&["mm", "--tolerance", "-1"], "--tolerance must be a positive number"),
        (&["classify", "--max-iterations", "0"], "--max-iterations must be at least 1"),
        (&["--lambda", "0.5"], "--lambda has no effect with ipref; it is an option of lstd"),
        (&["--set", "lambda=0.5"], "it is an option of lstd"),
        (&["--config", "lstd.toml"], "(lambda is set in lstd.toml, line 1, column 1)"),
        (
            &["lstd", "--c", "1"],
            "--c has no effect with lstd; it is an option of ipref, pref, classify",
        ),
        (
            &["mm", "--solver", "dual"],
            "--solver has no effect with mm; it is an option of ipref, pref",
        ),
        (&["classify", "--solver", "dual"], "it is an option of ipref, pref"),
        (&["mm", "--binary"], "it is an option of ipref, pref"),
        (&["pref", "--unbalanced"], "it is an option of classify"),
        (&["pref", "--multivalued"], "it is an option of mm"),
        (&["lstd", "--tolerance", "1"], "it is an option of ipref, pref, classify, mm"),
        (&["--records", "none.txt"], "none.txt"),
        (&["--records", "one.txt"], "1 game cannot be split into a training and a test set"),
        (&["--records", "alike.txt"], "read different games"),
        (&["--records", "first.txt", "--held-out", "0.25"], "do not distinguish the moves"),
        (&["pref", "--records", "first.txt", "--held-out", "0.25"], "do not distinguish the moves"),
        (
            &["classify", "--records", "first.txt", "--held-out", "0.25"],
            "do not distinguish the moves",
        ),
        (&["mm", "--records", "first.txt", "--held-out", "0.25"], "do not distinguish the moves"),
        (
            &["--records", "first.txt", "--held-out", "0.25", "--out", "a/b/c"],
            "do not distinguish the moves",
        ),
        (&["--features", "pixels"], "ntuple, 1tuple"),
        (&["--c", "0"], "--c must be a number from 1e-6 to 1e6"),
        (&["--c", "-1"], "--c must be a number from 1e-6 to 1e6, not -1"),
        (&["--c", "1e-300"], "--c must be a number from 1e-6 to 1e6"),
        (&["--c", "nan"], "--c must be a number from 1e-6 to 1e6"),
        (&["--tolerance", "inf"], "--tolerance must be"),
        (&["--held-out", "1"], "--held-out is a fraction"),
        (&["--held-out", "nan"], "--held-out is a fraction"),
        (&["--match-games", "3"], "--match-games must be an even number"),
        (&["--games", "4"], "--match-games"),
        (&["--sample", "0"], "--sample"),
        (&["--records", "few.txt"], "2 games cannot be split into a training and a test set"),
        (&["--records", "bad.txt"], "bad.txt: game 2"),
        (&["--records", "none"], "cannot read none"),
        (&["--data", "none"], "none/wthor"),
        (&["--by", "Nobody At All"], "Nobody At All"),
        (&["--resume", "none"], "none: no run to resume"),
    ] {
        let message = sandbox.rejected(&[&["train"], more].concat());
        assert!(message.contains(part), "{more:?}: {message}");
    }
}

/// The metrics select the model and end training; a finished run is extended without changing its
/// configuration.
#[test]
fn runs_stop_early_and_are_extended() {
    let sandbox = Sandbox::new();
    sandbox.write("tuples.txt", TUPLES);
    let online =
        ["train", "--solver", "online", "--discs-per-stage", "30", "--features", "tuples.txt"];
    let few = ["--sample", "60", "--match-games", "2", "--epochs", "2", "--out", "run"];
    let found = sandbox.json(&[&online[..], &few].concat());
    assert_eq!(found["epochs"], 2.0);
    let config = sandbox.text("run/config.toml");
    let two = sandbox.read("run/model.safetensors");
    let found = sandbox.json(&["train", "--resume", "run", "--epochs", "5"]);
    assert_eq!(found["epochs"], 5.0);
    assert_eq!(found["examples_seen"].as_u64(), found["choices"].as_u64().map(|count| 5 * count));
    let remarks = found["remarks"].to_string();
    assert!(remarks.contains("--epochs 2 and extended to 5"), "{remarks}");
    assert_eq!(sandbox.text("run/config.toml"), config);
    assert_ne!(sandbox.read("run/model.safetensors"), two);
    // The games are those of the new model.
    sandbox.ok(&["train", "--resume", "run"]);
    std::fs::remove_file(sandbox.file("run/games.tsv")).unwrap();
    let games = sandbox.tree("run");
    sandbox.ok(&["train", "--resume", "run"]);
    assert_eq!(sandbox.read("run/result.json"), games["result.json"]);
    // The extension holds for later calls, and the budget cannot fall below what is done.
    let before = sandbox.tree("run");
    assert_eq!(sandbox.json(&["train", "--resume", "run"])["epochs"], 5.0);
    assert_same_files(&sandbox.tree("run"), &before);
    let message = sandbox.rejected(&["train", "--resume", "run", "--epochs", "3"]);
    assert!(message.contains("5 epochs are done, more than the requested 3"), "{message}");
    // A learning rate that is far too high: the first epochs are the best.
    let wild = ["--learning-rate", "50", "--sample", "60", "--match-games", "2", "--epochs", "40"];
    let patience = ["--patience", "2", "--out", "early"];
    let found = sandbox.json(&[&online[..], &wild, &patience].concat());
    let metrics = sandbox.text("early/metrics.csv");
    let rows: Vec<Vec<f64>> = metrics
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    let validation =
        metrics.lines().next().unwrap().split(',').position(|c| c == "validation accuracy");
    let values: Vec<f64> = rows.iter().map(|row| row[validation.unwrap()]).collect();
    let best = values.iter().copied().fold(f64::MIN, f64::max);
    let first = values.iter().position(|value| *value == best).unwrap();
    assert!(values.len() == (first + 3).min(40), "{values:?}");
    if values.len() < 40 {
        assert!(found["remarks"].to_string().contains("stopped early"), "{found}");
    }
}
