//! `outflank data`: counts, faults, formats, decisions.

#[path = "support/lab.rs"]
mod lab;

use lab::{Lab, clear, data, has_keys, keys, same};
use serde_json::json;
use std::collections::HashSet;

/// Some games by a player that needs no thought, as WTHOR.
fn games(lab: &Lab, name: &str, count: &str) {
    let generate = ["data", "generate", "--player", "random", "--opening", "0", "--games", count];
    lab.ok(&[&generate[..], &["--to", name, "--out", "generated"]].concat());
    std::fs::remove_dir_all(lab.file("generated")).unwrap();
}

/// A column of an NPY file: its kind and its elements, each of `N` bytes.
fn npy<const N: usize>(bytes: &[u8], kind: &str) -> Vec<[u8; N]> {
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!((10 + length) % 64, 0, "the data are aligned");
    let header = std::str::from_utf8(&bytes[10..10 + length]).unwrap();
    assert!(header.contains(&format!("'descr': '{kind}'")), "{header}");
    assert!(header.contains("'fortran_order': False"), "{header}");
    let data = &bytes[10 + length..];
    assert!(header.contains(&format!("'shape': ({},)", data.len() / N)), "{header}");
    data.as_chunks().0.to_vec()
}

#[test]
fn figures_of_a_few_games_can_be_counted_by_hand() {
    let lab = Lab::new();
    // Both games begin with the same position and move; the others differ.
    lab.write("games.txt", "f5d6c3d3c4\nf5f6e6f4\n");
    let found = lab.json(&["data", "stats", "games.txt"]);
    let figures = ["games", "positions", "unique", "unique_symmetric", "unfinished", "illegal"];
    assert_eq!(figures.map(|key| found[key].as_u64().unwrap()), [2, 9, 8, 64, 2, 0]);
    assert_eq!(found["positions_symmetric"], 72);
    // At the second move one position has two answers: a classifier gets all but one of nine.
    let close = |key: &str, wanted: f64| (found[key].as_f64().unwrap() - wanted).abs() < 1e-9;
    assert!(close("ceiling_positions", 800.0 / 9.0) && close("ceiling_unique", 700.0 / 8.0));
    let text = lab.ok(&["data", "stats", "games.txt"]);
    assert!(text.contains("88.889%"), "{text}");
}

#[test]
fn published_figures_of_the_wthor_base() {
    let Some(data) = data() else { return };
    let lab = Lab::new();
    let folder = data.join("wthor");
    let found = lab.json(&["data", "stats", folder.to_str().unwrap()]);
    let figures = ["games", "positions", "unique", "unique_symmetric", "unfinished", "illegal"];
    assert_eq!(
        figures.map(|key| found[key].as_u64().unwrap()),
        [114_871, 6_874_503, 4_880_413, 39_019_056, 433, 0]
    );
    // With all images: the paper's Original-S.
    assert_eq!(found["positions_symmetric"], 54_996_024);
    let rounded = |key: &str| format!("{:.3}", found[key].as_f64().unwrap());
    assert_eq!(rounded("ceiling_positions"), "91.616");
    assert_eq!(rounded("ceiling_unique"), "97.494");
    let found = lab.json(&["data", "check", folder.to_str().unwrap()]);
    assert_eq!((&found["files"], &found["games"]), (&json!(39), &json!(114_871)));
    assert_eq!(found["bad"], json!([]));
}

#[test]
fn check_lists_every_bad_game_and_goes_on() {
    let lab = Lab::new();
    lab.write("bad.txt", "f5d6c3\nf5a1\nf5f6e6\nzz\n");
    games(&lab, "good.wtb", "3");
    let mut bytes = lab.read("good.wtb");
    bytes[16 + 68 + 8] = 99;
    lab.write("hurt.wtb", &bytes);
    lab.write("cut.wtb", &bytes[..200]);

    let files = ["data", "check", "bad.txt", "cut.wtb", "good.wtb", "hurt.wtb"];
    let ran = lab.run(&[&files[..], &["--json"]].concat());
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    let found: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    has_keys(&found, &["files", "games", "bad"]);
    assert_eq!(found["files"], 4);
    let bad: Vec<(&str, u64, u64)> = found["bad"]
        .as_array()
        .unwrap()
        .iter()
        .map(|bad| {
            assert_eq!(keys(bad), ["byte", "error", "file", "index"]);
            let number = |key: &str| bad[key].as_u64().unwrap();
            (bad["file"].as_str().unwrap(), number("index"), number("byte"))
        })
        .collect();
    for wanted in [("bad.txt", 2, 7), ("bad.txt", 4, 19), ("cut.wtb", 0, 4), ("hurt.wtb", 2, 84)] {
        assert!(bad.contains(&wanted), "{wanted:?} in {bad:?}");
    }
    let text = lab.run(&files);
    assert_eq!(text.code, 1);
    assert!(
        text.out.contains("bad.txt: game 2 at byte 7: move 2: a1 is not legal"),
        "{}",
        text.out
    );

    let good = lab.json(&["data", "check", "good.wtb"]);
    assert_eq!((&good["games"], &good["bad"]), (&json!(3), &json!([])));
    // Statistics leave a bad game out and say so; whoever uses the games is told to look first.
    assert_eq!(lab.json(&["data", "stats", "bad.txt"])["illegal"], 2);
    let message = lab.refused(&["data", "convert", "hurt.wtb", "--to", "x.txt"]);
    assert!(message.contains("hurt.wtb: game 2 at byte 84") && message.contains("data check"));
}

#[test]
fn formats_turn_into_each_other_and_back() {
    let lab = Lab::new();
    games(&lab, "a.wtb", "40");
    let convert = |from: &str, to: &str| lab.json(&["data", "convert", from, "--to", to]);
    assert_eq!(convert("a.wtb", "b.ggf")["games"], 40);
    convert("b.ggf", "c.txt");
    convert("c.txt", "d.wtb");
    convert("d.wtb", "e.txt");
    convert("a.wtb", "f.txt");
    assert_eq!(lab.text("c.txt").lines().count(), 40);
    assert_eq!(lab.read("c.txt"), lab.read("e.txt"), "through every format");
    assert_eq!(lab.read("c.txt"), lab.read("f.txt"), "and straight");
    let moves = |name: &str| -> Vec<Vec<u8>> {
        lab.read(name)[16..].chunks(68).map(|record| record[8..].to_vec()).collect()
    };
    assert_eq!(moves("a.wtb"), moves("d.wtb"));
    // Between WTHOR and GGF nothing is lost: players, tournament and result come back too.
    convert("b.ggf", "g.wtb");
    assert!(lab.read("g.wtb")[16..] == lab.read("a.wtb")[16..]);
    assert_eq!(lab.read("g.JOU"), lab.read("a.JOU"));
    assert_eq!(lab.read("g.TRN"), lab.read("a.TRN"));

    let pgn = convert("a.wtb", "h.pgn");
    assert_eq!(pgn["format"], "pgn");
    assert_eq!(lab.text("h.pgn").matches("[Result ").count(), 40);
    // The format can be said where the name does not.
    lab.ok(&["data", "convert", "a.wtb", "--to", "games", "--format", "transcript"]);
    assert_eq!(lab.read("games"), lab.read("c.txt"));
    assert_eq!(lab.json(&["data", "stats", "games"])["games"], 40);

    // Bare positions have formats of their own.
    lab.write("x.boards", "---------------------------OX------XO--------------------------- X\n");
    convert("x.boards", "x.obf");
    convert("x.obf", "y.boards");
    assert!(lab.text("y.boards").starts_with("---------------------------OX------XO"));
}

#[test]
fn what_a_format_cannot_hold_is_said() {
    let lab = Lab::new();
    games(&lab, "a.wtb", "2");
    let found = lab.json(&["data", "convert", "a.wtb", "--to", "b.txt"]);
    let lost = found["lost"].as_array().unwrap();
    assert!(lost.iter().any(|loss| loss["what"] == "players" && loss["games"] == 2), "{found}");
    let message = lab.refused(&["data", "convert", "a.wtb", "--to", "c.obf"]);
    assert!(message.contains("store only positions"), "{message}");
    assert!(lab.refused(&["data", "convert", "a.wtb", "--to", "c.xyz"]).contains("--format"));
}

#[test]
fn games_are_chosen_by_player_year_and_chance() {
    let lab = Lab::new();
    let game = |date: &str, black: &str, event: &str, moves: &str| {
        let board = "BO[8 ---------------------------O*------*O--------------------------- *]";
        format!("(;GM[Othello]PC[{event}]DT[{date}]PB[{black}]PW[Ada]TY[8]{board}{moves};)\n")
    };
    let file = [
        game("1999.02.03", "Bob", "Cup", "B[f5]W[d6]B[c3]"),
        game("2004.02.03", "Bob", "Open", "B[f5]W[f6]"),
        game("2005.02.03", "Eve", "Cup", "B[f5]W[d6]"),
    ];
    lab.write("games.ggf", file.concat());
    let count = |more: &[&str]| {
        let convert = ["data", "convert", "games.ggf", "--to", "x.txt"];
        lab.json(&[&convert, more].concat())["games"].as_u64().unwrap()
    };
    assert_eq!(count(&[]), 3);
    assert_eq!(count(&["--by", "bob"]), 2);
    assert_eq!(count(&["--by", "=Ada"]), 3);
    assert_eq!(count(&["--years", "2004"]), 1);
    assert_eq!(count(&["--years", "1999-2004", "--tournament", "cup"]), 1);
    assert_eq!(count(&["--sample", "2"]), 2);
    // Only the moves of the player are his decisions.
    let export = ["data", "export", "games.ggf", "--to", "x.csv", "--by", "bob"];
    assert_eq!(lab.json(&export)["parts"][0]["decisions"], 3);
    let message = lab.refused(&["data", "convert", "games.ggf", "--to", "y.txt", "--by", "Zed"]);
    assert!(message.contains("none of the 3 games") && message.contains("Zed"), "{message}");
}

#[test]
fn a_sample_is_drawn_by_the_seed() {
    let lab = Lab::new();
    games(&lab, "a.wtb", "50");
    let sample = |seed: &str, threads: &str| -> HashSet<String> {
        let convert = ["data", "convert", "a.wtb", "--to", "s.txt", "--sample", "10"];
        lab.ok(&[&convert[..], &["--seed", seed, "--threads", threads]].concat());
        lab.text("s.txt").lines().map(str::to_owned).collect()
    };
    let first = sample("1", "1");
    assert_eq!(first.len(), 10);
    assert_eq!(first, sample("1", "2"));
    assert_ne!(first, sample("2", "1"));
}

#[test]
fn decisions_are_exported_for_other_programs() {
    let lab = Lab::new();
    games(&lab, "a.wtb", "20");
    let stats = lab.json(&["data", "stats", "a.wtb"]);
    let export = |to: &str, more: &[&str]| -> Vec<u64> {
        let found = lab.json(&[&["data", "export", "a.wtb", "--to", to], more].concat());
        let parts = found["parts"].as_array().unwrap();
        parts.iter().map(|part| part["decisions"].as_u64().unwrap()).collect()
    };
    let all = export("all.csv", &[])[0];
    assert_eq!(all, stats["positions"].as_u64().unwrap());
    assert_eq!(export("choices.csv", &["--choices"])[0], all - stats["forced"].as_u64().unwrap());
    assert_eq!(export("unique", &["--unique"])[0], stats["unique"].as_u64().unwrap());
    let symmetric = export("symmetric", &["--unique", "--symmetric"])[0];
    assert_eq!(symmetric, stats["unique_symmetric"].as_u64().unwrap());

    // The arrays hold what the table holds.
    export("all", &[]);
    let own = npy::<8>(&lab.read("all/own.npy"), "<u8");
    let other = npy::<8>(&lab.read("all/other.npy"), "<u8");
    let chosen = npy::<1>(&lab.read("all/move.npy"), "|u1");
    let side = npy::<1>(&lab.read("all/side.npy"), "|u1");
    let table = lab.text("all.csv");
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("game,ply,side,board,move,legal,chosen"));
    for (i, line) in lines.enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        let black = side[i] == [0];
        assert_eq!(cells[2], if black { "black" } else { "white" });
        let discs = |sign: char| -> u64 {
            let bits = cells[3].char_indices().filter(|&(_, cell)| cell == sign);
            bits.map(|(square, _)| 1 << square).sum()
        };
        let (mine, yours) = if black { ('X', 'O') } else { ('O', 'X') };
        assert_eq!(u64::from_le_bytes(own[i]), discs(mine));
        assert_eq!(u64::from_le_bytes(other[i]), discs(yours));
        let square = usize::from(chosen[i][0]);
        let name = format!("{}{}", char::from(b'a' + (square % 8) as u8), square / 8 + 1);
        assert_eq!(cells[4], name);
    }
    assert_eq!(own.len() as u64, all);
}

#[test]
fn splits_share_no_game_and_repeat_by_seed() {
    let lab = Lab::new();
    games(&lab, "a.wtb", "20");
    let export = |to: &str, more: &[&str]| -> Vec<u64> {
        let found = lab.json(&[&["data", "export", "a.wtb", "--to", to], more].concat());
        let parts = found["parts"].as_array().unwrap();
        parts.iter().map(|part| part["decisions"].as_u64().unwrap()).collect()
    };
    let all = export("all.csv", &[])[0];
    for split in ["game", "example"] {
        let sizes = export("split", &["--split", split, "--test", "0.5"]);
        assert_eq!(sizes.iter().sum::<u64>(), all);
        let first = lab.tree("split");
        std::fs::remove_dir_all(lab.file("split")).unwrap();
        export("split", &["--split", split, "--test", "0.5", "--threads", "1"]);
        same(&lab.tree("split"), &first);
        let games = |part: &str| -> HashSet<[u8; 4]> {
            npy(&lab.read(&format!("split/{part}/game.npy")), "<u4").into_iter().collect()
        };
        let shared = games("train").intersection(&games("test")).count();
        assert_eq!(shared == 0, split == "game");
        std::fs::remove_dir_all(lab.file("split")).unwrap();
    }
    export("part.csv", &["--split", "game"]);
    assert!(lab.exists("part-train.csv") && lab.exists("part-test.csv"));
}

#[test]
fn generated_games_are_whole_and_different() {
    let lab = Lab::new();
    let found = lab.json(&[
        "data",
        "generate",
        "--to",
        "g.txt",
        "--player",
        "heuristic@2",
        "--games",
        "30",
        "--opening",
        "6",
    ]);
    assert_eq!((&found["games"], &found["file"]), (&json!(30), &json!("g.txt")));
    let text = lab.text("g.txt");
    assert_eq!(text.lines().collect::<HashSet<_>>().len(), 30);
    let stats = lab.json(&["data", "stats", "g.txt"]);
    assert_eq!((&stats["games"], &stats["unfinished"]), (&json!(30), &json!(0)));
    // A player without chance has one game from the start for each way to break its ties.
    let few = ["data", "generate", "--to", "f.txt", "--player", "random", "--opening", "51"];
    clear(&lab.refused(&few));
}

/// Moves that were drawn at random are nobody's choice: a file that can say so does, and of one that
/// cannot the user is told.
#[test]
fn random_openings_of_generated_games_are_marked() {
    let lab = Lab::new();
    let generate = |name: &str| {
        let to = ["data", "generate", "--player", "heuristic", "--games", "20", "--opening", "6"];
        lab.ok(&[&to[..], &["--to", name]].concat())
    };
    let moves = |name: &str| -> u64 {
        let found = lab.json(&["accuracy", "heuristic", "--records", name]);
        found["models"][0]["all"]["count"].as_u64().unwrap()
    };
    assert!(!generate("g.ggf").contains("at random"));
    assert!(generate("g.txt").contains("6 opening moves"));
    assert_eq!(moves("g.txt") - moves("g.ggf"), 20 * 6);
}
