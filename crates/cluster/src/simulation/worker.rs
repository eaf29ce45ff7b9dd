//! A simulated worker process: the production state machine of each task, and threads that execute.

use super::server::{DeliveryId, TaskMessage};
use super::{VERSION, value_of};
use crate::in_flight::Time;
use crate::wire::QueueNames;
use crate::worker::state_machine::{Delivery, TaskAction, TaskStateMachine};

/// A task on a worker.
pub(super) struct TaskRun {
    pub(super) serial: u64,
    pub(super) delivery: DeliveryId,
    pub(super) machine: TaskStateMachine,
    pub(super) content: Vec<u8>,
    /// Unanswered attempt to store the result.
    pub(super) store_request: Option<u64>,
}

/// A thread executes one task while the results of earlier ones are stored.
#[derive(Default)]
pub(super) struct Thread {
    /// Request for a task, and the time at which it counts as lost.
    pub(super) fetch: Option<(u64, Time)>,
    pub(super) executing: Option<TaskRun>,
    pub(super) storing: Vec<TaskRun>,
}

/// A worker process.
pub(super) struct Worker {
    pub(super) number: usize,
    /// Number of times that it was started.
    pub(super) incarnation: u64,
    pub(super) is_alive: bool,
    /// Whether it returns forged results.
    pub(super) forges: bool,
    pub(super) threads: Vec<Thread>,
}

impl Worker {
    pub(super) fn new(number: usize, incarnation: u64, threads: usize, forges: bool) -> Worker {
        Worker {
            number,
            incarnation,
            is_alive: true,
            forges,
            threads: (0..threads).map(|_| Thread::default()).collect(),
        }
    }

    pub(super) fn name(&self) -> String {
        format!("worker-{}-{}", self.number, self.incarnation)
    }

    /// Validates a delivered task.
    pub(super) fn receive(
        &self,
        serial: u64,
        delivery: DeliveryId,
        message: TaskMessage,
        now: Time,
    ) -> (Option<TaskRun>, Vec<TaskAction>) {
        let (_, sequence, count) = delivery;
        let TaskMessage { subject, kind, version, content, .. } = message;
        let input = Delivery { subject, kind, version, content, count, sequence };
        let names = QueueNames::new("q", VERSION);
        let (machine, actions) = TaskStateMachine::new(&names, VERSION, &self.name(), &input, now);
        let run = machine.map(|machine| TaskRun {
            serial,
            delivery,
            machine,
            content: input.content,
            store_request: None,
        });
        (run, actions)
    }

    /// Computes the result of a task.
    pub(super) fn execute(&self, content: &[u8]) -> Result<Vec<u8>, String> {
        let text = std::str::from_utf8(content).map_err(|error| error.to_string())?;
        let values: Option<Vec<String>> = text
            .split(' ')
            .map(|word| Some((value_of(word.parse().ok()?) + u64::from(self.forges)).to_string()))
            .collect();
        Ok(values.ok_or("not a list of games")?.join(" ").into_bytes())
    }

    /// Returns the task with this serial number.
    pub(super) fn task(&mut self, thread: usize, serial: u64) -> Option<&mut TaskRun> {
        let Thread { executing, storing, .. } = self.threads.get_mut(thread)?;
        executing.iter_mut().chain(storing).find(|task| task.serial == serial)
    }
}
