//! `outflank match`, `outflank league` and `outflank openings`.

#[path = "support/sandbox.rs"]
mod sandbox;

use sandbox::{PROGRAM, Sandbox, assert_same_files, has_keys};
use serde_json::{Value, json};
use std::collections::HashSet;

const MATCH: [&str; 11] = [
    "a",
    "b",
    "games",
    "wins",
    "draws",
    "losses",
    "score",
    "error",
    "elo",
    "elo_interval",
    "distinct_games",
];

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("no number {key} in {value}"))
}

#[test]
fn the_files_of_a_match_agree() {
    let sandbox = Sandbox::new();
    let run = ["match", "heuristic", "random", "--games", "60", "--random", "0.1"];
    let found = sandbox.json(&run);
    has_keys(&found, &MATCH);
    assert_eq!((&found["a"], &found["b"]), (&json!("heuristic"), &json!("random")));
    assert_eq!(found["games"], 60);
    let [wins, draws, losses] = ["wins", "draws", "losses"].map(|key| number(&found, key));
    assert_eq!(wins + draws + losses, 60.0);
    assert!((number(&found, "score") - (wins + draws / 2.0) / 60.0).abs() < 1e-12);
    assert!((0.0..=1.0).contains(&number(&found, "score")) && number(&found, "error") > 0.0);
    assert_eq!(found["pentanomial"].as_array().unwrap().len(), 5);

    // The files of the run have the same results.
    let mut written: Value =
        serde_json::from_str(&sandbox.text("runs/match-001/result.json")).unwrap();
    written["run"] = json!("runs/match-001");
    assert_eq!(written, found);
    let csv = sandbox.text("runs/match-001/result.csv");
    assert!(csv.contains(&format!("\nwins,{wins}\n")) && csv.contains("\ngames,60\n"), "{csv}");
    let pgn = sandbox.text("runs/match-001/games.pgn");
    assert_eq!(pgn.matches("[Event ").count(), 60);
    assert_eq!(pgn.matches("[Black \"heuristic\"]").count(), 30, "colors alternate");
    let mut games = HashSet::new();
    for line in sandbox.text("runs/match-001/games.tsv").lines() {
        games.insert(line.split('\t').nth(4).unwrap().replace('?', ""));
    }
    assert_eq!(number(&found, "distinct_games") as usize, games.len());
    let text = sandbox.ok(&run);
    for part in [
        "heuristic against random",
        "won ",
        "LOS ",
        "pentanomial counts",
        "duplicate games",
        "runs/match-002",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn a_report_is_one_file_and_escapes_names() {
    let sandbox = Sandbox::new();
    let hostile = "heuristic?name=<script>alert(1)</script>";
    sandbox.ok(&["match", hostile, "random", "--games", "4", "--sprt", "0,10", "--out", "m"]);
    sandbox.ok(&["league", hostile, "random", "yoshioka", "--games", "4", "--out", "l"]);
    for page in [sandbox.text("m/report.html"), sandbox.text("l/report.html")] {
        assert!(!page.contains("<script>"), "{page}");
        assert!(page.contains("&lt;script&gt;"));
        for part in ["http://", "https://", "src=", "<link", "@import", "url("] {
            let inside = page.replace("http://www.w3.org/2000/svg", "");
            assert!(!inside.contains(part), "{part} would be fetched from the network");
        }
        assert!(page.contains("<svg") && page.contains("prefers-color-scheme:dark"));
        // The report has the command that repeats it, quoted for a shell.
        assert!(page.contains("&#39;heuristic?name=&lt;script&gt;alert(1)&lt;/script&gt;&#39;"));
    }
}

#[test]
fn swapping_two_players_mirrors_the_results() {
    let sandbox = Sandbox::new();
    let play = |a: &str, b: &str| {
        sandbox.json(&["match", a, b, "--games", "100", "--random", "0.1", "--seed", "11"])
    };
    for (a, b) in [("heuristic", "yoshioka"), ("heuristic@2", "random@mcts20")] {
        let (one, two) = (play(a, b), play(b, a));
        assert_eq!((&one["wins"], &one["losses"]), (&two["losses"], &two["wins"]));
        for key in ["games", "draws", "distinct_games"] {
            assert_eq!(one[key], two[key], "{key}");
        }
        let near = |x: f64, y: f64| (x - y).abs() < 1e-9;
        assert!(near(number(&one, "score"), 1.0 - number(&two, "score")));
        assert!(near(number(&one, "error"), number(&two, "error")));
        assert!(near(number(&one, "los"), 1.0 - number(&two, "los")));
        assert!(near(number(&one, "elo"), -number(&two, "elo")));
        let mut mirrored = one["pentanomial"].as_array().unwrap().clone();
        mirrored.reverse();
        assert_eq!(&mirrored, two["pentanomial"].as_array().unwrap());
    }
}

#[test]
fn a_player_scores_half_against_itself() {
    let sandbox = Sandbox::new();
    let players = ["heuristic?name=one", "heuristic?name=two"];
    let found =
        sandbox.json(&["match", players[0], players[1], "--games", "1000", "--random", "0.1"]);
    let off = (number(&found, "score") - 0.5).abs();
    assert!(off < 2.0 * number(&found, "error"), "{found}");
}

#[test]
fn files_do_not_depend_on_the_number_of_threads() {
    let sandbox = Sandbox::new();
    let runs: [&[&str]; 6] = [
        &["match", "heuristic@2", "yoshioka", "--games", "60", "--random", "0.1"],
        &["match", "heuristic", "random", "--games", "400", "--sprt", "0,200"],
        &["match", "material@2", "random", "--game", "checkers", "--games", "40"],
        &["league", "heuristic", "random", "yoshioka", "random@mcts10", "--games", "20"],
        &["openings", "--count", "20", "--ply", "5", "--simulations", "50"],
        &["data", "generate", "--player", "heuristic@2", "--games", "20", "--to", "g.wtb"],
    ];
    for run in runs {
        let out = |threads: &'static str| {
            let sandbox = Sandbox::new();
            sandbox.ok(&[run, &["--seed", "9", "--threads", threads, "--out", "run"]].concat());
            sandbox.tree(".")
        };
        let one = out("1");
        for threads in ["2", "5"] {
            assert_same_files(&out(threads), &one);
        }
        // Another seed plays other games.
        sandbox.ok(&[run, &["--seed", "10", "--out", "run"]].concat());
        let journal = if run[0] == "openings" { "run/tries.tsv" } else { "run/games.tsv" };
        assert_ne!(sandbox.read(journal), one[journal], "{run:?}");
        std::fs::remove_dir_all(sandbox.file("run")).unwrap();
    }
}

#[test]
fn openings_are_used_in_order_with_both_colors() {
    let sandbox = Sandbox::new();
    sandbox.write("three.txt", "f5d6c3\nf5f6e6\nf5d6c5\n");
    let first_moves = |games: &str| -> Vec<String> {
        sandbox.ok(&[
            "match",
            "random",
            "heuristic",
            "--openings",
            "three.txt",
            "--games",
            games,
            "--out",
            "run",
        ]);
        let journal = sandbox.text("run/games.pgn");
        std::fs::remove_dir_all(sandbox.file("run")).unwrap();
        let moves = journal.lines().filter(|line| line.starts_with("1. "));
        moves
            .map(|line| line.split(' ').filter(|word| !word.ends_with('.')).take(3).collect())
            .collect()
    };
    assert_eq!(first_moves("4"), ["f5d6c3", "f5d6c3", "f5f6e6", "f5f6e6"]);
    // Openings repeat if there are more games.
    assert_eq!(first_moves("8")[6..], ["f5d6c3", "f5d6c3"]);
    // By default every opening twice, and from the start a thousand games.
    let openings = ["match", "random", "heuristic", "--openings", "three.txt"];
    assert_eq!(sandbox.json(&openings)["games"], 6);
    assert_eq!(sandbox.json(&["match", "random", "heuristic"])["games"], 1000);
}

#[test]
fn the_side_to_move_in_openings_can_be_set() {
    let sandbox = Sandbox::new();
    let board = "---------------------------OX------XO---------------------------";
    sandbox.write("silent.boards", format!("{board}\n"));
    sandbox.write("white.boards", format!("{board} O\n"));
    let first = |file: &str, more: &[&str]| -> String {
        let run =
            ["match", "random", "heuristic", "--openings", file, "--games", "2", "--out", "run"];
        sandbox.ok(&[&run[..], more].concat());
        let journal = sandbox.text("run/games.tsv");
        std::fs::remove_dir_all(sandbox.file("run")).unwrap();
        journal.split('\t').nth(4).unwrap()[..2].to_owned()
    };
    let black = ["d3", "c4", "f5", "e6"];
    let white = ["e3", "f4", "c5", "d6"];
    assert!(black.contains(&first("silent.boards", &[]).as_str()));
    assert!(white.contains(&first("silent.boards", &["--first", "white"]).as_str()));
    assert!(white.contains(&first("white.boards", &[]).as_str()));
    assert!(black.contains(&first("white.boards", &["--first", "black"]).as_str()));
}

#[test]
fn sprt_stops_early() {
    let sandbox = Sandbox::new();
    let run = ["match", "heuristic@2", "random", "--games", "2000", "--sprt", "0,50"];
    let found = sandbox.json(&run);
    assert!(number(&found, "games") < 2000.0 && found["complete"] == true, "{found}");
    let keys = ["elo0", "elo1", "alpha", "beta", "llr", "lower", "upper", "result"];
    has_keys(&found["sprt"], &keys);
    assert_eq!(found["sprt"]["result"], "H1");
    assert_eq!(found["sprt"]["alpha"], 0.05);
    assert!(sandbox.ok(&run).contains("SPRT: H1 accepted (LLR "));
    let found =
        sandbox.json(&["match", "random", "heuristic@2", "--games", "2000", "--sprt", "-50,0"]);
    assert_eq!(found["sprt"]["result"], "H0");
    let found = sandbox.json(&["match", "random", "heuristic", "--games", "2", "--sprt", "-1,1"]);
    assert_eq!(found["sprt"]["result"], "undecided");
    for bad in ["5", "10,0", "0,0", "nan,1", "0,inf", "a,b", "0,1,2"] {
        let message = sandbox.rejected(&["match", "random", "heuristic", "--sprt", bad]);
        assert!(message.contains("--sprt") || message.contains("SPRT"), "{bad}: {message}");
    }
    // Smaller error rates need more games, and the command of the report has them.
    let strict = ["--alpha", "0.001", "--beta", "0.002", "--out", "strict"];
    let slow = sandbox.json(&[&run[..], &strict].concat());
    assert_eq!((&slow["sprt"]["alpha"], &slow["sprt"]["beta"]), (&json!(0.001), &json!(0.002)));
    assert!(sandbox.text("strict/report.html").contains("--alpha 0.001 --beta 0.002"));
    let alone = sandbox.rejected(&["match", "random", "heuristic", "--alpha", "0.01"]);
    assert!(alone.contains("--sprt"), "{alone}");
    let wrong =
        sandbox.rejected(&["match", "random", "heuristic", "--sprt", "0,1", "--beta", "0.9"]);
    assert!(wrong.contains("0.9"), "{wrong}");
}

#[test]
fn matches_and_leagues_of_other_games() {
    for (game, model) in [("checkers", "material"), ("othello6", "corners")] {
        let sandbox = Sandbox::new();
        let deep = format!("{model}@4");
        let found = sandbox.json(&["match", &deep, "random", "--game", game, "--games", "20"]);
        assert!(number(&found, "score") > 0.8, "{found}");
        let options = ["--count", "5", "--ply", "4", "--simulations", "20", "--to", "o.txt"];
        sandbox.ok(&[&["openings", "--game", game][..], &options].concat());
        let searching = format!("{model}@2");
        let players = ["league", model, "random", &searching];
        let found =
            sandbox.json(&[&players[..], &["--game", game, "--openings", "o.txt"]].concat());
        assert_eq!(found["players"][0]["games"], 20);
        assert_eq!(found["players"][0]["name"], *searching);
    }
}

#[test]
fn generated_openings_are_distinct_and_playable() {
    let sandbox = Sandbox::new();
    let found = sandbox.json(&["openings", "--count", "30", "--ply", "6", "--simulations", "60"]);
    assert_eq!(found["openings"], 30);
    let file = found["file"].as_str().unwrap();
    let text = sandbox.text(file);
    assert_eq!(text.lines().collect::<HashSet<_>>().len(), 30);
    for line in text.lines() {
        let discs = line.chars().take(64).filter(|cell| matches!(cell, 'X' | 'O')).count();
        assert_eq!(discs, 10, "four discs and six plies: {line}");
    }
    assert_eq!(sandbox.json(&["match", "heuristic", "random", "--openings", file])["games"], 60);
    // One ply gives only four positions.
    let ran = sandbox.run(&["openings", "--count", "5", "--ply", "1", "--simulations", "1"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    sandbox::assert_clear(&ran.err);
    assert!(ran.err.contains("only 4 distinct positions"), "{}", ran.err);
}

#[test]
fn all_forms_of_players_are_accepted() {
    let sandbox = Sandbox::new();
    sandbox.write("my counter.wpc", "1 ".repeat(64));
    for player in [
        "heuristic@2",
        "heuristic@1e6",
        "random@mcts5",
        "heuristic@mcts5",
        "heuristic?noise=0.5",
        "heuristic@2?noise=0.5&random=0.5",
        "heuristic?plies=30-60&with=yoshioka@2",
        "my counter.wpc",
        "my counter.wpc@2?view=invert",
        "./my counter.wpc?name=it",
    ] {
        let found = sandbox.json(&["match", player, "random?name=other", "--games", "2"]);
        assert_eq!(found["games"], 2, "{player}");
        assert_eq!(found["forfeits"], json!([]), "{player}");
    }
}

#[test]
#[cfg(unix)]
fn an_interrupted_match_saves_its_games() {
    let sandbox = Sandbox::new();
    // More games than can be played in the time of the test.
    let run = "match heuristic@4 yoshioka@4 --games 1000000 --random 0.1 --out run --json";
    let child = std::process::Command::new(PROGRAM)
        .args(run.split(' '))
        .current_dir(sandbox.path())
        .env_remove("OUTFLANK_DATA")
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while !sandbox.exists("run/games.tsv") || sandbox.read("run/games.tsv").is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    // Twice at once, as `timeout` does, which signals a program and its group.
    let id = child.id().to_string();
    let twice = ["-c", "kill -INT $0; kill -INT $0", &id];
    assert!(std::process::Command::new("sh").args(twice).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["complete"], false);
    let games = sandbox.text("run/games.tsv").lines().count();
    assert_eq!(found["games"], games as u64);
    assert!(sandbox.exists("run/report.html"));
}

/// Embedded models can be written to files and play the same.
#[test]
fn embedded_models_can_be_written_to_files() {
    let sandbox = Sandbox::new();
    for (name, file, weights) in [
        ("heuristic", "h.wpc", 192),
        ("ann", "a.safetensors", 6849),
        ("experts", "e.onnx", 4_431_420),
    ] {
        let found = sandbox.json(&["players", "--model", name, "--to", file]);
        assert_eq!((&found["model"], &found["weights"]), (&name.into(), &weights.into()));
        let again = sandbox.rejected(&["players", "--model", name, "--to", file]);
        assert!(again.contains(file) && again.contains("--to"), "{again}");
    }
    // A model against its own copy: each pair of games has one point for either.
    let shared = ["match", "a.safetensors", "ann", "--games", "4", "--random", "0.1"];
    assert_eq!(sandbox.json(&shared)["score"], 0.5);
    // Four bytes per weight.
    assert!(std::fs::metadata(sandbox.path().join("e.onnx")).unwrap().len() > 4 * 4_400_000);
    for (name, file, reason) in [
        ("expert", "x.onnx", "did you mean 'experts'?"),
        ("champion", "x.onnx", "only policy networks"),
        ("cnn", "x.player", ".safetensors or .onnx"),
        ("cnn", "x.doc", ".safetensors, .onnx, .player or .wpc"),
        ("gp", "x.safetensors", "named features"),
        ("missing.player", "x.wpc", "missing.player"),
    ] {
        let message = sandbox.rejected(&["players", "--model", name, "--to", file]);
        assert!(message.contains(reason), "{message}");
        assert!(!sandbox.path().join(file).exists());
    }
}
