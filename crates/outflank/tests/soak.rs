//! Kills a worker every two seconds, for OUTFLANK_SOAK_SECONDS: every league ends with the same bytes as a
//! local one, so no game is lost or counted twice.

#[path = "../../cluster/tests/support/nats.rs"]
mod nats;
#[path = "support/process.rs"]
mod process;
#[path = "support/sandbox.rs"]
mod sandbox;

use nats::NatsServer;
use process::Process;
use sandbox::{Sandbox, assert_same_files};
use std::time::{Duration, Instant};

/// Time between kills.
const KILL_INTERVAL: Duration = Duration::from_secs(2);

#[test]
fn leagues_with_dying_workers_have_the_same_bytes() {
    let Some(server) = NatsServer::start() else { return };
    let seconds = std::env::var("OUTFLANK_SOAK_SECONDS").ok();
    let seconds = seconds.map_or(5, |text| text.parse().expect("a number of seconds"));
    let (until, address) = (Instant::now() + Duration::from_secs(seconds), server.address());
    let home = Sandbox::new();
    let mut workers: Vec<Process> = (0..3).map(|_| Process::worker(&home, &server)).collect();
    let (mut seed, mut games, mut killed, mut last) = (0, 0, 0, Instant::now());
    while seed == 0 || Instant::now() < until {
        seed += 1;
        let (local, remote) = (Sandbox::new(), Sandbox::new());
        let text = seed.to_string();
        let league = [
            "league",
            "heuristic@4",
            "yoshioka@4",
            "heuristic@3",
            "random",
            "--games",
            "240",
            "--random",
            "0.1",
            "--quiet",
            "--out",
            "run",
            "--seed",
            &text,
        ];
        let mut run = Process::start(
            &remote,
            &[&league[..], &["--on", &address, "--worker-timeout", "3"]].concat(),
        );
        while !run.has_ended() {
            std::thread::sleep(Duration::from_millis(20));
            if last.elapsed() >= KILL_INTERVAL {
                workers.remove(0).kill();
                workers.push(Process::worker(&home, &server));
                (last, killed) = (Instant::now(), killed + 1);
            }
        }
        run.wait();
        local.ok(&league);
        assert_same_files(&remote.tree("run"), &local.tree("run"));
        // Six pairs.
        let played = remote.text("run/games.tsv").lines().count();
        assert_eq!(played, 6 * 240);
        games += played;
    }
    println!("{seed} leagues, {games} games, {killed} workers killed, all tables equal");
}
