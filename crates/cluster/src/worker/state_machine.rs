//! State machine of a worker for one task. It does no I/O.
//!
//! The machine receives events (the task was executed, the server stored the result or did not, the
//! time) and returns actions for its caller to carry out. `run_worker` drives it with a NATS server,
//! the simulation with a simulated network.

use crate::in_flight::Time;
use crate::text::sanitize;
use crate::wire::{QueueNames, TaskName, task_id};
use std::time::Duration;

/// Interval between progress acknowledgements of a task.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// Maximum number of deliveries of a task that are executed. A task with more is assumed to crash
/// its workers and is reported as failed.
const MAX_DELIVERIES: i64 = 20;

/// Maximum number of deliveries of a task. A task with more is removed from the queue.
const MAX_REPORTED_DELIVERIES: i64 = 30;

/// Time after which a worker gives up storing a result and returns the task to the queue.
pub(crate) const STORE_TIMEOUT: Duration = Duration::from_secs(900);

/// Delay before the server delivers a task again whose result could not be stored.
const RETURN_DELAY: Duration = Duration::from_secs(30);

/// Maximum number of characters of an error message.
const MAX_MESSAGE_CHARS: usize = 2000;

/// A task as the server delivered it.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    pub(crate) subject: String,
    pub(crate) kind: String,
    pub(crate) version: String,
    pub(crate) content: Vec<u8>,
    /// Number of times that the server has delivered the task.
    pub(crate) count: i64,
    /// Sequence number of the task in its stream.
    pub(crate) sequence: u64,
}

/// The result of a task.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TaskResult {
    pub(crate) name: TaskName,
    /// Deduplication id (`Nats-Msg-Id`).
    pub(crate) message_id: String,
    /// Whether the content is an error message.
    pub(crate) failed: bool,
    pub(crate) content: Vec<u8>,
    pub(crate) seconds: f64,
}

/// An action that the caller of a [`TaskStateMachine`] carries out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TaskAction {
    /// Execute the content, and report the outcome to [`TaskStateMachine::on_executed`].
    Execute,
    /// Tell the server that the task is in progress.
    Progress,
    /// Store the result, and report the answer to [`TaskStateMachine::on_stored`].
    Store,
    /// Acknowledge the task, which removes it from the queue. It is done.
    Ack,
    /// Remove the task from the queue without a result. It is done.
    Term,
    /// Return the task to the queue after this delay. It is done.
    Nak(Duration),
    /// Show a problem in the status line; an empty text means that it is solved.
    ShowProblem(String),
    /// Show a message.
    Log(String),
}

#[derive(Clone, Debug)]
enum State {
    Executing,
    /// The result is being stored.
    Storing(TaskResult),
    /// Waits until this time to store the result again.
    Waiting(TaskResult, Time),
    Done,
}

/// The state of a task from its delivery until it leaves the worker.
#[derive(Debug)]
pub(crate) struct TaskStateMachine {
    name: TaskName,
    message_id: String,
    state: State,
    started: Time,
    next_progress: Time,
    /// Time and number of the failed attempts to store the result.
    first_failure: Option<Time>,
    failures: u32,
}

impl TaskStateMachine {
    /// Validates a delivered task. Returns no machine if the task is removed from the queue.
    pub(crate) fn new(
        names: &QueueNames,
        version: &str,
        worker: &str,
        delivery: &Delivery,
        now: Time,
    ) -> (Option<TaskStateMachine>, Vec<TaskAction>) {
        let Delivery { subject, kind, content, count, sequence, .. } = delivery;
        let name = names.parse_task(subject);
        let Some(name) = name.filter(|name| name.task == task_id(kind, version, content)) else {
            let text = format!(
                "removed an invalid task from the queue ({}): its subject does not fit its content",
                sanitize(subject, 200)
            );
            return (None, vec![TaskAction::Term, TaskAction::Log(text)]);
        };
        if *count > MAX_REPORTED_DELIVERIES {
            let text = format!(
                "removed task {} from the queue after {count} deliveries without a result",
                name.task
            );
            return (None, vec![TaskAction::Term, TaskAction::Log(text)]);
        }
        // The server drops repeated publications of one delivery. Each delivery has its own id,
        // because the result of an earlier one may have been rejected or deleted.
        let message_id = format!("{}/{worker}/{sequence}/{count}", name.task);
        let mut machine = TaskStateMachine {
            name,
            message_id,
            state: State::Executing,
            started: now,
            next_progress: now + PROGRESS_INTERVAL,
            first_failure: None,
            failures: 0,
        };
        let actions = if *count > MAX_DELIVERIES {
            machine
                .finish(Err(format!("the task was delivered {count} times without a result")), now)
        } else if delivery.version != version {
            let other = sanitize(&delivery.version, 50);
            machine.finish(
                Err(format!("the task has version {other}, but this worker has version {version}")),
                now,
            )
        } else {
            vec![TaskAction::Execute]
        };
        (Some(machine), actions)
    }

    /// Returns the result to store.
    pub(crate) fn result(&self) -> Option<&TaskResult> {
        match &self.state {
            State::Storing(result) => Some(result),
            _ => None,
        }
    }

    /// Returns the time at which [`poll`](Self::poll) has something to do.
    pub(crate) fn next_time(&self) -> Option<Time> {
        match &self.state {
            State::Done => None,
            State::Waiting(_, time) => Some(self.next_progress.min(*time)),
            _ => Some(self.next_progress),
        }
    }

    /// Sends due progress acknowledgements and due attempts to store the result.
    pub(crate) fn poll(&mut self, now: Time) -> Vec<TaskAction> {
        let mut actions = Vec::new();
        if matches!(self.state, State::Done) {
            return actions;
        }
        if now >= self.next_progress {
            self.next_progress = now + PROGRESS_INTERVAL;
            actions.push(TaskAction::Progress);
        }
        if let State::Waiting(result, time) = &self.state
            && now >= *time
        {
            self.state = State::Storing(result.clone());
            actions.push(TaskAction::Store);
        }
        actions
    }

    /// Processes the outcome of the execution. If `is_stopping`, the outcome may be incomplete; the
    /// task is returned to the queue.
    pub(crate) fn on_executed(
        &mut self,
        outcome: Result<Vec<u8>, String>,
        is_stopping: bool,
        now: Time,
    ) -> Vec<TaskAction> {
        if !matches!(self.state, State::Executing) {
            return Vec::new();
        }
        if is_stopping {
            self.state = State::Done;
            return vec![TaskAction::Nak(Duration::ZERO)];
        }
        self.finish(outcome, now)
    }

    fn finish(&mut self, outcome: Result<Vec<u8>, String>, now: Time) -> Vec<TaskAction> {
        let mut actions = Vec::new();
        let (failed, content) = match outcome {
            Ok(content) => (false, content),
            Err(reason) => {
                let reason = sanitize(&reason, MAX_MESSAGE_CHARS);
                actions.push(TaskAction::Log(format!("a task failed: {reason}")));
                (true, reason.into_bytes())
            }
        };
        self.state = State::Storing(TaskResult {
            name: self.name.clone(),
            message_id: self.message_id.clone(),
            failed,
            content,
            seconds: now.saturating_sub(self.started).as_secs_f64(),
        });
        actions.push(TaskAction::Store);
        actions
    }

    /// Processes the server's answer to the attempt to store the result.
    pub(crate) fn on_stored(&mut self, answer: Result<(), String>, now: Time) -> Vec<TaskAction> {
        let State::Storing(result) = &self.state else { return Vec::new() };
        let had_problem = self.first_failure.is_some();
        let Err(reason) = answer else {
            self.state = State::Done;
            let solved = had_problem.then(|| TaskAction::ShowProblem(String::new()));
            return [TaskAction::Ack].into_iter().chain(solved).collect();
        };
        let since = *self.first_failure.get_or_insert(now);
        if now.saturating_sub(since) >= STORE_TIMEOUT {
            self.state = State::Done;
            let text = format!("{reason}; returned the task to the queue");
            let solved = TaskAction::ShowProblem(String::new());
            return vec![TaskAction::Nak(RETURN_DELAY), TaskAction::Log(text), solved];
        }
        let delay = Duration::from_millis(500 << self.failures.min(4));
        self.failures += 1;
        self.state = State::Waiting(result.clone(), now + delay);
        match had_problem {
            true => Vec::new(),
            false => {
                let text = TaskAction::Log(format!("{reason}; retrying"));
                vec![text, TaskAction::ShowProblem(reason)]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::short_checksum;

    fn delivery(names: &QueueNames, count: i64) -> Delivery {
        let run = short_checksum(b"run");
        Delivery {
            subject: names.task(&run, &task_id("kind", "1", b"job")),
            kind: "kind".to_owned(),
            version: "1".to_owned(),
            content: b"job".to_vec(),
            count,
            sequence: 5,
        }
    }

    #[test]
    fn a_task_is_executed_stored_and_acknowledged() {
        let names = QueueNames::new("q", "1");
        let (machine, actions) =
            TaskStateMachine::new(&names, "1", "w", &delivery(&names, 1), Time::ZERO);
        assert_eq!(actions, [TaskAction::Execute]);
        let mut machine = machine.unwrap();
        assert_eq!(machine.poll(Time::from_secs(1)), [TaskAction::Progress]);
        assert!(machine.poll(Time::from_secs(1)).is_empty());
        let executed = machine.on_executed(Ok(b"result".to_vec()), false, Time::from_secs(2));
        assert_eq!(executed, [TaskAction::Store]);
        let result = machine.result().unwrap();
        assert_eq!(
            (&result.content[..], result.seconds, result.failed),
            (&b"result"[..], 2.0, false)
        );
        assert_eq!(machine.on_stored(Ok(()), Time::from_secs(2)), [TaskAction::Ack]);
        assert_eq!(machine.next_time(), None);
    }

    #[test]
    fn invalid_tasks_are_removed_from_the_queue() {
        let names = QueueNames::new("q", "1");
        let valid = delivery(&names, 1);
        let no_run = Delivery { subject: "q.jobs.1.a.b".to_owned(), ..valid.clone() };
        let other_content = Delivery { content: b"other".to_vec(), ..valid.clone() };
        let too_often = delivery(&names, MAX_REPORTED_DELIVERIES + 1);
        for invalid in [no_run, other_content, too_often] {
            let (machine, actions) = TaskStateMachine::new(&names, "1", "w", &invalid, Time::ZERO);
            assert!(machine.is_none() && actions.contains(&TaskAction::Term), "{invalid:?}");
        }
        // Delivered too often to be executed: reported.
        let (machine, actions) = TaskStateMachine::new(
            &names,
            "1",
            "w",
            &delivery(&names, MAX_DELIVERIES + 1),
            Time::ZERO,
        );
        assert!(actions.contains(&TaskAction::Store));
        assert!(machine.unwrap().result().unwrap().failed);
    }

    #[test]
    fn a_result_that_cannot_be_stored_is_retried_for_a_limited_time() {
        let names = QueueNames::new("q", "1");
        let (machine, _) =
            TaskStateMachine::new(&names, "1", "w", &delivery(&names, 1), Time::ZERO);
        let mut machine = machine.unwrap();
        let (mut now, mut attempts) = (Time::ZERO, 0);
        let mut pending = machine.on_executed(Ok(Vec::new()), false, now);
        let last = loop {
            let mut next = Vec::new();
            for action in std::mem::take(&mut pending) {
                match action {
                    TaskAction::Store => {
                        attempts += 1;
                        next.extend(machine.on_stored(Err("disk full".to_owned()), now));
                    }
                    TaskAction::Nak(delay) => next.push(TaskAction::Nak(delay)),
                    _ => {}
                }
            }
            if next.contains(&TaskAction::Nak(RETURN_DELAY)) {
                break now;
            }
            now = machine.next_time().unwrap();
            pending = machine.poll(now);
        };
        assert!(
            last >= STORE_TIMEOUT && last < STORE_TIMEOUT + Duration::from_secs(10),
            "{last:?}"
        );
        assert!(attempts < 130, "{attempts}");
    }
}
