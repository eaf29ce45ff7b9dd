//! Tracks the outstanding tasks of a batch (submitted, not completed) and chooses the number of jobs
//! of new tasks.
//!
//! A task should take about half a second. Then the overhead of messages is small, a worker that
//! dies loses little work, and the last tasks of a batch end at about the same time on all threads.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::time::Duration;

/// Target duration of a task, in seconds.
const TARGET_SECONDS: f64 = 0.5;

/// Target size of a result. The server limits messages to one megabyte.
const TARGET_BYTES: f64 = 256.0 * 1024.0;

/// Maximum jobs per task, to limit the cost of a wrong estimate.
const MAX_JOBS_PER_TASK: usize = 64;

/// Lower bound of the limit of outstanding tasks.
const MIN_IN_FLIGHT_LIMIT: usize = 64;

/// The limit of outstanding tasks is this many per worker thread, within the bounds.
const IN_FLIGHT_PER_THREAD: usize = 4;

/// Upper bound of the limit, whatever number of threads the workers report.
const MAX_IN_FLIGHT: usize = 100_000;

/// Reported durations are clamped to this many seconds.
const MAX_SECONDS: f64 = 7.0 * 86_400.0;

/// A time, as the duration since an arbitrary start.
pub(crate) type Time = Duration;

/// The submission state of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Submission {
    /// It must be published at this time.
    Due(Time),
    /// It was published; the server has not answered.
    Sent,
    /// The server stored it at this time.
    Stored(Time),
}

/// A task that is not completed.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    /// The numbers of its jobs.
    pub(crate) range: Range<usize>,
    /// The payload of its message.
    pub(crate) content: Vec<u8>,
    pub(crate) submission: Submission,
    /// Message id of the current submission.
    pub(crate) message_id: String,
    /// Number of attempts to publish it that the server has not confirmed; 0 once it is stored.
    pub(crate) attempts: u32,
    /// Number of message ids that were used.
    pub(crate) submissions: u32,
    /// Number of invalid results.
    pub(crate) rejections: u32,
    /// Number of results of quarantined workers.
    pub(crate) quarantined_results: u32,
    /// Message ids of the errors that workers reported.
    pub(crate) failures: HashSet<String>,
    /// Whether it was missing from the queue at the last check.
    pub(crate) missing: bool,
}

impl Task {
    fn is_stored_before(&self, cutoff: Time) -> bool {
        matches!(self.submission, Submission::Stored(time) if time < cutoff)
    }
}

/// The outstanding tasks of one batch.
#[derive(Debug)]
pub(crate) struct InFlightTasks {
    jobs: usize,
    next_job: usize,
    tasks: HashMap<String, Task>,
    /// Task ids in the order of their jobs, starting with the first task that is not completed.
    order: VecDeque<String>,
    /// Sequence numbers of the results of completed tasks that follow an outstanding task in `order`.
    completed_early: HashMap<String, u64>,
    /// Moving averages of seconds and result bytes per job; `None` before the first result.
    cost_per_job: Option<(f64, f64)>,
    /// Maximum jobs of the next task.
    next_task_jobs: usize,
}

impl InFlightTasks {
    pub(crate) fn new(jobs: usize) -> InFlightTasks {
        InFlightTasks {
            jobs,
            next_job: 0,
            tasks: HashMap::new(),
            order: VecDeque::new(),
            completed_early: HashMap::new(),
            cost_per_job: None,
            next_task_jobs: 1,
        }
    }

    /// Returns whether every job is completed.
    pub(crate) fn all_completed(&self) -> bool {
        self.next_job == self.jobs && self.tasks.is_empty()
    }

    /// Returns the jobs of the next task. `None` if no job is left, or if the outstanding tasks and
    /// the completed tasks that follow one reach the limit for `threads` worker threads.
    pub(crate) fn next_range(&mut self, threads: usize) -> Option<Range<usize>> {
        let limit = IN_FLIGHT_PER_THREAD.saturating_mul(threads);
        let limit = limit.clamp(MIN_IN_FLIGHT_LIMIT, MAX_IN_FLIGHT);
        let left = self.jobs - self.next_job;
        if left == 0 || self.order.len() >= limit {
            return None;
        }
        // The last tasks are small, so that all threads stay busy until the end.
        let max_size = left / threads.max(1).saturating_mul(2);
        let size = self.next_task_jobs.min(max_size).clamp(1, left);
        let range = self.next_job..self.next_job + size;
        self.next_job += size;
        Some(range)
    }

    /// Adds a task.
    pub(crate) fn add(
        &mut self,
        id: &str,
        range: Range<usize>,
        content: Vec<u8>,
        submission: Submission,
    ) {
        let task = Task {
            range,
            content,
            submission,
            message_id: id.to_owned(),
            attempts: 0,
            submissions: 1,
            rejections: 0,
            quarantined_results: 0,
            failures: HashSet::new(),
            missing: false,
        };
        self.tasks.insert(id.to_owned(), task);
        self.order.push_back(id.to_owned());
    }

    /// Returns the tasks that must be published now, at most `limit`, in the order of their jobs.
    pub(crate) fn due(&self, now: Time, limit: usize) -> Vec<String> {
        let is_due = |id: &&String| {
            let submission = self.tasks.get(*id).map(|task| &task.submission);
            matches!(submission, Some(Submission::Due(time)) if *time <= now)
        };
        self.order.iter().filter(is_due).take(limit).cloned().collect()
    }

    /// Returns whether the server has not confirmed some task that was published.
    pub(crate) fn has_unconfirmed_attempts(&self) -> bool {
        self.tasks.values().any(|task| task.attempts > 0)
    }

    /// Returns whether a task is outstanding.
    pub(crate) fn contains(&self, id: &str) -> bool {
        self.tasks.contains_key(id)
    }

    /// Returns an outstanding task.
    pub(crate) fn get(&mut self, id: &str) -> Option<&mut Task> {
        self.tasks.get_mut(id)
    }

    /// Marks a task as completed by the result with this sequence number, and adapts the size of the
    /// next tasks to its duration and its result.
    pub(crate) fn complete(&mut self, id: &str, sequence: u64, seconds: f64, bytes: usize) {
        let Some(task) = self.tasks.remove(id) else { return };
        self.completed_early.insert(id.to_owned(), sequence);
        while let Some(first) = self.order.front().filter(|first| !self.tasks.contains_key(*first))
        {
            self.completed_early.remove(first);
            self.order.pop_front();
        }
        let jobs = task.range.len().max(1) as f64;
        // The duration is reported by the worker and may be wrong.
        let seconds = if seconds.is_finite() { seconds.clamp(0.0, MAX_SECONDS) } else { 1.0 };
        let (seconds, bytes) = (seconds / jobs, bytes as f64 / jobs);
        let (seconds, bytes) = match self.cost_per_job {
            // Exponential moving average with a factor of 1/2.
            Some((old_seconds, old_bytes)) => {
                ((old_seconds + seconds) / 2.0, (old_bytes + bytes) / 2.0)
            }
            None => (seconds, bytes),
        };
        self.cost_per_job = Some((seconds, bytes));
        let target_jobs = (TARGET_SECONDS / seconds.max(1e-9)).min(TARGET_BYTES / bytes.max(1.0));
        // At most doubled, so that an outlier has little effect.
        self.next_task_jobs =
            (target_jobs as usize).clamp(1, (2 * self.next_task_jobs).min(MAX_JOBS_PER_TASK));
    }

    /// Returns the sequence number of the first result that must stay on the server, given that of
    /// the last result processed. All earlier results can be deleted.
    pub(crate) fn first_needed_result(&self, last_processed: u64) -> u64 {
        // After the server lost its store, sequence numbers start again at 1, so that the last result
        // may have a smaller number than earlier ones.
        let next = last_processed + 1;
        self.completed_early.values().copied().min().map_or(next, |first| first.min(next))
    }

    /// Returns whether the server stored an outstanding task before `cutoff`.
    pub(crate) fn any_stored_before(&self, cutoff: Time) -> bool {
        self.tasks.values().any(|task| task.is_stored_before(cutoff))
    }

    /// Finds the tasks that were stored before `cutoff` and are missing from the queue in this check and
    /// the previous one. Their results would have arrived in between, so they are lost.
    pub(crate) fn find_lost(&mut self, queued: &HashSet<String>, cutoff: Time) -> Vec<String> {
        let mut lost = Vec::new();
        for id in &self.order {
            let Some(task) = self.tasks.get_mut(id) else { continue };
            if queued.contains(id) || !task.is_stored_before(cutoff) {
                task.missing = false;
            } else if task.missing {
                task.missing = false;
                lost.push(id.clone());
            } else {
                task.missing = true;
            }
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Submits tasks up to the limit of outstanding tasks; returns their ids.
    fn submit_to_limit(in_flight: &mut InFlightTasks, threads: usize) -> Vec<String> {
        let mut ids = Vec::new();
        while let Some(range) = in_flight.next_range(threads) {
            let id = format!("{}-{}", range.start, range.end);
            in_flight.add(&id, range, Vec::new(), Submission::Stored(Time::ZERO));
            ids.push(id);
        }
        ids
    }

    #[test]
    fn every_job_is_submitted_once_and_tasks_grow_when_jobs_are_quick() {
        let mut in_flight = InFlightTasks::new(5000);
        let mut submissions = vec![0; 5000];
        let mut largest = 0;
        while !in_flight.all_completed() {
            for id in submit_to_limit(&mut in_flight, 2) {
                let range = in_flight.get(&id).unwrap().range.clone();
                largest = largest.max(range.len());
                range.clone().for_each(|job| submissions[job] += 1);
                in_flight.complete(&id, 1, 0.001 * range.len() as f64, 10 * range.len());
            }
        }
        assert!(submissions.iter().all(|&count| count == 1));
        assert_eq!(largest, MAX_JOBS_PER_TASK);
        // Slow jobs, or jobs with large results, are submitted one by one.
        for (seconds, bytes) in [(3.0, 10), (0.001, 1 << 20)] {
            let mut in_flight = InFlightTasks::new(1000);
            while let Some(range) = in_flight.next_range(1) {
                assert_eq!(range.len(), 1);
                in_flight.add("task", range, Vec::new(), Submission::Stored(Time::ZERO));
                in_flight.complete("task", 1, seconds, bytes);
            }
        }
    }

    #[test]
    fn completed_tasks_count_as_in_flight_until_the_first_task_completes() {
        let mut in_flight = InFlightTasks::new(5000);
        let ids = submit_to_limit(&mut in_flight, 50);
        assert_eq!(ids.len(), 200);
        for (sequence, id) in ids.iter().enumerate().skip(1) {
            in_flight.complete(id, sequence as u64, 10.0, 1);
        }
        assert!(in_flight.next_range(50).is_none(), "the first task is still outstanding");
        assert_eq!(in_flight.first_needed_result(199), 1, "the later results are still needed");
        in_flight.complete(&ids[0], 200, 10.0, 1);
        assert_eq!(in_flight.first_needed_result(200), 201);
        // The server lost its store: its results are numbered from 1 again.
        let ids = submit_to_limit(&mut in_flight, 50);
        in_flight.complete(&ids[1], 230, 10.0, 1);
        assert_eq!(in_flight.first_needed_result(3), 4, "results that were not read stay");
        in_flight.complete(&ids[0], 4, 10.0, 1);
        assert_eq!(submit_to_limit(&mut in_flight, 50).len(), 2);
    }

    #[test]
    fn reported_durations_and_thread_counts_are_limited() {
        let mut in_flight = InFlightTasks::new(1_000_000);
        let ids = submit_to_limit(&mut in_flight, usize::MAX);
        assert_eq!(ids.len(), MAX_IN_FLIGHT);
        for (id, seconds) in ids.iter().zip([f64::NAN, f64::INFINITY, -1.0, 1e300]) {
            in_flight.complete(id, 1, seconds, 1);
            assert!(in_flight.cost_per_job.unwrap().0.is_finite());
        }
    }

    #[test]
    fn task_is_lost_if_missing_in_two_checks() {
        let mut in_flight = InFlightTasks::new(2);
        submit_to_limit(&mut in_flight, 1);
        let later = Time::from_secs(1);
        let queued = HashSet::from(["1-2".to_owned()]);
        assert!(in_flight.find_lost(&queued, Time::ZERO).is_empty());
        assert!(in_flight.find_lost(&queued, later).is_empty());
        assert_eq!(in_flight.find_lost(&queued, later), ["0-1"]);
        assert!(in_flight.find_lost(&queued, later).is_empty());
    }
}
