//! `outflank learn` with methods that learn by playing, as its users see it.

#[path = "support/lab.rs"]
mod lab;

use lab::{Lab, has_keys, same};

/// A run of a second or so.
const SMALL: [&str; 9] = [
    "--shape",
    "3x3",
    "--set",
    "population=4",
    "--set",
    "tournament=2",
    "--set",
    "measured-games=20",
    "--quiet",
];

fn small<'a>(start: &[&'a str], rest: &[&'a str]) -> Vec<&'a str> {
    [start, &SMALL, rest].concat()
}

#[test]
fn a_run_leaves_a_player_a_curve_and_events() {
    let lab = Lab::new();
    let arguments = [
        "learn",
        "tdl",
        "--games",
        "600",
        "--points",
        "3",
        "--shape",
        "4x3",
        "--against",
        "random",
        "--measured-games",
        "40",
        "--out",
        "run",
    ];
    let value = lab.json(&arguments);
    has_keys(&value, &["method", "run", "model", "seconds", "accuracy", "matches", "curve"]);
    assert_eq!(value["method"], "tdl");
    assert!(value["accuracy"].is_null());
    assert_eq!(value["games"], 600);
    let games: Vec<u64> =
        value["curve"].as_array().unwrap().iter().map(|p| p["games"].as_u64().unwrap()).collect();
    assert_eq!(games, [200, 400, 600]);
    assert_eq!(value["curve"][0]["scores"].as_array().unwrap().len(), 2);
    let curve = lab.text("run/curve.csv");
    assert_eq!(curve.lines().count(), 4);
    assert!(curve.starts_with("games,heuristic,heuristic error,random,random error\n"), "{curve}");
    let events = lab.read("run/events.out.tfevents.0.outflank");
    assert!(events.windows(13).any(|w| w == b"brain.Event:2"));
    assert!(lab.text("run/report.html").contains("</html>"));
    // What was learned plays.
    lab.ok(&["match", "run", "random", "--games", "4", "--random", "0.1", "--quiet"]);
}

#[test]
fn every_method_runs_a_generation() {
    for method in ["tdl", "cel", "hof", "ptdl", "ctdl", "etdl"] {
        let lab = Lab::new();
        let mut arguments = vec!["learn", method, "--games", "2000", "--points", "1"];
        arguments.extend(["--shape", "3x3", "--measured-games", "20", "--quiet", "--out", "run"]);
        if method != "tdl" {
            arguments.extend(["--population", "4"]);
            if method != "ptdl" {
                arguments.extend(["--tournament", "2"]);
            }
        }
        let value = lab.json(&arguments);
        assert_eq!(value["method"], method);
    }
}

/// A hybrid that no paper has is a file; a later key is stronger; the folder says what was done.
#[test]
fn a_hybrid_is_a_file() {
    let lab = Lab::new();
    lab.write(
        "hybrid.toml",
        "games = 3000\npoints = 2\nshape = \"all2+2x2\"\npopulation = 4\nself-games = 10\n\
         population-opponents = 2\npopulation-games = 5\nfitness = \"heuristic\"\n\
         heuristic-games = 6\ntournament = 2\ncrossover = 0.5\nweight-mutation = 0.01\n\
         snake = \"wrapping\"\ntopology = \"crowded\"\nmeasured-games = 20\n",
    );
    let run = ["learn", "ctdl", "--config", "hybrid.toml", "--set", "alpha=0.01", "--out", "run"];
    let value = lab.json(&run);
    assert_eq!(value["settings"]["shape"], "all2+2x2");
    assert_eq!(value["settings"]["alpha"], 0.01);
    assert_eq!(value["settings"]["topology"], "crowded");
    let config = lab.text("run/config.toml");
    assert!(config.contains("population-games = 5"), "{config}");
    // The folder's own configuration does the same again.
    let again = lab.json(&["learn", "ctdl", "--config", "run/config.toml", "--out", "again"]);
    assert_eq!(again["curve"], value["curve"]);
    assert_eq!(lab.read("again/model.safetensors"), lab.read("run/model.safetensors"));
}

#[test]
fn killed_and_resumed_it_comes_to_the_same_bytes() {
    let start = ["learn", "ctdl", "--games", "6000", "--points", "6", "--operators", "asxm_t"];
    let rest = ["--set", "self-games=20", "--set", "archive-games=10", "--out", "run"];
    let wanted = {
        let lab = Lab::new();
        lab.ok(&small(&start, &rest));
        lab.tree("run")
    };
    for milliseconds in [30, 150, 500] {
        let lab = Lab::new();
        let arguments = [&small(&start, &rest)[..], &["--threads", "2"]].concat();
        let begun = lab.killed_after(milliseconds, &arguments);
        if begun {
            lab.ok(&["learn", "ctdl", "--resume", "run", "--threads", "3", "--quiet"]);
        } else {
            lab.ok(&small(&start, &rest));
        }
        same(&lab.tree("run"), &wanted);
    }
}

/// Patterns by stage, with a rival; stopped between two batches and gone on with.
#[test]
fn self_play_is_the_same_on_any_number_of_threads_and_after_a_stop() {
    let start = ["learn", "selfplay", "--games", "120", "--batch", "30", "--points", "4"];
    let rest = ["--rival", "heuristic", "--rivalry", "0.5", "--features", "t.txt"];
    let run = ["--stage", "20", "--measured-games", "20", "--quiet", "--out", "run"];
    let whole = [&start[..], &rest, &run].concat();
    let tuples = "a1 b1 c1 d1 e1 f1 g1 h1\nd4 e4 d5 e5\n";
    let done = |threads: &str| {
        let lab = Lab::new();
        lab.write("t.txt", tuples);
        let value = lab.json(&[&whole[..], &["--threads", threads]].concat());
        assert_eq!((&value["method"], &value["games"]), (&"selfplay".into(), &120.into()));
        lab.tree("run")
    };
    let wanted = done("1");
    same(&done("2"), &wanted);
    for milliseconds in [20, 100] {
        let lab = Lab::new();
        lab.write("t.txt", tuples);
        let begun = lab.killed_after(milliseconds, &whole);
        match begun {
            true => lab.ok(&["learn", "selfplay", "--resume", "run", "--quiet"]),
            false => lab.ok(&whole),
        };
        same(&lab.tree("run"), &wanted);
    }
}

#[test]
fn threads_do_not_matter() {
    let run = |threads: &str| {
        let lab = Lab::new();
        let start = ["learn", "hof", "--operators", "sxm_w", "--games", "2000", "--points", "2"];
        lab.ok(&small(&start, &["--set", "self-games=10", "--threads", threads, "--out", "run"]));
        lab.tree("run")
    };
    same(&run("3"), &run("1"));
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_runs() {
    let lab = Lab::new();
    lab.write("typo.toml", "crosover = 0.5\n");
    lab.write("bad.toml", "crossover = \n");
    for (arguments, words) in [
        ("ctdl --population 0", "from 1 to 10000, not 0"),
        ("ctdl --population 1", "more than a population of 1"),
        ("ctdl --population -3", "population"),
        ("ctdl --population 1 --tournament 0 --fitness none", "crossover needs more than a population of 1"),
        (
            "ctdl --population 1 --tournament 0 --fitness none --crossover 0 --operators pm_t",
            "training with the population needs more than",
        ),
        ("tdl --shape 12x0", "1 to 12 squares, not 0"),
        ("tdl --shape 12x13", "1 to 12 squares, not 13"),
        ("tdl --shape 0x6", "shape"),
        ("tdl --shape snake", "such as 12x6"),
        ("tdl --shape 2x2", "write snakes2x2"),
        ("hof --archive 5000", "an archive of 5000 is larger than the budget"),
        ("hof --hall-of-fame 1000000", "larger than the budget"),
        ("ctdl --games 100", "one generation takes 7450 games"),
        ("ctdl --games 0", "budget"),
        ("ctdl --config typo.toml", "did you mean 'crossover'?"),
        ("ctdl --set alhpa=1", "did you mean 'alpha'?"),
        ("ctdl --config bad.toml", "line 1"),
        ("ctdl --config none.toml", "none.toml"),
        ("ctdl --alpha 0", "alpha"),
        ("ctdl --alpha x", "alpha"),
        ("ctdl --epsilon 2", "epsilon must be a probability"),
        ("ctdl --snake straight", "snake"),
        ("ctdl --operators sz", "'z'"),
        ("ctdl --fitness luck", "fitness"),
        ("tdl --measured-games 3", "even"),
        ("tdl --points 0", "--points"),
        ("tdl --against nobody", "nobody"),
        ("tdl --resume nowhere", "nowhere"),
        ("selfplay --games 100 --batch 200", "do not make a batch of 200"),
        ("selfplay --batch 0", "--batch must be at least 1"),
        ("selfplay --lambda 1.5", "--lambda is a number from 0 to 1, not 1.5"),
        ("selfplay --rate nan", "--rate must be above 0"),
        ("selfplay --stage 0", "--stage is a number of discs"),
        ("selfplay --rival random", "--rival takes a model that says what a position is worth"),
        ("selfplay --rival nobody", "nobody"),
        ("selfplay --rival heuristic@3", "at one ply"),
        ("selfplay --rivalry 0.5", "name one or leave it out"),
        ("ctdl --operators=", "name at least one"),
        ("ctdll", "did you mean 'ctdl'?"),
        ("selfply", "did you mean 'selfplay'?"),
        ("alchemy", "there are ipref, pref,"),
        ("selfplay --features none.txt", "none.txt"),
    ] {
        let words_given: Vec<&str> = ["learn"].into_iter().chain(arguments.split(' ')).collect();
        let message = lab.refused(&words_given);
        assert!(message.contains(words), "{arguments}: {message}");
    }
}
