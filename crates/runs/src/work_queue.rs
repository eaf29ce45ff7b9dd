//! Traits for jobs that other processes execute.
//!
//! A job and its result are byte strings, so the transport needs no knowledge of their content. A
//! coordinator submits jobs to a [`WorkQueue`]; a worker executes them with a [`JobHandler`]. Both
//! share large inputs through a [`BlobStore`].

use std::collections::BTreeMap;
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

    /// Returns the blob with this SHA-256 checksum.
    fn get(&self, sha256: &str) -> Result<Vec<u8>, WorkQueueError>;
}

/// The coordinator's response to a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ack {
    /// The result is valid and was stored.
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
    /// The identifier of the run that the jobs belong to. Equal work has equal identifiers, so a
    /// restarted coordinator finds results that are already in the queue.
    pub run: &'a str,
    /// The number of jobs.
    pub jobs: usize,
}

/// A queue of jobs that other processes execute.
pub trait WorkQueue: BlobStore + Debug {
    /// Runs all jobs of `batch` and blocks until every result was accepted.
    ///
    /// The queue chooses how many jobs go into one message. `encode` serializes a range of jobs;
    /// `accept` receives the result of each range exactly once, in any order.
    /// Returns `Ok` early if the user requested a stop.
    fn run(
        &self,
        batch: JobBatch<'_>,
        encode: &dyn Fn(Range<usize>) -> Vec<u8>,
        accept: &mut dyn FnMut(Range<usize>, &[u8]) -> Ack,
    ) -> Result<(), WorkQueueError>;

    /// Deletes a blob that is no longer needed.
    fn delete(&self, sha256: &str);

    /// Returns a short description of the connected workers, for the progress line.
    fn status(&self) -> String;
}

/// Executes the jobs of one kind in a worker.
pub trait JobHandler: Send + Sync {
    /// Returns the kind of jobs that this handler executes.
    fn kind(&self) -> &'static str;

    /// Executes the jobs of one message and returns their results.
    ///
    /// The error says why the message cannot be executed.
    fn handle(&self, message: &[u8], blobs: &dyn BlobStore) -> Result<Vec<u8>, String>;
}

/// Runs a batch and passes its results to `accept` in the order of the jobs.
///
/// `decode` parses a message into one result for each job of its range; its error says why the
/// message is invalid.
/// `accept` returns whether to continue.
pub fn run_in_order<T>(
    queue: &dyn WorkQueue,
    batch: JobBatch<'_>,
    encode: &dyn Fn(Range<usize>) -> Vec<u8>,
    decode: impl Fn(Range<usize>, &[u8]) -> Result<Vec<T>, String>,
    mut accept: impl FnMut(usize, T) -> bool,
) -> Result<(), WorkQueueError> {
    let mut pending = BTreeMap::new();
    let mut next = 0;
    queue.run(batch, encode, &mut |range, message| {
        let results = match decode(range.clone(), message) {
            Ok(results) if results.len() == range.len() => results,
            Ok(results) => {
                let count = results.len();
                return Ack::Rejected(format!("{count} results for {} jobs", range.len()));
            }
            Err(reason) => return Ack::Rejected(reason),
        };
        pending.extend(range.zip(results));
        while let Some(result) = pending.remove(&next) {
            next += 1;
            if !accept(next - 1, result) {
                return Ack::Stop;
            }
        }
        Ack::Accepted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns results in reverse order, two jobs per message, and an invalid result before each.
    #[derive(Debug)]
    struct ReverseQueue;

    impl BlobStore for ReverseQueue {
        fn put(&self, bytes: &[u8]) -> Result<String, WorkQueueError> {
            Ok(crate::files::checksum(bytes))
        }

        fn get(&self, sha256: &str) -> Result<Vec<u8>, WorkQueueError> {
            Err(WorkQueueError(format!("no blob {sha256}")))
        }
    }

    impl WorkQueue for ReverseQueue {
        fn run(
            &self,
            batch: JobBatch<'_>,
            encode: &dyn Fn(Range<usize>) -> Vec<u8>,
            accept: &mut dyn FnMut(Range<usize>, &[u8]) -> Ack,
        ) -> Result<(), WorkQueueError> {
            for from in (0..batch.jobs).step_by(2).rev() {
                let range = from..(from + 2).min(batch.jobs);
                assert!(matches!(accept(range.clone(), b"?"), Ack::Rejected(_)));
                let mut truncated = encode(range.clone());
                truncated.truncate(1);
                assert_eq!(
                    matches!(accept(range.clone(), &truncated), Ack::Rejected(_)),
                    range.len() > 1
                );
                if range.len() > 1 && accept(range.clone(), &encode(range)) == Ack::Stop {
                    return Ok(());
                }
            }
            Ok(())
        }

        fn delete(&self, _: &str) {}

        fn status(&self) -> String {
            String::new()
        }
    }

    #[test]
    fn results_are_ordered_and_invalid_results_rejected() {
        for (jobs, until) in [(9, 9), (8, 8), (8, 3), (0, 0)] {
            let mut accepted = Vec::new();
            run_in_order(
                &ReverseQueue,
                JobBatch { kind: "test", run: "run", jobs },
                &|range| range.map(|job| b'a' + job as u8).collect(),
                |_, message| match message {
                    b"?" => Err("invalid".to_owned()),
                    letters => Ok(letters.to_vec()),
                },
                |job, letter| {
                    accepted.push(letter);
                    job + 1 < until
                },
            )
            .unwrap();
            assert_eq!(accepted, (0..until as u8).map(|i| b'a' + i).collect::<Vec<_>>());
        }
    }
}
