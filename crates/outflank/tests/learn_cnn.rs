//! `outflank learn cnn` on the embedded games, in the program itself.

#[path = "support/lab.rs"]
mod lab;

use lab::Lab;
use serde_json::Value;
#[cfg(unix)]
use {
    lab::PROGRAM,
    std::process::{Command, Stdio},
    std::time::Duration,
};

const LEARN: [&str; 14] = [
    "learn", "cnn", "--net", "fc2x16", "--sample", "60", "--passes", "0.1", "--batch", "64",
    "--warmup", "5", "--rate", "0.05",
];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    LEARN.iter().chain(more).copied().collect()
}

#[test]
fn a_first_try_is_tested_by_example_and_by_game() {
    let lab = Lab::new();
    for split in ["example", "game", "both"] {
        let found = lab.json(&with(&["--split", split, "--out", split]));
        let keys = ["method", "run", "model", "seconds", "accuracy", "matches"];
        assert!(keys.iter().all(|key| found.get(key).is_some()), "{found}");
        assert_eq!(found["accuracy"][0]["all"]["percent"], found["tests"][2]["all"]);
        let tests = found["tests"].as_array().unwrap();
        let names: Vec<&str> = tests.iter().map(|test| test["test"].as_str().unwrap()).collect();
        let games = if split == "example" { "a tenth of the games" } else { "games held out" };
        assert_eq!(names, ["unique-s by example", "original by example", games]);
        // What was learned from is said, and a game that was held out was not.
        let seen = |test: &Value| test["learned_from"].as_f64().unwrap();
        assert!(seen(&tests[0]) > 80.0, "{split}: {found}");
        assert_eq!(seen(&tests[2]) < 20.0, split != "example", "{split}: {found}");
        assert!(tests[2]["count"].as_u64().unwrap() > 200, "{found}");
        // The page has every test with its uncertainty, the curve, and how it was made.
        let page = lab.text(&format!("{split}/report.html"));
        let config = lab.text(&format!("{split}/config.toml"));
        let (_, checksum) = config.split_once("sha256 = \"").unwrap();
        let checksum = checksum.split('"').next().unwrap();
        for part in ["95% intervals", "training less test", ">Loss<", ">Rate<", ">Seed<", checksum]
        {
            assert!(page.contains(part), "{split}: no {part}");
        }
        for test in tests {
            let (name, share) = (test["test"].as_str().unwrap(), test["choices"].as_f64().unwrap());
            let count = test["choices_count"].as_f64().unwrap();
            // Up to the farther end of Wilson's interval: the roots of (x - p)² = z² x (1 - x) / n.
            let (p, z) = (share / 100.0, 1.96f64.powi(2) / count);
            let (a, b, c) = (1.0 + z, -2.0 * p - z, p * p);
            let root = (b * b - 4.0 * a * c).sqrt();
            let (low, high) = ((-b - root) / (2.0 * a), (-b + root) / (2.0 * a));
            let error = 100.0 * (p - low).max(high - p);
            assert!(page.contains(&format!("<td class=\"right\">{share:.1} ± {error:.1}</td>")));
            assert!(page.contains(&format!(">{name}</th>")), "{split}: no {name}");
        }
        assert!(!page.contains("not complete") && !page.contains("not the same bytes"));
    }
}

/// A report is of the network that lies beside it: what was measured on the way says so, and is gone
/// once learning goes on.
#[test]
fn a_report_speaks_of_the_network_beside_it() {
    let lab = Lab::new();
    lab.ok(&with(&["--minutes", "0", "--test", "--out", "run"]));
    assert!(lab.text("run/report.html").contains("Learning is not complete (step 0 of"));
    lab.ok(&["learn", "cnn", "--resume", "run"]);
    assert!(!lab.text("run/report.html").contains("not complete"));
    // The command at its foot does it again.
    let command = "--config run/config.toml --out again".split(' ');
    let words: Vec<&str> = ["learn", "cnn"].into_iter().chain(command).collect();
    lab.ok(&words);
    assert_eq!(lab.read("again/model.safetensors"), lab.read("run/model.safetensors"));
    // What was learned is not unlearned, and who learns on in another way is told.
    let before = lab.tree("run");
    let fewer = ["learn", "cnn", "--resume", "run", "--quiet", "--passes", "0.05"];
    let message = lab.refused(&fewer);
    assert!(message.contains("passes were made already"), "{message}");
    lab::same(&lab.tree("run"), &before);
    lab.ok(&["learn", "cnn", "--resume", "run", "--passes", "0.15"]);
    assert!(lab.text("run/report.html").contains("gives other weights"));
    assert!(!lab.text("again/report.html").contains("gives other weights"));
}

#[test]
fn threads_and_stops_change_no_weight() {
    let lab = Lab::new();
    lab.ok(&with(&["--threads", "1", "--onnx", "--out", "one"]));
    lab.ok(&with(&["--threads", "2", "--out", "two"]));
    let weights = |run: &str| lab.read(&format!("{run}/model.safetensors"));
    assert_eq!(weights("one"), weights("two"));
    // The first bytes say that it is an ONNX file of version 7.
    assert_eq!(lab.read("one/model.onnx")[..2], [0x08, 7]);
    // A sitting of no minutes ends before its first step; the next one does it all.
    lab.ok(&with(&["--minutes", "0", "--out", "late"]));
    lab.ok(&["learn", "cnn", "--resume", "late"]);
    assert_eq!(weights("late"), weights("one"));
    // What is not said again is as it was: which files, in which precision, how much is tested.
    let said = ["--single", "--onnx", "--tested", "100"];
    lab.ok(&[&with(&said)[..], &["--out", "single"]].concat());
    lab.ok(&[&with(&said)[..], &["--minutes", "0", "--out", "single-late"]].concat());
    let before = lab.read("single-late/model.onnx");
    let found = lab.json(&["learn", "cnn", "--resume", "single-late"]);
    assert_eq!(weights("single-late"), weights("single"));
    assert_ne!(weights("single"), weights("one"));
    assert_eq!(lab.read("single-late/model.onnx"), lab.read("one/model.onnx"));
    assert_ne!(lab.read("single-late/model.onnx"), before);
    assert!(found["tests"][2]["count"].as_u64().unwrap() <= 100, "{found}");
}

/// Learning on begins at the weights of another network: without a step they are its own, with steps it is
/// ahead of one that begins anew, and a stop changes nothing.
#[test]
fn learning_goes_on_from_another_network() {
    let lab = Lab::new();
    lab.ok(&with(&["--single", "--onnx", "--out", "first"]));
    let on = |more: &[&'static str]| -> Vec<&str> {
        let words = "learn cnn --from first --sample 60 --passes 0.1 --batch 64 --rate 0.05 --single --onnx";
        words.split(' ').chain(more.iter().copied()).collect()
    };
    lab.ok(&on(&["--out", "on"]));
    lab.ok(&on(&["--minutes", "0", "--out", "late"]));
    let weights = |run: &str| lab.read(&format!("{run}/model.onnx"));
    assert_eq!(weights("late"), weights("first"));
    assert_ne!(weights("on"), weights("first"));
    let loss = |run: &str| -> f64 {
        let curve = lab.text(&format!("{run}/curve.csv"));
        curve.lines().nth(1).unwrap().split(',').nth(5).unwrap().parse().unwrap()
    };
    assert!(loss("on") < loss("first"), "{} {}", loss("on"), loss("first"));
    // Where the network lies may change, but not what it knows.
    std::fs::rename(lab.file("first"), lab.file("moved")).unwrap();
    lab.ok(&["learn", "cnn", "--resume", "late", "--from", "moved/model.safetensors"]);
    assert_eq!(weights("late"), weights("on"));
    let message = lab.refused(&["learn", "cnn", "--resume", "late", "--from", "on"]);
    assert!(message.contains("late"), "{message}");
    // Unless a rate is given it is one at which a network keeps what it has learned.
    for (optimizer, rate) in [("sgd", "0.0004"), ("adamw", "0.0001")] {
        let words = "learn cnn --from on --sample 60 --passes 0.01 --minutes 0 --optimizer";
        lab.ok(
            &[&words.split(' ').collect::<Vec<_>>()[..], &[optimizer, "--out", optimizer]].concat()
        );
        let config = lab.text(&format!("{optimizer}/config.toml"));
        assert!(config.contains(&format!("rate = {rate}\n")), "{config}");
    }
    // It is said what it was made from.
    assert!(lab.text("on/config.toml").contains("from = \"first\""));
    assert!(lab.text("on/config.toml").contains("net = \"fc2x16\""));
    assert!(lab.text("on/report.html").contains("from"));
}

/// Who asks again in the middle of a long step does not wait for it, and loses that step alone.
#[cfg(unix)]
#[test]
fn asked_twice_to_stop_it_ends_at_once_and_can_go_on() {
    let lab = Lab::new();
    // A step takes a second or more; the first is kept when it is done.
    let learn = "learn cnn --net conv4 --sample 60 --passes 0.05 --batch 1024 --warmup 5 \
                 --checkpoint 0.0005 --tested 100 --out";
    let learn: Vec<&str> = learn.split_whitespace().collect();
    lab.ok(&[&learn[..], &["whole"]].concat());
    let mut child = Command::new(PROGRAM)
        .args(&learn)
        .arg("run")
        .current_dir(lab.path())
        .env_remove("OUTFLANK_DATA")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !lab.exists("run/checkpoint.toml") {
        assert!(child.try_wait().unwrap().is_none(), "it ended too soon");
        std::thread::sleep(Duration::from_millis(1));
    }
    // Requests within half a second are one.
    while child.try_wait().unwrap().is_none() {
        let id = child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        std::thread::sleep(Duration::from_millis(600));
    }
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    lab.ok(&["learn", "cnn", "--resume", "run"]);
    assert_eq!(lab.read("run/model.safetensors"), lab.read("whole/model.safetensors"));
}

/// Stopped before its speed was known a run has no number of steps, and says what it needs to go on.
#[test]
fn a_run_that_has_hardly_begun_says_how_to_go_on() {
    let lab = Lab::new();
    let short = ["learn", "cnn", "--net", "fc2x16", "--sample", "20", "--minutes", "0"];
    let said = lab.run(&[&short[..], &["--out", "run"]].concat()).err;
    assert!(
        said.contains("step 0; go on with: outflank learn cnn --resume run --minutes N"),
        "{said}"
    );
    let refused = lab.refused(&["learn", "cnn", "--resume", "run", "--quiet"]);
    assert!(refused.contains("--passes or --minutes"), "{refused}");
    lab.ok(&["learn", "cnn", "--resume", "run", "--minutes", "0.02"]);
    assert!(lab.exists("run/model.safetensors"));
}

/// Without a word a laptop takes small steps; a run keeps the steps that it was begun with, also one
/// whose configuration is of a time when the rate was not in it.
#[test]
fn a_run_keeps_the_steps_that_it_was_begun_with() {
    let lab = Lab::new();
    let short = ["learn", "cnn", "--net", "fc2x16", "--sample", "60", "--passes", "0.05"];
    let begun = |more: &[&str]| {
        let _ = std::fs::remove_dir_all(lab.file("run"));
        lab.ok(&[&short[..], &["--minutes", "0", "--out", "run"], more].concat());
        lab.text("run/config.toml")
    };
    let has = |config: &str, lines: &[&str]| {
        lines
            .iter()
            .for_each(|line| assert!(config.lines().any(|l| l == *line), "{line}: {config}"));
    };
    let laptop = ["batch = 64", "warmup = 200", "rate = 0.05", "nesterov = true"];
    has(&begun(&[]), &laptop);
    lab.ok(&["learn", "cnn", "--resume", "run"]);
    has(&lab.text("run/config.toml"), &laptop);
    has(&begun(&["--nesterov=false", "--rate", "0.1"]), &["nesterov = false", "rate = 0.1"]);
    has(&begun(&["--optimizer", "adamw"]), &["nesterov = false", "rate = 0.001"]);
    // As an earlier version began it.
    let old = begun(&["--batch", "128", "--warmup", "500", "--nesterov=false", "--rate", "0.1"]);
    lab.ok(&["learn", "cnn", "--resume", "run"]);
    let weights = lab.read("run/model.safetensors");
    begun(&["--batch", "128", "--warmup", "500", "--nesterov=false", "--rate", "0.1"]);
    lab.write("run/config.toml", old.replace("rate = 0.1\n", ""));
    lab.ok(&["learn", "cnn", "--resume", "run"]);
    has(&lab.text("run/config.toml"), &["batch = 128", "warmup = 500", "nesterov = false"]);
    assert_eq!(lab.read("run/model.safetensors"), weights);
}

/// At a rate that is far too high normalisation's variances overflow before the loss does. What was kept
/// before stays.
#[test]
fn a_run_that_goes_astray_keeps_its_last_checkpoint() {
    let lab = Lab::new();
    let wild = ["learn", "cnn", "--net", "fc2x16", "--sample", "20", "--quiet"];
    let more = ["--passes", "0.2", "--rate", "1e5", "--checkpoint", "0.000001", "--out", "wild"];
    let words: Vec<&str> = wild.iter().chain(&more).copied().collect();
    // It can be read again, and goes the same way.
    for words in [&words[..], &["learn", "cnn", "--resume", "wild", "--quiet"]] {
        let lab::Ran { code, err, .. } = lab.run(words);
        assert_ne!(code, 0, "{err}");
        assert!(err.contains("smaller --rate") && !err.contains("NaN"), "{err}");
        assert!(lab.exists("wild/checkpoint.toml"));
    }
}

#[test]
fn what_cannot_be_begun_leaves_no_folder() {
    let lab = Lab::new();
    for (arguments, part) in [
        (&["learn", "cnn", "--net", "conv4"][..], "say how long to learn"),
        (&["learn", "cnn", "--net", "conv5", "--passes", "1"], "unknown network 'conv5'"),
        (&["learn", "cnn", "--input", "discs", "--passes", "1"], "unknown input 'discs'"),
        (
            &["learn", "cnn", "--net", "conv4-stages", "--passes", "1"],
            "the input must be 'pieces+stage', not 'pieces'",
        ),
        (&["learn", "cnn", "--batch", "1", "--passes", "1"], "--batch"),
        (&["learn", "cnn", "--from", "cmn", "--passes", "1"], "did you mean 'cnn'"),
        (&["learn", "cnn", "--from", "champion", "--passes", "1"], "it is no deep network"),
        (&["learn", "cnn", "--from", "gp", "--passes", "1"], "named features"),
        (
            &["learn", "cnn", "--from", "cnn", "--net", "conv4", "--passes", "1"],
            "is a conv8-bn that sees pieces; leave out --net",
        ),
        (
            &["learn", "cnn", "--from", "cnn", "--input", "ones", "--passes", "1"],
            "leave out --net and --input",
        ),
        (&["learn", "cnn", "--minutes=-0.5"], "--minutes is a number from 0"),
        (
            &["learn", "cnn", "--quiet", "--sample", "1", "--batch", "4096", "--passes", "1"],
            "smaller --batch",
        ),
        (&["learn", "cnn", "--last-year", "2000", "--passes", "1"], "--split game or both"),
        (&["learn", "cnn", "--tested", "0", "--passes", "1"], "--tested"),
        (&["learn", "cnn", "--bootstrap", "0", "--passes", "1"], "--bootstrap"),
    ] {
        let message = lab.refused(arguments);
        assert!(message.contains(part), "{message}");
        assert!(!lab.exists("runs"), "{arguments:?}");
    }
    #[cfg(not(feature = "gpu"))]
    {
        let message = lab.refused(&with(&["--device", "gpu"]));
        assert!(message.contains("--features gpu") && !lab.exists("runs"), "{message}");
    }
}
