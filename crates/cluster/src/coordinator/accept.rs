//! Validates results: each is accepted, or rejected and its task submitted again.

use super::{BatchState, NatsQueue};
use crate::error::ClusterError;
use crate::results::StoredResult;
use crate::wire::{self, header};
use outflank_runs::Ack;
use outflank_runs::files::checksum;
use std::ops::{ControlFlow, Range};

/// Number of failures of a task after which the batch is aborted.
const MAX_FAILURES: u32 = 3;

/// Number of rejected results of a task after which the batch is aborted.
const MAX_REJECTIONS: u32 = 20;

impl NatsQueue {
    /// Accepts a result, or submits its task again.
    pub(super) fn process_result(
        &self,
        state: &mut BatchState<'_>,
        result: &StoredResult,
        accept: &mut dyn FnMut(Range<usize>, &[u8]) -> Ack,
    ) -> Result<ControlFlow<()>, ClusterError> {
        let headers = result.message.headers.as_ref();
        let id = header(headers, wire::TASK).to_owned();
        // The task may be completed already, or belong to another process.
        let Some(task) = state.in_flight.get(&id) else { return Ok(ControlFlow::Continue(())) };
        let range = task.range.clone();
        let worker = header(headers, wire::WORKER).to_owned();
        let version = header(headers, wire::VERSION);
        if version != self.version() {
            let reason = format!("it has version {version}, not {}", self.version());
            return self.reject(state, &id, &worker, &reason);
        }
        if !header(headers, wire::FAILED).is_empty() {
            task.failures += 1;
            let text = String::from_utf8_lossy(&result.message.payload).into_owned();
            if task.failures >= MAX_FAILURES {
                return Err(ClusterError::JobFailed(text));
            }
            self.log(&format!("worker {worker} failed: {text}; trying another worker"));
            // Another coordinator with the same batch may have deleted a blob that both use.
            self.restore_blobs()?;
            self.resubmit(state, &id);
            return Ok(ControlFlow::Continue(()));
        }
        let sum = header(headers, wire::CHECKSUM);
        let in_object_store = !header(headers, wire::IN_OBJECT_STORE).is_empty();
        let blob = in_object_store.then(|| self.connection.wait(self.connection.get_blob(sum)));
        let bytes = match &blob {
            None => &result.message.payload[..],
            Some(Ok(bytes)) => bytes,
            Some(Err(error)) => {
                let reason = format!("its content cannot be read: {error}");
                return self.reject(state, &id, &worker, &reason);
            }
        };
        if checksum(bytes) != sum {
            return self.reject(state, &id, &worker, "wrong checksum");
        }
        let seconds = header(headers, wire::SECONDS).parse().unwrap_or(1.0);
        let ack = accept(range, bytes);
        if let Ack::Rejected(reason) = ack {
            return self.reject(state, &id, &worker, &reason);
        }
        state.in_flight.complete(&id, result.sequence, seconds, bytes.len());
        if in_object_store {
            self.connection.wait(self.connection.delete_blob(sum));
        }
        Ok(match ack {
            Ack::Stop => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        })
    }

    /// Rejects a result and submits its task again.
    fn reject(
        &self,
        state: &mut BatchState<'_>,
        id: &str,
        worker: &str,
        reason: &str,
    ) -> Result<ControlFlow<()>, ClusterError> {
        let Some(task) = state.in_flight.get(id) else { return Ok(ControlFlow::Continue(())) };
        task.rejections += 1;
        self.log(&format!(
            "rejected a result of worker {worker}: {reason}; submitting its task again"
        ));
        if task.rejections >= MAX_REJECTIONS {
            let text = format!(
                "{MAX_REJECTIONS} results of the same task were rejected, the last from worker {worker}: {reason}. Stop that worker, then resume."
            );
            return Err(ClusterError::JobFailed(text));
        }
        self.resubmit(state, id);
        Ok(ControlFlow::Continue(()))
    }
}
