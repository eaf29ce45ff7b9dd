//! Remote workers under faults and restrictions: TLS and passwords, credentials, full disks, suspended
//! workers, and coevolution with workers.

#[path = "../../cluster/tests/support/nats.rs"]
mod nats;
#[path = "support/nats_credentials.rs"]
mod nats_credentials;
#[path = "support/process.rs"]
mod process;
#[path = "support/sandbox.rs"]
mod sandbox;
#[cfg(target_os = "linux")]
#[path = "support/small_disk.rs"]
mod small_disk;

use nats::NatsServer;
use nats_credentials::Operator;
use process::Process;
use sandbox::{Sandbox, assert_clear, assert_same_files};
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Creates a certificate authority and a certificate signed by it; returns whether openssl exists.
fn certificates(sandbox: &Sandbox) -> bool {
    sandbox.write("names", "subjectAltName=IP:127.0.0.1,DNS:localhost\n");
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    let commands = [
        format!("req -x509 {key} -keyout ca.key -out ca.pem -days 2 -subj /CN=authority"),
        format!("req {key} -keyout key.pem -out request.pem -subj /CN=server"),
        "x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
         -extfile names -out cert.pem"
            .to_owned(),
    ];
    for command in commands {
        let words = command.split(' ').filter(|word| !word.is_empty());
        let made = Command::new("openssl")
            .args(words)
            .current_dir(sandbox.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        match made {
            Ok(status) => assert!(status.success(), "openssl {command}"),
            Err(_) => {
                eprintln!("skipped: there is no openssl on the path");
                return false;
            }
        }
    }
    true
}

#[test]
fn a_league_runs_over_tls_with_a_password_on_its_own_queue() {
    let (home, local) = (Sandbox::new(), Sandbox::new());
    if !certificates(&home) {
        return;
    }
    let path = |name: &str| home.file(name).display().to_string();
    let (ca, cert, key) = (path("ca.pem"), path("cert.pem"), path("key.pem"));
    let guarded = ["-js", "--user", "me", "--pass", "secret", "--tls", "--tlsverify"];
    let files = ["--tlscert", &cert, "--tlskey", &key, "--tlscacert", &ca];
    let Some(server) = NatsServer::start_with(&[&guarded[..], &files].concat()) else { return };
    let address = server.address().replace("nats://", "tls://");
    let league = ["league", "heuristic", "random", "yoshioka", "--games", "20", "--out", "run"];
    let authority = ["--nats-ca", "ca.pem"];
    let own = ["--nats-cert", "cert.pem", "--nats-key", "key.pem"];
    let user = ["--nats-user", "me", "--nats-password", "secret"];
    let wrong = ["--nats-user", "me", "--nats-password", "guess"];
    for (given, part) in [
        ([&own[..], &user].concat(), "--nats-ca"),
        ([&authority[..], &user].concat(), "--nats-cert"),
        ([&authority[..], &own].concat(), "rejected a connection without credentials"),
        ([&authority[..], &own, &wrong].concat(), "rejected the user 'me'"),
    ] {
        let error = home.rejected(&[&league[..], &["--on", &address], &given].concat());
        assert!(error.contains(part), "{given:?}: {error}");
        assert!(!error.contains("secret") && !error.contains("guess"), "{error}");
    }
    let all = [&["--on", &address][..], &authority, &own, &user].concat();
    let queue = ["--queue", "two"];
    let mut run = Process::start(&home, &[&league[..], &all, &queue].concat());
    // A worker of another queue has nothing to do.
    let idle = home.json(&[&["worker", "--quiet", "--idle-exit", "2"][..], &all].concat());
    assert_eq!(idle["tasks"], 0);
    assert!(!run.has_ended());
    let _worker = Process::start(&home, &[&["worker", "--quiet"][..], &all, &queue].concat());
    run.wait();
    local.ok(&league);
    assert_same_files(&home.tree("run"), &local.tree("run"));
}

#[test]
fn bad_credentials_files_are_rejected_with_a_reason() {
    let (home, local) = (Sandbox::new(), Sandbox::new());
    let ours = Operator::new(10);
    home.write("server.conf", ours.config());
    let config = home.file("server.conf").display().to_string();
    let Some(server) = NatsServer::start_with(&["-js", "-c", &config]) else { return };
    let address = server.address();
    let good = ours.user(1, None);
    home.write("me.creds", &good);
    let old = home.write("old.creds", ours.user(1, Some(1000)));
    let stranger = home.write("stranger.creds", Operator::new(20).user(1, None));
    // The token of one user with the key of another.
    let other = ours.user(2, None);
    let (token, key) = (good.split("SEED").next().unwrap(), other.split("SEED").nth(1).unwrap());
    let thief = home.write("thief.creds", format!("{token}SEED{key}SEED------\n"));
    let system = home.write("system.creds", ours.user_without_streams(3));
    let empty = home.write("empty.creds", "");
    let cut = home.write("cut.creds", good.split("-----BEGIN USER").next().unwrap());
    let league = ["league", "heuristic", "random", "yoshioka", "--games", "20", "--out", "run"];
    let on = ["--on", &address];
    for (file, part) in [
        (None, "rejected a connection without credentials"),
        (Some(old), "rejected the credentials in old.creds"),
        (Some(stranger), "rejected the credentials in stranger.creds"),
        (Some(thief), "rejected the credentials in thief.creds"),
        (Some(system), "enable JetStream for this account"),
        (Some(empty), "empty.creds: not a NATS credentials file"),
        (Some(cut), "cut.creds: not a NATS credentials file"),
        (Some("none.creds"), "cannot read none.creds"),
    ] {
        let creds = file.map_or(Vec::new(), |file| vec!["--nats-creds", file]);
        for command in [&league[..], &["worker"]] {
            let error = home.rejected(&[command, &on, &creds].concat());
            assert!(error.contains(part), "{file:?}: {error}");
        }
    }
    let creds = ["--nats-creds", "me.creds"];
    let _worker = Process::start(&home, &[&["worker", "--quiet"][..], &on, &creds].concat());
    home.ok(&[&league[..], &on, &creds].concat());
    local.ok(&league);
    assert_same_files(&home.tree("run"), &local.tree("run"));
}

#[test]
#[cfg(target_os = "linux")]
fn a_run_resumes_after_a_full_disk() {
    let sandbox = Sandbox::new();
    let Some(disk) = small_disk::SmallDisk::mount(&sandbox, "64k") else { return };
    let Some(server) = NatsServer::start() else { return };
    let (worker_folder, address) = (Sandbox::new(), server.address());
    let _worker = Process::worker(&worker_folder, &server);
    let league = "league heuristic random yoshioka --games 300 --random 0.1 --quiet";
    let words: Vec<&str> = league.split(' ').collect();
    let on = ["--on", &address, "--worker-timeout", "3"];
    let ran = sandbox.run(&[&words[..], &["--out", "small/run"], &on].concat());
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert_clear(&ran.err);
    assert!(ran.err.contains("No space left") && ran.err.contains("resume"), "{}", ran.err);
    assert!(disk.call("remount,size=16m"));
    sandbox.ok(&[&["league", "--resume", "small/run", "--quiet"][..], &on].concat());
    sandbox.ok(&[&words[..], &["--out", "roomy"]].concat());
    assert_same_files(&sandbox.tree("small/run"), &sandbox.tree("roomy"));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_of_the_server_is_reported_and_loses_nothing() {
    let sandbox = Sandbox::new();
    let Some(disk) = small_disk::SmallDisk::mount(&sandbox, "256k") else { return };
    let store = sandbox.file("small").display().to_string();
    let Some(mut server) = NatsServer::start_with(&["-js", "-sd", &store]) else { return };
    let (worker_folder, address) = (Sandbox::new(), server.address());
    let mut worker = Process::worker(&worker_folder, &server);
    let league = "league heuristic random yoshioka --games 6000 --random 0.1 --quiet";
    let words: Vec<&str> = league.split(' ').collect();
    let on = ["--on", &address, "--worker-timeout", "3"];
    let mut run = Process::start(&sandbox, &[&words[..], &["--out", "run"], &on].concat());
    let line = || fs::read_to_string(sandbox.file("run/workers.txt")).unwrap_or_default();
    while !line().contains("disk") && !line().contains("room") {
        assert!(!run.has_ended(), "it ended before the disk was full");
        std::thread::sleep(Duration::from_millis(20));
    }
    // A worker that cannot store its result can still be stopped.
    worker.stop();
    worker.wait();
    let _worker = Process::worker(&worker_folder, &server);
    assert!(disk.call("remount,size=64m"));
    server.kill();
    server.restart();
    run.wait();
    sandbox.ok(&[&words[..], &["--out", "local"]].concat());
    assert_same_files(&sandbox.tree("run"), &sandbox.tree("local"));
}

#[test]
fn late_results_count_once() {
    let Some(server) = NatsServer::start() else { return };
    let (local, remote) = (Sandbox::new(), Sandbox::new());
    let league = "league heuristic@4 yoshioka@4 heuristic@3 --games 200 --random 0.1 --out run";
    let words: Vec<&str> = league.split(' ').collect();
    local.ok(&words);
    let address = server.address();
    let workers = [Process::worker(&remote, &server), Process::worker(&remote, &server)];
    let on = ["--on", &address, "--worker-timeout", "3"];
    let mut run = Process::start(&remote, &[&words[..], &on].concat());
    while fs::read(remote.file("run/games.tsv")).unwrap_or_default().is_empty() {
        assert!(!run.has_ended());
        std::thread::sleep(Duration::from_millis(5));
    }
    // The tasks of a suspended worker go to the other worker. When the first one continues, its results are
    // late. Then the workers change roles.
    let longer_than_worker_timeout = Duration::from_millis(4500);
    workers[0].suspend();
    std::thread::sleep(longer_than_worker_timeout);
    workers[1].suspend();
    workers[0].resume();
    std::thread::sleep(longer_than_worker_timeout);
    workers[1].resume();
    run.wait();
    assert_same_files(&remote.tree("run"), &local.tree("run"));
}

#[test]
fn coevolution_with_workers_has_the_same_bytes() {
    let Some(server) = NatsServer::start() else { return };
    let address = server.address();
    let on = ["--on", &address, "--worker-timeout", "3"];
    let home = Sandbox::new();
    let mut workers: Vec<Process> = (0..2).map(|_| Process::worker(&home, &server)).collect();
    for command in [
        "train cel --tournament-size 2",
        "train hof --tournament-size 2",
        "train ptdl --set self-play-games=20",
        "train etdl --tournament-size 2 --set self-play-games=20 --set heuristic-games=10",
    ] {
        let (local, remote) = (Sandbox::new(), Sandbox::new());
        let small =
            "--population 6 --shape 4x4 --games 900 --measurements 2 --match-games 20 --out run";
        let words: Vec<&str> = command.split(' ').chain(small.split(' ')).collect();
        local.ok(&words);
        remote.ok(&[&words[..], &on].concat());
        assert_same_files(&remote.tree("run"), &local.tree("run"));
    }
    // Killed and resumed with one worker left.
    let (local, remote) = (Sandbox::new(), Sandbox::new());
    let command = "train ctdl --operators asxm_t --population 6 --tournament-size 2 --shape 4x4 --games 9000 \
                 --measurements 9 --match-games 20 --set self-play-games=40 --set archive-games=10 --out run";
    let words: Vec<&str> = command.split(' ').filter(|word| !word.is_empty()).collect();
    local.ok(&words);
    let mut run = Process::start(&remote, &[&words[..], &on].concat());
    while !remote.exists("run/checkpoint-before.bin") && !run.has_ended() {
        std::thread::sleep(Duration::from_millis(5));
    }
    run.kill();
    workers[0].kill();
    remote.ok(&[&["train", "ctdl", "--resume", "run"][..], &on].concat());
    assert_same_files(&remote.tree("run"), &local.tree("run"));
    let error = remote.rejected(&[&["train", "tdl", "--out", "x"][..], &on].concat());
    assert!(error.contains("omit --on"), "{error}");
}
