//! The registry of active workers, maintained from their heartbeats.

use crate::LogFn;
use crate::text::{is_worker_name, sanitize};
use crate::wire::Heartbeat;
use async_nats::connection::State;
use async_nats::{Client, Subscriber};
use futures_util::StreamExt;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// Interval between heartbeats of a worker.
pub(crate) const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(2);

/// Time without a heartbeat after which a worker counts as lost.
const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(7);

/// Interval between checks for lost workers.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Maximum number of workers.
const MAX_WORKERS: usize = 20_000;

/// Maximum number of threads of a worker.
const MAX_THREADS: usize = 4096;

/// The active workers of all program versions, by name.
#[derive(Debug, Default)]
pub(crate) struct WorkerRegistry {
    /// The last heartbeat of each worker and the time it arrived.
    workers: BTreeMap<String, (Heartbeat, Instant)>,
    joined_count: u64,
    lost_count: u64,
    /// Why the coordinator cannot submit tasks; empty if it can.
    pub(crate) problem: String,
}

/// Updates the registry from heartbeats until the subscription ends.
pub(crate) async fn listen(
    client: Client,
    mut heartbeats: Subscriber,
    version: String,
    registry: Arc<Mutex<WorkerRegistry>>,
    log: LogFn,
) {
    let lock = || registry.lock().unwrap_or_else(PoisonError::into_inner);
    let mut last_check = Instant::now();
    loop {
        let received = timeout(CHECK_INTERVAL, heartbeats.next()).await;
        let now = Instant::now();
        match received {
            Ok(None) => return,
            Ok(Some(message)) => {
                let heartbeat = serde_json::from_slice::<Heartbeat>(&message.payload);
                let text = heartbeat.ok().and_then(|beat| lock().update(beat, &version, now));
                text.iter().for_each(|text| log(text));
            }
            Err(_) => {}
        }
        let elapsed = now.duration_since(last_check);
        if client.connection_state() != State::Connected || elapsed > HEARTBEAT_TIMEOUT {
            lock().reset_timeouts(now);
            last_check = now;
        } else if elapsed >= CHECK_INTERVAL {
            let lost = lock().remove_lost(&version, now);
            lost.iter().for_each(|text| log(text));
            last_check = now;
        }
    }
}

impl WorkerRegistry {
    /// Processes a heartbeat; returns a message if the worker is new, leaves or reports a problem.
    ///
    /// Everything in a heartbeat is the claim of another process, so that names are validated, texts
    /// are sanitized and numbers are limited.
    pub(crate) fn update(
        &mut self,
        mut heartbeat: Heartbeat,
        version: &str,
        now: Instant,
    ) -> Option<String> {
        let is_full =
            self.workers.len() >= MAX_WORKERS && !self.workers.contains_key(&heartbeat.worker);
        if !is_worker_name(&heartbeat.worker) || is_full {
            return None;
        }
        heartbeat.threads = heartbeat.threads.min(MAX_THREADS);
        heartbeat.version = sanitize(&heartbeat.version, 50);
        heartbeat.problem = sanitize(&heartbeat.problem, 500);
        let is_same_version = heartbeat.version == version;
        let name = heartbeat.worker.clone();
        if heartbeat.leaving {
            let was_registered = self.workers.remove(&name).is_some();
            return (was_registered && is_same_version).then(|| format!("worker {name} left"));
        }
        let Heartbeat { threads, version: other, problem, .. } = heartbeat.clone();
        let before = self.workers.insert(name.clone(), (heartbeat, now));
        let had_no_problem = before.as_ref().is_some_and(|(before, _)| before.problem.is_empty());
        match (before.is_none(), is_same_version) {
            (false, true) if had_no_problem && !problem.is_empty() => {
                Some(format!("worker {name}: {problem}"))
            }
            (false, _) => None,
            (true, true) => {
                self.joined_count += 1;
                Some(format!("worker {name} joined ({})", with_count(threads, "thread")))
            }
            (true, false) => Some(format!(
                "worker {name} has version {other} and gets no work from version {version}. \
                 Start a worker of version {version}."
            )),
        }
    }

    /// Removes workers whose heartbeat timed out; returns a message for each.
    pub(crate) fn remove_lost(&mut self, version: &str, now: Instant) -> Vec<String> {
        let timed_out: Vec<String> = self
            .workers
            .iter()
            .filter(|(_, (_, last))| now.duration_since(*last) > HEARTBEAT_TIMEOUT)
            .map(|(name, _)| name.clone())
            .collect();
        let mut messages = Vec::new();
        for name in timed_out {
            if self.workers.remove(&name).is_some_and(|(beat, _)| beat.version == version) {
                self.lost_count += 1;
                messages.push(format!("worker {name} was lost; its tasks go to other workers"));
            }
        }
        messages
    }

    /// Restarts all timeouts. Called when no heartbeat could arrive because the connection was lost
    /// or this process was suspended.
    fn reset_timeouts(&mut self, now: Instant) {
        self.workers.values_mut().for_each(|(_, last)| *last = now);
    }

    /// Returns the last heartbeats of the workers of a version.
    fn heartbeats(&self, version: &str) -> impl Iterator<Item = &Heartbeat> {
        self.workers.values().map(|(beat, _)| beat).filter(move |beat| beat.version == version)
    }

    /// Returns the number of workers of a version.
    pub(crate) fn worker_count(&self, version: &str) -> usize {
        self.heartbeats(version).count()
    }

    /// Returns the total number of threads of the workers of a version.
    pub(crate) fn thread_count(&self, version: &str) -> usize {
        self.heartbeats(version).map(|beat| beat.threads).sum()
    }

    /// Returns one line about the active workers of a version and their problems.
    pub(crate) fn status(&self, version: &str) -> String {
        let (workers, threads) = (self.worker_count(version), self.thread_count(version));
        let mut text = match workers {
            0 => "no workers".to_owned(),
            _ => format!("{}, {}", with_count(workers, "worker"), with_count(threads, "thread")),
        };
        if self.lost_count > 0 {
            text.push_str(&format!(" ({} joined, {} lost)", self.joined_count, self.lost_count));
        }
        let problems = self.heartbeats(version).map(|beat| &beat.problem);
        let mut problems = problems.chain([&self.problem]);
        if let Some(problem) = problems.find(|text| !text.is_empty()) {
            text.push_str(&format!("; {problem}"));
        }
        text
    }
}

/// Formats a count and its noun, such as "1 worker" or "4 threads".
pub(crate) fn with_count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_join_are_lost_and_leave() {
        let beat = |worker: &str, version: &str, leaving| Heartbeat {
            worker: worker.to_owned(),
            version: version.to_owned(),
            threads: 4,
            leaving,
            problem: String::new(),
        };
        let mut registry = WorkerRegistry::default();
        let start = Instant::now();
        let later = |seconds| start + Duration::from_secs(seconds);
        let joined = registry.update(beat("a", "1", false), "1", start);
        assert_eq!(joined.as_deref(), Some("worker a joined (4 threads)"));
        assert!(registry.update(beat("a", "1", false), "1", later(2)).is_none());
        assert!(registry.update(beat("b", "1", false), "1", later(2)).is_some());
        let other = registry.update(beat("c", "2", false), "1", later(5)).unwrap();
        assert!(other.contains("version 2"), "{other}");
        assert_eq!((registry.worker_count("1"), registry.thread_count("1")), (2, 8));
        assert!(registry.remove_lost("1", later(6)).is_empty());
        assert!(registry.update(beat("b", "1", false), "1", later(8)).is_none());
        assert_eq!(
            registry.remove_lost("1", later(11)),
            ["worker a was lost; its tasks go to other workers"]
        );
        assert_eq!(registry.status("1"), "1 worker, 4 threads (2 joined, 1 lost)");
        // A problem is reported once and is part of the status until it is solved.
        let failing = Heartbeat { problem: "disk full".to_owned(), ..beat("b", "1", false) };
        let message = registry.update(failing.clone(), "1", later(11));
        assert_eq!(message.as_deref(), Some("worker b: disk full"));
        assert!(registry.update(failing, "1", later(11)).is_none());
        assert_eq!(registry.status("1"), "1 worker, 4 threads (2 joined, 1 lost); disk full");
        assert!(registry.update(beat("b", "1", false), "1", later(11)).is_none());
        assert_eq!(registry.status("1"), "1 worker, 4 threads (2 joined, 1 lost)");
        registry.reset_timeouts(later(60));
        assert!(registry.remove_lost("1", later(61)).is_empty());
        assert!(registry.update(beat("b", "1", true), "1", later(61)).is_some());
        assert_eq!((registry.worker_count("1"), registry.thread_count("1")), (0, 0));
    }

    #[test]
    fn heartbeats_cannot_write_to_the_terminal_or_claim_too_much() {
        let beat = |worker: &str| Heartbeat {
            worker: worker.to_owned(),
            version: "1".to_owned(),
            threads: usize::MAX,
            leaving: false,
            problem: "\u{1b}]0;title\u{7}".to_owned(),
        };
        let mut registry = WorkerRegistry::default();
        let now = Instant::now();
        assert_eq!(registry.update(beat("\u{1b}[2Jname"), "1", now), None);
        assert_eq!(registry.worker_count("1"), 0);
        for worker in 0..MAX_WORKERS + 5 {
            registry.update(beat(&format!("w{worker}")), "1", now);
        }
        assert_eq!(registry.worker_count("1"), MAX_WORKERS);
        assert_eq!(registry.thread_count("1"), MAX_WORKERS * MAX_THREADS);
        assert!(!registry.status("1").contains(char::is_control), "{:?}", registry.status("1"));
    }
}
