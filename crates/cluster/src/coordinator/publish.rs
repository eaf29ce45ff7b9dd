//! Publishes tasks to the jobs stream.

use super::{BatchState, NatsQueue, POLL_INTERVAL};
use crate::connection::{error_chain, write_failed};
use crate::wire;
use async_nats::HeaderMap;
use outflank_runs::stop_requested;
use std::time::Instant;

impl NatsQueue {
    /// Submits tasks; retries until the server has stored all of them.
    pub(super) fn submit(&self, state: &mut BatchState<'_>, tasks: &[String]) {
        let mut unsent: Vec<(String, String)> =
            tasks.iter().map(|task| (task.clone(), task.clone())).collect();
        unsent.retain(|(task, _)| !state.queued_before.contains(task));
        let mut failed = false;
        while !unsent.is_empty() && !stop_requested() {
            let mut retry = Vec::new();
            let stored = self.connection.wait(self.publish(state, &unsent));
            for ((task, message_id), stored) in unsent.into_iter().zip(stored) {
                match stored {
                    Ok(false) => {}
                    // A duplicate of a recent task that is no longer queued: another process
                    // completed or deleted it.
                    Ok(true) if message_id == task => {
                        retry.push((task.clone(), self.new_message_id(&task, 0)));
                    }
                    Ok(true) => {}
                    Err(reason) => {
                        if !failed {
                            let text = write_failed("store jobs", &reason);
                            self.log(&format!("{text}; retrying"));
                            self.registry().problem = text;
                            failed = true;
                        }
                        retry.push((task, message_id));
                    }
                }
            }
            unsent = retry;
            if failed && !unsent.is_empty() {
                std::thread::sleep(POLL_INTERVAL);
                if self.connection.is_connected() {
                    let _ = self.connection.wait(self.connection.set_up());
                }
            }
        }
        if failed {
            self.registry().problem.clear();
        }
    }

    /// Returns a message id that the server does not treat as a duplicate.
    fn new_message_id(&self, task: &str, submission: u32) -> String {
        format!("{task}/{}/{submission}", self.process)
    }

    /// Publishes tasks under message ids; returns for each whether the server dropped it as a
    /// duplicate.
    async fn publish(
        &self,
        state: &mut BatchState<'_>,
        tasks: &[(String, String)],
    ) -> Vec<Result<bool, String>> {
        let mut acks = Vec::with_capacity(tasks.len());
        for (id, message_id) in tasks {
            let content =
                state.in_flight.get(id).map(|task| task.content.clone()).unwrap_or_default();
            let mut headers = HeaderMap::new();
            headers.insert(wire::MESSAGE_ID, message_id.as_str());
            headers.insert(wire::VERSION, self.version());
            headers.insert(wire::KIND, state.batch.kind);
            headers.insert(wire::RUN, state.run.as_str());
            headers.insert(wire::TASK, id.as_str());
            let subject = self.connection.names.task(&state.run, id);
            let context = &self.connection.context;
            acks.push(context.publish_with_headers(subject, headers, content.into()).await);
        }
        let mut stored = Vec::with_capacity(tasks.len());
        for ack in acks {
            stored.push(match ack {
                Ok(ack) => ack.await.map(|ack| ack.duplicate).map_err(|error| error_chain(&error)),
                Err(error) => Err(error_chain(&error)),
            });
        }
        stored
    }

    /// Submits a task again under a new message id.
    pub(super) fn resubmit(&self, state: &mut BatchState<'_>, id: &str) {
        let Some(task) = state.in_flight.get(id) else { return };
        task.submissions += 1;
        task.submitted_at = Instant::now();
        let message_id = self.new_message_id(id, task.submissions);
        let tasks = [(id.to_owned(), message_id)];
        // If this fails, maintenance finds the task missing and tries again.
        self.connection.wait(self.publish(state, &tasks));
    }
}
