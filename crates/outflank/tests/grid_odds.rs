//! Work on other machines under odd conditions: a guarded server and a queue of one's own, a full
//! disk, workers that are halted and come back late, a population that others train.

#[path = "support/identity.rs"]
mod identity;
#[path = "support/lab.rs"]
mod lab;
#[path = "../../cluster/tests/support/nats.rs"]
mod nats;
#[path = "support/process.rs"]
mod process;
#[cfg(target_os = "linux")]
#[path = "support/tight.rs"]
mod tight;

use identity::Operator;
use lab::{Lab, clear, same};
use nats::NatsServer;
use process::Process;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Makes an authority and a certificate that it signed; says whether openssl is there.
fn certificates(lab: &Lab) -> bool {
    lab.write("names", "subjectAltName=IP:127.0.0.1,DNS:localhost\n");
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
            .current_dir(lab.path())
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
fn a_guarded_server_and_a_queue_of_ones_own() {
    let (home, alone) = (Lab::new(), Lab::new());
    if !certificates(&home) {
        return;
    }
    let path = |name: &str| home.file(name).display().to_string();
    let (ca, cert, key) = (path("ca.pem"), path("cert.pem"), path("key.pem"));
    let guarded = ["-js", "--user", "me", "--pass", "secret", "--tls", "--tlsverify"];
    let files = ["--tlscert", &cert, "--tlskey", &key, "--tlscacert", &ca];
    let Some(server) = NatsServer::with(&[&guarded[..], &files].concat()) else { return };
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
        let error = home.refused(&[&league[..], &["--on", &address], &given].concat());
        assert!(error.contains(part), "{given:?}: {error}");
        assert!(!error.contains("secret") && !error.contains("guess"), "{error}");
    }
    let all = [&["--on", &address][..], &authority, &own, &user].concat();
    let queue = ["--queue", "two"];
    let mut run = Process::start(&home, &[&league[..], &all, &queue].concat());
    // A worker of another queue has nothing to do.
    let idle = home.json(&[&["worker", "--quiet", "--idle-exit", "2"][..], &all].concat());
    assert_eq!(idle["jobs"], 0);
    assert!(!run.has_ended());
    let _worker = Process::start(&home, &[&["worker", "--quiet"][..], &all, &queue].concat());
    run.wait();
    alone.ok(&league);
    same(&home.tree("run"), &alone.tree("run"));
}

#[test]
fn credentials_in_a_file() {
    let (home, alone) = (Lab::new(), Lab::new());
    let ours = Operator::new(10);
    home.write("server.conf", ours.config());
    let config = home.file("server.conf").display().to_string();
    let Some(server) = NatsServer::with(&["-js", "-c", &config]) else { return };
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
            let error = home.refused(&[command, &on, &creds].concat());
            assert!(error.contains(part), "{file:?}: {error}");
        }
    }
    let creds = ["--nats-creds", "me.creds"];
    let _worker = Process::start(&home, &[&["worker", "--quiet"][..], &on, &creds].concat());
    home.ok(&[&league[..], &on, &creds].concat());
    alone.ok(&league);
    same(&home.tree("run"), &alone.tree("run"));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_ends_the_command_and_more_room_lets_it_go_on() {
    let lab = Lab::new();
    let Some(tight) = tight::Tight::mount(&lab, "64k") else { return };
    let Some(server) = NatsServer::start() else { return };
    let (elsewhere, address) = (Lab::new(), server.address());
    let _worker = Process::worker(&elsewhere, &server);
    let league = "league heuristic random yoshioka --games 300 --random 0.1 --quiet";
    let words: Vec<&str> = league.split(' ').collect();
    let on = ["--on", &address, "--patience", "3"];
    let ran = lab.run(&[&words[..], &["--out", "tight/run"], &on].concat());
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    clear(&ran.err);
    assert!(ran.err.contains("No space left") && ran.err.contains("resume"), "{}", ran.err);
    assert!(tight.call("remount,size=16m"));
    lab.ok(&[&["league", "--resume", "tight/run", "--quiet"][..], &on].concat());
    lab.ok(&[&words[..], &["--out", "roomy"]].concat());
    same(&lab.tree("tight/run"), &lab.tree("roomy"));
}

#[test]
#[cfg(target_os = "linux")]
fn a_server_s_full_disk_is_told_and_loses_nothing() {
    let lab = Lab::new();
    let Some(tight) = tight::Tight::mount(&lab, "256k") else { return };
    let store = lab.file("tight").display().to_string();
    let Some(mut server) = NatsServer::with(&["-js", "-sd", &store]) else { return };
    let (elsewhere, address) = (Lab::new(), server.address());
    let mut worker = Process::worker(&elsewhere, &server);
    let league = "league heuristic random yoshioka --games 6000 --random 0.1 --quiet";
    let words: Vec<&str> = league.split(' ').collect();
    let on = ["--on", &address, "--patience", "3"];
    let mut run = Process::start(&lab, &[&words[..], &["--out", "run"], &on].concat());
    let line = || fs::read_to_string(lab.file("run/workers.txt")).unwrap_or_default();
    while !line().contains("free space") {
        assert!(!run.has_ended(), "it ended before the disk was full");
        std::thread::sleep(Duration::from_millis(20));
    }
    // A worker that cannot get rid of its answer can still be stopped.
    worker.stop();
    worker.wait();
    let _worker = Process::worker(&elsewhere, &server);
    assert!(tight.call("remount,size=64m"));
    server.kill();
    server.start_again();
    run.wait();
    lab.ok(&[&words[..], &["--out", "alone"]].concat());
    same(&lab.tree("run"), &lab.tree("alone"));
}

#[test]
fn answers_that_come_late_count_once() {
    let Some(server) = NatsServer::start() else { return };
    let (alone, spread) = (Lab::new(), Lab::new());
    let league = "league heuristic@4 yoshioka@4 heuristic@3 --games 200 --random 0.1 --out run";
    let words: Vec<&str> = league.split(' ').collect();
    alone.ok(&words);
    let address = server.address();
    let workers = [Process::worker(&spread, &server), Process::worker(&spread, &server)];
    let on = ["--on", &address, "--patience", "3"];
    let mut run = Process::start(&spread, &[&words[..], &on].concat());
    while fs::read(spread.file("run/games.tsv")).unwrap_or_default().is_empty() {
        assert!(!run.has_ended());
        std::thread::sleep(Duration::from_millis(5));
    }
    // The work of the first goes to the second, then it wakes and answers as well while nobody
    // else does; then the same the other way round.
    let longer_than_patience = Duration::from_millis(4500);
    workers[0].halt(true);
    std::thread::sleep(longer_than_patience);
    workers[1].halt(true);
    workers[0].halt(false);
    std::thread::sleep(longer_than_patience);
    workers[1].halt(false);
    run.wait();
    same(&spread.tree("run"), &alone.tree("run"));
}

#[test]
fn a_population_that_others_train_and_judge_learns_the_same() {
    let Some(server) = NatsServer::start() else { return };
    let address = server.address();
    let on = ["--on", &address, "--patience", "3"];
    let home = Lab::new();
    let mut workers: Vec<Process> = (0..2).map(|_| Process::worker(&home, &server)).collect();
    for learn in [
        "learn cel --tournament 2",
        "learn hof --tournament 2",
        "learn ptdl --set self-games=20",
        "learn etdl --tournament 2 --set self-games=20 --set heuristic-games=10",
    ] {
        let (alone, spread) = (Lab::new(), Lab::new());
        let small =
            "--population 6 --shape 4x4 --games 900 --points 2 --measured-games 20 --out run";
        let words: Vec<&str> = learn.split(' ').chain(small.split(' ')).collect();
        alone.ok(&words);
        spread.ok(&[&words[..], &on].concat());
        same(&spread.tree("run"), &alone.tree("run"));
    }
    // Killed and gone on with, by others or alone.
    let (alone, spread) = (Lab::new(), Lab::new());
    let learn = "learn ctdl --operators asxm_t --population 6 --tournament 2 --shape 4x4 --games 9000 \
                 --points 9 --measured-games 20 --set self-games=40 --set archive-games=10 --out run";
    let words: Vec<&str> = learn.split(' ').filter(|word| !word.is_empty()).collect();
    alone.ok(&words);
    let mut run = Process::start(&spread, &[&words[..], &on].concat());
    while !spread.exists("run/checkpoint-before.bin") && !run.has_ended() {
        std::thread::sleep(Duration::from_millis(5));
    }
    run.kill();
    workers[0].kill();
    spread.ok(&[&["learn", "ctdl", "--resume", "run"][..], &on].concat());
    same(&spread.tree("run"), &alone.tree("run"));
    let error = spread.refused(&[&["learn", "tdl", "--out", "x"][..], &on].concat());
    assert!(error.contains("leave out --on"), "{error}");
}
