//! `outflank perft` and `outflank players`.

#[path = "support/sandbox.rs"]
mod sandbox;

use sandbox::{Sandbox, has_keys, keys};
use serde_json::json;

/// Published counts of leaves by depth; a pass is a ply.
const OTHELLO: [u64; 9] = [4, 12, 56, 244, 1396, 8200, 55092, 390_216, 3_005_288];
/// The first plies on 6x6 squares do not reach the edge, so their counts are those of 8x8.
const OTHELLO6: [u64; 4] = [4, 12, 56, 244];
const CHECKERS: [u64; 8] = [7, 49, 302, 1469, 7361, 36768, 179_740, 845_931];

#[test]
fn plain_output_is_the_number_alone() {
    let sandbox = Sandbox::new();
    for (game, counts) in
        [("othello", &OTHELLO[..]), ("othello6", &OTHELLO6[..]), ("checkers", &CHECKERS[..])]
    {
        for (i, count) in counts.iter().enumerate() {
            let depth = (i + 1).to_string();
            assert_eq!(sandbox.ok(&["perft", &depth, "--game", game]), format!("{count}\n"));
        }
    }
    assert_eq!(sandbox.ok(&["perft", "0"]), "1\n");
    assert_eq!(sandbox.ok(&["perft", "3"]), "56\n");
}

#[test]
fn json_has_the_documented_keys() {
    let sandbox = Sandbox::new();
    let found = sandbox.json(&["perft", "5", "--game", "checkers"]);
    assert_eq!(found, json!({ "game": "checkers", "depth": 5, "leaves": 7361 }));
}

#[test]
fn the_root_position_can_be_set() {
    let sandbox = Sandbox::new();
    let start = "---------------------------OX------XO--------------------------- X";
    assert_eq!(sandbox.ok(&["perft", "6", "--board", start]), "8200\n");
    // White has the mirrored moves.
    let white = start.replace(" X", " O");
    assert_eq!(sandbox.ok(&["perft", "6", "--board", &white]), "8200\n");
    let men = |from: u32| (from..from + 12).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let start = format!("B:W{}:B{}", men(21), men(1));
    assert_eq!(sandbox.ok(&["perft", "4", "--board", &start, "--game", "checkers"]), "1469\n");
}

#[test]
fn wrong_inputs_are_errors() {
    let sandbox = Sandbox::new();
    for (arguments, part) in [
        (&["perft"][..], "<DEPTH>"),
        (&["perft", "21"], "21 is not in 0..=20"),
        (&["perft", "-1"], "-1"),
        (&["perft", "many"], "invalid digit"),
        (&["perft", "3", "--game", "chess"], "othello, checkers, othello6"),
        (&["perft", "3", "--board", "XO"], "--board: "),
        (&["perft", "3", "--board", "B:W:B99", "--game", "checkers"], "--board: "),
    ] {
        let message = sandbox.rejected(arguments);
        assert!(message.contains(part), "{arguments:?}: {message}");
    }
}

#[test]
fn every_listed_player_can_play() {
    let sandbox = Sandbox::new();
    let all = sandbox.json(&["players"]);
    for game in ["othello", "checkers", "othello6"] {
        let listed = sandbox.json(&["players", "--game", game]);
        let players = listed["players"].as_array().unwrap();
        assert!(players.len() >= 2);
        for player in players {
            has_keys(player, &["name", "kind", "rating", "error"]);
            assert!(all["players"].as_array().unwrap().contains(player));
            let rated = player["rating"].is_number();
            assert_eq!(rated, player["error"].is_number(), "a rating has an error: {player}");
        }
        let names: Vec<&str> =
            players.iter().map(|player| player["name"].as_str().unwrap()).collect();
        assert!(names.contains(&"random"));
        // Only players without search, which are fast.
        let quick: Vec<&str> = names.iter().copied().filter(|name| !name.contains('@')).collect();
        let table =
            sandbox.json(&[&["league", "--game", game, "--games", "2"][..], &quick].concat());
        assert_eq!(table["players"].as_array().unwrap().len(), quick.len());
    }
    assert_eq!(keys(&all), ["players"]);
    let text = sandbox.ok(&["players"]);
    assert!(text.contains("heuristic") && text.contains("material"), "{text}");
}

/// The configurations of the rating leagues are valid. Playing them takes hours, so an odd number of games,
/// which is checked last, stops the command.
#[test]
fn the_configurations_of_the_rating_leagues_are_valid() {
    let sandbox = Sandbox::new();
    for game in ["othello", "checkers", "othello6"] {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../players/data/");
        let file = format!("{folder}{game}.toml");
        let message =
            sandbox.rejected(&["league", "--config", &file, "--openings", "start", "--games", "3"]);
        assert!(message.contains("even number"), "{message}");
    }
}
