//! Help, configuration files, errors, exit status and output streams.

#[path = "support/sandbox.rs"]
mod sandbox;

use sandbox::{PROGRAM, Sandbox, assert_same_files};
use std::io::Read;
use std::process::{Command, Stdio};

/// Every subcommand and words that its help must contain.
const COMMANDS: [(&[&str], &[&str]); 19] = [
    (&["worker"], &["--on", "--queue", "--threads", "--idle-exit", "--nats-creds", "nats://"]),
    (
        &["train"],
        &[
            "--records",
            "--years",
            "--by",
            "--tournament",
            "--max-iterations",
            "--epochs",
            "--learning-rate",
            "--solver",
            "--binary",
            "--unbalanced",
            "--lambda",
            "--ridge",
            "--prior",
            "--multivalued",
            "--match-games",
            "--sample",
            "--data",
            "--out",
            "--resume",
        ],
    ),
    (
        &["match"],
        &[
            "--sprt",
            "--alpha",
            "--beta",
            "--openings",
            "--games",
            "--first",
            "--random",
            "--game",
            "--out",
            "--resume",
        ],
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
    (
        &["data", "export"],
        &["--to", "--choices", "--unique", "--symmetric", "--split", "--held-out"],
    ),
    (
        &["data", "generate"],
        &["--to", "--player", "--games", "--random-plies", "--out", "--resume"],
    ),
    (&["openings"], &["--count", "--ply", "--simulations", "--game", "--to", "--out", "--resume"]),
    (&["players"], &["--game", "--json"]),
    (&["perft"], &["--game", "--board", "--json"]),
    (&["solve"], &["--threads", "--memory", "--quiet", "--json", "BOARD|FILE"]),
    (
        &["play"],
        &["--game", "--level", "--player", "--side", "--seconds", "--from", "--seed", "--json"],
    ),
    (&["analyze"], &["--model", "--depth", "--exact", "--cut", "--by", "--to", "--json"]),
    (&["book", "build"], &["--records", "--plies", "--min-games", "--depth", "--to"]),
    (&["engine"], &["--protocol", "--player", "--threads"]),
    (
        &["bench"],
        &["--data", "--json", "games", "records", "arena", "learners", "search", "cluster"],
    ),
];

/// Options of every long-running command.
const COMMON: [&str; 6] = ["--seed", "--threads", "--quiet", "--json", "--config", "--set"];

#[test]
fn help_lists_every_option() {
    let sandbox = Sandbox::new();
    let all = sandbox.ok(&["--help"]);
    for (command, options) in COMMANDS {
        assert!(all.contains(&format!("\n  {} ", command[0])), "{command:?} in {all}");
        let help = sandbox.ok(&[command, &["--help"]].concat());
        assert_eq!(help, sandbox.ok(&[command, &["-h"]].concat()));
        for option in options {
            assert!(help.contains(option), "{option} in {help}");
        }
        if !["players", "perft", "bench", "solve", "play", "analyze", "engine"]
            .contains(&command[0])
        {
            let has_seed = !matches!(command, ["worker"] | ["data", "stats" | "check"]);
            for option in COMMON.iter().filter(|&&option| has_seed || option != "--seed") {
                assert!(help.contains(option), "{option} in {help}");
            }
        }
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
    for command in ["match", "league"] {
        let help = sandbox.ok(&[command, "--help"]);
        for part in ["MODEL[@SEARCH]", "x.toml", "@mcts5000", "gtp:", "nboard:", "plies="] {
            assert!(help.contains(part), "{part} in {help}");
        }
    }
}

#[test]
fn version_man_page_and_completions() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.ok(&["--version"]), format!("outflank {}\n", env!("CARGO_PKG_VERSION")));
    let manual = sandbox.ok(&["man"]);
    for (command, options) in COMMANDS {
        assert!(manual.contains(&format!("OUTFLANK {}", command.join(" ").to_uppercase())));
        for option in options.iter().filter(|option| option.starts_with("--")) {
            // roff escapes hyphens.
            assert!(manual.contains(&option.replace('-', "\\-")), "{option}");
        }
    }
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = sandbox.ok(&["completions", shell]);
        for word in ["league", "openings", "simulations", "sub-league"] {
            assert!(script.contains(word), "{word} for {shell}");
        }
    }
    let nothing = sandbox.run(&[]);
    assert_eq!(nothing.code, 2);
    assert!(nothing.err.contains("Usage"), "{}", nothing.err);
}

#[test]
fn a_configuration_file_sets_options() {
    let sandbox = Sandbox::new();
    sandbox.write("c.toml", "games = 6\nrandom = 0.25\nseed = 7\nquiet = true\n");
    sandbox.ok(&["match", "heuristic", "random", "--config", "c.toml", "--out", "file"]);
    let typed = "match heuristic random --games 6 --random 0.25 --seed 7 --out typed";
    sandbox.ok(&typed.split(' ').collect::<Vec<_>>());
    assert_same_files(&sandbox.tree("file"), &sandbox.tree("typed"));

    // Typed options override --set, which overrides the file.
    let found = sandbox.json(&[
        "match",
        "heuristic",
        "random",
        "--config=c.toml",
        "--set",
        "games=4",
        "--set=seed=3",
    ]);
    assert_eq!(found["games"], 4);
    let found = sandbox.json(&[
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
    let lists = sandbox.write("lists.toml", "records = [\"a.txt\", \"b.txt\"]\n");
    sandbox.write("a.txt", "f5d6c3\n");
    sandbox.write("b.txt", "f5f6e6f4\n");
    assert_eq!(sandbox.json(&["accuracy", "heuristic", "--config", lists])["games"], 2);
}

#[test]
fn the_configuration_of_a_run_repeats_it() {
    let sandbox = Sandbox::new();
    sandbox.write("openings.txt", "f5d6c3\nf5f6e6f4\nf5d6c5\n");
    let runs: [&[&str]; 4] = [
        &["match", "heuristic@2", "yoshioka", "--openings", "openings.txt", "--random", "0.1"],
        &["league", "heuristic", "random", "yoshioka", "--games", "4", "--sub-league", "1-2"],
        &["openings", "--count", "4", "--ply", "3", "--simulations", "20"],
        &["train", "--features", "1tuple", "--sample", "20", "--match-games", "2"],
    ];
    for run in runs {
        // The largest seed.
        sandbox.ok(&[run, &["--seed", "18446744073709551615", "--out", "first"]].concat());
        sandbox.ok(&[run[0], "--config", "first/config.toml", "--out", "second"]);
        assert_same_files(&sandbox.tree("second"), &sandbox.tree("first"));
        std::fs::remove_dir_all(sandbox.file("first")).unwrap();
        std::fs::remove_dir_all(sandbox.file("second")).unwrap();
    }
}

/// Regression test: such a file once started a run with the default options.
#[test]
fn an_empty_or_truncated_configuration_is_an_error() {
    let sandbox = Sandbox::new();
    let with = |file: &str| sandbox.rejected(&["match", "heuristic", "random", "--config", file]);
    for (text, part) in [
        ("", "is empty or truncated"),
        ("# games = 20", "sets no options"),
        ("command = 'match'\nseed = 3\n[settings]\n", "[settings] is empty"),
    ] {
        sandbox.write("x.toml", text);
        assert!(with("x.toml").contains(part), "{text}: {}", with("x.toml"));
    }
    sandbox.ok(&["match", "heuristic", "random", "--games", "4", "--out", "run"]);
    let whole = sandbox.text("run/config.toml");
    for (at, _) in whole.match_indices('\n').filter(|(at, _)| at + 1 < whole.len()) {
        sandbox.write("x.toml", &whole[..=at]);
        assert!(with("x.toml").contains("truncated"), "{}", &whole[..=at]);
    }
    sandbox.ok(&["match", "--config", "run/config.toml", "--out", "again"]);
}

#[test]
fn errors_in_configuration_files_have_locations_and_suggestions() {
    let sandbox = Sandbox::new();
    let with =
        |more: &[&str]| sandbox.rejected(&[&["match", "heuristic", "random"], more].concat());
    sandbox.write("slip.toml", "gmaes = 4\n");
    sandbox.write("cut.toml", "games = 4\nseed = [1,\n");
    sandbox.write("kind.toml", "# A match\nseed = 3\n  games = \"many\"\n");
    sandbox.write("run.toml", "command = \"match\"\n[settings]\nquiet = 3\n");
    sandbox.write("odd.toml", "seed = 1\ngames = 3\n");
    sandbox.write("choice.toml", "first = \"green\"\n");
    sandbox.write("player.toml", "b = \"nobody\"\n");
    std::fs::write(sandbox.file("bytes.toml"), b"games\xff").unwrap();
    for (more, part) in [
        (&["--config", "slip.toml"][..], "'gmaes'; did you mean 'games'?"),
        (&["--config", "slip.toml"], "error: slip.toml, line 1, column 1: "),
        (&["--config", "kind.toml"], "error: kind.toml, line 3, column 3: invalid value 'many'"),
        (&["--config", "kind.toml"], "--help"),
        (&["--config", "run.toml"], "run.toml, line 3, column 1: option 'quiet' is true or false"),
        (&["--config", "odd.toml"], "even number, at least 2, not 3"),
        (&["--config", "odd.toml"], "(games is set in odd.toml, line 2, column 1)"),
        (&["--config", "choice.toml"], "choice.toml, line 1, column 1: invalid value 'green'"),
        (&["--config", "choice.toml"], "black, white"),
        (&["--config", "bytes.toml"], "bytes.toml, byte 5, is not text"),
        (&["--set", "opening=x"], "did you mean 'openings'?"),
        (&["--set", "colour=red"], "use one of game, openings"),
        (&["--set", "help=true"], "unknown option 'help'"),
        (&["--set", "games"], "--set takes KEY=VALUE, not 'games'"),
        (&["--set", "games=many"], "error: --set games=many: invalid value 'many'"),
        (&["--set", "quiet=perhaps"], "'quiet' is true or false, not perhaps"),
        (&["--config", "none.toml"], "none.toml"),
        (&["--config", "cut.toml"], "cut.toml is not TOML such as games = 20: line 2, column "),
        (&["--config"], "--config"),
    ] {
        let message = with(more);
        assert!(message.contains(part), "{more:?}: {message}");
    }
    let message = sandbox.rejected(&["match", "heuristic", "--config", "player.toml"]);
    assert!(
        message.contains("'nobody'") && message.contains("(b is set in player.toml"),
        "{message}"
    );
    // Errors in typed options do not name the file, and --help works.
    let message = with(&["--config", "kind.toml", "--games", "few"]);
    assert!(message.contains("'few'") && !message.contains("kind.toml"), "{message}");
    sandbox.ok(&["match", "--config", "kind.toml", "--help"]);
    // Commands without --config reject it.
    assert!(sandbox.rejected(&["perft", "3", "--config", "slip.toml"]).contains("--config"));
}

#[test]
fn worker_options_require_a_server() {
    let sandbox = Sandbox::new();
    sandbox.write("queue.toml", "games = 2\nqueue = \"mine\"\n");
    for (command, part) in [
        ("match heuristic random --games 2 --queue mine", "--queue requires --on"),
        ("league heuristic random --games 2 --nats-user me", "--nats-user requires --on"),
        ("train ctdl --worker-timeout 20", "--worker-timeout requires --on"),
        ("reproduce ann/table1 --nats-ca x.pem", "--nats-ca requires --on"),
        ("match heuristic random --config queue.toml", "(queue is set in queue.toml, line 2"),
    ] {
        let message = sandbox.rejected(&command.split(' ').collect::<Vec<_>>());
        assert!(message.contains(part), "{command}: {message}");
    }
    // Variables in the environment may be meant for other commands.
    let done = Command::new(PROGRAM)
        .args(["match", "heuristic", "random", "--games", "2", "--quiet"])
        .current_dir(sandbox.path())
        .env("NATS_USER", "me")
        .env("NATS_CA", "none.pem")
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn json_is_the_only_output() {
    let sandbox = Sandbox::new();
    sandbox.write("games.txt", "f5d6c3d3c4\nf5f6e6f4\n");
    let commands: [&[&str]; 12] = [
        &["train", "--features", "1tuple", "--sample", "20", "--match-games", "2"],
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
        sandbox.json(command);
        // `data generate` does not overwrite its file.
        let _ = std::fs::remove_file(sandbox.file("y.txt"));
        let ran = sandbox.run(&[command, &["--json"]].concat());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{command:?}");
    }
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let sandbox = Sandbox::new();
    for command in [&["accuracy", "heuristic", "--json"][..], &["completions", "bash"], &["man"]] {
        let mut child = Command::new(PROGRAM)
            .args(command)
            .current_dir(sandbox.path())
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
    // A pipe that is closed from the start.
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
    sandbox::assert_clear(&message);
    assert!(message.contains("standard output"), "{message}");
}

/// The reference in the documentation is generated from the definitions of the options.
#[test]
fn the_reference_is_up_to_date() {
    let sandbox = Sandbox::new();
    let generated = sandbox.ok(&["reference"]);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference.md");
    let stored = std::fs::read_to_string(file).unwrap_or_default();
    assert!(stored == generated, "run: outflank reference > docs/reference.md");
}
