//! Remote workers with a NATS server; processes are killed. The run folder has the same bytes as that of a
//! local run.

#[path = "../../cluster/tests/support/nats.rs"]
mod nats;
#[path = "support/process.rs"]
mod process;
#[path = "support/sandbox.rs"]
mod sandbox;

use nats::NatsServer;
use process::Process;
use sandbox::{Sandbox, assert_same_files};
use std::fs;
use std::time::Duration;

/// Returns the number of games in the journal of a run.
fn journal_lines(sandbox: &Sandbox) -> usize {
    let journal = fs::read(sandbox.file("run/games.tsv")).unwrap_or_default();
    journal.iter().filter(|&&byte| byte == b'\n').count()
}

/// Waits until a run has this number of games or has ended.
fn wait_for_games(sandbox: &Sandbox, games: usize, run: &mut Process) {
    while journal_lines(sandbox) < games && !run.has_ended() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A sandbox with a player and openings in files, which must be sent to the workers.
fn with_files() -> Sandbox {
    let sandbox = Sandbox::new();
    let weights: Vec<String> = (0..64).map(|square| format!("{}", square % 9)).collect();
    sandbox.write("corners.wpc", weights.join(" ") + "\n");
    sandbox.write("openings.txt", "f5d6c3\nf5d6c4\nf5f6e6\nf5f4e3\nc4c3d3\n");
    sandbox
}

const LEAGUE: [&str; 14] = [
    "league",
    "heuristic",
    "yoshioka@2",
    "corners.wpc@2?name=mine",
    "random",
    "heuristic?plies=40-60&with=corners.wpc",
    "--openings",
    "openings.txt",
    "--games",
    "40",
    "--random",
    "0.1",
    "--out",
    "run",
];

#[test]
fn a_league_with_workers_has_the_same_bytes() {
    let Some(server) = NatsServer::start() else { return };
    let local = with_files();
    local.ok(&LEAGUE);
    let remote = with_files();
    // The workers have none of the files.
    let worker_folder = Sandbox::new();
    let _workers: Vec<Process> = (0..3).map(|_| Process::worker(&worker_folder, &server)).collect();
    let address = server.address();
    remote.ok(&[&LEAGUE[..], &["--on", &address]].concat());
    assert_same_files(&remote.tree("run"), &local.tree("run"));
    // A match that a test ends early, and the other game.
    for contest in [
        "match heuristic random --games 400 --random 0.2 --sprt 0,60 --out match",
        "league material random --game checkers --games 20 --random 0.1 --out checkers",
    ] {
        let words: Vec<&str> = contest.split(' ').collect();
        local.ok(&words);
        remote.ok(&[&words[..], &["--on", &address]].concat());
        let folder = words[words.len() - 1];
        assert_same_files(&remote.tree(folder), &local.tree(folder));
    }
}

#[test]
fn a_league_of_forty_players_with_four_workers() {
    let Some(server) = NatsServer::start() else { return };
    let (local, remote) = (Sandbox::new(), Sandbox::new());
    let players: Vec<String> = (0..40)
        .map(|number| match number % 4 {
            0 => format!("heuristic?name=h{number}&noise={number}"),
            1 => format!("yoshioka?name=y{number}&noise={number}"),
            2 => format!("heuristic?name=r{number}&random=0.{number:02}"),
            _ => format!("yoshioka@2?name=s{number}&random=0.{number:02}"),
        })
        .collect();
    let mut league = vec!["league"];
    league.extend(players.iter().map(String::as_str));
    league.extend(["--games", "4", "--random", "0.1", "--out", "run"]);
    local.ok(&league);
    assert_eq!(journal_lines(&local), 40 * 39 / 2 * 4);
    let _workers: Vec<Process> = (0..4).map(|_| Process::worker(&remote, &server)).collect();
    remote.ok(&[&league[..], &["--on", &server.address()]].concat());
    assert_same_files(&remote.tree("run"), &local.tree("run"));
}

/// A league that takes long enough to kill processes during it.
const SLOW: [&str; 9] = [
    "league",
    "heuristic@4",
    "yoshioka@4",
    "heuristic@3",
    "random",
    "--games",
    "160",
    "--random",
    "0.1",
];

#[test]
fn killed_workers_coordinator_and_server_do_not_change_the_result() {
    let Some(mut server) = NatsServer::start() else { return };
    let (local, remote) = (Sandbox::new(), Sandbox::new());
    local.ok(&[&SLOW[..], &["--out", "run"]].concat());
    let games = journal_lines(&local);
    let address = server.address();
    let on = ["--on", &address, "--worker-timeout", "3"];
    let mut workers: Vec<Process> = (0..2).map(|_| Process::worker(&remote, &server)).collect();
    let mut run = Process::start(&remote, &[&SLOW[..], &["--out", "run"], &on].concat());
    // A worker.
    wait_for_games(&remote, games / 8, &mut run);
    workers[0].kill();
    workers.push(Process::worker(&remote, &server));
    // The coordinator; another process resumes its run.
    wait_for_games(&remote, games * 2 / 8, &mut run);
    run.kill();
    let mut run = Process::start(&remote, &[&["league", "--resume", "run"][..], &on].concat());
    // The server, which restarts with its store, after the new process has connected.
    let more = (games * 4 / 8).max(journal_lines(&remote) + 1);
    wait_for_games(&remote, more, &mut run);
    server.kill();
    std::thread::sleep(Duration::from_millis(500));
    server.restart();
    // Another worker.
    wait_for_games(&remote, games * 6 / 8, &mut run);
    workers[1].kill();
    workers.push(Process::worker(&remote, &server));
    run.wait();
    assert_same_files(&remote.tree("run"), &local.tree("run"));
}

#[test]
fn an_experiment_with_workers_has_the_same_bytes() {
    let Some(server) = NatsServer::start() else { return };
    let (local, remote) = (Sandbox::new(), Sandbox::new());
    let experiment = ["reproduce", "coevolution/fig5", "--scale", "smoke", "--out", "run"];
    local.ok(&experiment);
    let address = server.address();
    let on = ["--on", &address, "--worker-timeout", "3"];
    let mut workers: Vec<Process> = (0..2).map(|_| Process::worker(&remote, &server)).collect();
    let mut run = Process::start(&remote, &[&experiment[..], &on].concat());
    while !remote.exists("run/received/0") && !run.has_ended() {
        std::thread::sleep(Duration::from_millis(5));
    }
    // A resumed run requests only missing results.
    run.kill();
    workers[0].kill();
    remote.ok(&[&["reproduce", "--resume", "run"][..], &on].concat());
    assert_same_files(&remote.tree("run"), &local.tree("run"));
    // An experiment whose runs need files of an earlier step.
    let _worker = Process::worker(&remote, &server);
    let experiment = ["reproduce", "gp/fig1", "--scale", "smoke", "--out", "tests"];
    local.ok(&experiment);
    remote.ok(&[&experiment[..], &on].concat());
    assert_same_files(&remote.tree("tests"), &local.tree("tests"));
    let error = remote.rejected(&[&["reproduce", "preference/fig2"][..], &on].concat());
    assert!(error.contains("omit --on"), "{error}");
}

/// Waits until `workers.txt` of a run contains all of these texts.
fn wait_for_workers(sandbox: &Sandbox, run: &mut Process, wanted: &[&str]) {
    loop {
        let line = fs::read_to_string(sandbox.file("run/workers.txt")).unwrap_or_default();
        if wanted.iter().all(|part| line.contains(part)) {
            return;
        }
        assert!(!run.has_ended(), "the run ended before workers.txt had {wanted:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Runs a long command with two workers and checks `workers.txt` while both are killed.
fn assert_workers_reported(command: &str, speed: &str) {
    let Some(server) = NatsServer::start() else { return };
    let (sandbox, address) = (Sandbox::new(), server.address());
    let mut workers = [Process::worker(&sandbox, &server), Process::worker(&sandbox, &server)];
    let on = ["--out", "run", "--on", &address, "--worker-timeout", "3"];
    let words: Vec<&str> = command.split(' ').chain(on).collect();
    let mut run = Process::start(&sandbox, &words);
    wait_for_workers(&sandbox, &mut run, &["2 workers, 2 threads", speed]);
    workers[0].kill();
    wait_for_workers(&sandbox, &mut run, &["1 worker, 1 thread (2 joined, 1 lost)"]);
    workers[1].kill();
    wait_for_workers(&sandbox, &mut run, &["no workers (2 joined, 2 lost)"]);
}

#[test]
fn every_command_reports_its_workers() {
    let train = "train ctdl --population 8 --shape 8x4 --games 9000000 --measurements 2";
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert_workers_reported("league heuristic@4 yoshioka@4 --games 90000", "games/s")
        });
        scope.spawn(|| assert_workers_reported(train, "games/s"));
        scope.spawn(|| assert_workers_reported("reproduce coevolution/fig5 --scale paper", ""));
    });
}

#[test]
fn wrong_servers_and_options_are_errors() {
    let sandbox = Sandbox::new();
    let on = ["--on", "nats://127.0.0.1:1"];
    let error = sandbox.rejected(&[&["match", "heuristic", "random"][..], &on].concat());
    assert!(error.contains("no NATS server responds at nats://127.0.0.1:1"), "{error}");
    let error = sandbox.rejected(&["worker"]);
    assert!(error.contains("--on"), "{error}");
    let error = sandbox.rejected(&["worker", "--on", "nats://127.0.0.1:1", "--nats-user", "me"]);
    assert!(error.contains("must be given together"), "{error}");
    sandbox.write("file", "");
    let error = sandbox.rejected(&["worker", "--on", "nats://h", "--cache", "file"]);
    assert!(error.contains("--cache takes a folder"), "{error}");
    let error = sandbox.rejected(&["worker", "--on", "nats://h", "--nats-ca", "none.pem"]);
    assert!(error.contains("none.pem"), "{error}");
}
