//! Help, configuration files and what goes to which stream.

#[path = "support/lab.rs"]
mod lab;

use lab::{Lab, PROGRAM, same};
use std::io::Read;
use std::process::{Command, Stdio};

/// Every subcommand, its options, and words that its help must hold.
const COMMANDS: [(&[&str], &[&str]); 18] = [
    (&["worker"], &["--on", "--queue", "--threads", "--idle-exit", "--nats-creds", "nats://"]),
    (
        &["learn"],
        &[
            "--records",
            "--years",
            "--by",
            "--tournament",
            "--steps",
            "--solver",
            "--binary",
            "--unbalanced",
            "--lambda",
            "--ridge",
            "--prior",
            "--sweeps",
            "--multivalued",
            "--sample",
            "--data",
            "--out",
            "--resume",
        ],
    ),
    (
        &["match"],
        &["--sprt", "--openings", "--games", "--first", "--random", "--game", "--out", "--resume"],
    ),
    (
        &["league"],
        &[
            "--sub-league",
            "--draw-elo",
            "--advantage",
            "--openings",
            "--games",
            "--out",
            "--resume",
        ],
    ),
    (
        &["accuracy"],
        &["--records", "--years", "--by", "--tournament", "--sample", "--data", "--out"],
    ),
    (&["data", "stats"], &["PATH"]),
    (&["data", "check"], &["PATH"]),
    (&["data", "convert"], &["--to", "--format", "--years", "--by", "--tournament", "--sample"]),
    (&["data", "export"], &["--to", "--choices", "--unique", "--symmetric", "--split", "--test"]),
    (&["data", "generate"], &["--to", "--player", "--games", "--opening", "--out", "--resume"]),
    (&["openings"], &["--count", "--ply", "--simulations", "--game", "--to", "--out", "--resume"]),
    (&["players"], &["--game", "--json"]),
    (&["perft"], &["--game", "--board", "--json"]),
    (&["solve"], &["--threads", "--memory", "--quiet", "--json", "BOARD|FILE"]),
    (
        &["play"],
        &["--game", "--level", "--player", "--side", "--seconds", "--from", "--seed", "--json"],
    ),
    (&["analyze"], &["--model", "--depth", "--exact", "--cut", "--to", "--json"]),
    (&["engine"], &["--protocol", "--player", "--threads"]),
    (&["bench"], &["--data", "--json", "games", "records", "arena", "learners", "search", "grid"]),
];

/// What every command that takes time has.
const COMMON: [&str; 6] = ["--seed", "--threads", "--quiet", "--json", "--config", "--set"];

#[test]
fn help_names_every_option() {
    let lab = Lab::new();
    let all = lab.ok(&["--help"]);
    for (command, options) in COMMANDS {
        assert!(all.contains(&format!("\n  {} ", command[0])), "{command:?} in {all}");
        let help = lab.ok(&[command, &["--help"]].concat());
        assert_eq!(help, lab.ok(&[command, &["-h"]].concat()));
        for option in options {
            assert!(help.contains(option), "{option} in {help}");
        }
        if !["players", "perft", "bench", "solve", "play", "analyze", "engine"]
            .contains(&command[0])
        {
            for option in COMMON {
                assert!(help.contains(option), "{option} in {help}");
            }
        }
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
    for command in ["match", "league"] {
        let help = lab.ok(&[command, "--help"]);
        for part in ["MODEL[@SEARCH]", "x.toml", "@mcts5000", "gtp:", "nboard:", "stage="] {
            assert!(help.contains(part), "{part} in {help}");
        }
    }
}

#[test]
fn version_manual_and_completions() {
    let lab = Lab::new();
    assert_eq!(lab.ok(&["--version"]), format!("outflank {}\n", env!("CARGO_PKG_VERSION")));
    let manual = lab.ok(&["man"]);
    for (command, options) in COMMANDS {
        assert!(manual.contains(&format!("OUTFLANK {}", command.join(" ").to_uppercase())));
        for option in options.iter().filter(|option| option.starts_with("--")) {
            // The manual writes a hyphen as roff does.
            assert!(manual.contains(&option.replace('-', "\\-")), "{option}");
        }
    }
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = lab.ok(&["completions", shell]);
        for word in ["league", "openings", "simulations", "sub-league"] {
            assert!(script.contains(word), "{word} for {shell}");
        }
    }
    let nothing = lab.run(&[]);
    assert_eq!(nothing.code, 2);
    assert!(nothing.err.contains("Usage"), "{}", nothing.err);
}

#[test]
fn a_file_stands_for_the_options_it_names() {
    let lab = Lab::new();
    lab.write("c.toml", "games = 6\nrandom = 0.25\nseed = 7\nquiet = true\n");
    lab.ok(&["match", "heuristic", "random", "--config", "c.toml", "--out", "file"]);
    let typed = "match heuristic random --games 6 --random 0.25 --seed 7 --out typed";
    lab.ok(&typed.split(' ').collect::<Vec<_>>());
    same(&lab.tree("file"), &lab.tree("typed"));

    // What is typed wins over --set, and that over the file.
    let found = lab.json(&[
        "match",
        "heuristic",
        "random",
        "--config=c.toml",
        "--set",
        "games=4",
        "--set=seed=3",
    ]);
    assert_eq!(found["games"], 4);
    let found = lab.json(&[
        "match",
        "heuristic",
        "random",
        "--games",
        "2",
        "--config",
        "c.toml",
        "--set",
        "games=4",
    ]);
    assert_eq!(found["games"], 2);
    let lists = lab.write("lists.toml", "records = [\"a.txt\", \"b.txt\"]\n");
    lab.write("a.txt", "f5d6c3\n");
    lab.write("b.txt", "f5f6e6f4\n");
    assert_eq!(lab.json(&["accuracy", "heuristic", "--config", lists])["games"], 2);
}

#[test]
fn the_configuration_of_a_run_repeats_it() {
    let lab = Lab::new();
    lab.write("openings.txt", "f5d6c3\nf5f6e6f4\nf5d6c5\n");
    let runs: [&[&str]; 4] = [
        &["match", "heuristic@2", "yoshioka", "--openings", "openings.txt", "--random", "0.1"],
        &["league", "heuristic", "random", "yoshioka", "--games", "4", "--sub-league", "1-2"],
        &["openings", "--count", "4", "--ply", "3", "--simulations", "20"],
        &["learn", "--features", "1tuple", "--sample", "20", "--games", "2"],
    ];
    for run in runs {
        // The largest seed there is.
        lab.ok(&[run, &["--seed", "18446744073709551615", "--out", "first"]].concat());
        lab.ok(&[run[0], "--config", "first/config.toml", "--out", "second"]);
        same(&lab.tree("second"), &lab.tree("first"));
        std::fs::remove_dir_all(lab.file("first")).unwrap();
        std::fs::remove_dir_all(lab.file("second")).unwrap();
    }
}

#[test]
fn an_unknown_key_is_answered_with_the_nearest() {
    let lab = Lab::new();
    let with = |more: &[&str]| lab.refused(&[&["match", "heuristic", "random"], more].concat());
    lab.write("slip.toml", "gmaes = 4\n");
    lab.write("cut.toml", "games = 4\nseed = [1,\n");
    lab.write("kind.toml", "# A match\nseed = 3\n  games = \"many\"\n");
    lab.write("run.toml", "command = \"match\"\n[settings]\nquiet = 3\n");
    lab.write("odd.toml", "seed = 1\ngames = 3\n");
    lab.write("choice.toml", "first = \"green\"\n");
    lab.write("player.toml", "b = \"nobody\"\n");
    std::fs::write(lab.file("bytes.toml"), b"games\xff").unwrap();
    for (more, part) in [
        (&["--config", "slip.toml"][..], "'gmaes' here; did you mean 'games'?"),
        (&["--config", "slip.toml"], "outflank: slip.toml, line 1, column 1: "),
        (&["--config", "kind.toml"], "outflank: kind.toml, line 3, column 3: invalid value 'many'"),
        (&["--config", "kind.toml"], "--help"),
        (&["--config", "run.toml"], "run.toml, line 3, column 1: option 'quiet' is true or false"),
        (&["--config", "odd.toml"], "even number, at least 2, not 3"),
        (&["--config", "odd.toml"], "games stands in odd.toml, line 2, column 1"),
        (&["--config", "choice.toml"], "choice.toml, line 1, column 1: invalid value 'green'"),
        (&["--config", "choice.toml"], "black, white"),
        (&["--config", "bytes.toml"], "bytes.toml, byte 5, is not text"),
        (&["--set", "opening=x"], "did you mean 'openings'?"),
        (&["--set", "colour=red"], "there are sprt, game, openings"),
        (&["--set", "help=true"], "no option 'help'"),
        (&["--set", "games"], "--set takes KEY=VALUE, not 'games'"),
        (&["--set", "games=many"], "outflank: --set games=many: invalid value 'many'"),
        (&["--set", "quiet=perhaps"], "'quiet' is true or false, not perhaps"),
        (&["--config", "none.toml"], "none.toml"),
        (&["--config", "cut.toml"], "cut.toml is not TOML such as games = 20: line 2, column "),
        (&["--config"], "--config"),
    ] {
        let message = with(more);
        assert!(message.contains(part), "{more:?}: {message}");
    }
    let message = lab.refused(&["match", "heuristic", "--config", "player.toml"]);
    assert!(
        message.contains("'nobody'") && message.contains("b stands in player.toml"),
        "{message}"
    );
    // What is typed is not the file's, and help is help.
    let message = with(&["--config", "kind.toml", "--games", "few"]);
    assert!(message.contains("'few'") && !message.contains("kind.toml"), "{message}");
    lab.ok(&["match", "--config", "kind.toml", "--help"]);
    // A command without configuration says so, whatever the file holds.
    assert!(lab.refused(&["perft", "3", "--config", "slip.toml"]).contains("--config"));
}

#[test]
fn options_of_other_machines_go_with_a_server() {
    let lab = Lab::new();
    lab.write("queue.toml", "games = 2\nqueue = \"mine\"\n");
    for (command, part) in [
        ("match heuristic random --games 2 --queue mine", "--queue goes with --on"),
        ("league heuristic random --games 2 --nats-user me", "--nats-user goes with --on"),
        ("learn ctdl --patience 20", "--patience goes with --on"),
        ("reproduce ann/table1 --nats-ca x.pem", "--nats-ca goes with --on"),
        ("match heuristic random --config queue.toml", "queue stands in queue.toml, line 2"),
    ] {
        let message = lab.refused(&command.split(' ').collect::<Vec<_>>());
        assert!(message.contains(part), "{command}: {message}");
    }
    // The environment may be made for other commands.
    let done = Command::new(PROGRAM)
        .args(["match", "heuristic", "random", "--games", "2", "--quiet"])
        .current_dir(lab.path())
        .env("NATS_USER", "me")
        .env("NATS_CA", "none.pem")
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn json_is_alone_on_standard_output() {
    let lab = Lab::new();
    lab.write("games.txt", "f5d6c3d3c4\nf5f6e6f4\n");
    let commands: [&[&str]; 12] = [
        &["learn", "--features", "1tuple", "--sample", "20", "--games", "2"],
        &["match", "heuristic", "random", "--games", "2"],
        &["league", "heuristic", "random", "--games", "2"],
        &["accuracy", "heuristic", "--records", "games.txt"],
        &["data", "stats", "games.txt"],
        &["data", "check", "games.txt"],
        &["data", "convert", "games.txt", "--to", "x.ggf"],
        &["data", "export", "games.txt", "--to", "x.csv"],
        &["data", "generate", "--player", "random", "--games", "2", "--to", "y.txt"],
        &["openings", "--count", "2", "--ply", "2", "--simulations", "5"],
        &["players"],
        &["perft", "2"],
    ];
    for command in commands {
        lab.json(command);
        let ran = lab.run(&[command, &["--json"]].concat());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{command:?}");
    }
}

#[test]
fn a_reader_who_goes_away_is_no_error() {
    let lab = Lab::new();
    for command in [&["accuracy", "heuristic", "--json"][..], &["completions", "bash"], &["man"]] {
        let mut child = Command::new(PROGRAM)
            .args(command)
            .current_dir(lab.path())
            .env_remove("OUTFLANK_DATA")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{command:?}");
    }
    // Nobody there from the start.
    let mut child = Command::new(PROGRAM)
        .args(["perft", "6"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_standard_output_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = Command::new(PROGRAM).args(["perft", "3"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    lab::clear(&message);
    assert!(message.contains("standard output"), "{message}");
}
