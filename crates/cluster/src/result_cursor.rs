//! The position of a reader in the results stream, without input or output.

use std::time::Duration;

/// Time that the server keeps a pull request open.
pub(crate) const RESULT_REQUEST_EXPIRY: Duration = Duration::from_secs(5);

/// The results of one run that were read, and whether there are more.
///
/// After any failure the caller opens a new consumer at the position that
/// [`start_consumer`](Self::start_consumer) returns.
#[derive(Debug)]
pub(crate) struct ResultCursor {
    /// Sequence number of the last result that was read.
    last_read: u64,
    /// Creation time of the stream; a different one means that the stream was lost and recreated.
    stream_created: Option<String>,
    /// Sequence number of the last result that was stored before the reader started.
    last_old: u64,
    /// Number of results that the consumer has delivered.
    delivered: u64,
    /// Whether the stream may hold results that were not read.
    has_pending: bool,
}

impl ResultCursor {
    /// Creates a cursor before the first result.
    pub(crate) fn new() -> ResultCursor {
        ResultCursor {
            last_read: 0,
            stream_created: None,
            last_old: 0,
            delivered: 0,
            has_pending: true,
        }
    }

    /// Returns the sequence number of the last result that was read.
    pub(crate) fn last_read(&self) -> u64 {
        self.last_read
    }

    /// Returns whether the stream may hold results that were not read.
    pub(crate) fn has_pending(&self) -> bool {
        self.has_pending
    }

    /// Returns whether a result was stored before the reader started.
    pub(crate) fn is_old(&self, sequence: u64) -> bool {
        sequence <= self.last_old
    }

    /// Returns the first sequence number that a new consumer must deliver. `created` and
    /// `last_sequence` describe the stream.
    pub(crate) fn start_consumer(&mut self, created: &str, last_sequence: u64) -> u64 {
        let is_other = self.stream_created.as_ref().is_some_and(|before| before != created);
        if is_other || last_sequence < self.last_read {
            self.last_read = 0;
            self.last_old = 0;
        }
        if self.stream_created.is_none() {
            self.last_old = last_sequence;
        }
        self.stream_created = Some(created.to_owned());
        self.delivered = 0;
        self.has_pending = true;
        self.last_read + 1
    }

    /// Records how many results the new consumer will deliver.
    pub(crate) fn on_consumer_created(&mut self, pending: u64) {
        self.has_pending = pending > 0;
    }

    /// Records a result. Returns `false` if a message of the consumer was lost; the caller then opens
    /// a new consumer.
    pub(crate) fn receive(&mut self, consumer_sequence: u64, sequence: u64, pending: u64) -> bool {
        if consumer_sequence != self.delivered + 1 {
            self.close();
            return false;
        }
        self.delivered += 1;
        self.last_read = sequence;
        self.has_pending = pending > 0;
        true
    }

    /// Records that a pull request ended without a further result. If the request lasted at least half
    /// of [`RESULT_REQUEST_EXPIRY`], the stream had no result. A shorter request says nothing about
    /// the stream.
    pub(crate) fn request_ended(&mut self, elapsed: Duration) {
        self.has_pending &= elapsed < RESULT_REQUEST_EXPIRY / 2;
    }

    /// Records that the consumer is gone.
    pub(crate) fn close(&mut self) {
        self.has_pending = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_consumer_continues_after_the_last_result() {
        let mut cursor = ResultCursor::new();
        assert!(cursor.has_pending());
        assert_eq!(cursor.start_consumer("monday", 3), 1);
        cursor.on_consumer_created(2);
        assert!(cursor.receive(1, 2, 1) && cursor.receive(2, 5, 0));
        assert_eq!((cursor.last_read(), cursor.has_pending()), (5, false));
        assert!(cursor.is_old(2) && !cursor.is_old(5));
        // A lost message.
        assert!(!cursor.receive(4, 7, 0));
        assert!(cursor.has_pending());
        assert_eq!(cursor.start_consumer("monday", 7), 6);
        // A new stream.
        assert_eq!(cursor.start_consumer("tuesday", 9), 1);
        assert!(!cursor.is_old(2));
    }

    #[test]
    fn only_an_expired_request_proves_that_there_are_no_results() {
        let mut cursor = ResultCursor::new();
        cursor.request_ended(Duration::from_millis(10));
        assert!(cursor.has_pending());
        cursor.request_ended(RESULT_REQUEST_EXPIRY);
        assert!(!cursor.has_pending());
    }
}
