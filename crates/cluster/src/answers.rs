//! The answers of one run as they are stored, in order, whatever happens to the server.
//!
//! Reading changes nothing on the server: the reader remembers how far it has come, and after any
//! trouble it begins a new consumer from there.

use crate::error::GridError;
use crate::server::Server;
use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::{AckPolicy, Consumer, DeliverPolicy, pull};
use futures_util::{FutureExt, StreamExt};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};

/// The server keeps a request for answers open for so long.
const OPEN: Duration = Duration::from_secs(5);

/// A request that the server has not ended by then is dead.
const DEAD: Duration = Duration::from_secs(7);

/// The most answers for one request.
const MOST: usize = 256;

/// A stored answer and its place in the stream.
pub(crate) struct Answer {
    pub(crate) place: u64,
    pub(crate) message: Message,
}

/// A reader of one run's answers.
pub(crate) struct Answers {
    subject: String,
    /// The place of the last answer that was read.
    last: u64,
    /// When the stream was made; another time means that the old one is gone.
    stream: Option<String>,
    consumer: Option<Consumer<pull::Config>>,
    /// How many answers this consumer has given.
    given: u64,
    request: Option<(pull::Batch, Instant)>,
    ready: VecDeque<Answer>,
    /// Whether more are stored than were read.
    behind: bool,
    /// How often the server had been reached when the request was opened.
    times: u64,
}

impl Answers {
    /// A reader of the answers with this subject, from the first.
    pub(crate) fn new(subject: String) -> Answers {
        Answers {
            subject,
            last: 0,
            stream: None,
            consumer: None,
            given: 0,
            request: None,
            ready: VecDeque::new(),
            behind: true,
            times: 0,
        }
    }

    /// The place of the last answer that was handed out.
    pub(crate) fn last(&self) -> u64 {
        self.ready.front().map_or(self.last, |first| first.place - 1)
    }

    /// Whether there are answers that were not handed out yet.
    pub(crate) fn behind(&self) -> bool {
        self.behind || !self.ready.is_empty()
    }

    /// The next answer, if one comes in time.
    pub(crate) async fn next(&mut self, server: &Server, wait: Duration) -> Option<Answer> {
        let until = Instant::now() + wait;
        while self.ready.is_empty() && Instant::now() < until {
            if !server.is_there() {
                sleep(Duration::from_millis(100)).await;
                continue;
            }
            if self.times != server.times() {
                self.times = server.times();
                self.begin_anew();
            }
            if self.request.is_none() && self.ask(server).await.is_err() {
                self.consumer = None;
                // The stream may be gone with the server's disk.
                let _ = server.set_up().await;
                sleep(Duration::from_millis(200)).await;
                continue;
            }
            self.listen(until).await;
        }
        self.ready.pop_front()
    }

    /// Waits for answers to the request that is open, and takes all that have come.
    async fn listen(&mut self, until: Instant) {
        let Some((batch, since)) = &mut self.request else { return };
        let since = *since;
        let mut found = match timeout_at(until, batch.next()).await {
            Ok(found) => found,
            Err(_) => {
                if since.elapsed() > DEAD {
                    self.begin_anew();
                }
                return;
            }
        };
        loop {
            match found {
                Some(Ok(message)) => {
                    if !self.keep(message) {
                        return self.begin_anew();
                    }
                }
                Some(Err(_)) => return self.begin_anew(),
                None => {
                    self.request = None;
                    // Without a word from a consumer for so long there is nothing to read.
                    self.behind &= since.elapsed() < OPEN / 2;
                    return;
                }
            }
            let Some((batch, _)) = &mut self.request else { return };
            match batch.next().now_or_never() {
                Some(next) => found = next,
                None => return,
            }
        }
    }

    /// Notes an answer; says whether it was the next one.
    fn keep(&mut self, message: Message) -> bool {
        let Ok(info) = message.info() else { return false };
        if info.consumer_sequence != self.given + 1 {
            return false;
        }
        let place = info.stream_sequence;
        self.behind = info.pending > 0;
        self.given += 1;
        self.last = place;
        self.ready.push_back(Answer { place, message });
        true
    }

    fn begin_anew(&mut self) {
        self.request = None;
        self.consumer = None;
        self.behind = true;
    }

    /// Opens a request, with a new consumer if there is none.
    async fn ask(&mut self, server: &Server) -> Result<(), GridError> {
        if self.consumer.is_none() {
            let stream = server.results().await?;
            let info = stream.cached_info();
            let made = format!("{:?}", info.created);
            let other = self.stream.as_ref().is_some_and(|known| *known != made);
            if other || info.state.last_sequence < self.last {
                self.last = 0;
            }
            self.stream = Some(made);
            let config = pull::Config {
                filter_subject: self.subject.clone(),
                deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: self.last + 1 },
                ack_policy: AckPolicy::None,
                inactive_threshold: Duration::from_secs(120),
                ..pull::Config::default()
            };
            let made = stream.create_consumer(config).await;
            let consumer = made.map_err(server.failed("read results"))?;
            self.behind = consumer.cached_info().num_pending > 0;
            self.consumer = Some(consumer);
            self.given = 0;
        }
        let Some(consumer) = &self.consumer else { return Ok(()) };
        let batch = consumer.batch().max_messages(MOST).expires(OPEN).messages().await;
        let batch = batch.map_err(server.failed("read results"))?;
        self.request = Some((batch, Instant::now()));
        Ok(())
    }
}
