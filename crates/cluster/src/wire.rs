//! The message format: names of streams, subjects and headers, task ids, and the heartbeat message.

use async_nats::HeaderMap;
use outflank_runs::files::checksum;
use serde::{Deserialize, Serialize};

/// Header: version of the program that sent a message.
pub(crate) const VERSION: &str = "Outflank-Version";
/// Header: kind of the jobs in a task.
pub(crate) const KIND: &str = "Outflank-Kind";
/// Header: checksum of a result's content.
pub(crate) const CHECKSUM: &str = "Outflank-Sha256";
/// Header: seconds that a task took.
pub(crate) const SECONDS: &str = "Outflank-Seconds";
/// Header: name of the worker that sent a result.
pub(crate) const WORKER: &str = "Outflank-Worker";
/// Header: present on a result whose payload is an error message.
pub(crate) const FAILED: &str = "Outflank-Failed";
/// Header: present on a result whose content is in the object store, under its checksum.
pub(crate) const IN_OBJECT_STORE: &str = "Outflank-In-Object-Store";
/// Header: message id; the server drops a message whose id it has seen recently.
pub(crate) const MESSAGE_ID: &str = "Nats-Msg-Id";

/// Names of streams, subjects and consumers of a queue and program version.
#[derive(Clone, Debug)]
pub(crate) struct QueueNames {
    queue: String,
    version: String,
}

impl QueueNames {
    pub(crate) fn new(queue: &str, version: &str) -> QueueNames {
        // A period separates the tokens of a subject.
        let sanitize = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        QueueNames { queue: queue.to_owned(), version: version.chars().map(sanitize).collect() }
    }

    pub(crate) fn tasks_stream(&self) -> String {
        format!("{}-tasks", self.queue)
    }

    pub(crate) fn results_stream(&self) -> String {
        format!("{}-results", self.queue)
    }

    pub(crate) fn object_store(&self) -> String {
        format!("{}-blobs", self.queue)
    }

    /// Subject filter of all tasks.
    pub(crate) fn all_tasks(&self) -> String {
        format!("{}.tasks.>", self.queue)
    }

    /// Subject filter of all results.
    pub(crate) fn all_results(&self) -> String {
        format!("{}.results.>", self.queue)
    }

    /// Subject filter of all tasks of this version.
    pub(crate) fn version_tasks(&self) -> String {
        format!("{}.tasks.{}.>", self.queue, self.version)
    }

    /// Durable consumer that all workers of this version share.
    pub(crate) fn consumer(&self) -> String {
        format!("workers-{}", self.version)
    }

    /// Subject filter of the tasks of a run.
    pub(crate) fn run_tasks(&self, run: &str) -> String {
        format!("{}.tasks.{}.{run}.>", self.queue, self.version)
    }

    /// Subject of a task.
    pub(crate) fn task(&self, run: &str, task: &str) -> String {
        format!("{}.tasks.{}.{run}.{task}", self.queue, self.version)
    }

    /// Subject filter of the results of a run.
    pub(crate) fn run_results(&self, run: &str) -> String {
        format!("{}.results.{run}.>", self.queue)
    }

    /// Subject of the results of a task.
    pub(crate) fn result(&self, run: &str, task: &str) -> String {
        format!("{}.results.{run}.{task}", self.queue)
    }

    /// Parses the subject of a task of this version.
    pub(crate) fn parse_task(&self, subject: &str) -> Option<TaskName> {
        let prefix = format!("{}.tasks.{}.", self.queue, self.version);
        TaskName::parse(subject.strip_prefix(&prefix)?)
    }

    /// Parses the subject of a result.
    pub(crate) fn parse_result(&self, subject: &str) -> Option<TaskName> {
        TaskName::parse(subject.strip_prefix(&format!("{}.results.", self.queue))?)
    }

    /// Subject on which a coordinator requests an immediate heartbeat.
    pub(crate) fn heartbeat_requests(&self) -> String {
        format!("{}.heartbeat-requests", self.queue)
    }

    /// Subject of heartbeats.
    pub(crate) fn heartbeats(&self) -> String {
        format!("{}.heartbeats", self.queue)
    }
}

/// The run and the id of a task, each a short checksum. They are parsed from a subject, because a
/// header may contain anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskName {
    pub(crate) run: String,
    pub(crate) task: String,
}

impl TaskName {
    /// Parses `RUN.TASK`.
    fn parse(text: &str) -> Option<TaskName> {
        let (run, task) = text.split_once('.')?;
        let is_valid = is_short_checksum(run) && is_short_checksum(task);
        is_valid.then(|| TaskName { run: run.to_owned(), task: task.to_owned() })
    }
}

/// Returns whether the text is a short checksum: 32 lowercase hex digits.
fn is_short_checksum(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns the first 32 hex digits of the SHA-256 checksum, for use in subjects.
pub(crate) fn short_checksum(bytes: &[u8]) -> String {
    let mut sum = checksum(bytes);
    sum.truncate(32);
    sum
}

/// Returns the id of a task: a checksum of its kind, the program version and its content.
pub(crate) fn task_id(kind: &str, version: &str, content: &[u8]) -> String {
    let mut input = format!("{kind}\n{version}\n").into_bytes();
    input.extend_from_slice(content);
    short_checksum(&input)
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
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let host: String = host.chars().take(60).map(|c| if is_plain(c) { c } else { '_' }).collect();
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
    #[serde(default)]
    pub(crate) problem: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_one_subject_token() {
        let names = QueueNames::new("q", "0.1.0+x");
        assert_eq!(names.task("run", "task"), "q.tasks.0_1_0_x.run.task");
        assert_eq!(names.version_tasks(), "q.tasks.0_1_0_x.>");
    }

    #[test]
    fn run_and_task_are_parsed_from_the_subject_and_validated() {
        let names = QueueNames::new("q", "1.0");
        let (run, task) = (short_checksum(b"run"), short_checksum(b"task"));
        let name = TaskName { run: run.clone(), task: task.clone() };
        assert_eq!(names.parse_task(&names.task(&run, &task)), Some(name.clone()));
        assert_eq!(names.parse_result(&names.result(&run, &task)), Some(name));
        for (run, task) in [("a b", &*task), ("", &*task), (&*run, "x"), (&*run, "a.b"), ("*", ">")]
        {
            assert_eq!(names.parse_task(&names.task(run, task)), None, "{run} {task}");
            assert_eq!(names.parse_result(&names.result(run, task)), None, "{run} {task}");
        }
        assert_eq!(names.parse_task(&format!("q.tasks.2_0.{run}.{task}")), None);
    }

    #[test]
    fn task_id_depends_on_kind_version_and_content() {
        let id = task_id("games", "1", b"content");
        assert_eq!(id, task_id("games", "1", b"content"));
        for other in [
            task_id("learn", "1", b"content"),
            task_id("games", "2", b"content"),
            task_id("games", "1", b"other content"),
        ] {
            assert_ne!(id, other);
        }
    }
}
