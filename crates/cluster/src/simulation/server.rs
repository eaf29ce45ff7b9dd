//! A model of the NATS server: a work queue with redelivery, a stream of results, duplicate
//! detection, and the faults of a server.

use crate::in_flight::Time;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

/// Time window in which repeated message ids are dropped.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(120);

/// Time without an acknowledgement after which a task is delivered again.
const ACK_WAIT: Duration = Duration::from_secs(10);

/// Time that a request for a task stays open.
pub(super) const TASK_REQUEST_EXPIRY: Duration = Duration::from_secs(3);
/// Time that a request for results stays open.
pub(super) const RESULT_REQUEST_EXPIRY: Duration = Duration::from_secs(5);

/// A message with a task.
#[derive(Clone, Debug)]
pub(super) struct TaskMessage {
    pub(super) subject: String,
    pub(super) message_id: String,
    pub(super) kind: String,
    pub(super) version: String,
    pub(super) content: Vec<u8>,
}

/// A message with a result.
#[derive(Clone, Debug)]
pub(super) struct ResultMessage {
    pub(super) subject: String,
    pub(super) message_id: String,
    pub(super) worker: String,
    pub(super) version: String,
    pub(super) failed: bool,
    pub(super) checksum: String,
    pub(super) seconds: f64,
    pub(super) content: Vec<u8>,
}

/// The acknowledgement of a delivery.
#[derive(Clone, Copy, Debug)]
pub(super) enum AckKind {
    Progress,
    Ack,
    Term,
    Nak(Duration),
}

struct QueuedTask {
    message: TaskMessage,
    deliveries: i64,
    /// Time from which it can be delivered.
    available_at: Time,
}

/// A consumer of results with its open request.
struct ResultConsumer {
    id: u64,
    next: u64,
    delivered: u64,
    /// Number of results that the open request may still receive, and its end.
    request: Option<(usize, Time)>,
}

/// A message from the server to the coordinator's reader.
#[derive(Clone, Debug)]
pub(super) enum ReaderMessage {
    Result {
        consumer_sequence: u64,
        sequence: u64,
        pending: u64,
        message: ResultMessage,
    },
    /// The request ended.
    End,
}

/// An open request for a task: worker, incarnation, thread, request number.
pub(super) type FetchAddress = (usize, u64, usize, u64);

/// A delivered task: the stream's generation, its sequence number, the number of deliveries.
pub(super) type DeliveryId = (u64, u64, i64);

#[derive(Default)]
pub(super) struct Server {
    /// Number of times that the streams were created.
    pub(super) stream_generation: u64,
    pub(super) exists: bool,
    pub(super) is_down: bool,
    pub(super) disk_is_full: bool,
    tasks: BTreeMap<u64, QueuedTask>,
    last_task: u64,
    results: BTreeMap<u64, ResultMessage>,
    last_result: u64,
    recent_message_ids: HashMap<String, Time>,
    fetches: Vec<(FetchAddress, Time)>,
    consumer: Option<ResultConsumer>,
    last_consumer: u64,
}

impl Server {
    /// Creates the streams if they are missing.
    pub(super) fn set_up(&mut self) {
        if !self.exists {
            self.exists = true;
            self.stream_generation += 1;
        }
    }

    /// Deletes everything, as the loss of a disk does.
    pub(super) fn lose_store(&mut self) {
        *self = Server {
            stream_generation: self.stream_generation,
            is_down: self.is_down,
            ..Server::default()
        };
    }

    /// Drops open requests and the message ids of tasks that are no longer stored, as a restart does.
    pub(super) fn restart(&mut self) {
        self.fetches.clear();
        self.consumer = None;
        let stored: BTreeSet<String> =
            self.tasks.values().map(|task| task.message.message_id.clone()).collect();
        self.recent_message_ids.retain(|id, _| stored.contains(id));
    }

    fn check_write(&self) -> Result<(), String> {
        match (self.exists, self.disk_is_full) {
            (false, _) => Err("no stream".to_owned()),
            (_, true) => Err("disk full".to_owned()),
            _ => Ok(()),
        }
    }

    fn is_duplicate(&mut self, id: &str, now: Time) -> bool {
        if self
            .recent_message_ids
            .get(id)
            .is_some_and(|time| now.saturating_sub(*time) < DUPLICATE_WINDOW)
        {
            return true;
        }
        self.recent_message_ids.insert(id.to_owned(), now);
        false
    }

    /// Stores a task; returns whether it is a duplicate.
    pub(super) fn publish(&mut self, message: TaskMessage, now: Time) -> Result<bool, String> {
        self.check_write()?;
        if self.is_duplicate(&message.message_id.clone(), now) {
            return Ok(true);
        }
        self.last_task += 1;
        let task = QueuedTask { message, deliveries: 0, available_at: Time::ZERO };
        self.tasks.insert(self.last_task, task);
        Ok(false)
    }

    /// Stores a result.
    pub(super) fn store(&mut self, message: ResultMessage, now: Time) -> Result<(), String> {
        self.check_write()?;
        if !self.is_duplicate(&format!("result {}", message.message_id), now) {
            self.last_result += 1;
            self.results.insert(self.last_result, message);
        }
        Ok(())
    }

    /// Lists the subjects of queued tasks.
    pub(super) fn list(&self) -> Vec<String> {
        self.tasks.values().map(|task| task.message.subject.clone()).collect()
    }

    pub(super) fn purge_results(&mut self, before: u64) {
        self.results = self.results.split_off(&before);
    }

    /// Deletes the tasks of a run and, unless `keep_results` is set, its results.
    pub(super) fn purge_run(&mut self, run: &str, keep_results: bool) {
        let token = format!(".{run}.");
        self.tasks.retain(|_, task| !task.message.subject.contains(&token));
        if !keep_results {
            self.results.retain(|_, result| !result.subject.contains(&token));
        }
    }

    /// Opens a request for a task.
    pub(super) fn fetch(&mut self, from: FetchAddress, now: Time) {
        self.fetches.push((from, now + TASK_REQUEST_EXPIRY));
    }

    /// Delivers tasks to open requests of workers.
    pub(super) fn deliveries(&mut self, now: Time) -> Vec<(FetchAddress, DeliveryId, TaskMessage)> {
        self.fetches.retain(|(_, until)| *until > now);
        let mut delivered = Vec::new();
        if !self.exists || self.fetches.is_empty() {
            return delivered;
        }
        for (&sequence, task) in &mut self.tasks {
            if task.available_at > now {
                continue;
            }
            if self.fetches.is_empty() {
                break;
            }
            let (to, _) = self.fetches.remove(0);
            task.deliveries += 1;
            task.available_at = now + ACK_WAIT;
            delivered.push((
                to,
                (self.stream_generation, sequence, task.deliveries),
                task.message.clone(),
            ));
        }
        delivered
    }

    /// Processes the acknowledgement of a delivery.
    pub(super) fn acknowledge(
        &mut self,
        (generation, sequence, count): DeliveryId,
        kind: AckKind,
        now: Time,
    ) {
        if generation != self.stream_generation {
            return;
        }
        let Some(task) = self.tasks.get_mut(&sequence) else { return };
        match kind {
            AckKind::Ack | AckKind::Term => {
                self.tasks.remove(&sequence);
            }
            // An acknowledgement of an earlier delivery has no effect on the current one.
            _ if task.deliveries != count => {}
            AckKind::Progress => task.available_at = now + ACK_WAIT,
            AckKind::Nak(delay) => task.available_at = now + delay,
        }
    }

    /// Describes the results stream to a new reader: creation time, last sequence number.
    pub(super) fn describe_results(&self) -> Option<(String, u64)> {
        self.exists.then(|| (format!("created {}", self.stream_generation), self.last_result))
    }

    /// Creates a consumer of results; returns its id and the number of results it will deliver.
    pub(super) fn open_consumer(&mut self, start: u64) -> Option<(u64, u64)> {
        if !self.exists {
            return None;
        }
        self.last_consumer += 1;
        let id = self.last_consumer;
        self.consumer = Some(ResultConsumer { id, next: start, delivered: 0, request: None });
        Some((id, self.results.range(start..).count() as u64))
    }

    /// Opens a request of a consumer; returns whether the consumer exists.
    pub(super) fn pull(&mut self, id: u64, max: usize, now: Time) -> bool {
        match self.consumer.as_mut().filter(|consumer| consumer.id == id) {
            Some(consumer) => {
                consumer.request = Some((max, now + RESULT_REQUEST_EXPIRY));
                true
            }
            None => false,
        }
    }

    /// Returns the messages for the reader of results.
    pub(super) fn reader_messages(&mut self, now: Time) -> Vec<(u64, ReaderMessage)> {
        let mut messages = Vec::new();
        let Some(consumer) = &mut self.consumer else { return messages };
        let Some((mut left, until)) = consumer.request else { return messages };
        while left > 0
            && let Some((&sequence, message)) = self.results.range(consumer.next..).next()
        {
            consumer.next = sequence + 1;
            consumer.delivered += 1;
            left -= 1;
            let message = ReaderMessage::Result {
                consumer_sequence: consumer.delivered,
                sequence,
                pending: self.results.range(sequence + 1..).count() as u64,
                message: message.clone(),
            };
            messages.push((consumer.id, message));
        }
        consumer.request = Some((left, until));
        if left == 0 || now >= until {
            consumer.request = None;
            messages.push((consumer.id, ReaderMessage::End));
        }
        messages
    }
}
