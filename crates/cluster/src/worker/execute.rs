//! Executes a task and prepares its result.

use super::WorkerState;
use super::publish::PendingResult;
use crate::wire::{self, header};
use async_nats::HeaderMap;
use async_nats::jetstream::message::Acker;
use async_nats::jetstream::{AckKind, Message};
use outflank_runs::files::checksum;
use outflank_runs::stop_requested;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// Interval between progress acknowledgements of a task.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// Maximum number of deliveries of a task. A task with more is assumed to crash its workers.
const MAX_DELIVERIES: i64 = 20;

/// Size above which a result goes through the object store. The server limits messages to one
/// megabyte.
const MAX_PAYLOAD: usize = 512 * 1024;

impl WorkerState<'_> {
    /// Executes a task; returns the handle of the background task that stores its result.
    pub(super) fn execute(&self, message: Message) -> Option<JoinHandle<()>> {
        let info = message.info();
        let (deliveries, sequence) =
            info.map_or((1, 0), |info| (info.delivered, info.stream_sequence));
        let (message, acker) = message.split();
        let acker = Arc::new(acker);
        let progress = self.connection.runtime.spawn(report_progress(acker.clone()));
        let headers = message.headers.as_ref();
        let task_header = |name| header(headers, name);
        let started = Instant::now();
        let outcome = match deliveries > MAX_DELIVERIES {
            true => Err(format!("the task was delivered {deliveries} times without a result")),
            false => {
                self.handle(task_header(wire::KIND), task_header(wire::VERSION), &message.payload)
            }
        };
        if stop_requested() {
            // The result may be incomplete.
            progress.abort();
            let _ = self.connection.wait(acker.ack_with(AckKind::Nak(None)));
            return None;
        }
        let mut result_headers = HeaderMap::new();
        let payload = match outcome {
            Ok(bytes) => {
                self.completed.fetch_add(1, Ordering::Relaxed);
                bytes
            }
            Err(reason) => {
                self.failed.fetch_add(1, Ordering::Relaxed);
                (self.connection.log)(&format!("a job failed: {reason}"));
                result_headers.insert(wire::FAILED, "yes");
                reason.into_bytes()
            }
        };
        result_headers.insert(wire::VERSION, self.connection.options.version.as_str());
        result_headers.insert(wire::WORKER, self.name);
        result_headers.insert(wire::TASK, task_header(wire::TASK));
        result_headers.insert(wire::CHECKSUM, checksum(&payload).as_str());
        result_headers
            .insert(wire::SECONDS, format!("{:.6}", started.elapsed().as_secs_f64()).as_str());
        // The server drops repeated publications of one delivery. Each delivery has its own id,
        // because the result of an earlier one may have been rejected or deleted.
        let id = format!("{}/{}/{sequence}/{deliveries}", task_header(wire::TASK), self.name);
        result_headers.insert(wire::MESSAGE_ID, id.as_str());
        let payload = match payload.len() > MAX_PAYLOAD {
            false => payload,
            true => match self.connection.wait(self.connection.put_blob(&payload)) {
                Ok(_) => {
                    result_headers.insert(wire::IN_OBJECT_STORE, "yes");
                    Vec::new()
                }
                Err(error) => {
                    (self.connection.log)(&format!("cannot store a result: {error}"));
                    progress.abort();
                    return None;
                }
            },
        };
        let subject = self.connection.names.result(task_header(wire::RUN), task_header(wire::TASK));
        let result = PendingResult {
            context: self.connection.context.clone(),
            log: self.connection.log.clone(),
            problem: self.problem.clone(),
            subject,
            headers: result_headers,
            payload,
            acker,
            progress,
        };
        Some(self.connection.runtime.spawn(result.store()))
    }

    /// Executes a task with the handler of its kind. A panic is an error of the task and does not
    /// stop the worker.
    fn handle(&self, kind: &str, version: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        let own_version = &self.connection.options.version;
        if version != own_version {
            return Err(format!(
                "the job has version {version}, but this worker has {own_version}"
            ));
        }
        let handler = self.handlers.iter().find(|handler| handler.kind() == kind);
        let handler = handler.ok_or_else(|| format!("unknown kind of job '{kind}'"))?;
        let outcome = catch_unwind(AssertUnwindSafe(|| handler.handle(payload, self.connection)));
        outcome.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(format!("internal error: {}", text.unwrap_or("a panic")))
        })
    }
}

/// Acknowledges at a fixed interval that a task is in progress.
async fn report_progress(acker: Arc<Acker>) {
    loop {
        sleep(PROGRESS_INTERVAL).await;
        let _ = acker.ack_with(AckKind::Progress).await;
    }
}
