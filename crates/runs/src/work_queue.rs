//! Traits for jobs that other processes execute.
//!
//! A coordinator submits a batch of numbered jobs to a [`WorkQueue`]. The queue groups them: a task
//! is one message with a contiguous range of jobs. A worker executes tasks with a [`JobHandler`].
//! Tasks and their results are byte strings that the queue does not interpret. Coordinator and
//! workers share large inputs through a [`BlobStore`].

use crate::verification::Verification;
use std::fmt::Debug;
use std::ops::Range;

/// An error of the work queue. The message says what happened and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WorkQueueError(pub String);

/// A content-addressed store shared by the coordinator and all workers.
pub trait BlobStore: Send + Sync {
    /// Stores a blob and returns its SHA-256 checksum, which is its key.
    fn put(&self, bytes: &[u8]) -> Result<String, WorkQueueError>;

    /// Returns the blob with this SHA-256 checksum. A blob of more than `max_bytes` is an error.
    fn get(&self, sha256: &str, max_bytes: u64) -> Result<Vec<u8>, WorkQueueError>;
}

/// The coordinator's response to a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ack {
    /// The result is valid and was processed.
    Accepted,
    /// The result is valid and no further results are needed.
    Stop,
    /// The result is invalid, for this reason. The jobs must be executed again.
    Rejected(String),
}

/// A batch of jobs of the same kind, numbered from 0.
#[derive(Clone, Copy, Debug)]
pub struct JobBatch<'a> {
    /// The kind of the jobs, which selects the [`JobHandler`].
    pub kind: &'a str,
    /// The identifier of the run that the jobs belong to. A resumed run has the same identifier, so
    /// it finds results that are already in the queue.
    pub run: &'a str,
    /// The number of jobs.
    pub jobs: usize,
}

/// Receives the jobs of a task, the name of its worker and its result.
pub type AcceptFn<'a> = dyn FnMut(Range<usize>, &str, &[u8]) -> Ack + 'a;

/// A queue of jobs that other processes execute.
pub trait WorkQueue: BlobStore + Debug {
    /// Runs all jobs of `batch` and blocks until every result was accepted.
    ///
    /// The queue chooses how many jobs form a task. `encode` serializes a task, given the range of
    /// its jobs. `accept` receives the jobs of a task, the name of its worker and its result; tasks
    /// come in any order. After it has accepted the result of a task it gets no other result of that
    /// task. Results of quarantined workers are not passed to it. Returns `Ok` early if the user
    /// requested a stop.
    fn run(
        &self,
        batch: JobBatch<'_>,
        encode: &dyn Fn(Range<usize>) -> Vec<u8>,
        accept: &mut AcceptFn<'_>,
    ) -> Result<(), WorkQueueError>;

    /// Returns how results are verified, and which workers are quarantined.
    fn verification(&self) -> &Verification;

    /// Ignores all results of a worker from now on, for this reason.
    fn quarantine(&self, worker: &str, reason: &str);

    /// Deletes a blob that is no longer needed.
    fn delete(&self, sha256: &str);

    /// Returns a short description of the connected workers, for the progress line.
    fn status(&self) -> String;
}

/// Executes the jobs of one kind in a worker.
pub trait JobHandler: Send + Sync {
    /// Returns the kind of jobs that this handler executes.
    fn kind(&self) -> &'static str;

    /// Executes the jobs of one task and returns the result message.
    ///
    /// The error says why the task cannot be executed.
    fn execute(&self, task: &[u8], blobs: &dyn BlobStore) -> Result<Vec<u8>, String>;
}
