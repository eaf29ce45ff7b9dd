//! `outflank train ann`, and its networks as players.

#[path = "support/sandbox.rs"]
mod sandbox;

use sandbox::{Sandbox, assert_clear, assert_same_files};

const START: [&str; 10] = [
    "train",
    "ann",
    "--net",
    "WS 192-2x8-3-1",
    "--games",
    "400",
    "--measurements",
    "4",
    "--match-games",
    "20",
];

#[test]
fn a_trained_network_is_a_player_in_every_command() {
    let sandbox = Sandbox::new();
    let value = sandbox.json(&[&START[..], &["--against", "random", "--out", "run"]].concat());
    assert_eq!((&value["method"], &value["games"]), (&"ann".into(), &400.into()));
    assert_eq!(value["settings"]["net"], "WS 192-2x8-3-1");
    assert_eq!(value["curve"].as_array().unwrap().len(), 4);
    assert!(sandbox.text("run/report.html").contains("</html>"));
    // The second network of the pair is stored as well.
    let pair = ["run", "run/model-2.safetensors"];
    sandbox.ok(&["match", pair[0], pair[1], "--games", "4", "--random", "0.1", "--quiet"]);
    sandbox.ok(&["match", "run@3e8", "heuristic@1", "--games", "2", "--quiet"]);
    sandbox.ok(&["match", "run@mcts20", "random", "--games", "2", "--quiet"]);
    sandbox.ok(&["league", "run", "heuristic", "random", "--games", "4", "--quiet"]);
    let accuracy = sandbox.json(&["accuracy", "run", "--sample", "5"]);
    assert!(accuracy["models"][0]["all"]["count"].as_u64().unwrap() > 100);
    let message = sandbox.rejected(&["match", "run?view=invert", "random", "--games", "2"]);
    assert!(message.contains("view"), "{message}");
}

#[test]
fn killed_runs_resume_to_the_same_bytes() {
    let whole = [&START[..], &["--quiet", "--out", "run"]].concat();
    let wanted = {
        let sandbox = Sandbox::new();
        sandbox.ok(&[&whole[..], &["--threads", "1"]].concat());
        sandbox.tree("run")
    };
    for milliseconds in [20, 60, 150] {
        let sandbox = Sandbox::new();
        let begun = sandbox.killed_after(milliseconds, &whole);
        match begun {
            true => sandbox.ok(&["train", "ann", "--resume", "run", "--quiet", "--threads", "2"]),
            false => sandbox.ok(&whole),
        };
        assert_same_files(&sandbox.tree("run"), &wanted);
    }
}

/// Options are stored in the configuration, which repeats the run.
#[test]
fn options_are_stored_in_the_configuration() {
    let sandbox = Sandbox::new();
    let options = ["--self-play", "--per-move", "--result-target=sign", "--learning-rate", "0.01"];
    sandbox.ok(&[&START[..], &options, &["--quiet", "--out", "run"]].concat());
    let config = sandbox.text("run/config.toml");
    for line in [
        "self-play = true",
        "per-move = true",
        "result-target = \"sign\"",
        "learning-rate = 0.01",
        "lr-schedule = \"constant\"",
    ] {
        assert!(config.contains(line), "{config}");
    }
    assert!(!sandbox.exists("run/model-2.safetensors"));
    sandbox.ok(&["train", "ann", "--config", "run/config.toml", "--quiet", "--out", "again"]);
    assert_eq!(sandbox.read("again/model.safetensors"), sandbox.read("run/model.safetensors"));
}

#[test]
fn wrong_options_are_errors() {
    let sandbox = Sandbox::new();
    for (net, words) in [
        ("XX 192-4-1", "unknown network type 'XX'"),
        ("WS", "has no layers"),
        ("FC 190-4-1", "invalid number of inputs '190'"),
        ("FC 192-4x8-1", "layer 2 is '4x8'"),
        ("WS 192-16x8-16-8", "the last layer is '8'"),
        ("FC 192-99999999999999-1", "more than 4194304 connections"),
        ("FC 192-999999999999999999999999-1", "more than 4194304 connections"),
    ] {
        let message = sandbox.rejected(&["train", "ann", "--net", net]);
        assert!(message.contains(words), "{net}: {message}");
    }
    for (arguments, words) in [
        ("--learning-rate 0", "--learning-rate must be above 0"),
        ("--lr nan", "--learning-rate"),
        ("--lr -1", "--learning-rate"),
        ("--lambda 2", "--lambda is a number from 0 to 1"),
        ("--epsilon -1", "--epsilon is a number from 0 to 1"),
        ("--per-move --lambda 0.5", "--lambda has no effect with --per-move"),
        ("--lr-schedule cosine", "constant, linear"),
        ("--decay", "--lr-schedule"),
        ("--alpha 0.1", "--learning-rate"),
        ("--games 1", "two games"),
        ("--games 0", "budget"),
        ("--resume nowhere", "nowhere"),
    ] {
        let words_given: Vec<&str> =
            ["train", "ann"].into_iter().chain(arguments.split(' ')).collect();
        let message = sandbox.rejected(&words_given);
        assert!(message.contains(words), "{arguments}: {message}");
    }
}

/// A learning rate that is far too large ends the run with an error.
#[test]
fn diverging_weights_stop_the_run() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&[&START[..], &["--lr", "1e39", "--quiet", "--out", "run"]].concat());
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    assert_clear(&ran.err);
    assert!(ran.err.contains("training diverged in game 2"), "{}", ran.err);
    assert!(ran.err.contains("--learning-rate"), "{}", ran.err);
    assert!(!sandbox.exists("run/model.safetensors"));
}

#[test]
fn damaged_model_files_are_errors() {
    let sandbox = Sandbox::new();
    sandbox.ok(&[&START[..], &["--quiet", "--out", "run"]].concat());
    // The checksum would hide all other damage.
    let good = sandbox::without_checksum(&sandbox.read("run/model.safetensors"));
    let header = u64::from_le_bytes(good[..8].try_into().unwrap()) as usize;
    let mut nan = good.clone();
    nan[8 + header..8 + header + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    let rename = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let text = String::from_utf8_lossy(&good[8..8 + header]).replace(from, to);
        [&good[..8], text.as_bytes(), &good[8 + header..]].concat()
    };
    for (bytes, words) in [
        (nan, "weight 0 is NaN"),
        (good[..good.len() - 8].to_vec(), "damaged"),
        (good[..40].to_vec(), "safetensors"),
        (rename("WS 192-2x8-3-1", "WS 192-2x8-4-1"), "WS 192-2x8-4-1"),
        (rename("WS 192-2x8-3-1", "XX 192-2x8-3-1"), "unknown network type 'XX'"),
    ] {
        sandbox.write("bad.safetensors", bytes);
        let message = sandbox.rejected(&["match", "bad.safetensors", "random", "--games", "2"]);
        assert!(message.contains(words) && message.contains("bad.safetensors"), "{message}");
    }
}
