//! Reads the results of one run from the results stream, in order.
//!
//! Reading does not change the stream. The reader remembers the sequence number of the last result
//! that it read and creates a new consumer from there after any failure.

use crate::connection::Connection;
use crate::error::ClusterError;
use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::{AckPolicy, Consumer, DeliverPolicy, pull};
use futures_util::{FutureExt, StreamExt};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};

/// Time that the server keeps a pull request open.
const REQUEST_EXPIRY: Duration = Duration::from_secs(5);

/// Time after which a pull request that the server has not ended counts as lost.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(7);

/// Maximum number of results per pull request.
const MAX_RESULTS: usize = 256;

/// A stored result and its sequence number in the stream.
pub(crate) struct StoredResult {
    pub(crate) sequence: u64,
    pub(crate) message: Message,
}

/// A reader of the results of one run.
pub(crate) struct ResultReader {
    subject: String,
    /// Sequence number of the last result that was read.
    last_read: u64,
    /// Creation time of the stream; a different one means that the stream was lost and recreated.
    stream_created: Option<String>,
    consumer: Option<Consumer<pull::Config>>,
    /// Number of results that this consumer has delivered.
    delivered: u64,
    request: Option<(pull::Batch, Instant)>,
    ready: VecDeque<StoredResult>,
    /// Whether the stream holds results that were not read.
    has_pending: bool,
    /// Connection count at the time of the request.
    connections: u64,
}

impl ResultReader {
    /// Creates a reader that starts with the first result of `subject`.
    pub(crate) fn new(subject: String) -> ResultReader {
        ResultReader {
            subject,
            last_read: 0,
            stream_created: None,
            consumer: None,
            delivered: 0,
            request: None,
            ready: VecDeque::new(),
            has_pending: true,
            connections: 0,
        }
    }

    /// Returns the sequence number of the last result that [`next`](Self::next) returned.
    pub(crate) fn last_returned(&self) -> u64 {
        self.ready.front().map_or(self.last_read, |first| first.sequence - 1)
    }

    /// Returns whether there are results that were not returned yet.
    pub(crate) fn has_pending(&self) -> bool {
        self.has_pending || !self.ready.is_empty()
    }

    /// Returns the next result, or `None` if none arrives within `wait`.
    pub(crate) async fn next(
        &mut self,
        connection: &Connection,
        wait: Duration,
    ) -> Option<StoredResult> {
        let until = Instant::now() + wait;
        while self.ready.is_empty() && Instant::now() < until {
            if !connection.is_connected() {
                sleep(Duration::from_millis(100)).await;
                continue;
            }
            if self.connections != connection.connection_count() {
                self.connections = connection.connection_count();
                self.reset();
            }
            if self.request.is_none() && self.open_request(connection).await.is_err() {
                self.consumer = None;
                // The server may have lost the stream.
                let _ = connection.set_up().await;
                sleep(Duration::from_millis(200)).await;
                continue;
            }
            self.receive(until).await;
        }
        self.ready.pop_front()
    }

    /// Waits for the next result of the open request and buffers all results that have arrived.
    async fn receive(&mut self, until: Instant) {
        let Some((batch, since)) = &mut self.request else { return };
        let since = *since;
        let mut received = match timeout_at(until, batch.next()).await {
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
                    // A request that stayed open until it expired found no more results. One that ended
                    // early proves nothing.
                    self.has_pending &= since.elapsed() < REQUEST_EXPIRY / 2;
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

    /// Buffers a result; returns `false` if it is not the next in sequence.
    fn push(&mut self, message: Message) -> bool {
        let Ok(info) = message.info() else { return false };
        if info.consumer_sequence != self.delivered + 1 {
            return false;
        }
        let sequence = info.stream_sequence;
        self.has_pending = info.pending > 0;
        self.delivered += 1;
        self.last_read = sequence;
        self.ready.push_back(StoredResult { sequence, message });
        true
    }

    fn reset(&mut self) {
        self.request = None;
        self.consumer = None;
        self.has_pending = true;
    }

    /// Opens a pull request, with a new consumer if there is none.
    async fn open_request(&mut self, connection: &Connection) -> Result<(), ClusterError> {
        if self.consumer.is_none() {
            let stream = connection.results().await?;
            let info = stream.cached_info();
            let created = format!("{:?}", info.created);
            let is_other = self.stream_created.as_ref().is_some_and(|before| *before != created);
            if is_other || info.state.last_sequence < self.last_read {
                self.last_read = 0;
            }
            self.stream_created = Some(created);
            let config = pull::Config {
                filter_subject: self.subject.clone(),
                deliver_policy: DeliverPolicy::ByStartSequence {
                    start_sequence: self.last_read + 1,
                },
                ack_policy: AckPolicy::None,
                inactive_threshold: Duration::from_secs(120),
                ..pull::Config::default()
            };
            let consumer = stream.create_consumer(config).await;
            let consumer = consumer.map_err(connection.error("read results"))?;
            self.has_pending = consumer.cached_info().num_pending > 0;
            self.consumer = Some(consumer);
            self.delivered = 0;
        }
        let Some(consumer) = &self.consumer else { return Ok(()) };
        let batch =
            consumer.batch().max_messages(MAX_RESULTS).expires(REQUEST_EXPIRY).messages().await;
        let batch = batch.map_err(connection.error("read results"))?;
        self.request = Some((batch, Instant::now()));
        Ok(())
    }
}
