//! Bad input: a clear message with the location, a non-zero exit status, no partial files.

#[path = "support/sandbox.rs"]
mod sandbox;
#[cfg(target_os = "linux")]
#[path = "support/small_disk.rs"]
mod small_disk;

use sandbox::{Sandbox, assert_clear};
use std::fs;

/// Asserts that each command is rejected with a message that contains these words.
fn assert_all_rejected(sandbox: &Sandbox, cases: &[(&str, &str)]) {
    for (arguments, part) in cases {
        let words: Vec<&str> = arguments.split(' ').collect();
        let message = sandbox.rejected(&words);
        assert!(message.contains(part), "{arguments}: {message}");
    }
}

#[test]
fn wrong_options() {
    let sandbox = Sandbox::new();
    sandbox.write("start", "f5d6\n");
    assert_all_rejected(
        &sandbox,
        &[
            (
                "match heuristic random --games 3",
                "--games must be an even number, at least 2, not 3",
            ),
            ("match heuristic random --games 0", "--games must be an even number"),
            ("match heuristic random --games -2", "--games"),
            ("match heuristic random --games 99999999999999999999", "--games"),
            ("match heuristic random --games 8000000000", "--games is at most"),
            ("match heuristic random --random 2", "--random is a probability from 0 to 1, not 2"),
            ("match heuristic random --random -0.1", "--random"),
            ("match heuristic random --random nan", "--random"),
            ("match heuristic random --first white", "--first requires a file of openings"),
            ("match heuristic random --first green", "black, white"),
            ("match heuristic random --threads 0", "--threads"),
            ("match heuristic random --seed -1", "--seed"),
            ("match heuristic random --seed x", "--seed"),
            ("match heuristic", "<B>"),
            ("match heuristic random yoshioka", "yoshioka"),
            ("match heuristic random --colour red", "--colour"),
            ("league heuristic", "PLAYER"),
            ("openings --count 0", "--count"),
            ("openings --ply 0", "--ply"),
            ("openings --ply 41", "--ply"),
            ("openings --simulations 0", "--simulations"),
            ("openings --to nowhere/x.txt", "there is no folder nowhere"),
            ("data generate --games 0 --to x.txt", "--games"),
            ("data generate --to x", "--format"),
            ("data generate --to x.obf", "bare positions"),
            ("data generate --to nowhere/x.txt", "there is no folder nowhere"),
            ("data generate", "--to"),
            ("data frob", "frob"),
            ("data export start --to x --held-out 1", "--held-out"),
            ("data export start --to x.csv --unique --symmetric", "--symmetric"),
            ("data export start --to x --symmetric", "--unique"),
            ("data export start --to x.npz --split game", "would be empty"),
            ("data export start --to x --split move", "game, example"),
            ("bench nothing", "games, records"),
            ("reproduce cnn/tabel5", "no experiment 'cnn/tabel5'; did you mean 'cnn/table5'?"),
            ("reproduce nothing", "use one of preference/table2, "),
            ("completions tcsh", "bash"),
            ("frobnicate", "frobnicate"),
        ],
    );
}

#[test]
fn wrong_players() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.file("empty")).unwrap();
    sandbox.write("notes.md", "not a model");
    assert_all_rejected(
        &sandbox,
        &[
            ("match heuristic nobody", "there is no player 'nobody'"),
            ("match heuristic nobody", "use one of champion, ipref, cnn, experts, ann, heuristic"),
            ("match heuristc random", "did you mean 'heuristic'?"),
            ("match heuristic material", "material plays checkers, not othello"),
            ("match heuristic random --game checkers", "heuristic plays othello, not checkers"),
            ("match heuristic heuristic", "two players are called 'heuristic'"),
            ("league heuristic random yoshioka?name=random", "two players are called 'random'"),
            ("match heuristic missing.player", "cannot read missing.player"),
            ("match heuristic empty", "empty/model.safetensors"),
            ("match heuristic notes.md", "notes.md: unknown model format"),
            ("match heuristic random@4", "random@4"),
            ("match heuristic@0 random", "1 to 60 plies"),
            ("match heuristic@mcts0 random", "simulations"),
            ("match heuristic@99999999999999999999 random", "plies"),
            ("match heuristic?random=2 random", "random is a number from 0 to 1"),
            ("match heuristic?noise=-1 random", "noise"),
            ("match heuristic?colour=red random", "there is no key 'colour'"),
            ("match heuristic?view=negate random", "view"),
            ("match heuristic?symmetries=8 random", "symmetries"),
            ("match cnn?symmetries=3 random", "symmetries"),
            ("match material?symmetries=8 random --game checkers", "symmetries"),
            ("match heuristic?plies=5-9 random", "plies and with belong together"),
            ("match heuristic?plies=9-5&with=random random", "plies is a range"),
            ("match heuristic?plies=5-9&with=nobody random", "nobody"),
            ("match heuristic?name= random", "name is empty"),
            ("match @4 random", "names no model"),
            ("match material@2e4 random --game checkers", "no exact endgame"),
            ("data generate --to x.txt --player material", "material plays checkers"),
        ],
    );
    assert!(sandbox.rejected(&["match", "heuristic", ""]).contains("names no model"));
    assert!(
        sandbox.rejected(&["match", "heuristic", "random?name=a\tb"]).contains("control character")
    );
}

#[test]
fn damaged_models() {
    let sandbox = Sandbox::new();
    let ones = |count: usize| "1 ".repeat(count);
    let files: [(&str, String, &str); 22] = [
        ("short.wpc", ones(63), "64 weights; this file has 63"),
        ("long.wpc", ones(65), "64 weights"),
        ("nan.wpc", ones(63) + "nan", "'nan' is not a weight"),
        ("inf.wpc", ones(63) + "1e99", "weight"),
        ("word.wpc", ones(63) + "x", "'x' is not a weight"),
        ("empty.wpc", String::new(), "64 weights"),
        ("empty.player", String::new(), "truncated"),
        ("none.player", "0".into(), "0 tuples"),
        ("cut.player", "1 2 1 0 1 1 1 1".into(), "truncated"),
        ("square.player", "1 1 1 64 1 1 1".into(), "64 is not a square"),
        ("minus.player", "1 1 1 -1 1 1 1".into(), "-1"),
        ("nan.player", "1 1 1 0 1 nan 1".into(), "weight"),
        ("huge.player", "1 1 1 0 1 1e300 1".into(), "weight"),
        ("wide.player", "1 40 1 0".into(), "1 to 12 squares"),
        ("twelve.player", "1 12 8 0".into(), "truncated"),
        ("many.player", "18446744073709551615 1".into(), "tuples"),
        ("tuples.player", "100000 12 64 0 1 2".into(), "truncated"),
        ("images.player", "1 1 999999999 0".into(), "images"),
        ("more.player", "1 1 1 0 1 1 1 7".into(), "unexpected '7' after the last weight"),
        ("binary.player", "\u{0}\u{1}\u{2}".into(), "binary.player"),
        ("kind.toml", "game = \"othello\"\nkind = 3\n".into(), "kind.toml: line 2, column 8: "),
        ("cut.toml", "kind = \"heuristic\"\n[weights".into(), "cut.toml: line 2, column "),
    ];
    for (name, content, part) in &files {
        sandbox.write(name, content);
        for command in [&["match", "random", name][..], &["accuracy", name]] {
            let message = sandbox.rejected(command);
            assert!(message.contains(name) && message.contains(part), "{message}");
        }
    }
}

#[test]
fn damaged_model_files_of_training_runs() {
    let sandbox = Sandbox::new();
    sandbox.ok(&[
        "train",
        "--features",
        "1tuple",
        "--sample",
        "20",
        "--match-games",
        "2",
        "--out",
        "run",
    ]);
    let good = sandbox.read("run/model.safetensors");
    let header = u64::from_le_bytes(good[..8].try_into().unwrap()) as usize;
    let text = String::from_utf8(good[8..8 + header].to_vec()).unwrap();
    let with_header = |text: &str| {
        let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(text.as_bytes());
        bytes.extend_from_slice(&good[8 + header..]);
        bytes
    };
    let mut broken: Vec<Vec<u8>> = Vec::new();
    for cut in [0, 4, 8, 40, good.len() / 2, good.len() - 1] {
        broken.push(good[..cut].to_vec());
    }
    let mut longer = good.clone();
    longer.push(0);
    broken.push(longer);
    for not_a_number in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut bytes = good.clone();
        let end = bytes.len();
        bytes[end - 4..].copy_from_slice(&not_a_number.to_le_bytes());
        broken.push(bytes);
    }
    let mut far = good.clone();
    far[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    broken.push(far);
    broken.push(with_header(&text.replace("192", "191")));
    broken.push(with_header(&text.replace("192", "18446744073709551615")));
    broken.push(with_header(&text.replace("F32", "F64")));
    broken.push(with_header("{}"));
    broken.push(with_header(&"[".repeat(text.len())));
    for (i, bytes) in broken.iter().enumerate() {
        assert_ne!(*bytes, good);
        sandbox.write("x.safetensors", bytes);
        let message = sandbox.rejected(&["match", "random", "x.safetensors", "--games", "2"]);
        assert!(message.contains("x.safetensors"), "case {i}: {message}");
    }
    sandbox.write("x.safetensors", &good);
    sandbox.ok(&["match", "random", "x.safetensors", "--games", "2"]);
}

#[test]
fn damaged_game_files() {
    let sandbox = Sandbox::new();
    let generate = "data generate --player random --games 3 --to good.wtb --out run";
    sandbox.ok(&generate.split(' ').collect::<Vec<_>>());
    let good = sandbox.read("good.wtb");
    let with = |at: usize, bytes: &[u8]| {
        let mut copy = good.clone();
        copy[at..at + bytes.len()].copy_from_slice(bytes);
        copy
    };
    fs::create_dir(sandbox.file("bare")).unwrap();
    let noise: Vec<u8> = (0..997u32).map(|i| (i * i % 251) as u8).collect();
    let files: [(&str, Vec<u8>, &str); 14] = [
        ("empty.wtb", Vec::new(), "the header needs 16"),
        ("head.wtb", good[..10].to_vec(), "the header needs 16"),
        ("cut.wtb", good[..100].to_vec(), "the header declares 3 records"),
        ("huge.wtb", with(4, &[255; 4]), "the header declares 4294967295 records"),
        ("ten.wtb", with(12, &[10]), "board size 10"),
        ("move.wtb", with(24, &[99]), "game 1 at byte 16: move 1: the byte 99"),
        ("again.wtb", with(25, &good[24..25]), "game 1 at byte 16: move 2"),
        ("noise.wtb", noise.clone(), "noise.wtb"),
        ("noise.ggf", noise.clone(), "noise.ggf"),
        ("open.ggf", b"(;GM[Othello]B[f5]".to_vec(), "open.ggf"),
        ("chess.ggf", b"(;GM[Chess]B[f5];)".to_vec(), "Chess"),
        ("illegal.txt", b"f5d6\nf5f5\n".to_vec(), "game 2 at byte 5: move 2"),
        ("prose.txt", b"It was a dark night.\n".to_vec(), "unknown format"),
        ("short.boards", b"XXOO\n".to_vec(), "64 cells"),
    ];
    for (name, bytes, part) in &files {
        sandbox.write(name, bytes);
        for command in [
            &["data", "convert", name, "--to", "out.ggf"][..],
            &["data", "export", name, "--to", "out.csv"],
            &["data", "export", name, "--to", "out.npz"],
            &["accuracy", "heuristic", "--records", name],
            &["train", "--records", name],
        ] {
            let message = sandbox.rejected(command);
            assert!(message.contains(name) && message.contains(part), "{command:?}: {message}");
        }
        // `data check` lists it.
        let checked = sandbox.run(&["data", "check", name]);
        assert_eq!((checked.code, checked.err.as_str()), (1, ""), "{name}");
        assert!(checked.out.contains(name) && checked.out.contains(part), "{}", checked.out);
    }
    assert_all_rejected(
        &sandbox,
        &[
            ("data stats missing.wtb", "cannot read missing.wtb"),
            ("data check missing.wtb", "cannot read missing.wtb"),
            ("data stats bare", "bare: no game files"),
            ("data convert good.wtb --to none/x.ggf", "none/x.ggf"),
            ("data convert good.wtb --to bare", "--format"),
            ("data convert good.wtb --to good.wtb", "one of the files to read"),
            ("data convert good.wtb --to good.wtb/x.ggf", "good.wtb/x.ggf"),
            ("data export good.wtb --to good.wtb/x.csv", "good.wtb/x.csv"),
            ("data export good.wtb --to good.wtb/x.npz", "good.wtb/x.npz"),
            ("data export good.wtb --to out", "use the extension .csv or .npz"),
            ("data generate --player random --games 3 --to good.wtb", "good.wtb exists already"),
        ],
    );
}

#[test]
fn wrong_openings() {
    let sandbox = Sandbox::new();
    let board = "---------------------------OX------XO---------------------------";
    for (name, content, part) in [
        ("short.boards", board[1..].to_owned(), "63 cells"),
        ("sign.boards", board.replacen('O', "?", 1), "'?'"),
        ("side.boards", format!("{board} Q"), "side to move"),
        ("full.boards", format!("{} X", "X".repeat(64)), "the game is over"),
        ("void.boards", "-".repeat(64), "the game is over"),
        ("second.boards", format!("{board}\n{}\n", &board[1..]), "entry 2"),
        ("illegal.txt", "f5d6\nf5a1\n".to_owned(), "game 2 at byte 5: move 2: a1 is not legal"),
        ("empty.txt", String::new(), "empty.txt: no openings"),
        ("prose.txt", "hello".to_owned(), "prose.txt"),
        ("bad.obf", format!("{board} X; a1:+4"), "bad.obf"),
    ] {
        sandbox.write(name, content);
        let message = sandbox.rejected(&["match", "heuristic", "random", "--openings", name]);
        assert!(message.contains(name) && message.contains(part), "{name}: {message}");
        assert!(message.contains("--openings"), "{name}: {message}");
    }
    fs::create_dir(sandbox.file("folder")).unwrap();
    assert_all_rejected(
        &sandbox,
        &[
            ("match heuristic random --openings missing.txt", "cannot read missing.txt"),
            ("match heuristic random --openings folder", "folder"),
            ("match material random --game checkers --openings short.boards", "short.boards"),
        ],
    );
}

#[test]
fn unwritable_folders() {
    let sandbox = Sandbox::new();
    sandbox.write("file", "");
    sandbox.write("games.txt", "f5d6c3\n");
    for command in [
        "match heuristic random --games 2 --out file/run",
        "league heuristic random --games 2 --out file/run",
        "openings --count 2 --ply 2 --simulations 5 --out file/run",
        "data generate --games 2 --player random --to x.txt --out file/run",
        "train --features 1tuple --sample 20 --match-games 2 --out file/run",
        "accuracy heuristic --records games.txt --out file/run",
        "match heuristic random --games 2 --out file",
    ] {
        let message = sandbox.rejected(&command.split(' ').collect::<Vec<_>>());
        assert!(message.contains("file"), "{message}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_run_resumes_after_a_full_disk() {
    let sandbox = Sandbox::new();
    let Some(disk) = small_disk::SmallDisk::mount(&sandbox, "64k") else { return };
    let run = "match heuristic random --games 600 --random 0.1 --out";
    let words: Vec<&str> = run.split(' ').collect();
    let ran = sandbox.run(&[&words[..], &["small/run"]].concat());
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert_clear(&ran.err);
    assert!(ran.err.contains("No space left") && ran.err.contains("resume"), "{}", ran.err);
    let left = sandbox.tree("small/run");
    let names: Vec<&str> = left.keys().map(String::as_str).collect();
    assert_eq!(names, ["config.toml", "games.tsv"], "only the journal is incomplete");

    assert!(disk.call("remount,size=16m"));
    sandbox.ok(&["match", "--resume", "small/run"]);
    sandbox.ok(&[&words[..], &["roomy"]].concat());
    sandbox::assert_same_files(&sandbox.tree("small/run"), &sandbox.tree("roomy"));
}
