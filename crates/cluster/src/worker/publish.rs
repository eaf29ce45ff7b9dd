//! Carries out the actions of a [`TaskStateMachine`] with the NATS server, in the background while the
//! next task is executed.

use super::state_machine::{TaskAction, TaskResult, TaskStateMachine};
use super::{POLL_INTERVAL, WorkerState};
use crate::LogFn;
use crate::connection::{BlobWriter, error_chain, write_error};
use crate::wire::{self, QueueNames};
use async_nats::HeaderMap;
use async_nats::jetstream::message::Acker;
use async_nats::jetstream::{AckKind, Context};
use outflank_runs::files::checksum;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// Time that a stopping worker waits for its last result to be stored.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum size of a result that is sent in a message; a larger one goes through the object store.
/// The server limits messages to one megabyte.
const MAX_PAYLOAD_BYTES: usize = 512 * 1024;

/// Waits until a result is stored. Once `is_stopping` returns true, waits for a limited time only:
/// the server still has the task and delivers it to another worker.
pub async fn wait_until_stored(mut storing: JoinHandle<()>, is_stopping: impl Fn() -> bool) {
    let mut left = SHUTDOWN_TIMEOUT;
    while !left.is_zero() && timeout(POLL_INTERVAL, &mut storing).await.is_err() {
        if is_stopping() {
            left = left.saturating_sub(POLL_INTERVAL);
        }
    }
}

/// A task that this worker has not finished, and what is needed to finish it.
pub(super) struct TaskInProgress {
    /// `None` if the task is invalid.
    machine: Mutex<Option<TaskStateMachine>>,
    acker: Acker,
    context: Context,
    blobs: BlobWriter,
    names: QueueNames,
    version: String,
    worker: String,
    log: LogFn,
    /// Why results cannot be stored, empty if they can; sent with the worker's heartbeats.
    storage_error: Arc<Mutex<String>>,
    /// Start of the worker.
    worker_started: Instant,
}

impl TaskInProgress {
    pub(super) fn new(
        state: &WorkerState<'_>,
        machine: Option<TaskStateMachine>,
        acker: Acker,
    ) -> TaskInProgress {
        let connection = state.connection;
        TaskInProgress {
            machine: Mutex::new(machine),
            acker,
            context: connection.context.clone(),
            blobs: connection.blob_writer(),
            names: connection.names.clone(),
            version: connection.options.version.clone(),
            worker: state.name.to_owned(),
            log: connection.log.clone(),
            storage_error: state.storage_error.clone(),
            worker_started: state.started,
        }
    }

    fn machine(&self) -> MutexGuard<'_, Option<TaskStateMachine>> {
        self.machine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes the outcome of the execution to the machine.
    pub(super) fn on_executed(
        &self,
        outcome: Result<Vec<u8>, String>,
        is_stopping: bool,
    ) -> Vec<TaskAction> {
        let mut machine = self.machine();
        let Some(machine) = machine.as_mut() else { return Vec::new() };
        machine.on_executed(outcome, is_stopping, self.worker_started.elapsed())
    }

    /// Returns the time until the machine has something to do.
    fn next_delay(&self) -> Option<Duration> {
        let next = self.machine().as_ref()?.next_time()?;
        Some(next.saturating_sub(self.worker_started.elapsed()))
    }

    fn poll(&self) -> Vec<TaskAction> {
        let mut machine = self.machine();
        machine.as_mut().map_or(Vec::new(), |machine| machine.poll(self.worker_started.elapsed()))
    }

    /// Sends progress acknowledgements until this future is dropped.
    pub(super) async fn report_progress(self: Arc<Self>) {
        while let Some(delay) = self.next_delay() {
            sleep(delay).await;
            for action in self.poll() {
                self.perform(&action).await;
            }
        }
    }

    /// Carries out actions until the task is done. Progress is reported while the result is being
    /// stored.
    pub(super) async fn finish(self: Arc<Self>, actions: Vec<TaskAction>) {
        let mut actions = VecDeque::from(actions);
        loop {
            while let Some(action) = actions.pop_front() {
                if action == TaskAction::Store {
                    let result =
                        self.machine().as_ref().and_then(|machine| machine.result().cloned());
                    let Some(result) = result else { continue };
                    let progress = tokio::spawn(self.clone().report_progress());
                    let stored = self.store(&result).await;
                    progress.abort();
                    if let Some(machine) = self.machine().as_mut() {
                        actions.extend(machine.on_stored(stored, self.worker_started.elapsed()));
                    }
                } else {
                    self.perform(&action).await;
                }
            }
            let Some(delay) = self.next_delay() else { return };
            sleep(delay).await;
            actions.extend(self.poll());
        }
    }

    /// Carries out an action other than `Execute` and `Store`.
    async fn perform(&self, action: &TaskAction) {
        let kind = match action {
            TaskAction::Progress => AckKind::Progress,
            TaskAction::Ack => AckKind::Ack,
            TaskAction::Term => AckKind::Term,
            TaskAction::Nak(delay) => AckKind::Nak((!delay.is_zero()).then_some(*delay)),
            TaskAction::Log(text) => return (self.log)(text),
            TaskAction::ShowProblem(text) => {
                *self.storage_error.lock().unwrap_or_else(PoisonError::into_inner) = text.clone();
                return;
            }
            TaskAction::Execute | TaskAction::Store => return,
        };
        // A lost acknowledgement is harmless: the server delivers the task again.
        let _ = self.acker.ack_with(kind).await;
    }

    /// Tries once to store a result.
    async fn store(&self, result: &TaskResult) -> Result<(), String> {
        let failed = |reason: String| write_error("store results", &reason);
        let mut headers = HeaderMap::new();
        headers.insert(wire::VERSION, self.version.as_str());
        headers.insert(wire::WORKER, self.worker.as_str());
        headers.insert(wire::CHECKSUM, checksum(&result.content).as_str());
        headers.insert(wire::SECONDS, format!("{:.6}", result.seconds).as_str());
        headers.insert(wire::MESSAGE_ID, result.message_id.as_str());
        if result.failed {
            headers.insert(wire::FAILED, "yes");
        }
        let payload = match result.content.len() > MAX_PAYLOAD_BYTES {
            false => result.content.clone(),
            true => {
                let put = self.blobs.put(&result.content).await;
                put.map_err(|error| failed(error.to_string()))?;
                headers.insert(wire::IN_OBJECT_STORE, "yes");
                Vec::new()
            }
        };
        let subject = self.names.result(&result.name.run, &result.name.task);
        let ack = self.context.publish_with_headers(subject, headers, payload.into()).await;
        let ack = ack.map_err(|error| failed(error_chain(&error)))?;
        ack.await.map(|_| ()).map_err(|error| failed(error_chain(&error)))
    }
}
