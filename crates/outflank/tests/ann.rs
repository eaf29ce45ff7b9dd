//! `outflank learn ann`, and networks as players everywhere.

#[path = "support/lab.rs"]
mod lab;

use lab::{Lab, clear, same};

const START: [&str; 10] = [
    "learn",
    "ann",
    "--net",
    "WS 192-2x8-3-1",
    "--games",
    "400",
    "--points",
    "4",
    "--measured-games",
    "20",
];

#[test]
fn a_network_plays_wherever_a_player_is_asked_for() {
    let lab = Lab::new();
    let value = lab.json(&[&START[..], &["--against", "random", "--out", "run"]].concat());
    assert_eq!((&value["method"], &value["games"]), (&"ann".into(), &400.into()));
    assert_eq!(value["settings"]["net"], "WS 192-2x8-3-1");
    assert_eq!(value["curve"].as_array().unwrap().len(), 4);
    assert!(lab.text("run/report.html").contains("</html>"));
    // The second of the pair is kept as well.
    let pair = ["run", "run/model-2.safetensors"];
    lab.ok(&["match", pair[0], pair[1], "--games", "4", "--random", "0.1", "--quiet"]);
    lab.ok(&["match", "run@3e8", "heuristic@1", "--games", "2", "--quiet"]);
    lab.ok(&["match", "run@mcts20", "random", "--games", "2", "--quiet"]);
    lab.ok(&["league", "run", "heuristic", "random", "--games", "4", "--quiet"]);
    let accuracy = lab.json(&["accuracy", "run", "--sample", "5"]);
    assert!(accuracy["models"][0]["all"]["count"].as_u64().unwrap() > 100);
    let message = lab.refused(&["match", "run?view=invert", "random", "--games", "2"]);
    assert!(message.contains("view"), "{message}");
}

#[test]
fn killed_and_resumed_it_comes_to_the_same_bytes() {
    let whole = [&START[..], &["--quiet", "--out", "run"]].concat();
    let wanted = {
        let lab = Lab::new();
        lab.ok(&[&whole[..], &["--threads", "1"]].concat());
        lab.tree("run")
    };
    for milliseconds in [20, 60, 150] {
        let lab = Lab::new();
        let begun = lab.killed_after(milliseconds, &whole);
        match begun {
            true => lab.ok(&["learn", "ann", "--resume", "run", "--quiet", "--threads", "2"]),
            false => lab.ok(&whole),
        };
        same(&lab.tree("run"), &wanted);
    }
}

/// The options make a difference, and the folder's configuration says them.
#[test]
fn options_are_kept() {
    let lab = Lab::new();
    let options = ["--self-play", "--per-move", "--plain-result", "--alpha", "0.01"];
    lab.ok(&[&START[..], &options, &["--quiet", "--out", "run"]].concat());
    let config = lab.text("run/config.toml");
    for line in ["self-play = true", "per-move = true", "plain-result = true", "alpha = 0.01"] {
        assert!(config.contains(line), "{config}");
    }
    assert!(!lab.exists("run/model-2.safetensors"));
    lab.ok(&["learn", "ann", "--config", "run/config.toml", "--quiet", "--out", "again"]);
    assert_eq!(lab.read("again/model.safetensors"), lab.read("run/model.safetensors"));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let lab = Lab::new();
    for (net, words) in [
        ("XX 192-4-1", "unknown network type 'XX'"),
        ("WS", "has no layers"),
        ("FC 190-4-1", "invalid number of inputs '190'"),
        ("FC 192-4x8-1", "layer 2 is '4x8'"),
        ("WS 192-16x8-16-8", "the last layer is '8'"),
        ("FC 192-99999999999999-1", "more than 4194304 connections"),
        ("FC 192-999999999999999999999999-1", "more than 4194304 connections"),
    ] {
        let message = lab.refused(&["learn", "ann", "--net", net]);
        assert!(message.contains(words), "{net}: {message}");
    }
    for (arguments, words) in [
        ("--alpha 0", "--alpha"),
        ("--alpha nan", "--alpha"),
        ("--alpha -1", "--alpha"),
        ("--lambda 2", "--lambda is a number from 0 to 1"),
        ("--epsilon -1", "--epsilon is a number from 0 to 1"),
        ("--per-move --lambda 0.5", "--per-move has no --lambda"),
        ("--games 1", "two games"),
        ("--games 0", "budget"),
        ("--resume nowhere", "nowhere"),
    ] {
        let words_given: Vec<&str> =
            ["learn", "ann"].into_iter().chain(arguments.split(' ')).collect();
        let message = lab.refused(&words_given);
        assert!(message.contains(words), "{arguments}: {message}");
    }
}

/// A step far too large ends the run with a reason.
#[test]
fn weights_without_bounds_stop_the_run() {
    let lab = Lab::new();
    let ran = lab.run(&[&START[..], &["--alpha", "1e39", "--quiet", "--out", "run"]].concat());
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    clear(&ran.err);
    assert!(ran.err.contains("out of bounds in game 2"), "{}", ran.err);
    assert!(ran.err.contains("alpha"), "{}", ran.err);
    assert!(!lab.exists("run/model.safetensors"));
}

#[test]
fn damaged_networks_are_refused() {
    let lab = Lab::new();
    lab.ok(&[&START[..], &["--quiet", "--out", "run"]].concat());
    let good = lab.read("run/model.safetensors");
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
        lab.write("bad.safetensors", bytes);
        let message = lab.refused(&["match", "bad.safetensors", "random", "--games", "2"]);
        assert!(message.contains(words) && message.contains("bad.safetensors"), "{message}");
    }
}
