//! The counts in the results of training runs, compared with counts of exported decisions.

#[path = "support/sandbox.rs"]
mod sandbox;

use sandbox::Sandbox;
use serde_json::Value;
use std::collections::HashSet;

/// A decision of a CSV export: the side, the board, the move and the number of legal moves.
struct Row {
    side: String,
    board: String,
    square: usize,
    legal: usize,
}

/// Random games of 2001, to train on, and of 2010, to test on.
fn games() -> Sandbox {
    let sandbox = Sandbox::new();
    for (file, seed, count, year) in [("a.ggf", "1", "30", "2001"), ("b.ggf", "2", "10", "2010")] {
        let generate = ["data", "generate", "--player", "random", "--random-plies", "0", "--quiet"];
        let more = ["--games", count, "--seed", seed, "--to", file, "--out", seed];
        sandbox.ok(&[&generate[..], &more].concat());
        let dated =
            sandbox.text(file).replace("(;GM[Othello]", &format!("(;GM[Othello]DT[{year}]"));
        sandbox.write(file, dated);
    }
    sandbox
}

fn decisions(sandbox: &Sandbox, file: &str) -> Vec<Row> {
    sandbox.ok(&["data", "export", file, "--to", "rows.csv"]);
    let text = sandbox.text("rows.csv");
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let square = cells[4].as_bytes();
        Row {
            side: cells[2].to_owned(),
            board: cells[3].to_owned(),
            square: usize::from(square[0] - b'a') + 8 * usize::from(square[1] - b'1'),
            legal: cells[5].parse().unwrap(),
        }
    };
    text.lines().skip(1).map(row).collect()
}

fn train(sandbox: &Sandbox, words: &str, out: &str) -> Value {
    let words: Vec<&str> = words.split(' ').collect();
    sandbox.json(&[&["train"], &words[..], &["--quiet", "--out", out]].concat())
}

/// Batch solvers read each choice once, dual coordinate ascent and online training once per epoch, LSTD
/// every position of the games.
#[test]
fn methods_that_learn_from_games_count_what_they_read() {
    let sandbox = games();
    let (training, test) = (decisions(&sandbox, "a.ggf"), decisions(&sandbox, "b.ggf"));
    let distinct = |rows: &[&Row]| -> HashSet<(String, String)> {
        rows.iter().map(|row| (row.side.clone(), row.board.clone())).collect()
    };
    let all: Vec<&Row> = training.iter().collect();
    let choices: Vec<&Row> = training.iter().filter(|row| row.legal > 1).collect();
    let records = "--records a.ggf b.ggf --test-years 2010 --features 1tuple --match-games 2";
    for (method, rows) in [
        ("ipref", &choices),
        ("classify", &choices),
        ("mm", &choices),
        ("pref --solver dual", &choices),
        ("ipref --solver online --epochs 3", &choices),
        ("lstd", &all),
    ] {
        let found = train(&sandbox, &format!("{method} {records}"), method);
        let positions = distinct(rows);
        let seen = |row: &&Row| positions.contains(&(row.side.clone(), row.board.clone()));
        let overlap = 100.0 * test.iter().filter(seen).count() as f64 / test.len() as f64;
        let epochs = found["epochs"].as_f64();
        let examples = rows.len() as f64 * epochs.unwrap_or(1.0);
        assert_eq!(found["examples_seen"].as_f64(), Some(examples), "{method}: {found}");
        assert_eq!(found["distinct_positions"], positions.len(), "{method}");
        assert_eq!(found["test_overlap"].as_f64(), Some(overlap), "{method}");
        assert_eq!(epochs.is_some(), method.contains(' '), "{method}");
        if method.contains("online") {
            assert_eq!(epochs, Some(3.0));
        }
    }
}

/// The eight symmetries of a square.
fn symmetric(square: usize) -> [usize; 8] {
    let (x, y) = (square % 8, square / 8);
    let (u, v) = (7 - x, 7 - y);
    [(x, y), (u, y), (x, v), (u, v), (y, x), (v, x), (y, u), (v, u)].map(|(x, y)| x + 8 * y)
}

/// The least of the eight symmetric boards, own discs as `+` and the opponent's as `o`, each with the
/// symmetric move.
fn canonical(row: &Row) -> Vec<(String, usize)> {
    let own = if row.side == "black" { 'X' } else { 'O' };
    let mut boards: Vec<(String, usize)> = (0..8)
        .map(|symmetry| {
            let mut board = vec!['-'; 64];
            for (square, cell) in row.board.chars().enumerate().filter(|(_, cell)| *cell != '-') {
                board[symmetric(square)[symmetry]] = if cell == own { '+' } else { 'o' };
            }
            (board.into_iter().collect(), symmetric(row.square)[symmetry])
        })
        .collect();
    boards.sort();
    boards
}

/// A network trained for many epochs has seen every example.
#[test]
fn networks_count_what_they_read() {
    let sandbox = games();
    let (training, test) = (decisions(&sandbox, "a.ggf"), decisions(&sandbox, "b.ggf"));
    let found = train(
        &sandbox,
        "cnn --net fc2x16 --records a.ggf b.ggf --last-year 2005 --epochs 4 --batch-size 64",
        "run",
    );
    let metrics = sandbox.text("run/metrics.csv");
    let step: u64 = metrics.lines().last().unwrap().split(',').next().unwrap().parse().unwrap();
    assert_eq!(found["examples_seen"], 64 * step);
    let positions: HashSet<String> =
        training.iter().map(|row| canonical(row).swap_remove(0).0).collect();
    assert_eq!(found["distinct_positions"], positions.len());
    let examples: HashSet<(String, usize)> =
        training.iter().map(|row| canonical(row).swap_remove(0)).collect();
    let seen = |row: &&Row| examples.contains(&canonical(row)[0]);
    let overlap = 100.0 * test.iter().filter(seen).count() as f64 / test.len() as f64;
    let tests = found["tests"].as_array().unwrap();
    let by_game = tests.iter().find(|test| test["test"] == "games after 2005").unwrap();
    assert_eq!(by_game["count"], test.len(), "{found}");
    let reported = by_game["train_overlap"].as_f64().unwrap();
    assert!((reported - overlap).abs() < 1e-9, "{reported} {overlap}");
}

/// Methods that play count their games, and preference learning its comparisons.
#[test]
fn methods_that_play_count_their_games() {
    let sandbox = Sandbox::new();
    let last = |run: &str| -> Vec<String> {
        let metrics = sandbox.text(&format!("{run}/metrics.csv"));
        metrics.lines().last().unwrap().split(',').map(str::to_owned).collect()
    };
    let found = train(&sandbox, "tdl --games 300 --shape 3x3 --match-games 4", "tdl");
    assert_eq!((&found["games"], &found["examples_seen"]), (&300.into(), &Value::Null));
    assert_eq!(last("tdl")[0], "300");
    // Two heuristics are compared at first, and one with each of three others in a round.
    let gp = "gp --rounds 3 --initial 2 --opponents 3 --depth 1 --match-games 2 --restarts 2 \
              --benchmark-opponents 0 --test-pairs 0";
    let found = train(&sandbox, gp, "gp");
    assert_eq!(found["rounds"], 3);
    let columns = sandbox.text("gp/metrics.csv");
    let at = columns.lines().next().unwrap().split(',').position(|name| name == "comparisons");
    let comparisons: f64 = last("gp")[at.unwrap()].parse().unwrap();
    assert_eq!(found["examples_seen"].as_f64(), Some(comparisons));
}
