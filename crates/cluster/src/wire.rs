//! Names of subjects and headers, and what messages hold besides the work itself.

use async_nats::HeaderMap;
use outflank_runs::files::checksum;
use serde::{Deserialize, Serialize};

/// The version of the program that sent a message.
pub(crate) const VERSION: &str = "Outflank-Version";
/// The kind of work in a job.
pub(crate) const KIND: &str = "Outflank-Kind";
/// The run that a job belongs to.
pub(crate) const RUN: &str = "Outflank-Run";
/// The job's name.
pub(crate) const JOB: &str = "Outflank-Job";
/// The checksum of an answer's content.
pub(crate) const SUM: &str = "Outflank-Sha256";
/// The seconds that an answer took.
pub(crate) const SECONDS: &str = "Outflank-Seconds";
/// Who answered.
pub(crate) const WORKER: &str = "Outflank-Worker";
/// There on an answer that says why there is none.
pub(crate) const FAILED: &str = "Outflank-Failed";
/// There on an answer whose content lies in the object store, under its checksum.
pub(crate) const ASIDE: &str = "Outflank-Aside";
/// What the server tells repeated messages by.
pub(crate) const MESSAGE_ID: &str = "Nats-Msg-Id";

/// Everything that is named after the queue and the version.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    queue: String,
    version: String,
}

impl Names {
    pub(crate) fn new(queue: &str, version: &str) -> Names {
        // A full stop would part a subject, and other signs are not for names.
        let tidy = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        Names { queue: queue.to_owned(), version: version.chars().map(tidy).collect() }
    }

    pub(crate) fn jobs_stream(&self) -> String {
        format!("{}-jobs", self.queue)
    }

    pub(crate) fn results_stream(&self) -> String {
        format!("{}-results", self.queue)
    }

    pub(crate) fn store(&self) -> String {
        format!("{}-models", self.queue)
    }

    pub(crate) fn all_jobs(&self) -> String {
        format!("{}.jobs.>", self.queue)
    }

    pub(crate) fn all_results(&self) -> String {
        format!("{}.results.>", self.queue)
    }

    /// The jobs that workers of this version do.
    pub(crate) fn our_jobs(&self) -> String {
        format!("{}.jobs.{}.>", self.queue, self.version)
    }

    /// The durable consumer that they share.
    pub(crate) fn consumer(&self) -> String {
        format!("workers-{}", self.version)
    }

    pub(crate) fn jobs_of(&self, run: &str) -> String {
        format!("{}.jobs.{}.{run}.>", self.queue, self.version)
    }

    pub(crate) fn job(&self, run: &str, job: &str) -> String {
        format!("{}.jobs.{}.{run}.{job}", self.queue, self.version)
    }

    pub(crate) fn results_of(&self, run: &str) -> String {
        format!("{}.results.{run}.>", self.queue)
    }

    pub(crate) fn result(&self, run: &str, job: &str) -> String {
        format!("{}.results.{run}.{job}", self.queue)
    }

    /// On which a coordinator asks who is there.
    pub(crate) fn calls(&self) -> String {
        format!("{}.calls", self.queue)
    }

    pub(crate) fn beats(&self) -> String {
        format!("{}.beats", self.queue)
    }
}

/// A name as part of a subject: a checksum, cut to what is still unmistakable.
pub(crate) fn short(bytes: &[u8]) -> String {
    let mut sum = checksum(bytes);
    sum.truncate(32);
    sum
}

/// The name of a job: what it is, for which version, and its content.
pub(crate) fn job_name(kind: &str, version: &str, content: &[u8]) -> String {
    let mut all = format!("{kind}\n{version}\n").into_bytes();
    all.extend_from_slice(content);
    short(&all)
}

/// A header's text, or nothing.
pub(crate) fn header<'a>(headers: Option<&'a HeaderMap>, name: &str) -> &'a str {
    headers.and_then(|headers| headers.get(name)).map_or("", |value| value.as_str())
}

/// Some text that tells this process from all others.
pub(crate) fn own_name() -> String {
    let host = std::env::var("HOSTNAME").ok().filter(|name| !name.is_empty());
    let host = host.or_else(|| std::fs::read_to_string("/etc/hostname").ok());
    let host = host.map_or_else(|| "host".to_owned(), |name| name.trim().to_owned());
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let nanos = now.map_or(0, |since| since.as_nanos());
    let pid = std::process::id();
    let mark = short(format!("{host} {pid} {nanos}").as_bytes());
    format!("{host}-{pid}-{}", &mark[..6])
}

/// What a worker says of itself every few seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Beat {
    pub(crate) worker: String,
    pub(crate) version: String,
    pub(crate) threads: usize,
    /// Whether it is about to go.
    #[serde(default)]
    pub(crate) leaving: bool,
    /// What keeps it from storing answers; nothing when all is well.
    #[serde(default)]
    pub(crate) trouble: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_one_part_of_a_subject() {
        let names = Names::new("q", "0.1.0+x");
        assert_eq!(names.job("run", "job"), "q.jobs.0_1_0_x.run.job");
        assert_eq!(names.our_jobs(), "q.jobs.0_1_0_x.>");
    }

    #[test]
    fn a_job_s_name_comes_from_all_that_it_is() {
        let name = job_name("games", "1", b"content");
        assert_eq!(name, job_name("games", "1", b"content"));
        for other in [
            job_name("learn", "1", b"content"),
            job_name("games", "2", b"content"),
            job_name("games", "1", b"contend"),
        ] {
            assert_ne!(name, other);
        }
    }
}
