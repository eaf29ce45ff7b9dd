//! Carries out the actions of a [`BatchStateMachine`] with the NATS server.

use super::state_machine::{Action, BatchStateMachine, IncomingResult, Publication};
use super::{Batch, NatsQueue};
use crate::connection::{error_chain, write_error};
use crate::error::ClusterError;
use crate::results::StoredResult;
use crate::wire::{self, header};
use async_nats::HeaderMap;
use std::collections::VecDeque;

/// Maximum size of a result in the object store.
const MAX_RESULT_BYTES: u64 = 1 << 30;

impl NatsQueue {
    /// Carries out actions, and those that follow from the server's answers.
    pub(super) fn perform(
        &self,
        batch: &Batch<'_>,
        machine: &mut BatchStateMachine,
        actions: Vec<Action>,
    ) -> Result<(), ClusterError> {
        let mut actions = VecDeque::from(actions);
        let mut must_create_streams = false;
        while let Some(action) = actions.pop_front() {
            match action {
                Action::Publish(first) => {
                    let mut publications = vec![first];
                    while let Some(Action::Publish(_)) = actions.front() {
                        let Some(Action::Publish(next)) = actions.pop_front() else { break };
                        publications.push(next);
                    }
                    let answers = self.connection.block_on(self.publish(batch, &publications));
                    for (publication, answer) in publications.iter().zip(answers) {
                        let answer = answer.map_err(|reason| write_error("store tasks", &reason));
                        let Publication { task, message_id, .. } = publication;
                        actions.extend(machine.on_published(task, message_id, answer, self.now()));
                    }
                }
                Action::ListTasks => {
                    let queued = self.queued_tasks(&batch.run).ok();
                    actions.extend(machine.on_listed(queued.as_ref(), self.now()));
                }
                Action::CreateStreams => must_create_streams = true,
                Action::RestoreBlobs => self.restore_blobs()?,
                Action::PurgeResults { before } => self.purge_results(&batch.run, before),
                Action::ShowProblem(text) => self.registry().problem = text,
                Action::WarnNoWorkers => {
                    let options = &self.connection.options;
                    let (address, queue) = (options.display_address(), &options.queue);
                    self.log(&format!(
                        "waiting for workers; start one with: outflank worker --on {address} --queue {queue}"
                    ));
                }
                Action::Log(text) => self.log(&text),
            }
        }
        if must_create_streams && self.connection.is_connected() {
            let _ = self.connection.block_on(self.connection.set_up());
        }
        Ok(())
    }

    /// Publishes tasks; returns for each whether the server dropped it as a duplicate.
    async fn publish(
        &self,
        batch: &Batch<'_>,
        publications: &[Publication],
    ) -> Vec<Result<bool, String>> {
        let mut acks = Vec::with_capacity(publications.len());
        for Publication { task, message_id, content } in publications {
            let mut headers = HeaderMap::new();
            headers.insert(wire::MESSAGE_ID, message_id.as_str());
            headers.insert(wire::VERSION, self.version());
            headers.insert(wire::KIND, batch.kind);
            let subject = self.connection.names.task(&batch.run, task);
            let (context, content) = (&self.connection.context, content.clone().into());
            acks.push(context.publish_with_headers(subject, headers, content).await);
        }
        let mut answers = Vec::with_capacity(publications.len());
        for ack in acks {
            answers.push(match ack {
                Ok(ack) => ack.await.map(|ack| ack.duplicate).map_err(|error| error_chain(&error)),
                Err(error) => Err(error_chain(&error)),
            });
        }
        answers
    }

    /// Deletes the results of a run with sequence numbers smaller than `before`.
    fn purge_results(&self, run: &str, before: u64) {
        let subject = self.connection.names.run_results(run);
        self.connection.block_on(async {
            if let Ok(stream) = self.connection.results().await {
                let _ = stream.purge().filter(subject).sequence(before).await;
            }
        });
    }

    /// Parses a result that `machine` needs, and reads its content. Returns the result and its key in
    /// the object store, if it is there.
    pub(super) fn parse_result(
        &self,
        machine: &BatchStateMachine,
        stored: &StoredResult,
    ) -> Option<(IncomingResult, Option<String>)> {
        let name = self.connection.names.parse_result(&stored.message.subject)?;
        if !machine.needs(&name.task) {
            return None;
        }
        let headers = stored.message.headers.as_ref();
        let value = |name| header(headers, name).to_owned();
        let blob_key = (!value(wire::IN_OBJECT_STORE).is_empty()).then(|| value(wire::CHECKSUM));
        let content = match &blob_key {
            None => Ok(stored.message.payload.to_vec()),
            Some(sha256) => {
                let content = self.connection.get_blob(sha256, MAX_RESULT_BYTES);
                self.connection.block_on(content).map_err(|error| error.to_string())
            }
        };
        let result = IncomingResult {
            sequence: stored.sequence,
            is_old: stored.is_old,
            task: name.task,
            message_id: value(wire::MESSAGE_ID),
            worker: value(wire::WORKER),
            version: value(wire::VERSION),
            failed: !value(wire::FAILED).is_empty(),
            checksum: value(wire::CHECKSUM),
            seconds: value(wire::SECONDS).parse().unwrap_or(1.0),
            content,
        };
        Some((result, blob_key))
    }
}
