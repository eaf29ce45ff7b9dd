//! `outflank data`: statistics, validation, conversion, export, generated games.

#[path = "support/sandbox.rs"]
mod sandbox;

use sandbox::{Sandbox, assert_clear, data, has_keys, keys};
use serde_json::json;
use std::collections::HashSet;
use std::io::Read;

/// Generates random games as WTHOR.
fn generate_games(sandbox: &Sandbox, name: &str, count: &str) {
    let generate =
        ["data", "generate", "--player", "random", "--random-plies", "0", "--games", count];
    sandbox.ok(&[&generate[..], &["--to", name, "--out", "generated"]].concat());
    std::fs::remove_dir_all(sandbox.file("generated")).unwrap();
}

/// Checks the header of an array, whose type is `kind`, and returns its elements of `N` bytes.
fn npy_elements<const N: usize>(
    sandbox: &Sandbox,
    file: &str,
    array: &str,
    kind: &str,
) -> Vec<[u8; N]> {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(sandbox.read(file))).unwrap();
    let mut bytes = Vec::new();
    archive.by_name(&format!("{array}.npy")).unwrap().read_to_end(&mut bytes).unwrap();
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
fn statistics_of_a_few_games() {
    let sandbox = Sandbox::new();
    // Both games begin with the same position and move; the others differ.
    sandbox.write("games.txt", "f5d6c3d3c4\nf5f6e6f4\n");
    let found = sandbox.json(&["data", "stats", "games.txt"]);
    let figures = ["games", "positions", "unique", "unique_symmetric", "unfinished", "illegal"];
    assert_eq!(figures.map(|key| found[key].as_u64().unwrap()), [2, 9, 8, 64, 2, 0]);
    assert_eq!(found["positions_symmetric"], 72);
    // The second position has two different moves: a classifier predicts at most eight of nine.
    let close = |key: &str, wanted: f64| (found[key].as_f64().unwrap() - wanted).abs() < 1e-9;
    assert!(close("ceiling_positions", 800.0 / 9.0) && close("ceiling_unique", 700.0 / 8.0));
    let text = sandbox.ok(&["data", "stats", "games.txt"]);
    assert!(text.contains("88.889%"), "{text}");
}

#[test]
fn statistics_of_wthor_are_as_published() {
    let Some(data) = data() else { return };
    let sandbox = Sandbox::new();
    let folder = data.join("wthor");
    let found = sandbox.json(&["data", "stats", folder.to_str().unwrap()]);
    let figures = ["games", "positions", "unique", "unique_symmetric", "unfinished", "illegal"];
    assert_eq!(
        figures.map(|key| found[key].as_u64().unwrap()),
        [114_871, 6_874_503, 4_880_413, 39_019_056, 433, 0]
    );
    // With all symmetries: Original-S of Liskowski et al. (2018).
    assert_eq!(found["positions_symmetric"], 54_996_024);
    let rounded = |key: &str| format!("{:.3}", found[key].as_f64().unwrap());
    assert_eq!(rounded("ceiling_positions"), "91.616");
    assert_eq!(rounded("ceiling_unique"), "97.494");
    let found = sandbox.json(&["data", "check", folder.to_str().unwrap()]);
    assert_eq!((&found["files"], &found["games"]), (&json!(39), &json!(114_871)));
    assert_eq!(found["bad"], json!([]));
}

#[test]
fn check_lists_every_invalid_game() {
    let sandbox = Sandbox::new();
    sandbox.write("bad.txt", "f5d6c3\nf5a1\nf5f6e6\nzz\n");
    generate_games(&sandbox, "good.wtb", "3");
    let mut bytes = sandbox.read("good.wtb");
    bytes[16 + 68 + 8] = 99;
    sandbox.write("hurt.wtb", &bytes);
    sandbox.write("cut.wtb", &bytes[..200]);

    let files = ["data", "check", "bad.txt", "cut.wtb", "good.wtb", "hurt.wtb"];
    let ran = sandbox.run(&[&files[..], &["--json"]].concat());
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
    let text = sandbox.run(&files);
    assert_eq!(text.code, 1);
    assert!(
        text.out.contains("bad.txt: game 2 at byte 7: move 2: a1 is not legal"),
        "{}",
        text.out
    );

    let good = sandbox.json(&["data", "check", "good.wtb"]);
    assert_eq!((&good["games"], &good["bad"]), (&json!(3), &json!([])));
    // Statistics skip invalid games and count them; other commands reject the file.
    assert_eq!(sandbox.json(&["data", "stats", "bad.txt"])["illegal"], 2);
    let message = sandbox.rejected(&["data", "convert", "hurt.wtb", "--to", "x.txt"]);
    assert!(message.contains("hurt.wtb: game 2 at byte 84") && message.contains("data check"));
}

#[test]
fn conversion_round_trips() {
    let sandbox = Sandbox::new();
    generate_games(&sandbox, "a.wtb", "40");
    let convert = |from: &str, to: &str| sandbox.json(&["data", "convert", from, "--to", to]);
    assert_eq!(convert("a.wtb", "b.ggf")["games"], 40);
    convert("b.ggf", "c.txt");
    convert("c.txt", "d.wtb");
    convert("d.wtb", "e.txt");
    convert("a.wtb", "f.txt");
    assert_eq!(sandbox.text("c.txt").lines().count(), 40);
    assert_eq!(sandbox.read("c.txt"), sandbox.read("e.txt"), "converted through all formats");
    assert_eq!(sandbox.read("c.txt"), sandbox.read("f.txt"), "converted directly");
    let moves = |name: &str| -> Vec<Vec<u8>> {
        sandbox.read(name)[16..].chunks(68).map(|record| record[8..].to_vec()).collect()
    };
    assert_eq!(moves("a.wtb"), moves("d.wtb"));
    // Conversion between WTHOR and GGF keeps players, tournament and result.
    convert("b.ggf", "g.wtb");
    assert!(sandbox.read("g.wtb")[16..] == sandbox.read("a.wtb")[16..]);
    assert_eq!(sandbox.read("g.JOU"), sandbox.read("a.JOU"));
    assert_eq!(sandbox.read("g.TRN"), sandbox.read("a.TRN"));

    let pgn = convert("a.wtb", "h.pgn");
    assert_eq!(pgn["format"], "pgn");
    assert_eq!(sandbox.text("h.pgn").matches("[Result ").count(), 40);
    // --format sets the format if the file has no extension.
    sandbox.ok(&["data", "convert", "a.wtb", "--to", "games", "--format", "transcript"]);
    assert_eq!(sandbox.read("games"), sandbox.read("c.txt"));
    assert_eq!(sandbox.json(&["data", "stats", "games"])["games"], 40);

    // Positions without games have their own formats.
    sandbox
        .write("x.boards", "---------------------------OX------XO--------------------------- X\n");
    convert("x.boards", "x.obf");
    convert("x.obf", "y.boards");
    assert!(sandbox.text("y.boards").starts_with("---------------------------OX------XO"));
}

#[test]
fn lost_information_is_reported() {
    let sandbox = Sandbox::new();
    generate_games(&sandbox, "a.wtb", "2");
    let found = sandbox.json(&["data", "convert", "a.wtb", "--to", "b.txt"]);
    let lost = found["lost"].as_array().unwrap();
    assert!(lost.iter().any(|loss| loss["property"] == "players" && loss["games"] == 2), "{found}");
    let message = sandbox.rejected(&["data", "convert", "a.wtb", "--to", "c.obf"]);
    assert!(message.contains("store only positions"), "{message}");
    assert!(sandbox.rejected(&["data", "convert", "a.wtb", "--to", "c.xyz"]).contains("--format"));
}

#[test]
fn games_are_selected_by_player_year_tournament_and_sample() {
    let sandbox = Sandbox::new();
    let game = |date: &str, black: &str, event: &str, moves: &str| {
        let board = "BO[8 ---------------------------O*------*O--------------------------- *]";
        format!("(;GM[Othello]PC[{event}]DT[{date}]PB[{black}]PW[Ada]TY[8]{board}{moves};)\n")
    };
    let file = [
        game("1999.02.03", "Bob", "Cup", "B[f5]W[d6]B[c3]"),
        game("2004.02.03", "Bob", "Open", "B[f5]W[f6]"),
        game("2005.02.03", "Eve", "Cup", "B[f5]W[d6]"),
    ];
    sandbox.write("games.ggf", file.concat());
    let count = |more: &[&str]| {
        let convert = ["data", "convert", "games.ggf", "--to", "x.txt"];
        sandbox.json(&[&convert, more].concat())["games"].as_u64().unwrap()
    };
    assert_eq!(count(&[]), 3);
    assert_eq!(count(&["--by", "bob"]), 2);
    assert_eq!(count(&["--by", "=Ada"]), 3);
    assert_eq!(count(&["--years", "2004"]), 1);
    assert_eq!(count(&["--years", "1999-2004", "--tournament", "cup"]), 1);
    assert_eq!(count(&["--sample", "2"]), 2);
    // Only moves of the selected player are exported.
    let export = ["data", "export", "games.ggf", "--to", "x.csv", "--by", "bob"];
    assert_eq!(sandbox.json(&export)["subsets"][0]["decisions"], 3);
    let message =
        sandbox.rejected(&["data", "convert", "games.ggf", "--to", "y.txt", "--by", "Zed"]);
    assert!(message.contains("none of the 3 games") && message.contains("Zed"), "{message}");
}

#[test]
fn a_sample_depends_on_the_seed_only() {
    let sandbox = Sandbox::new();
    generate_games(&sandbox, "a.wtb", "50");
    let sample = |seed: &str, threads: &str| -> HashSet<String> {
        let convert = ["data", "convert", "a.wtb", "--to", "s.txt", "--sample", "10"];
        sandbox.ok(&[&convert[..], &["--seed", seed, "--threads", threads]].concat());
        sandbox.text("s.txt").lines().map(str::to_owned).collect()
    };
    let first = sample("1", "1");
    assert_eq!(first.len(), 10);
    assert_eq!(first, sample("1", "2"));
    assert_ne!(first, sample("2", "1"));
}

#[test]
fn decisions_are_exported_as_csv_and_npz() {
    let sandbox = Sandbox::new();
    generate_games(&sandbox, "a.wtb", "20");
    let stats = sandbox.json(&["data", "stats", "a.wtb"]);
    let export = |to: &str, more: &[&str]| -> Vec<u64> {
        let found = sandbox.json(&[&["data", "export", "a.wtb", "--to", to], more].concat());
        let subsets = found["subsets"].as_array().unwrap();
        subsets.iter().map(|subset| subset["decisions"].as_u64().unwrap()).collect()
    };
    let all = export("all.csv", &[])[0];
    assert_eq!(all, stats["positions"].as_u64().unwrap());
    assert_eq!(export("choices.csv", &["--choices"])[0], all - stats["forced"].as_u64().unwrap());
    assert_eq!(export("unique.npz", &["--unique"])[0], stats["unique"].as_u64().unwrap());
    let symmetric = export("symmetric.npz", &["--unique", "--symmetric"])[0];
    assert_eq!(symmetric, stats["unique_symmetric"].as_u64().unwrap());

    // The arrays and the CSV file have the same content.
    export("all.npz", &[]);
    let own = npy_elements::<8>(&sandbox, "all.npz", "own", "<u8");
    let other = npy_elements::<8>(&sandbox, "all.npz", "other", "<u8");
    let chosen = npy_elements::<1>(&sandbox, "all.npz", "move", "|u1");
    let side = npy_elements::<1>(&sandbox, "all.npz", "side", "|u1");
    // The results alternate with the player to move.
    let [outcome, score] =
        ["outcome", "score"].map(|name| npy_elements::<1>(&sandbox, "all.npz", name, "|i1"));
    for (outcome, score) in outcome.iter().zip(&score) {
        let [outcome, score] = [outcome, score].map(|value| value[0] as i8);
        assert!(score.abs() <= 64 && outcome == score.signum(), "{outcome} {score}");
    }
    let table = sandbox.text("all.csv");
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
fn splits_by_game_share_no_game_and_depend_on_the_seed() {
    let sandbox = Sandbox::new();
    generate_games(&sandbox, "a.wtb", "20");
    let export = |to: &str, more: &[&str]| -> Vec<u64> {
        let found = sandbox.json(&[&["data", "export", "a.wtb", "--to", to], more].concat());
        let subsets = found["subsets"].as_array().unwrap();
        subsets.iter().map(|subset| subset["decisions"].as_u64().unwrap()).collect()
    };
    let all = export("all.csv", &[])[0];
    for split in ["game", "example"] {
        let sizes = export("split.npz", &["--split", split, "--held-out", "0.5"]);
        assert_eq!(sizes.iter().sum::<u64>(), all);
        let files = || ["split-train.npz", "split-test.npz"].map(|name| sandbox.read(name));
        let first = files();
        export("split.npz", &["--split", split, "--held-out", "0.5", "--threads", "1"]);
        assert!(files() == first, "the files depend on the number of threads");
        let games = |part: &str| -> HashSet<[u8; 4]> {
            npy_elements(&sandbox, &format!("split-{part}.npz"), "game", "<u4")
                .into_iter()
                .collect()
        };
        let shared = games("train").intersection(&games("test")).count();
        assert_eq!(shared == 0, split == "game");
    }
    export("part.csv", &["--split", "game"]);
    assert!(sandbox.exists("part-train.csv") && sandbox.exists("part-test.csv"));
}

#[test]
fn generated_games_are_complete_and_distinct() {
    let sandbox = Sandbox::new();
    let found = sandbox.json(&[
        "data",
        "generate",
        "--to",
        "g.txt",
        "--player",
        "heuristic@2",
        "--games",
        "30",
        "--random-plies",
        "6",
    ]);
    assert_eq!((&found["games"], &found["file"]), (&json!(30), &json!("g.txt")));
    let text = sandbox.text("g.txt");
    assert_eq!(text.lines().collect::<HashSet<_>>().len(), 30);
    let stats = sandbox.json(&["data", "stats", "g.txt"]);
    assert_eq!((&stats["games"], &stats["unfinished"]), (&json!(30), &json!(0)));
    let few = ["data", "generate", "--to", "f.txt", "--player", "random", "--random-plies", "51"];
    assert_clear(&sandbox.rejected(&few));
}

/// Random moves are not training decisions. Formats that can mark them do so; for others the command
/// prints a note.
#[test]
fn random_openings_of_generated_games_are_marked() {
    let sandbox = Sandbox::new();
    let generate = |name: &str| {
        let to =
            ["data", "generate", "--player", "heuristic", "--games", "20", "--random-plies", "6"];
        sandbox.ok(&[&to[..], &["--to", name]].concat())
    };
    let moves = |name: &str| -> u64 {
        let found = sandbox.json(&["accuracy", "heuristic", "--records", name]);
        found["models"][0]["all"]["count"].as_u64().unwrap()
    };
    assert!(!generate("g.ggf").contains("note:"));
    assert!(generate("g.txt").contains("6 random moves"));
    assert_eq!(moves("g.txt") - moves("g.ggf"), 20 * 6);
}

/// A run folder stands for its games, and games of checkers are written and read as PDN.
#[test]
fn games_of_runs_are_read() {
    let sandbox = Sandbox::new();
    let play = |words: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        sandbox.ok(&[&words[..], &["--quiet"]].concat());
    };
    play("match heuristic random --games 6 --random 0.1 --out match");
    play("data generate --player random --games 5 --to g.wtb --out generated");
    let count = |path: &str| sandbox.json(&["data", "stats", path])["games"].clone();
    assert_eq!((count("match"), count("generated")), (json!(6), json!(5)));
    let found = sandbox.json(&["accuracy", "heuristic", "--records", "match", "generated"]);
    assert_eq!(found["games"], 11);
    // The PGN has the moves of the journal.
    sandbox.ok(&["data", "convert", "match", "--to", "moves.txt"]);
    // The journal marks random moves.
    let journal = sandbox.text("match/games.tsv").replace([' ', '?'], "");
    for moves in sandbox.text("moves.txt").lines() {
        assert!(journal.contains(moves), "{moves}");
    }
    play("train lstd --features 1tuple --records match --match-games 2 --out trained");
    let message = sandbox.rejected(&["data", "stats", "trained"]);
    assert!(message.contains("trained: this run has no games"), "{message}");

    play("match material random --game checkers --games 4 --random 0.1 --out checkers");
    let checked = sandbox.json(&["data", "check", "checkers/games.pdn"]);
    assert_eq!((&checked["games"], &checked["bad"]), (&json!(4), &json!([])));
    let message = sandbox.rejected(&["data", "stats", "checkers/games.pdn"]);
    assert!(message.contains("checkers"), "{message}");
    sandbox.write("openings.pdn", "[GameType \"21\"]\n\n1. 11-15 23-19 *\n");
    play("match material random --game checkers --openings openings.pdn --games 2 --out opened");
    assert_eq!(sandbox.text("opened/games.pdn").matches("11-15 23-19 2.").count(), 2);
}
