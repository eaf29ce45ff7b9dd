//! Work that other processes do.
//!
//! A piece of work is described by bytes and answered by bytes, so that whoever carries them need
//! not know what they mean. These are the two ends: a [`WorkQueue`] is what a command hands its pieces
//! to, a [`JobHandler`] is what a worker can do. Between them stands whatever carries messages.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::Range;

/// Why work could not be handed to others. It says what happened and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WorkQueueError(pub String);

/// Content that all have at hand, known by its SHA-256 checksum.
pub trait BlobStore: Send + Sync {
    /// Makes some bytes known to all; returns their checksum.
    fn put(&self, bytes: &[u8]) -> Result<String, WorkQueueError>;

    /// The bytes with this checksum.
    fn get(&self, sha256: &str) -> Result<Vec<u8>, WorkQueueError>;
}

/// What became of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ack {
    /// It is good and kept.
    Kept,
    /// It is good, and no more are needed.
    Enough,
    /// It is not an answer to what was asked, for this reason; somebody must do the work again.
    Refused(String),
}

/// Pieces of work for others.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// What a worker must know to do them: the name of a [`JobHandler`].
    pub kind: &'a str,
    /// What they all belong to; the same for the same work, whoever asks for it.
    pub run: &'a str,
    /// How many there are.
    pub pieces: usize,
}

/// Other processes that do work for this one.
pub trait WorkQueue: BlobStore + Debug {
    /// Has all pieces of an order done. How many pieces go into one message is up to the crew:
    /// `describe` puts a range of them into words, and `take` gets the answer to just these, in
    /// any order of ranges, every piece once.
    ///
    /// Comes to an early end, without an error, when the user asks to stop.
    fn work(
        &self,
        batch: JobBatch<'_>,
        describe: &dyn Fn(Range<usize>) -> Vec<u8>,
        take: &mut dyn FnMut(Range<usize>, &[u8]) -> Ack,
    ) -> Result<(), WorkQueueError>;

    /// Content that was shared is needed no longer.
    fn delete(&self, sha256: &str);

    /// Who is at work, in a few words.
    fn words(&self) -> String;
}

/// Something that a worker can do.
pub trait JobHandler: Send + Sync {
    /// Its name.
    fn kind(&self) -> &'static str;

    /// Does what a message describes; an error says in words why it cannot be done.
    fn handle(&self, job: &[u8], library: &dyn BlobStore) -> Result<Vec<u8>, String>;
}

/// Has pieces done by a crew and hands their results to `take` in the order of their numbers.
///
/// `read` turns an answer into one result for each piece of its range, or says why it is no answer.
/// `take` returns whether to go on.
pub fn run_in_order<T>(
    crew: &dyn WorkQueue,
    batch: JobBatch<'_>,
    describe: &dyn Fn(Range<usize>) -> Vec<u8>,
    read: impl Fn(Range<usize>, &[u8]) -> Result<Vec<T>, String>,
    mut take: impl FnMut(usize, T) -> bool,
) -> Result<(), WorkQueueError> {
    let mut early = BTreeMap::new();
    let mut due = 0;
    crew.run(batch, describe, &mut |range, answer| {
        let results = match read(range.clone(), answer) {
            Ok(results) if results.len() == range.len() => results,
            Ok(results) => {
                let found = results.len();
                return Ack::Rejected(format!("{found} results for {} pieces", range.len()));
            }
            Err(reason) => return Ack::Rejected(reason),
        };
        early.extend(range.zip(results));
        while let Some(result) = early.remove(&due) {
            due += 1;
            if !take(due - 1, result) {
                return Ack::Stop;
            }
        }
        Ack::Accepted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crew that answers backwards, two pieces at a time, at first with nonsense.
    #[derive(Debug)]
    struct Backwards;

    impl BlobStore for Backwards {
        fn put(&self, bytes: &[u8]) -> Result<String, WorkQueueError> {
            Ok(crate::files::checksum(bytes))
        }

        fn get(&self, sha256: &str) -> Result<Vec<u8>, WorkQueueError> {
            Err(WorkQueueError(format!("there is no {sha256}")))
        }
    }

    impl WorkQueue for Backwards {
        fn work(
            &self,
            batch: JobBatch<'_>,
            describe: &dyn Fn(Range<usize>) -> Vec<u8>,
            take: &mut dyn FnMut(Range<usize>, &[u8]) -> Ack,
        ) -> Result<(), WorkQueueError> {
            for from in (0..batch.jobs).step_by(2).rev() {
                let range = from..(from + 2).min(batch.jobs);
                assert!(matches!(take(range.clone(), b"?"), Ack::Rejected(_)));
                let mut short = describe(range.clone());
                short.truncate(1);
                assert_eq!(
                    matches!(take(range.clone(), &short), Ack::Rejected(_)),
                    range.len() > 1
                );
                if range.len() > 1 && take(range.clone(), &describe(range)) == Ack::Stop {
                    return Ok(());
                }
            }
            Ok(())
        }

        fn delete(&self, _: &str) {}

        fn words(&self) -> String {
            String::new()
        }
    }

    #[test]
    fn answers_come_in_order_and_nonsense_is_refused() {
        for (pieces, until) in [(9, 9), (8, 8), (8, 3), (0, 0)] {
            let mut seen = Vec::new();
            run_in_order(
                &Backwards,
                JobBatch { kind: "test", run: "run", pieces },
                &|range| range.map(|piece| b'a' + piece as u8).collect(),
                |_, answer| match answer {
                    b"?" => Err("nonsense".to_owned()),
                    letters => Ok(letters.to_vec()),
                },
                |piece, letter| {
                    seen.push(letter);
                    piece + 1 < until
                },
            )
            .unwrap();
            assert_eq!(seen, (0..until as u8).map(|i| b'a' + i).collect::<Vec<_>>());
        }
    }
}
