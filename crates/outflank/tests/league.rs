//! `outflank league`.

#[path = "support/sandbox.rs"]
mod sandbox;

use sandbox::{Sandbox, has_keys};
use serde_json::{Value, json};

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("no number {key} in {value}"))
}

#[test]
fn the_files_of_a_league_agree() {
    let sandbox = Sandbox::new();
    let found = sandbox.json(&[
        "league",
        "random",
        "heuristic",
        "heuristic@2",
        "yoshioka",
        "--games",
        "20",
        "--random",
        "0.1",
        "--sub-league",
        "1-2",
        "--sub-league",
        "2,3,4",
    ]);
    has_keys(&found, &["players", "table", "distinct_games"]);
    let players = found["players"].as_array().unwrap();
    assert_eq!(players.len(), 4);
    let ratings: Vec<f64> = players.iter().map(|player| number(player, "rating")).collect();
    assert!(ratings.is_sorted_by(|a, b| a >= b), "{ratings:?}");
    assert!((ratings.iter().sum::<f64>() / 4.0 - 1600.0).abs() < 1e-6, "{ratings:?}");
    assert_eq!(
        (&players[0]["name"], &players[3]["name"]),
        (&json!("heuristic@2"), &json!("random"))
    );
    let table: Vec<Vec<f64>> = serde_json::from_value(found["table"].clone()).unwrap();
    for (i, player) in players.iter().enumerate() {
        has_keys(player, &["name", "rating", "error", "points", "games"]);
        assert_eq!(player["games"], 60);
        assert!(number(player, "error") > 0.0);
        assert!((table[i].iter().sum::<f64>() - number(player, "points")).abs() < 1e-9);
        for (j, row) in table.iter().enumerate() {
            assert!((table[i][j] + row[i] - if i == j { 0.0 } else { 20.0 }).abs() < 1e-9);
        }
    }
    let subs = found["sub_leagues"].as_array().unwrap();
    assert_eq!(subs.len(), 2);
    assert_eq!(
        subs[0]["table"][0][1].as_f64().unwrap() + subs[0]["table"][1][0].as_f64().unwrap(),
        20.0
    );
    assert_eq!(subs[1]["players"].as_array().unwrap().len(), 3);

    let mut written: Value =
        serde_json::from_str(&sandbox.text("runs/league-001/result.json")).unwrap();
    written["run"] = json!("runs/league-001");
    assert_eq!(written, found);
    let standings = sandbox.text("runs/league-001/standings.csv");
    assert!(standings.starts_with("rank,player,rating,error,points,games,percent\n1,heuristic@2,"));
    assert!(sandbox.text("runs/league-001/cross-table.csv").contains("\n4,random,"));
    assert!(sandbox.text("runs/league-001/los.csv").contains("\n4,random,"));
    assert_eq!(sandbox.text("runs/league-001/games.pgn").matches("[Event ").count(), 120);
}

#[test]
fn results_do_not_depend_on_player_order() {
    let sandbox = Sandbox::new();
    let league = |players: &[&str]| {
        let mut found =
            sandbox.json(&[&["league", "--games", "20", "--random", "0.1"], players].concat());
        found.as_object_mut().unwrap().remove("run");
        found
    };
    let one = league(&["random", "heuristic", "yoshioka"]);
    assert_eq!(one, league(&["yoshioka", "random", "heuristic"]));
}

#[test]
fn ratings_can_model_draws_and_the_first_move() {
    let sandbox = Sandbox::new();
    let league = |more: &[&str]| {
        let run = ["league", "random", "heuristic", "yoshioka", "--games", "60", "--random", "0.1"];
        sandbox.json(&[&run, more].concat())
    };
    let fitted = league(&["--draw-elo", "fit", "--advantage", "fit"]);
    assert!(fitted["draw_elo"][0].as_f64().unwrap() > 0.0, "{fitted}");
    assert_ne!(fitted["advantage"][1], json!(0.0));
    assert_eq!(league(&["--advantage", "-30"])["advantage"][0], -30.0);
    for (option, bad) in [
        ("--draw-elo", "nan"),
        ("--draw-elo", "-1"),
        ("--draw-elo", "much"),
        ("--advantage", "inf"),
        ("--advantage", "5000"),
    ] {
        let message = sandbox.rejected(&["league", "random", "heuristic", option, bad]);
        assert!(message.contains(option) && message.contains("fit"), "{message}");
    }
    for bad in ["1", "0-2", "2-1", "1-9", "x", ""] {
        let message = sandbox.rejected(&["league", "random", "heuristic", "--sub-league", bad]);
        assert!(message.contains("--sub-league"), "{bad}: {message}");
    }
}
