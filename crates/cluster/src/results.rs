//! Reads the results of one run from the results stream, in order.
//!
//! Reading does not change the stream. The reader remembers the sequence number of the last result
//! that it read and creates a new consumer from there after any failure.

use crate::connection::Connection;
use crate::error::ClusterError;
use crate::result_cursor::{RESULT_REQUEST_EXPIRY, ResultCursor};
use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::{AckPolicy, Consumer, DeliverPolicy, pull};
use futures_util::{FutureExt, StreamExt};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};

/// Time after which a pull request that the server has not ended counts as lost.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(7);

/// Maximum number of results per pull request.
const MAX_RESULTS: usize = 256;

/// A stored result and its sequence number in the stream.
pub(crate) struct StoredResult {
    pub(crate) sequence: u64,
    /// Whether it was stored before the reader started.
    pub(crate) is_old: bool,
    pub(crate) message: Message,
}

/// A reader of the results of one run.
pub(crate) struct ResultReader {
    subject: String,
    cursor: ResultCursor,
    consumer: Option<Consumer<pull::Config>>,
    /// The open pull request and its start time.
    request: Option<(pull::Batch, Instant)>,
    /// Results that were received and not yet returned.
    ready: VecDeque<StoredResult>,
    /// [`Connection::connection_count`] at the time of the request.
    connection_count: u64,
}

impl ResultReader {
    /// Creates a reader that starts with the first result of `subject`.
    pub(crate) fn new(subject: String) -> ResultReader {
        ResultReader {
            subject,
            cursor: ResultCursor::new(),
            consumer: None,
            request: None,
            ready: VecDeque::new(),
            connection_count: 0,
        }
    }

    /// Returns the sequence number of the last result that [`next`](Self::next) returned.
    pub(crate) fn last_returned(&self) -> u64 {
        self.ready.front().map_or(self.cursor.last_read(), |first| first.sequence - 1)
    }

    /// Returns whether there are results that were not returned yet.
    pub(crate) fn has_pending(&self) -> bool {
        self.cursor.has_pending() || !self.ready.is_empty()
    }

    /// Returns the next result, or `None` if none arrives within `timeout`.
    pub(crate) async fn next(
        &mut self,
        connection: &Connection,
        timeout: Duration,
    ) -> Option<StoredResult> {
        let deadline = Instant::now() + timeout;
        while self.ready.is_empty() && Instant::now() < deadline {
            if !connection.is_connected() {
                sleep(Duration::from_millis(100)).await;
                continue;
            }
            if self.connection_count != connection.connection_count() {
                self.connection_count = connection.connection_count();
                self.reset();
            }
            if self.request.is_none() && self.open_request(connection).await.is_err() {
                self.consumer = None;
                // The server may have lost the stream.
                let _ = connection.set_up().await;
                sleep(Duration::from_millis(200)).await;
                continue;
            }
            self.receive(deadline).await;
        }
        self.ready.pop_front()
    }

    /// Waits for the next result of the open request and buffers all results that have arrived.
    async fn receive(&mut self, deadline: Instant) {
        let Some((batch, since)) = &mut self.request else { return };
        let since = *since;
        let mut received = match timeout_at(deadline, batch.next()).await {
            Ok(received) => received,
            Err(_) => {
                if since.elapsed() > REQUEST_TIMEOUT {
                    self.reset();
                }
                return;
            }
        };
        loop {
            match received {
                Some(Ok(message)) => {
                    if !self.push(message) {
                        return self.reset();
                    }
                }
                Some(Err(_)) => return self.reset(),
                None => {
                    self.request = None;
                    self.cursor.request_ended(since.elapsed());
                    return;
                }
            }
            let Some((batch, _)) = &mut self.request else { return };
            match batch.next().now_or_never() {
                Some(next) => received = next,
                None => return,
            }
        }
    }

    /// Buffers a result. Returns `false` if a result before it is missing.
    fn push(&mut self, message: Message) -> bool {
        let Ok(info) = message.info() else { return false };
        let sequence = info.stream_sequence;
        if !self.cursor.receive(info.consumer_sequence, sequence, info.pending) {
            return false;
        }
        let is_old = self.cursor.is_old(sequence);
        self.ready.push_back(StoredResult { sequence, is_old, message });
        true
    }

    /// Drops the open request and the consumer, so that the next read creates new ones.
    fn reset(&mut self) {
        self.request = None;
        self.consumer = None;
        self.cursor.close();
    }

    /// Opens a pull request, with a new consumer if there is none.
    async fn open_request(&mut self, connection: &Connection) -> Result<(), ClusterError> {
        if self.consumer.is_none() {
            let stream = connection.results().await?;
            let info = stream.cached_info();
            let created = format!("{:?}", info.created);
            let start_sequence = self.cursor.start_consumer(&created, info.state.last_sequence);
            let config = pull::Config {
                filter_subject: self.subject.clone(),
                deliver_policy: DeliverPolicy::ByStartSequence { start_sequence },
                ack_policy: AckPolicy::None,
                inactive_threshold: Duration::from_secs(120),
                ..pull::Config::default()
            };
            let consumer = stream.create_consumer(config).await;
            let consumer = consumer.map_err(connection.server_error("read results"))?;
            self.cursor.on_consumer_created(consumer.cached_info().num_pending);
            self.consumer = Some(consumer);
        }
        let Some(consumer) = &self.consumer else { return Ok(()) };
        let batch = consumer
            .batch()
            .max_messages(MAX_RESULTS)
            .expires(RESULT_REQUEST_EXPIRY)
            .messages()
            .await;
        let batch = batch.map_err(connection.server_error("read results"))?;
        self.request = Some((batch, Instant::now()));
        Ok(())
    }
}
