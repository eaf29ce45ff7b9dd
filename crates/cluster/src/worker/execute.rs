//! Executes a task and hands its result over to be stored.

use super::WorkerState;
use super::publish::TaskInProgress;
use super::state_machine::{Delivery, TaskAction, TaskStateMachine};
use crate::wire::{self, header};
use async_nats::jetstream::Message;
use outflank_runs::stop_requested;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::task::JoinHandle;

impl WorkerState<'_> {
    /// Executes a task; returns the handle of the background task that stores its result.
    pub(super) fn execute(&self, message: Message) -> Option<JoinHandle<()>> {
        let info = message.info();
        let (count, sequence) = info.map_or((1, 0), |info| (info.delivered, info.stream_sequence));
        let (message, acker) = message.split();
        let headers = message.headers.as_ref();
        let delivery = Delivery {
            subject: message.subject.to_string(),
            kind: header(headers, wire::KIND).to_owned(),
            version: header(headers, wire::VERSION).to_owned(),
            content: message.payload.to_vec(),
            count,
            sequence,
        };
        let (names, version) = (&self.connection.names, &self.connection.options.version);
        let (machine, actions) =
            TaskStateMachine::new(names, version, self.name, &delivery, self.started.elapsed());
        let task = Arc::new(TaskInProgress::new(self, machine, acker));
        let Some(TaskAction::Execute) = actions.first() else {
            // The task is invalid, or its failure is reported without another attempt.
            self.failed.fetch_add(1, Ordering::Relaxed);
            return Some(self.connection.runtime.spawn(task.finish(actions)));
        };
        let progress = self.connection.runtime.spawn(task.clone().report_progress());
        let outcome = self.run_handler(&delivery.kind, &delivery.content);
        progress.abort();
        let stopped = stop_requested();
        let counter = if outcome.is_ok() { &self.completed } else { &self.failed };
        counter.fetch_add(u64::from(!stopped), Ordering::Relaxed);
        let actions = task.on_executed(outcome, stopped);
        Some(self.connection.runtime.spawn(task.finish(actions)))
    }

    /// Executes a task with the handler of its kind. A panic of the handler becomes an error, so it
    /// does not stop the worker.
    fn run_handler(&self, kind: &str, content: &[u8]) -> Result<Vec<u8>, String> {
        let handler = self.handlers.iter().find(|handler| handler.kind() == kind);
        let handler = handler
            .ok_or_else(|| format!("this worker has no handler for jobs of kind '{kind}'"))?;
        let outcome = catch_unwind(AssertUnwindSafe(|| handler.execute(content, self.connection)));
        outcome.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(format!("the handler panicked: {}", text.unwrap_or("no message")))
        })
    }
}
