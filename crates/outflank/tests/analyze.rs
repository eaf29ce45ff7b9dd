//! `outflank analyze` and `outflank engine`.

#[path = "support/sandbox.rs"]
mod sandbox;

use sandbox::{PROGRAM, Sandbox, has_keys};
use serde_json::json;

/// The shortest known game, nine moves: all discs are Black's at the end.
const SHORTEST: &str = "e6f4e3f6g5d6e7f5c5";

#[test]
fn every_move_of_a_game_is_analyzed() {
    let sandbox = Sandbox::new();
    let moves = "f5d6c3d3c4f4f6g5e3f3g3";
    let found = sandbox.json(&["analyze", moves, "--depth", "3", "--model", "heuristic"]);
    let game = &found["games"][0];
    has_keys(game, &["source", "index", "moves"]);
    let seen = game["moves"].as_array().unwrap();
    assert_eq!(seen.len(), moves.len() / 2);
    for (place, one) in seen.iter().enumerate() {
        let keys =
            ["ply", "side", "played", "best", "loss", "exact", "depth", "selectivity", "grade"];
        has_keys(one, &keys);
        assert_eq!(one["ply"], json!(place + 1));
        assert_eq!(one["played"], json!(&moves[2 * place..2 * place + 2]));
        let loss = one["loss"].as_f64().unwrap();
        assert!(loss >= 0.0);
        let best = one["best"].as_array().unwrap();
        assert!(!best.is_empty());
        if best.contains(&one["played"]) {
            assert_eq!(loss, 0.0);
        }
    }
    assert_eq!(seen[0]["side"], "black");
    assert_eq!(seen[1]["side"], "white");
    // The four first moves are symmetric, so they count as one. About 67% of the experts reply d6, and 1%
    // reply f4.
    assert_eq!(seen[0]["best"], json!(["f5"]));
    let experts = |ply: usize, key: &str| seen[ply]["experts"][key].clone();
    assert_eq!(experts(0, "most_likely"), "f5");
    assert!((experts(0, "probability").as_f64().unwrap() - 1.0).abs() < 1e-9);
    assert_eq!(
        (experts(1, "most_likely"), experts(1, "probability")),
        (json!("d6"), experts(1, "played_probability"))
    );
    let probability = experts(1, "probability").as_f64().unwrap();
    assert!((probability - 0.654).abs() < 0.1, "{probability}");
    let rare = sandbox.json(&["analyze", "f5f4", "--depth", "1", "--model", "heuristic"]);
    let rare = &rare["games"][0]["moves"][1]["experts"];
    assert_eq!(rare["most_likely"], "d6");
    assert!(rare["played_probability"].as_f64().unwrap() < 0.05, "{rare}");
    // The result does not depend on the number of threads.
    let one = ["analyze", moves, "--depth", "3", "--model", "heuristic", "--threads", "1"];
    assert_eq!(sandbox.json(&one), found);
}

/// The default search gives the same values on any number of threads, whether a game is analyzed alone, in
/// passes, or with others; it states depth and pruning.
#[test]
fn the_selective_analysis_is_deterministic_and_graded() {
    let sandbox = Sandbox::new();
    let moves = "f5d6c3d3c4f4f6g5e3f3g3";
    let found = sandbox.json(&["analyze", moves, "--depth", "5"]);
    let seen = found["games"][0]["moves"].as_array().unwrap().clone();
    assert_eq!(seen.len(), moves.len() / 2);
    for one in &seen {
        assert_eq!((&one["depth"], &one["selectivity"]), (&json!(5), &json!(1.5)), "{one}");
        let (loss, grade) = (one["loss"].as_f64().unwrap(), one["grade"].as_str().unwrap());
        assert_eq!(loss >= 2.0, ["inaccuracy", "mistake", "blunder"].contains(&grade), "{one}");
    }
    assert_eq!(sandbox.json(&["analyze", moves, "--depth", "5", "--threads", "1"]), found);
    sandbox.write("two.txt", format!("{moves}\nf5\n"));
    let both = sandbox.json(&["analyze", "two.txt", "--depth", "5"]);
    assert_eq!(both["games"][0]["moves"], json!(seen));
    let text = sandbox.ok(&["analyze", moves, "--depth", "2"]);
    assert!(text.contains("% of") && text.contains("discs lost per move"), "{text}");
    // Numbers and PGN are read.
    let numbered = sandbox.json(&["analyze", "1. f5 d6 2. c3 d3", "--depth", "2"]);
    sandbox.write("game.pgn", "[White \"Ben\"]\n\n1. f5 d6 2. c3 d3 *\n");
    let pgn = sandbox.json(&["analyze", "game.pgn", "--depth", "2"]);
    assert_eq!(pgn["games"][0]["moves"], numbered["games"][0]["moves"]);
}

/// The profile of a player has the moves of that player only, in both colors.
#[test]
fn a_profile_sums_the_losses_of_a_player() {
    let sandbox = Sandbox::new();
    let game = |black: &str, white: &str, moves: &str| {
        format!("[Black \"{black}\"]\n[White \"{white}\"]\n\n{moves} *\n\n")
    };
    sandbox.write(
        "games.pgn",
        game("Ada", "Ben", "1. e6 f4 2. e3 f6 3. g5 d6 4. e7 f5 5. c5")
            + &game("Ben", "Ada", "1. f5 d6 2. c3 d3 3. c4 f4")
            + &game("Ben", "Cleo", "1. f5 f6"),
    );
    let found = sandbox.json(&["analyze", "games.pgn", "--by", "ada", "--depth", "4"]);
    let games = found["games"].as_array().unwrap();
    assert_eq!(games.len(), 2);
    let profile = &found["profile"];
    assert_eq!(profile["games"], 2);
    let own = |game: usize, side: &str| -> Vec<f64> {
        let moves = games[game]["moves"].as_array().unwrap().iter();
        // The first move has no choice, up to symmetry.
        let moves = moves.filter(|one| one["side"] == side && one["ply"] != 1);
        moves.map(|one| one["loss"].as_f64().unwrap()).collect()
    };
    let own = [own(0, "black"), own(1, "white")].concat();
    let choices = profile["all"]["choices"].as_u64().unwrap() as usize;
    assert!(choices > 0 && choices <= own.len(), "{profile}");
    let total = profile["all"]["mean_loss"].as_f64().unwrap() * choices as f64;
    assert!((total - own.iter().sum::<f64>()).abs() < 1e-6, "{profile}");
    assert_eq!(profile["stages"][0]["losses"], profile["all"]);
    assert!(profile["opponents"]["choices"].as_u64().unwrap() > 0);
    let text = sandbox.ok(&["analyze", "games.pgn", "--by", "ada", "--depth", "2"]);
    assert!(text.contains("ada: 2 games") && text.contains("opponents"), "{text}");
}

/// White's last move loses all its discs.
#[test]
fn a_blunder_is_found_and_reports_are_written() {
    let sandbox = Sandbox::new();
    let found = sandbox.json(&["analyze", SHORTEST, "--depth", "4", "--model", "heuristic"]);
    let seen = found["games"][0]["moves"].as_array().unwrap();
    let last = &seen[8];
    assert_eq!((&last["played"], &last["side"]), (&json!("c5"), &json!("black")));
    assert_eq!(last["best"], json!(["c5"]));
    // Black has 13 discs then and White none.
    assert!(seen[7]["loss"].as_f64().unwrap() > 10.0, "{}", seen[7]);
    sandbox.write("two.txt", format!("{SHORTEST}\nf5d6c3\n"));
    let text = sandbox.ok(&["analyze", "two.txt", "--depth", "2", "--to", "x.md"]);
    assert!(text.contains("two.txt game 1") && text.contains("two.txt game 2"), "{text}");
    assert!(sandbox.text("x.md").contains("| 9 | black | c5 |"));
    // A game from a folder is reported with its file and its number in the file.
    std::fs::create_dir(sandbox.file("games")).unwrap();
    sandbox.write("games/a.txt", "f5f6e6\n");
    sandbox.write("games/b.txt", format!("f5d6c3\n{SHORTEST}\n"));
    let found = sandbox.json(&["analyze", "games", "--depth", "1", "--sample", "2"]);
    let games = found["games"].as_array().unwrap();
    assert_eq!(games.len(), 2);
    for game in games {
        let first: String = game["moves"].as_array().unwrap()[..3]
            .iter()
            .map(|seen| seen["played"].as_str().unwrap())
            .collect();
        let (file, index) = match first.as_str() {
            "f5f6e6" => ("games/a.txt", 1),
            "f5d6c3" => ("games/b.txt", 1),
            _ => ("games/b.txt", 2),
        };
        assert_eq!((&game["source"], &game["index"]), (&json!(file), &json!(index)));
    }
    sandbox.ok(&["analyze", SHORTEST, "--depth", "2", "--to", "x.html"]);
    assert!(sandbox.text("x.html").contains("</svg>"));
}

/// The heuristic with all weights multiplied by a factor.
fn heuristic_times(factor: f32) -> String {
    let weights = outflank_models::embedded::HEURISTIC.map(|weight| (factor * weight).to_string());
    weights.join(" ") + "\n"
}

/// A scaled model has the same values in discs.
#[test]
fn losses_do_not_depend_on_the_scale_of_a_model() {
    let sandbox = Sandbox::new();
    let moves = "f5d6c3d3c4f4f6g5e3f3g3";
    let analyze = |model: &str| {
        let found = sandbox.json(&["analyze", moves, "--depth", "3", "--model", model]);
        found["games"][0]["moves"].as_array().unwrap().clone()
    };
    let whole = analyze("heuristic");
    assert!(whole.iter().any(|seen| seen["loss"].as_f64().unwrap() > 1.0));
    for factor in [64.0, 0.125] {
        sandbox.write("other.wpc", heuristic_times(factor));
        for (one, other) in whole.iter().zip(analyze("other.wpc")) {
            assert_eq!(one["best"], other["best"]);
            for key in ["loss", "value"] {
                let (one, other) = (one[key].as_f64().unwrap(), other[key].as_f64().unwrap());
                assert!((one - other).abs() < 1e-3, "{key} {one} {other}");
            }
        }
    }
}

/// The values of a model with reversed sign have no meaning in discs.
#[test]
fn values_without_correlation_are_not_converted_to_discs() {
    let sandbox = Sandbox::new();
    sandbox.write("wrong.wpc", heuristic_times(-1.0));
    let arguments = ["analyze", SHORTEST, "--depth", "2", "--model", "wrong.wpc"];
    let found = sandbox.json(&arguments);
    let seen = found["games"][0]["moves"].as_array().unwrap();
    for one in seen {
        has_keys(one, &["ply", "side", "played", "best", "loss", "exact"]);
        assert!(!one["best"].as_array().unwrap().is_empty());
    }
    assert!(seen[..5].iter().all(|one| one["value"].is_null()));
    assert!(seen[..5].iter().any(|one| one["loss"].is_null()));
    // The end is exact and needs no model: Black has 13 discs and the empty squares, White has none.
    assert_eq!((&seen[8]["value"], &seen[8]["loss"]), (&json!(64.0), &json!(0.0)));
    let text = sandbox.ok(&arguments);
    assert!(text.contains("no meaning in discs"), "{text}");
    assert!(text.lines().any(|line| line.contains("white") && line.contains('?')), "{text}");
}

#[test]
fn wrong_inputs_are_errors() {
    let sandbox = Sandbox::new();
    sandbox.write("bad.txt", "f5d6\nf5a1\n");
    for (arguments, part) in [
        (&["analyze", "f5a1"][..], "a1"),
        (&["analyze", "hello"], "neither a file nor a game"),
        (&["analyze", "bad.txt"], "bad.txt"),
        (&["analyze", "f5", "--to", "x.pdf"], ".md or .html"),
        (&["analyze", "f5", "--to", "none/x.md"], "none"),
        (&["analyze", "f5", "--model", "random"], "evaluates positions"),
        (&["analyze", "f5", "--model", "heuristic@3"], "--depth"),
        (&["analyze", "f5", "--cut", "-1"], "--cut"),
        (&["analyze"], "GAME|FILE"),
        (&["engine"], "--protocol"),
        (&["engine", "--protocol", "gtp", "--player", "nobody"], "nobody"),
    ] {
        let message = sandbox.rejected(arguments);
        assert!(message.contains(part), "{arguments:?}: {message}");
    }
}

/// A player served over NBoard or GTP, and played through the engine client, plays the same games as
/// the player itself.
#[test]
fn served_players_play_the_same_games() {
    let sandbox = Sandbox::new();
    let direct = sandbox.json(&["match", "heuristic@2?name=me", "heuristic", "--games", "2"]);
    for protocol in ["gtp", "nboard"] {
        let command = format!("{protocol}:{PROGRAM} engine --player heuristic@2");
        let player = format!("{command} --protocol {protocol}?name=me");
        let served = sandbox.json(&["match", &player, "heuristic", "--games", "2"]);
        assert_eq!(served["forfeits"], json!([]), "{served}");
        for key in ["games", "wins", "draws", "losses"] {
            assert_eq!(served[key], direct[key], "{protocol} {key}");
        }
    }
}
