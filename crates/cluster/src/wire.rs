//! Subject and header names, task ids, and the heartbeat message.

use async_nats::HeaderMap;
use outflank_runs::files::checksum;
use serde::{Deserialize, Serialize};

/// Header: version of the program that sent a message.
pub(crate) const VERSION: &str = "Outflank-Version";
/// Header: kind of the jobs in a task.
pub(crate) const KIND: &str = "Outflank-Kind";
/// Header: run that a task belongs to.
pub(crate) const RUN: &str = "Outflank-Run";
/// Header: task id.
pub(crate) const TASK: &str = "Outflank-Job";
/// Header: checksum of a result's content.
pub(crate) const CHECKSUM: &str = "Outflank-Sha256";
/// Header: seconds that a task took.
pub(crate) const SECONDS: &str = "Outflank-Seconds";
/// Header: name of the worker that sent a result.
pub(crate) const WORKER: &str = "Outflank-Worker";
/// Header: present on a result whose payload is an error message.
pub(crate) const FAILED: &str = "Outflank-Failed";
/// Header: present on a result whose content is in the object store, under its checksum.
pub(crate) const IN_OBJECT_STORE: &str = "Outflank-Aside";
/// Header: the server's key for detecting duplicate messages.
pub(crate) const MESSAGE_ID: &str = "Nats-Msg-Id";

/// Names of streams, subjects and consumers of a queue and program version.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    queue: String,
    version: String,
}

impl Names {
    pub(crate) fn new(queue: &str, version: &str) -> Names {
        // A period separates the tokens of a subject.
        let sanitize = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        Names { queue: queue.to_owned(), version: version.chars().map(sanitize).collect() }
    }

    pub(crate) fn jobs_stream(&self) -> String {
        format!("{}-jobs", self.queue)
    }

    pub(crate) fn results_stream(&self) -> String {
        format!("{}-results", self.queue)
    }

    pub(crate) fn object_store(&self) -> String {
        format!("{}-models", self.queue)
    }

    pub(crate) fn all_tasks(&self) -> String {
        format!("{}.jobs.>", self.queue)
    }

    pub(crate) fn all_results(&self) -> String {
        format!("{}.results.>", self.queue)
    }

    /// Subject filter of all tasks of this version.
    pub(crate) fn version_tasks(&self) -> String {
        format!("{}.jobs.{}.>", self.queue, self.version)
    }

    /// Durable consumer that all workers of this version share.
    pub(crate) fn consumer(&self) -> String {
        format!("workers-{}", self.version)
    }

    pub(crate) fn run_tasks(&self, run: &str) -> String {
        format!("{}.jobs.{}.{run}.>", self.queue, self.version)
    }

    pub(crate) fn task(&self, run: &str, task: &str) -> String {
        format!("{}.jobs.{}.{run}.{task}", self.queue, self.version)
    }

    pub(crate) fn run_results(&self, run: &str) -> String {
        format!("{}.results.{run}.>", self.queue)
    }

    pub(crate) fn result(&self, run: &str, task: &str) -> String {
        format!("{}.results.{run}.{task}", self.queue)
    }

    /// Subject on which a coordinator requests an immediate heartbeat.
    pub(crate) fn heartbeat_requests(&self) -> String {
        format!("{}.calls", self.queue)
    }

    pub(crate) fn heartbeats(&self) -> String {
        format!("{}.beats", self.queue)
    }
}

/// Returns the first 32 hex digits of a checksum, as a subject token.
pub(crate) fn short_checksum(bytes: &[u8]) -> String {
    let mut sum = checksum(bytes);
    sum.truncate(32);
    sum
}

/// Returns the id of a task: a checksum of its kind, the program version and its content.
pub(crate) fn task_id(kind: &str, version: &str, content: &[u8]) -> String {
    let mut all = format!("{kind}\n{version}\n").into_bytes();
    all.extend_from_slice(content);
    short_checksum(&all)
}

/// Returns a header's value, or an empty string.
pub(crate) fn header<'a>(headers: Option<&'a HeaderMap>, name: &str) -> &'a str {
    headers.and_then(|headers| headers.get(name)).map_or("", |value| value.as_str())
}

/// Returns a name that is unique to this process.
pub(crate) fn unique_process_name() -> String {
    let host = std::env::var("HOSTNAME").ok().filter(|name| !name.is_empty());
    let host = host.or_else(|| std::fs::read_to_string("/etc/hostname").ok());
    let host = host.map_or_else(|| "host".to_owned(), |name| name.trim().to_owned());
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let nanos = now.map_or(0, |since| since.as_nanos());
    let pid = std::process::id();
    let suffix = short_checksum(format!("{host} {pid} {nanos}").as_bytes());
    format!("{host}-{pid}-{}", &suffix[..6])
}

/// The heartbeat that a worker sends every few seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Heartbeat {
    pub(crate) worker: String,
    pub(crate) version: String,
    pub(crate) threads: usize,
    /// Whether the worker is shutting down.
    #[serde(default)]
    pub(crate) leaving: bool,
    /// Why the worker cannot store results; empty if it can.
    #[serde(default, rename = "trouble")]
    pub(crate) problem: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_one_subject_token() {
        let names = Names::new("q", "0.1.0+x");
        assert_eq!(names.task("run", "task"), "q.jobs.0_1_0_x.run.task");
        assert_eq!(names.version_tasks(), "q.jobs.0_1_0_x.>");
    }

    #[test]
    fn task_id_depends_on_kind_version_and_content() {
        let id = task_id("games", "1", b"content");
        assert_eq!(id, task_id("games", "1", b"content"));
        for other in [
            task_id("learn", "1", b"content"),
            task_id("games", "2", b"content"),
            task_id("games", "1", b"contend"),
        ] {
            assert_ne!(id, other);
        }
    }
}
