//! `outflank train cnn` on the embedded games, on the CPU.

#[path = "support/sandbox.rs"]
mod sandbox;

use sandbox::Sandbox;
use serde_json::Value;
#[cfg(unix)]
use {
    sandbox::PROGRAM,
    std::process::{Command, Stdio},
    std::time::Duration,
};

const TRAIN: [&str; 14] = [
    "train",
    "cnn",
    "--net",
    "fc2x16",
    "--sample",
    "60",
    "--epochs",
    "0.1",
    "--batch-size",
    "64",
    "--warmup-steps",
    "5",
    "--learning-rate",
    "0.05",
];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    TRAIN.iter().chain(more).copied().collect()
}

fn steps(found: &Value) -> u64 {
    found["step"].as_u64().unwrap()
}

#[test]
fn networks_are_tested_by_example_and_by_game() {
    let sandbox = Sandbox::new();
    for split in ["example", "game", "both"] {
        let found = sandbox.json(&with(&["--split", split, "--out", split]));
        let keys =
            ["method", "run", "model", "seconds", "accuracy", "matches", "examples_seen", "epochs"];
        assert!(keys.iter().all(|key| found.get(key).is_some()), "{found}");
        assert_eq!(found["accuracy"][0]["all"]["percent"], found["tests"][2]["top1_legal"]);
        let tests = found["tests"].as_array().unwrap();
        let names: Vec<&str> = tests.iter().map(|test| test["test"].as_str().unwrap()).collect();
        let games = if split == "example" { "a tenth of the games" } else { "games held out" };
        assert_eq!(names, ["unique-s by example", "original by example", games]);
        // The overlap with the training set is reported; held-out games have little.
        let overlap = |test: &Value| test["train_overlap"].as_f64().unwrap();
        // A tenth of an epoch has seen a tenth of the examples, and of each position eight of them.
        assert!((20.0..80.0).contains(&overlap(&tests[0])), "{split}: {found}");
        let batches = found["examples_seen"].as_u64().unwrap() / 64;
        assert_eq!(
            (found["examples_seen"].as_u64().unwrap(), batches),
            (64 * batches, steps(&found))
        );
        assert!(found["distinct_positions"].as_u64() <= found["examples_seen"].as_u64());
        assert_eq!(overlap(&tests[2]) < 20.0, split != "example", "{split}: {found}");
        assert!(tests[2]["count"].as_u64().unwrap() > 200, "{found}");
        // The report has every test with its interval, the curve, and the configuration.
        let page = sandbox.text(&format!("{split}/report.html"));
        let config = sandbox.text(&format!("{split}/config.toml"));
        let (_, checksum) = config.split_once("sha256 = \"").unwrap();
        let checksum = checksum.split('"').next().unwrap();
        for part in
            ["95% intervals", "generalization gap", ">Loss<", ">Learning rate<", ">Seed<", checksum]
        {
            assert!(page.contains(part), "{split}: no {part}");
        }
        for test in tests {
            let (name, share) =
                (test["test"].as_str().unwrap(), test["top1_choices"].as_f64().unwrap());
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

/// A report describes the network beside it: an intermediate report says so and is removed when training
/// continues.
#[test]
fn a_report_matches_the_network_beside_it() {
    let sandbox = Sandbox::new();
    sandbox.ok(&with(&["--time-limit", "0s", "--test", "--out", "run"]));
    assert!(sandbox.text("run/report.html").contains("Training is not complete (step 0 of"));
    sandbox.ok(&["train", "cnn", "--resume", "run"]);
    assert!(!sandbox.text("run/report.html").contains("not complete"));
    // The command in the report repeats the run.
    let command = "--config run/config.toml --out again".split(' ');
    let words: Vec<&str> = ["train", "cnn"].into_iter().chain(command).collect();
    sandbox.ok(&words);
    assert_eq!(sandbox.read("again/model.safetensors"), sandbox.read("run/model.safetensors"));
    // Epochs cannot be reduced below those done; a changed budget is reported.
    let before = sandbox.tree("run");
    let fewer = ["train", "cnn", "--resume", "run", "--quiet", "--epochs", "0.05"];
    let message = sandbox.rejected(&fewer);
    assert!(message.contains("epochs are done"), "{message}");
    sandbox::assert_same_files(&sandbox.tree("run"), &before);
    let config = sandbox.text("run/config.toml");
    sandbox.ok(&["train", "cnn", "--resume", "run", "--epochs", "0.15"]);
    assert!(sandbox.text("run/report.html").contains("gives other weights"));
    assert_eq!(sandbox.text("run/config.toml"), config);
    assert!(!sandbox.text("again/report.html").contains("gives other weights"));
}

#[test]
fn weights_do_not_depend_on_threads_or_interruptions() {
    let sandbox = Sandbox::new();
    sandbox.ok(&with(&["--threads", "1", "--onnx", "--out", "one"]));
    sandbox.ok(&with(&["--threads", "2", "--out", "two"]));
    let weights = |run: &str| sandbox.read(&format!("{run}/model.safetensors"));
    assert_eq!(weights("one"), weights("two"));
    // The first bytes say that it is an ONNX file of version 7.
    assert_eq!(sandbox.read("one/model.onnx")[..2], [0x08, 7]);
    // A run with a time limit of zero ends before its first step; resuming does the rest.
    sandbox.ok(&with(&["--time-limit", "0s", "--out", "late"]));
    sandbox.ok(&["train", "cnn", "--resume", "late"]);
    assert_eq!(weights("late"), weights("one"));
    // Options that are not given again come from the configuration.
    let options = ["--precision=f32", "--onnx", "--test-positions", "100"];
    sandbox.ok(&[&with(&options)[..], &["--out", "single"]].concat());
    sandbox.ok(&[&with(&options)[..], &["--time-limit", "0s", "--out", "single-late"]].concat());
    let before = sandbox.read("single-late/model.onnx");
    let found = sandbox.json(&["train", "cnn", "--resume", "single-late"]);
    assert_eq!(weights("single-late"), weights("single"));
    assert_ne!(weights("single"), weights("one"));
    assert_eq!(sandbox.read("single-late/model.onnx"), sandbox.read("one/model.onnx"));
    assert_ne!(sandbox.read("single-late/model.onnx"), before);
    assert!(found["tests"][2]["count"].as_u64().unwrap() <= 100, "{found}");
}

/// Fine-tuning starts from the weights of another network: without a step they are equal, with steps the
/// loss is below that of a new network, and an interruption changes nothing.
#[test]
fn a_network_is_fine_tuned_from_another() {
    let sandbox = Sandbox::new();
    sandbox.ok(&with(&["--precision=f32", "--onnx", "--out", "first"]));
    let on = |more: &[&'static str]| -> Vec<&str> {
        let words = "train cnn --init-from first --sample 60 --epochs 0.1 --batch-size 64 --learning-rate 0.05 --precision=f32 --onnx";
        words.split(' ').chain(more.iter().copied()).collect()
    };
    sandbox.ok(&on(&["--out", "on"]));
    sandbox.ok(&on(&["--time-limit", "0s", "--out", "late"]));
    let weights = |run: &str| sandbox.read(&format!("{run}/model.onnx"));
    assert_eq!(weights("late"), weights("first"));
    assert_ne!(weights("on"), weights("first"));
    let loss = |run: &str| -> f64 {
        let curve = sandbox.text(&format!("{run}/metrics.csv"));
        curve.lines().nth(1).unwrap().split(',').nth(1).unwrap().parse().unwrap()
    };
    assert!(loss("on") < loss("first"), "{} {}", loss("on"), loss("first"));
    // The path of the initial network may change, but not its weights.
    std::fs::rename(sandbox.file("first"), sandbox.file("moved")).unwrap();
    sandbox.ok(&["train", "cnn", "--resume", "late", "--init-from", "moved/model.safetensors"]);
    assert_eq!(weights("late"), weights("on"));
    let message = sandbox.rejected(&["train", "cnn", "--resume", "late", "--init-from", "on"]);
    assert!(message.contains("late"), "{message}");
    // The default learning rate of fine-tuning is small.
    for (optimizer, rate) in [("sgd", "0.0004"), ("adamw", "0.0001")] {
        let words =
            "train cnn --init-from on --sample 60 --epochs 0.01 --time-limit 0s --optimizer";
        sandbox
            .ok(&[&words.split(' ').collect::<Vec<_>>()[..], &[optimizer, "--out", optimizer]]
                .concat());
        let config = sandbox.text(&format!("{optimizer}/config.toml"));
        assert!(config.contains(&format!("learning-rate = {rate}\n")), "{config}");
    }
    // The configuration and the report name the initial network.
    assert!(sandbox.text("on/config.toml").contains("init-from = \"first\""));
    assert!(sandbox.text("on/config.toml").contains("net = \"fc2x16\""));
    assert!(sandbox.text("on/report.html").contains("from"));
}

/// A second stop request ends the program in the middle of a long step; only that step is lost.
#[cfg(unix)]
#[test]
fn a_second_stop_request_ends_the_program_at_once() {
    let sandbox = Sandbox::new();
    // A step takes a second or more; a checkpoint is written after the first.
    let learn = "train cnn --net conv4 --sample 60 --epochs 0.05 --batch-size 1024 --warmup-steps 5 \
                 --checkpoint-every 0.03s --test-positions 100 --out";
    let learn: Vec<&str> = learn.split_whitespace().collect();
    sandbox.ok(&[&learn[..], &["whole"]].concat());
    let mut child = Command::new(PROGRAM)
        .args(&learn)
        .arg("run")
        .current_dir(sandbox.path())
        .env_remove("OUTFLANK_DATA")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !sandbox.exists("run/checkpoint.bin") {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it was stopped");
        std::thread::sleep(Duration::from_millis(1));
    }
    // Requests within half a second are one.
    while child.try_wait().unwrap().is_none() {
        let id = child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        std::thread::sleep(Duration::from_millis(600));
    }
    let ended = child.wait_with_output().unwrap();
    let message = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{message}");
    assert!(!message.contains("panicked"), "{message}");
    sandbox.ok(&["train", "cnn", "--resume", "run"]);
    assert_eq!(sandbox.read("run/model.safetensors"), sandbox.read("whole/model.safetensors"));
}

/// A run that stops before its speed is measured has no number of steps and needs a budget to resume.
#[test]
fn a_run_without_a_number_of_steps_says_how_to_resume() {
    let sandbox = Sandbox::new();
    let short = ["train", "cnn", "--net", "fc2x16", "--sample", "20", "--time-limit", "0s"];
    let message = sandbox.run(&[&short[..], &["--out", "run"]].concat()).err;
    assert!(
        message.contains("step 0; resume with: outflank train cnn --resume run --time-limit TIME"),
        "{message}"
    );
    // The time limit is in the configuration, which therefore repeats the run.
    assert!(sandbox.text("run/config.toml").contains("time-limit = \"0s\""));
    sandbox.ok(&["train", "cnn", "--resume", "run", "--time-limit", "1.2s"]);
    assert!(sandbox.exists("run/model.safetensors"));
}

/// The defaults on a CPU suit a laptop. A resumed run keeps its settings, also if its configuration is old
/// and has no learning rate.
#[test]
fn a_resumed_run_keeps_its_optimizer_settings() {
    let sandbox = Sandbox::new();
    let short = ["train", "cnn", "--net", "fc2x16", "--sample", "60", "--epochs", "0.05"];
    let begun = |more: &[&str]| {
        let _ = std::fs::remove_dir_all(sandbox.file("run"));
        sandbox.ok(&[&short[..], &["--time-limit", "0s", "--out", "run"], more].concat());
        sandbox.text("run/config.toml")
    };
    let has = |config: &str, lines: &[&str]| {
        lines
            .iter()
            .for_each(|line| assert!(config.lines().any(|l| l == *line), "{line}: {config}"));
    };
    let laptop =
        ["batch-size = 64", "warmup-steps = 200", "learning-rate = 0.05", "nesterov = true"];
    has(&begun(&[]), &laptop);
    sandbox.ok(&["train", "cnn", "--resume", "run"]);
    has(&sandbox.text("run/config.toml"), &laptop);
    has(
        &begun(&["--nesterov=false", "--learning-rate", "0.1"]),
        &["nesterov = false", "learning-rate = 0.1"],
    );
    has(&begun(&["--optimizer", "adamw"]), &["nesterov = false", "learning-rate = 0.001"]);
    // As an earlier version started it.
    let old = begun(&[
        "--batch-size",
        "128",
        "--warmup-steps",
        "500",
        "--nesterov=false",
        "--learning-rate",
        "0.1",
    ]);
    sandbox.ok(&["train", "cnn", "--resume", "run"]);
    let weights = sandbox.read("run/model.safetensors");
    begun(&[
        "--batch-size",
        "128",
        "--warmup-steps",
        "500",
        "--nesterov=false",
        "--learning-rate",
        "0.1",
    ]);
    sandbox.write("run/config.toml", old.replace("learning-rate = 0.1\n", ""));
    sandbox.ok(&["train", "cnn", "--resume", "run"]);
    has(
        &sandbox.text("run/config.toml"),
        &["batch-size = 128", "warmup-steps = 500", "nesterov = false"],
    );
    assert_eq!(sandbox.read("run/model.safetensors"), weights);
}

/// With a learning rate that is far too high, variances of batch normalization overflow before the loss
/// does. The last checkpoint stays.
#[test]
fn a_diverging_run_keeps_its_last_checkpoint() {
    let sandbox = Sandbox::new();
    let wild = ["train", "cnn", "--net", "fc2x16", "--sample", "20", "--quiet"];
    let more = [
        "--epochs",
        "0.2",
        "--learning-rate",
        "1e5",
        "--checkpoint-every",
        "0.0001s",
        "--out",
        "wild",
    ];
    let words: Vec<&str> = wild.iter().chain(&more).copied().collect();
    // It can be resumed, and diverges again.
    for words in [&words[..], &["train", "cnn", "--resume", "wild", "--quiet"]] {
        let sandbox::Ran { code, err, .. } = sandbox.run(words);
        assert_ne!(code, 0, "{err}");
        assert!(err.contains("smaller") && !err.contains("NaN"), "{err}");
        assert!(sandbox.exists("wild/checkpoint.bin"));
    }
}

#[test]
fn a_run_that_cannot_start_leaves_no_folder() {
    let sandbox = Sandbox::new();
    for (arguments, part) in [
        (&["train", "cnn", "--net", "conv4"][..], "no training budget"),
        (&["train", "cnn", "--net", "conv5", "--epochs", "1"], "unknown network 'conv5'"),
        (&["train", "cnn", "--input", "discs", "--epochs", "1"], "unknown input 'discs'"),
        (
            &["train", "cnn", "--net", "conv4-stages", "--epochs", "1"],
            "the input must be 'pieces+stage', not 'pieces'",
        ),
        (&["train", "cnn", "--batch-size", "1", "--epochs", "1"], "--batch-size"),
        (&["train", "cnn", "--init-from", "cmn", "--epochs", "1"], "did you mean 'cnn'"),
        (
            &["train", "cnn", "--init-from", "champion", "--epochs", "1"],
            "it is not a convolutional network",
        ),
        (&["train", "cnn", "--init-from", "gp", "--epochs", "1"], "named features"),
        (
            &["train", "cnn", "--init-from", "cnn", "--net", "conv4", "--epochs", "1"],
            "is a conv8-bn with input pieces; omit --net",
        ),
        (
            &["train", "cnn", "--init-from", "cnn", "--input", "ones", "--epochs", "1"],
            "omit --net and --input",
        ),
        (&["train", "cnn", "--time-limit=-0.5m"], "--time-limit"),
        (&["train", "cnn", "--time-limit", "10"], "write 90s, 10m, 2h"),
        (&["train", "cnn", "--minutes", "5"], "--time-limit"),
        (&["train", "cnn", "--gpu"], "--device cuda"),
        (&["train", "cnn", "--bootstrap", "--epochs", "1"], "--ensemble-member"),
        (
            &["train", "cnn", "--quiet", "--sample", "1", "--batch-size", "4096", "--epochs", "1"],
            "smaller --batch-size",
        ),
        (
            &["train", "cnn", "--last-year", "2000", "--split", "example", "--epochs", "1"],
            "--split game or both",
        ),
        (&["train", "cnn", "--test-positions", "0", "--epochs", "1"], "--test-positions"),
        (&["train", "cnn", "--ensemble-member", "0", "--epochs", "1"], "--ensemble-member"),
    ] {
        let message = sandbox.rejected(arguments);
        assert!(message.contains(part), "{message}");
        assert!(!sandbox.exists("runs"), "{arguments:?}");
    }
    #[cfg(not(feature = "cuda"))]
    {
        let message = sandbox.rejected(&with(&["--device", "cuda"]));
        assert!(message.contains("--features cuda") && !sandbox.exists("runs"), "{message}");
    }
}
