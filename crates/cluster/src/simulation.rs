//! Deterministic simulation of coordinator, workers and queue.
//!
//! The state machines are those of production ([`BatchStateMachine`](crate::coordinator::machine),
//! [`TaskStateMachine`](crate::worker::machine), `ResultCursor`, `WorkerRegistry`). The simulation
//! replaces the network, the NATS server, the clocks and the execution of jobs. A seed determines a
//! schedule: messages are lost, duplicated, delayed and reordered; processes die and are suspended;
//! clocks jump; the server restarts, loses its store or has a full disk; a client sends forged
//! messages, and a worker forged results. Faults end after a minute at most. Then every game must be
//! in the journal once, in order and with the right value.

mod coordinator;
mod server;
mod worker;
mod world;

use world::World;

/// The version of all processes.
const VERSION: &str = "1";

/// The run identifier.
const RUN: &[u8] = b"run";

/// Number of schedules without `OUTFLANK_SCHEDULES`.
const SCHEDULES: u64 = 300;

/// The result of a game.
fn value_of(game: usize) -> u64 {
    (game as u64 * 7919 + 13) % 10_007 * 2
}

#[test]
fn no_schedule_loses_or_doubles_a_game() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let schedules: u64 = number("OUTFLANK_SCHEDULES").unwrap_or(SCHEDULES);
    let first: u64 = number("OUTFLANK_FIRST_SCHEDULE").unwrap_or(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let started = std::time::Instant::now();
    let (mut events, mut faults, mut coordinators, mut executions) = (0, 0, 0, 0);
    let mut slowest = 0;
    let mut failed = None;
    outflank_runs::parallel_in_order(
        schedules as usize,
        threads,
        || (),
        |(), index| {
            let seed = first + index as u64;
            std::panic::catch_unwind(|| World::new(seed).run()).map_err(|_| seed)
        },
        |_, outcome| match outcome {
            Ok(outcome) => {
                events += outcome.events;
                faults += outcome.faults;
                coordinators += outcome.coordinators;
                executions += outcome.executions;
                slowest = slowest.max(outcome.seconds);
                true
            }
            Err(seed) => {
                failed = Some(seed);
                false
            }
        },
    );
    println!(
        "{schedules} schedules from {first}: {events} events, {faults} faults, {coordinators} \
         coordinators, {executions} executed tasks, at most {slowest} simulated seconds, in {:.0} s",
        started.elapsed().as_secs_f64()
    );
    if let Some(seed) = failed {
        panic!(
            "schedule {seed} failed; repeat it with OUTFLANK_FIRST_SCHEDULE={seed} OUTFLANK_SCHEDULES=1"
        );
    }
}

#[test]
fn a_seed_repeats_a_schedule() {
    for seed in 0..20 {
        assert_eq!(World::new(seed).run(), World::new(seed).run());
    }
}
