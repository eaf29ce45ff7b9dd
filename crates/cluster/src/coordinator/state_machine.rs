//! State machine of a coordinator for one batch. It does no I/O.
//!
//! The machine receives events (an answer of the server, a result, the time) and returns actions
//! for its caller to carry out. `NatsQueue` drives it with a NATS server, the simulation with a
//! simulated network.

use crate::in_flight::{InFlightTasks, Submission, Time};
use crate::text::{is_worker_name, sanitize};
use crate::wire::task_id;
use outflank_runs::files::checksum;
use outflank_runs::{AcceptFn, Ack};
use std::collections::HashSet;
use std::ops::Range;
use std::time::Duration;

/// Interval between maintenance passes: finding lost tasks, deleting accepted results.
pub(crate) const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(3);

/// Interval between warnings that there is no worker.
const WARNING_INTERVAL: Duration = Duration::from_secs(30);

/// Maximum number of tasks to publish before reading results again.
const MAX_PUBLISHED_AT_ONCE: usize = 64;

/// Number of failures of a task after which the batch is aborted.
const MAX_FAILURES: usize = 3;

/// Number of invalid results of a task, without those of quarantined workers, after which the batch
/// is aborted.
const MAX_REJECTIONS: u32 = 20;

/// Number of results of a task from quarantined workers after which the batch is aborted.
const MAX_QUARANTINED_RESULTS: u32 = 200;

/// Maximum number of characters of a worker's error message.
const MAX_MESSAGE_CHARS: usize = 2000;

/// An action that the caller of a [`BatchStateMachine`] carries out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Publish a task, and report the answer to [`BatchStateMachine::on_published`].
    Publish(Publication),
    /// List the queued tasks of the run, and report them to [`BatchStateMachine::on_listed`].
    ListTasks,
    /// Create the streams and the consumer if they are missing.
    CreateStreams,
    /// Store all blobs that the server does not have.
    RestoreBlobs,
    /// Delete the run's results with smaller sequence numbers.
    PurgeResults { before: u64 },
    /// Show a problem in the status line; an empty text means that it is solved.
    ShowProblem(String),
    /// Tell the user to start workers.
    WarnNoWorkers,
    /// Show a message.
    Log(String),
}

/// A task to publish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Publication {
    pub(crate) task: String,
    /// Deduplication id (`Nats-Msg-Id`).
    pub(crate) message_id: String,
    pub(crate) content: Vec<u8>,
}

/// A result as it was read from the results stream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct IncomingResult {
    pub(crate) sequence: u64,
    /// Whether it was stored before this batch started.
    pub(crate) is_old: bool,
    pub(crate) task: String,
    /// Deduplication id (`Nats-Msg-Id`).
    pub(crate) message_id: String,
    pub(crate) worker: String,
    pub(crate) version: String,
    /// Whether the content is an error message.
    pub(crate) failed: bool,
    pub(crate) checksum: String,
    pub(crate) seconds: f64,
    /// The content, or why it cannot be read.
    pub(crate) content: Result<Vec<u8>, String>,
}

/// What the caller passes to [`BatchStateMachine::poll`]: time, connection, workers and results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PollInput {
    pub(crate) now: Time,
    pub(crate) is_connected: bool,
    /// Number of workers of this version.
    pub(crate) workers: usize,
    /// Their number of threads.
    pub(crate) threads: usize,
    /// Whether the results stream may hold results that were not read.
    pub(crate) has_pending_results: bool,
    /// Sequence number of the last result that was passed to [`BatchStateMachine::on_result`].
    pub(crate) last_result: u64,
}

/// The state of a batch in progress.
pub(crate) struct BatchStateMachine {
    kind: String,
    version: String,
    /// Unique to this batch in this process; part of the message ids of repeated submissions.
    nonce: String,
    in_flight: InFlightTasks,
    /// Tasks that were already queued when this batch started.
    queued_before: HashSet<String>,
    next_maintenance: Time,
    next_warning: Time,
    /// Cutoff of the list request in progress: only tasks that the server stored before it can be
    /// lost.
    pending_list_cutoff: Option<Time>,
    has_publish_problem: bool,
    end: Option<Result<(), String>>,
}

impl BatchStateMachine {
    pub(crate) fn new(
        kind: &str,
        jobs: usize,
        version: &str,
        nonce: &str,
        queued_before: HashSet<String>,
        now: Time,
    ) -> BatchStateMachine {
        BatchStateMachine {
            kind: kind.to_owned(),
            version: version.to_owned(),
            nonce: nonce.to_owned(),
            in_flight: InFlightTasks::new(jobs),
            queued_before,
            next_maintenance: now + MAINTENANCE_INTERVAL,
            // Workers send a heartbeat before the first warning.
            next_warning: now + MAINTENANCE_INTERVAL,
            pending_list_cutoff: None,
            has_publish_problem: false,
            end: if jobs == 0 { Some(Ok(())) } else { None },
        }
    }

    /// Returns how the batch ended, or `None` if it is in progress.
    pub(crate) fn end(&self) -> Option<&Result<(), String>> {
        self.end.as_ref()
    }

    /// Returns whether a result of this task is needed.
    pub(crate) fn needs(&self, task: &str) -> bool {
        self.end.is_none() && self.in_flight.contains(task)
    }

    /// Publishes due tasks and does maintenance.
    pub(crate) fn poll(
        &mut self,
        input: PollInput,
        encode: &dyn Fn(Range<usize>) -> Vec<u8>,
    ) -> Vec<Action> {
        let mut actions = Vec::new();
        if self.end.is_some() {
            return actions;
        }
        if input.is_connected {
            self.publish_due(input, encode, &mut actions);
        }
        if input.now >= self.next_maintenance {
            self.next_maintenance = input.now + MAINTENANCE_INTERVAL;
            self.maintain(input, &mut actions);
        }
        actions
    }

    fn publish_due(
        &mut self,
        input: PollInput,
        encode: &dyn Fn(Range<usize>) -> Vec<u8>,
        actions: &mut Vec<Action>,
    ) {
        for _ in 0..MAX_PUBLISHED_AT_ONCE {
            let Some(range) = self.in_flight.next_range(input.threads) else { break };
            let content = encode(range.clone());
            let task = task_id(&self.kind, &self.version, &content);
            let submission = match self.queued_before.contains(&task) {
                true => Submission::Stored(input.now),
                false => Submission::Due(input.now),
            };
            self.in_flight.add(&task, range, content, submission);
        }
        for id in self.in_flight.due(input.now, MAX_PUBLISHED_AT_ONCE) {
            let Some(task) = self.in_flight.get(&id) else { continue };
            task.submission = Submission::Sent;
            task.attempts += 1;
            let (message_id, content) = (task.message_id.clone(), task.content.clone());
            actions.push(Action::Publish(Publication { task: id, message_id, content }));
        }
    }

    fn maintain(&mut self, input: PollInput, actions: &mut Vec<Action>) {
        if input.workers == 0 && input.now >= self.next_warning {
            self.next_warning = input.now + WARNING_INTERVAL;
            actions.push(Action::WarnNoWorkers);
        }
        if !input.is_connected {
            return;
        }
        let before = input.now.saturating_sub(MAINTENANCE_INTERVAL);
        if self.pending_list_cutoff.is_none()
            && !input.has_pending_results
            && self.in_flight.any_stored_before(before)
        {
            self.pending_list_cutoff = Some(before);
            actions.push(Action::ListTasks);
        }
        let before = self.in_flight.first_needed_result(input.last_result);
        actions.push(Action::PurgeResults { before });
    }

    /// Processes the server's answer to a publication: whether the task is a duplicate, or why it
    /// was not stored.
    pub(crate) fn on_published(
        &mut self,
        task: &str,
        message_id: &str,
        answer: Result<bool, String>,
        now: Time,
    ) -> Vec<Action> {
        let Some(state) = self.in_flight.get(task) else { return Vec::new() };
        if state.message_id != message_id || state.submission != Submission::Sent {
            return Vec::new();
        }
        let mut actions = Vec::new();
        match answer {
            // The server dropped the first attempt as a duplicate: another process submitted this
            // task before, and it is no longer queued. If an earlier attempt failed, the server had
            // stored that attempt.
            Ok(true) if state.attempts == 1 && message_id == task => {
                self.resubmit(task, now);
            }
            Ok(_) => {
                state.submission = Submission::Stored(now);
                state.attempts = 0;
            }
            Err(reason) => {
                state.submission = Submission::Due(now + retry_delay(state.attempts));
                if !self.has_publish_problem {
                    self.has_publish_problem = true;
                    actions.push(Action::Log(format!("{reason}; retrying")));
                    actions.push(Action::ShowProblem(reason));
                }
                actions.push(Action::CreateStreams);
                return actions;
            }
        }
        if self.has_publish_problem && !self.in_flight.has_unconfirmed_attempts() {
            self.has_publish_problem = false;
            actions.push(Action::ShowProblem(String::new()));
        }
        actions
    }

    /// Processes the list of queued tasks, or `None` if the server did not answer.
    pub(crate) fn on_listed(&mut self, queued: Option<&HashSet<String>>, now: Time) -> Vec<Action> {
        let (Some(before), Some(queued)) = (self.pending_list_cutoff.take(), queued) else {
            return Vec::new();
        };
        let lost = self.in_flight.find_lost(queued, before);
        if lost.is_empty() {
            return Vec::new();
        }
        for task in &lost {
            self.resubmit(task, now);
        }
        let text = format!("the server lost {} tasks; submitting them again", lost.len());
        // The server may have lost its blobs too.
        vec![Action::Log(text), Action::RestoreBlobs]
    }

    /// Validates a result: it is accepted, or its task is submitted again.
    pub(crate) fn on_result(
        &mut self,
        result: &IncomingResult,
        is_quarantined: bool,
        accept: &mut AcceptFn<'_>,
        now: Time,
    ) -> Vec<Action> {
        // The task may be completed already, or belong to another process.
        if !self.needs(&result.task) {
            return Vec::new();
        }
        let Some(task) = self.in_flight.get(&result.task) else { return Vec::new() };
        let invalid = match &result.content {
            _ if !is_worker_name(&result.worker) => Some("its worker's name is invalid".to_owned()),
            _ if is_quarantined => Some("the worker is quarantined".to_owned()),
            _ if result.version != self.version => Some(format!(
                "it has version {}, not {}",
                sanitize(&result.version, 50),
                self.version
            )),
            Err(error) => Some(format!("its content cannot be read: {error}")),
            Ok(content) if checksum(content) != result.checksum => {
                Some("wrong checksum".to_owned())
            }
            Ok(content) if result.failed => {
                return self.record_failure(result, &String::from_utf8_lossy(content), now);
            }
            Ok(content) => match accept(task.range.clone(), &result.worker, content) {
                Ack::Rejected(reason) => Some(reason),
                Ack::Stop => {
                    self.end = Some(Ok(()));
                    None
                }
                Ack::Accepted => {
                    let bytes = content.len();
                    self.in_flight.complete(&result.task, result.sequence, result.seconds, bytes);
                    if self.in_flight.all_completed() {
                        self.end = Some(Ok(()));
                    }
                    None
                }
            },
        };
        match invalid {
            // An invalid result from before this batch is ignored: its task is still queued, will be
            // submitted, or will be found lost.
            Some(_) if result.is_old => Vec::new(),
            Some(reason) => self.reject(result, &reason, is_quarantined, now),
            None => Vec::new(),
        }
    }

    /// Counts an error that a worker reported.
    fn record_failure(&mut self, result: &IncomingResult, text: &str, now: Time) -> Vec<Action> {
        let Some(task) = self.in_flight.get(&result.task) else { return Vec::new() };
        if result.is_old || !task.failures.insert(result.message_id.clone()) {
            return Vec::new();
        }
        let text = sanitize(text, MAX_MESSAGE_CHARS);
        if task.failures.len() >= MAX_FAILURES {
            self.end = Some(Err(text));
            return Vec::new();
        }
        self.resubmit(&result.task, now);
        let text =
            format!("a task failed on worker {}: {text}; submitting the task again", result.worker);
        // Another coordinator with the same batch may have deleted a blob that both use.
        vec![Action::Log(text), Action::RestoreBlobs]
    }

    /// Rejects a result and submits its task again, each time after a longer delay.
    fn reject(
        &mut self,
        result: &IncomingResult,
        reason: &str,
        is_quarantined: bool,
        now: Time,
    ) -> Vec<Action> {
        let Some(task) = self.in_flight.get(&result.task) else { return Vec::new() };
        let (count, limit) = match is_quarantined {
            true => (&mut task.quarantined_results, MAX_QUARANTINED_RESULTS),
            false => (&mut task.rejections, MAX_REJECTIONS),
        };
        *count += 1;
        let count = *count;
        let worker = sanitize(&result.worker, 100);
        let reason = sanitize(reason, MAX_MESSAGE_CHARS);
        if count >= limit {
            self.end = Some(Err(format!(
                "{limit} results of the same task were rejected, the last from worker {worker}: {reason}. Stop that worker, then resume."
            )));
            return Vec::new();
        }
        self.resubmit(&result.task, now + retry_delay(count - 1));
        // Results of a quarantined worker are reported once per task.
        match is_quarantined && count > 1 {
            true => Vec::new(),
            false => vec![Action::Log(format!(
                "rejected a result of worker {worker}: {reason}; submitting its task again"
            ))],
        }
    }

    /// Schedules a task to be published at `time` under a new message id.
    fn resubmit(&mut self, id: &str, time: Time) {
        let Some(task) = self.in_flight.get(id) else { return };
        task.submissions += 1;
        task.message_id = format!("{id}/{}/{}", self.nonce, task.submissions);
        task.attempts = 0;
        task.missing = false;
        task.submission = Submission::Due(time);
    }
}

/// Returns the delay before the next attempt: none at first, then 0.1 s, doubled up to 5 s.
fn retry_delay(attempts: u32) -> Duration {
    match attempts {
        0 => Duration::ZERO,
        _ => Duration::from_millis(100 << (attempts - 1).min(6)).min(Duration::from_secs(5)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(seconds: u64) -> PollInput {
        PollInput {
            now: Time::from_secs(seconds),
            is_connected: true,
            workers: 1,
            threads: 1,
            has_pending_results: false,
            last_result: 0,
        }
    }

    fn result(task: &str, content: &[u8]) -> IncomingResult {
        IncomingResult {
            sequence: 1,
            is_old: false,
            task: task.to_owned(),
            message_id: "1".to_owned(),
            worker: "w".to_owned(),
            version: "1".to_owned(),
            failed: false,
            checksum: checksum(content),
            seconds: 1.0,
            content: Ok(content.to_vec()),
        }
    }

    /// A machine with one published task.
    fn machine() -> (BatchStateMachine, Publication) {
        let mut machine = BatchStateMachine::new("kind", 1, "1", "p", HashSet::new(), Time::ZERO);
        let actions = machine.poll(input(0), &|_| b"job".to_vec());
        let [Action::Publish(publication)] = &actions[..] else { panic!("{actions:?}") };
        assert_eq!(publication.task, publication.message_id);
        (machine, publication.clone())
    }

    #[test]
    fn a_failed_publication_is_repeated_with_growing_delays() {
        let (mut machine, first) = machine();
        let (mut now, mut delays) = (Time::ZERO, Vec::new());
        for attempt in 0..12 {
            let failed = Err("disk full".to_owned());
            let actions = machine.on_published(&first.task, &first.message_id, failed, now);
            assert_eq!(
                actions.iter().filter(|a| matches!(a, Action::Log(_))).count(),
                usize::from(attempt == 0)
            );
            let since = now;
            while !machine
                .poll(PollInput { now, ..input(0) }, &|_| Vec::new())
                .iter()
                .any(|action| *action == Action::Publish(first.clone()))
            {
                now += Duration::from_millis(50);
            }
            delays.push((now - since).as_millis());
        }
        assert_eq!(delays[..7], [100, 200, 400, 800, 1600, 3200, 5000]);
        // The answer to an earlier attempt was lost, so the duplicate is this task.
        let actions = machine.on_published(&first.task, &first.message_id, Ok(true), now);
        assert_eq!(actions, [Action::ShowProblem(String::new())]);
        assert!(
            machine
                .poll(PollInput { now, ..input(0) }, &|_| Vec::new())
                .iter()
                .all(|action| !matches!(action, Action::Publish(_)))
        );
    }

    #[test]
    fn a_duplicate_of_another_process_is_published_under_a_new_id() {
        let (mut machine, first) = machine();
        assert!(
            machine.on_published(&first.task, &first.message_id, Ok(true), Time::ZERO).is_empty()
        );
        let actions = machine.poll(input(0), &|_| Vec::new());
        let [Action::Publish(second)] = &actions[..] else { panic!("{actions:?}") };
        assert_eq!(second.task, first.task);
        assert_ne!(second.message_id, first.message_id);
    }

    #[test]
    fn invalid_results_end_the_batch_after_a_limit_and_name_the_reason() {
        for (quarantined, limit) in [(false, MAX_REJECTIONS), (true, MAX_QUARANTINED_RESULTS)] {
            let (mut machine, first) = machine();
            let wrong = |_: Range<usize>, _: &str, _: &[u8]| {
                Ack::Rejected("wrong margin\u{1b}[2J".to_owned())
            };
            let mut count = 0;
            while machine.end().is_none() {
                machine.on_result(
                    &result(&first.task, b"x"),
                    quarantined,
                    &mut { wrong },
                    Time::ZERO,
                );
                count += 1;
            }
            assert_eq!(count, limit);
            let error = machine.end().unwrap().clone().unwrap_err();
            assert!(!error.contains('\u{1b}'), "{error:?}");
            let reason = if quarantined { "the worker is quarantined" } else { "wrong margin" };
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn a_failure_counts_once_and_old_failures_do_not_count() {
        let (mut machine, first) = machine();
        let mut accept = |_: Range<usize>, _: &str, _: &[u8]| Ack::Accepted;
        let mut failed = IncomingResult { failed: true, ..result(&first.task, b"no memory") };
        for _ in 0..5 {
            machine.on_result(&failed, false, &mut accept, Time::ZERO);
        }
        failed.is_old = true;
        for id in 0..5 {
            failed.message_id = format!("old {id}");
            machine.on_result(&failed, false, &mut accept, Time::ZERO);
        }
        assert!(machine.end().is_none());
        failed.is_old = false;
        for id in 0..2 {
            failed.message_id = format!("new {id}");
            machine.on_result(&failed, false, &mut accept, Time::ZERO);
        }
        assert_eq!(machine.end(), Some(&Err("no memory".to_owned())));
    }

    #[test]
    fn a_result_is_accepted_once() {
        let (mut machine, first) = machine();
        let mut accepted = 0;
        for _ in 0..3 {
            let mut accept = |range: Range<usize>, worker: &str, content: &[u8]| {
                assert_eq!((range, worker, content), (0..1, "w", &b"x"[..]));
                accepted += 1;
                Ack::Accepted
            };
            machine.on_result(&result("unknown", b"x"), false, &mut accept, Time::ZERO);
            machine.on_result(&result(&first.task, b"x"), false, &mut accept, Time::ZERO);
        }
        assert_eq!((accepted, machine.end()), (1, Some(&Ok(()))));
    }
}
