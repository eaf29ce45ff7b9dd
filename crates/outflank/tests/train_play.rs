//! `outflank train` with methods that train by playing.

#[path = "support/sandbox.rs"]
mod sandbox;

use sandbox::{Sandbox, assert_same_files, has_keys};

/// A run of a second or so.
const SMALL: [&str; 9] = [
    "--shape",
    "3x3",
    "--set",
    "population=4",
    "--set",
    "tournament-size=2",
    "--set",
    "match-games=20",
    "--quiet",
];

fn small<'a>(start: &[&'a str], rest: &[&'a str]) -> Vec<&'a str> {
    [start, &SMALL, rest].concat()
}

#[test]
fn a_run_writes_a_player_a_curve_and_events() {
    let sandbox = Sandbox::new();
    let arguments = [
        "train",
        "tdl",
        "--games",
        "600",
        "--measurements",
        "3",
        "--shape",
        "4x3",
        "--against",
        "random",
        "--match-games",
        "40",
        "--out",
        "run",
    ];
    let value = sandbox.json(&arguments);
    has_keys(&value, &["method", "run", "model", "seconds", "accuracy", "matches", "curve"]);
    assert_eq!(value["method"], "tdl");
    assert!(value["accuracy"].is_null());
    assert_eq!(value["games"], 600);
    let games: Vec<u64> =
        value["curve"].as_array().unwrap().iter().map(|p| p["games"].as_u64().unwrap()).collect();
    assert_eq!(games, [200, 400, 600]);
    assert_eq!(value["curve"][0]["scores"].as_array().unwrap().len(), 2);
    let curve = sandbox.text("run/metrics.csv");
    assert_eq!(curve.lines().count(), 4);
    assert!(curve.starts_with("games,heuristic,heuristic error,random,random error\n"), "{curve}");
    let events = sandbox.read("run/events.out.tfevents.0.outflank");
    assert!(events.windows(13).any(|w| w == b"brain.Event:2"));
    assert!(sandbox.text("run/report.html").contains("</html>"));
    // The run folder is a player.
    sandbox.ok(&["match", "run", "random", "--games", "4", "--random", "0.1", "--quiet"]);
}

#[test]
fn every_method_runs_a_generation() {
    for method in ["tdl", "cel", "hof", "ptdl", "ctdl", "etdl"] {
        let sandbox = Sandbox::new();
        let mut arguments = vec!["train", method, "--games", "2000", "--measurements", "1"];
        arguments.extend(["--shape", "3x3", "--match-games", "20", "--quiet", "--out", "run"]);
        if method != "tdl" {
            arguments.extend(["--population", "4"]);
            if method != "ptdl" {
                arguments.extend(["--tournament-size", "2"]);
            }
        }
        let value = sandbox.json(&arguments);
        assert_eq!(value["method"], method);
    }
}

/// A new hybrid is a TOML file; `--set` overrides it; the configuration has all settings.
#[test]
fn a_configuration_file_defines_a_hybrid_method() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "hybrid.toml",
        "games = 3000\nmeasurements = 2\nshape = \"all2+2x2\"\npopulation = 4\nself-play-games = 10\n\
         population-opponents = 2\npopulation-games = 5\nfitness = \"heuristic\"\n\
         heuristic-games = 6\ntournament-size = 2\ncrossover = 0.5\nweight-mutation = 0.01\n\
         snake = \"wrapping\"\ntopology = \"crowded\"\nmatch-games = 20\n",
    );
    let run =
        ["train", "ctdl", "--config", "hybrid.toml", "--set", "learning-rate=0.01", "--out", "run"];
    let value = sandbox.json(&run);
    assert_eq!(value["settings"]["shape"], "all2+2x2");
    assert_eq!(value["settings"]["learning-rate"], 0.01);
    assert_eq!(value["settings"]["topology"], "crowded");
    let config = sandbox.text("run/config.toml");
    assert!(config.contains("population-games = 5"), "{config}");
    // The configuration of the run repeats it.
    let again = sandbox.json(&["train", "ctdl", "--config", "run/config.toml", "--out", "again"]);
    assert_eq!(again["curve"], value["curve"]);
    assert_eq!(sandbox.read("again/model.safetensors"), sandbox.read("run/model.safetensors"));
}

#[test]
fn killed_runs_resume_to_the_same_bytes() {
    let start =
        ["train", "ctdl", "--games", "6000", "--measurements", "6", "--operators", "asxm_t"];
    let rest = ["--set", "self-play-games=20", "--set", "archive-games=10", "--out", "run"];
    let wanted = {
        let sandbox = Sandbox::new();
        sandbox.ok(&small(&start, &rest));
        sandbox.tree("run")
    };
    for milliseconds in [30, 150, 500] {
        let sandbox = Sandbox::new();
        let arguments = [&small(&start, &rest)[..], &["--threads", "2"]].concat();
        let begun = sandbox.killed_after(milliseconds, &arguments);
        if begun {
            sandbox.ok(&["train", "ctdl", "--resume", "run", "--threads", "3", "--quiet"]);
        } else {
            sandbox.ok(&small(&start, &rest));
        }
        assert_same_files(&sandbox.tree("run"), &wanted);
    }
}

/// A run that its time limit ends is measured and reported; `--resume` continues it to its budget, and
/// ends with the same bytes.
#[test]
fn a_time_limited_run_is_measured_and_resumes_to_the_same_bytes() {
    let sandbox = Sandbox::new();
    let run = ["train", "tdl", "--games", "6000", "--measurements", "3", "--shape", "3x3"];
    let run = [&run[..], &["--match-games", "4", "--quiet", "--out"]].concat();
    sandbox.ok(&[&run[..], &["whole"]].concat());
    let ran = sandbox.run(&[&run[..], &["part", "--time-limit", "0.15s", "--json"]].concat());
    // On a slow machine the limit may end the run before its first game.
    if ran.code == 0 {
        let found: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        let games = found["games"].as_u64().unwrap();
        let remark = found["remarks"][0].as_str().unwrap_or_default().replace(',', "");
        assert!(games == 6000 || remark.contains(&format!("after {games} of 6000")), "{found}");
        assert!(sandbox.exists("part/report.html") && sandbox.exists("part/model.safetensors"));
    }
    assert!(sandbox.text("part/config.toml").contains("time-limit = \"0.15s\""));
    sandbox.ok(&["train", "tdl", "--resume", "part", "--quiet"]);
    let [mut whole, mut part] = ["whole", "part"].map(|run| sandbox.tree(run));
    // The time limit is in one of the configurations.
    assert_ne!(whole.remove("config.toml"), part.remove("config.toml"));
    assert_same_files(&part, &whole);
}

/// Patterns per stage, with an opponent; stopped between two batches and resumed.
#[test]
fn self_play_does_not_depend_on_threads_or_interruptions() {
    let start =
        ["train", "self-play", "--games", "120", "--games-per-batch", "30", "--measurements", "4"];
    let rest = ["--opponent", "heuristic", "--opponent-share", "0.5", "--features", "t.txt"];
    let run = ["--discs-per-stage", "20", "--match-games", "20", "--quiet", "--out", "run"];
    let whole = [&start[..], &rest, &run].concat();
    let tuples = "a1 b1 c1 d1 e1 f1 g1 h1\nd4 e4 d5 e5\n";
    let done = |threads: &str| {
        let sandbox = Sandbox::new();
        sandbox.write("t.txt", tuples);
        let value = sandbox.json(&[&whole[..], &["--threads", threads]].concat());
        assert_eq!((&value["method"], &value["games"]), (&"self-play".into(), &120.into()));
        sandbox.tree("run")
    };
    let wanted = done("1");
    assert_same_files(&done("2"), &wanted);
    for milliseconds in [20, 100] {
        let sandbox = Sandbox::new();
        sandbox.write("t.txt", tuples);
        let begun = sandbox.killed_after(milliseconds, &whole);
        match begun {
            true => sandbox.ok(&["train", "self-play", "--resume", "run", "--quiet"]),
            false => sandbox.ok(&whole),
        };
        assert_same_files(&sandbox.tree("run"), &wanted);
    }
}

#[test]
fn coevolution_does_not_depend_on_the_number_of_threads() {
    let run = |threads: &str| {
        let sandbox = Sandbox::new();
        let start =
            ["train", "hof", "--operators", "sxm_w", "--games", "2000", "--measurements", "2"];
        sandbox.ok(&small(
            &start,
            &["--set", "self-play-games=10", "--threads", threads, "--out", "run"],
        ));
        sandbox.tree("run")
    };
    assert_same_files(&run("3"), &run("1"));
}

#[test]
fn wrong_options_are_errors_before_anything_runs() {
    let sandbox = Sandbox::new();
    sandbox.write("typo.toml", "crosover = 0.5\n");
    sandbox.write("bad.toml", "crossover = \n");
    for (arguments, words) in [
        ("ctdl --population 0", "from 1 to 10000, not 0"),
        ("ctdl --population 1", "more than a population of 1"),
        ("ctdl --population -3", "population"),
        (
            "ctdl --population 1 --tournament-size 0 --fitness none",
            "crossover needs more than a population of 1",
        ),
        (
            "ctdl --population 1 --tournament-size 0 --fitness none --crossover 0 --operators pm_t",
            "training with the population needs more than",
        ),
        ("tdl --shape 12x0", "1 to 12 squares, not 0"),
        ("tdl --shape 12x13", "1 to 12 squares, not 13"),
        ("tdl --shape 0x6", "shape"),
        ("tdl --shape snake", "such as 12x6"),
        ("tdl --shape 2x2", "write snakes2x2"),
        ("hof --archive-size 5000", "an archive of 5000 is larger than the budget"),
        ("hof --hall-of-fame-games 1000000", "larger than the budget"),
        ("ctdl --games 100", "one generation takes 7450 games"),
        ("ctdl --games 0", "budget"),
        ("ctdl --config typo.toml", "did you mean 'crossover'?"),
        ("ctdl --set learning-rat=1", "did you mean 'learning-rate'?"),
        ("ctdl --set alpha=1", "did you mean 'learning-rate'?"),
        ("ctdl --alpha 0.1", "--learning-rate"),
        ("ctdl --config bad.toml", "line 1"),
        ("ctdl --config none.toml", "none.toml"),
        ("ctdl --lr 0", "learning-rate must be above 0"),
        ("ctdl --learning-rate x", "--learning-rate"),
        ("ctdl --epsilon 2", "epsilon must be a probability"),
        ("ctdl --snake straight", "snake"),
        ("ctdl --operators sz", "'z'"),
        ("ctdl --fitness luck", "fitness"),
        ("tdl --match-games 3", "even"),
        ("tdl --measurements 0", "--measurements"),
        ("tdl --against nobody", "nobody"),
        ("tdl --resume nowhere", "nowhere"),
        ("self-play --games 100 --games-per-batch 200", "less than a batch of 200"),
        ("self-play --games-per-batch 0", "--games-per-batch must be at least 1"),
        ("self-play --batch 10", "--games-per-batch"),
        ("self-play --rival heuristic", "--opponent"),
        ("tdl --points 3", "--measurements"),
        ("self-play --lambda 1.5", "--lambda is a number from 0 to 1, not 1.5"),
        ("self-play --lr nan", "--learning-rate must be above 0"),
        ("self-play --discs-per-stage 0", "--discs-per-stage must be from 1 to 60"),
        ("self-play --opponent random", "--opponent takes a model that evaluates positions"),
        ("self-play --opponent nobody", "nobody"),
        ("self-play --opponent heuristic@3", "at 1-ply"),
        ("self-play --opponent-share 0.5", "add --opponent MODEL"),
        ("ctdl --operators=", "give at least one"),
        ("ctdll", "did you mean 'ctdl'?"),
        ("selfply", "did you mean 'self-play'?"),
        ("selfplay", "did you mean 'self-play'?"),
        ("rater", "did you mean 'move-predictor'?"),
        ("alchemy", "use one of ipref, pref,"),
        ("self-play --features none.txt", "none.txt"),
    ] {
        let words_given: Vec<&str> = ["train"].into_iter().chain(arguments.split(' ')).collect();
        let message = sandbox.rejected(&words_given);
        assert!(message.contains(words), "{arguments}: {message}");
    }
}
