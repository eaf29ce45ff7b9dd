//! Tracks the tasks of a batch that were submitted and not completed, and sizes new ones.
//!
//! A task should take about half a second. Then the overhead of messages is small, a worker that
//! dies loses little work, and the last tasks of a batch end at about the same time on all threads.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::time::Instant;

/// Target duration of a task, in seconds.
const TARGET_SECONDS: f64 = 0.5;

/// Target size of a result. The server limits messages to one megabyte.
const TARGET_BYTES: f64 = 256.0 * 1024.0;

/// Maximum jobs per task, to limit the cost of a wrong estimate.
const MAX_JOBS: usize = 64;

/// Limit of outstanding tasks with few worker threads.
const MIN_IN_FLIGHT: usize = 64;

/// Limit of outstanding tasks per worker thread.
const IN_FLIGHT_PER_THREAD: usize = 4;

/// A task that was submitted and not completed.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    /// Its jobs.
    pub(crate) range: Range<usize>,
    pub(crate) content: Vec<u8>,
    /// Number of times that it was submitted.
    pub(crate) submissions: u32,
    /// Number of invalid results.
    pub(crate) rejections: u32,
    /// Number of workers that reported an error.
    pub(crate) failures: u32,
    /// Time of the last submission.
    pub(crate) submitted_at: Instant,
    /// Whether it was missing from the queue at the last check.
    pub(crate) missing: bool,
}

/// The outstanding tasks of one batch.
#[derive(Debug)]
pub(crate) struct InFlightTasks {
    jobs: usize,
    next_job: usize,
    tasks: HashMap<String, Task>,
    /// Task ids in the order of their jobs, from the first task that is not completed.
    order: VecDeque<String>,
    /// Sequence numbers of the results of tasks that completed before an earlier task.
    completed_early: HashMap<String, u64>,
    /// Moving averages of seconds and bytes per job; `None` before the first result.
    cost_per_job: Option<(f64, f64)>,
    max_jobs: usize,
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
            max_jobs: 1,
        }
    }

    /// Returns whether every job is completed.
    pub(crate) fn all_completed(&self) -> bool {
        self.next_job == self.jobs && self.tasks.is_empty()
    }

    /// Returns the jobs of the next task, or `None` if enough tasks are outstanding for `threads`
    /// worker threads.
    pub(crate) fn next_range(&mut self, threads: usize) -> Option<Range<usize>> {
        let limit = MIN_IN_FLIGHT.max(IN_FLIGHT_PER_THREAD * threads);
        let left = self.jobs - self.next_job;
        if left == 0 || self.order.len() >= limit {
            return None;
        }
        // The last tasks are small, so that all threads stay busy until the end.
        let max_size = left / (2 * threads.max(1));
        let size = self.max_jobs.min(max_size).clamp(1, left);
        let range = self.next_job..self.next_job + size;
        self.next_job += size;
        Some(range)
    }

    /// Adds a task that is about to be submitted.
    pub(crate) fn add(&mut self, id: &str, range: Range<usize>, content: Vec<u8>) {
        let task = Task {
            range,
            content,
            submissions: 1,
            rejections: 0,
            failures: 0,
            submitted_at: Instant::now(),
            missing: false,
        };
        self.tasks.insert(id.to_owned(), task);
        self.order.push_back(id.to_owned());
    }

    /// Returns an outstanding task.
    pub(crate) fn get(&mut self, id: &str) -> Option<&mut Task> {
        self.tasks.get_mut(id)
    }

    /// Marks a task as completed by the result with this sequence number, and updates the task
    /// size.
    pub(crate) fn complete(&mut self, id: &str, sequence: u64, seconds: f64, bytes: usize) {
        let Some(task) = self.tasks.remove(id) else { return };
        self.completed_early.insert(id.to_owned(), sequence);
        while let Some(first) = self.order.front().filter(|first| !self.tasks.contains_key(*first))
        {
            self.completed_early.remove(first);
            self.order.pop_front();
        }
        let jobs = task.range.len().max(1) as f64;
        let (s, b) = (seconds.max(0.0) / jobs, bytes as f64 / jobs);
        let (seconds, bytes) = match self.cost_per_job {
            // Exponential moving average with a factor of 1/2.
            Some((old_s, old_b)) => ((old_s + s) / 2.0, (old_b + b) / 2.0),
            None => (s, b),
        };
        self.cost_per_job = Some((seconds, bytes));
        let fits = (TARGET_SECONDS / seconds.max(1e-9)).min(TARGET_BYTES / bytes.max(1.0));
        // At most doubled, so that an outlier has little effect.
        self.max_jobs = (fits as usize).clamp(1, (2 * self.max_jobs).min(MAX_JOBS));
    }

    /// Returns the first sequence number that must stay on the server; `last` is the last one
    /// processed.
    pub(crate) fn delete_before(&self, last: u64) -> u64 {
        self.completed_early.values().copied().min().unwrap_or(last + 1)
    }

    /// Returns whether a task was submitted before `time` and is not completed.
    pub(crate) fn any_submitted_before(&self, time: Instant) -> bool {
        self.tasks.values().any(|task| task.submitted_at < time)
    }

    /// Returns the tasks that were submitted before `time` and are missing from the queue for the
    /// second check in a row. Their results should have arrived in between, so they are lost.
    pub(crate) fn lost(&mut self, queued: &HashSet<String>, time: Instant) -> Vec<String> {
        let mut lost = Vec::new();
        for (id, task) in &mut self.tasks {
            if queued.contains(id) || task.submitted_at >= time {
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
    use std::time::Duration;

    /// Submits tasks until no more may be outstanding; returns their ids.
    fn fill(in_flight: &mut InFlightTasks, threads: usize) -> Vec<String> {
        let mut ids = Vec::new();
        while let Some(range) = in_flight.next_range(threads) {
            let id = format!("{}-{}", range.start, range.end);
            in_flight.add(&id, range, Vec::new());
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
            for id in fill(&mut in_flight, 2) {
                let range = in_flight.get(&id).unwrap().range.clone();
                largest = largest.max(range.len());
                range.clone().for_each(|job| submissions[job] += 1);
                in_flight.complete(&id, 1, 0.001 * range.len() as f64, 10 * range.len());
            }
        }
        assert!(submissions.iter().all(|&count| count == 1));
        assert_eq!(largest, MAX_JOBS);
        // Slow jobs, or jobs with large results, are submitted one by one.
        for (seconds, bytes) in [(3.0, 10), (0.001, 1 << 20)] {
            let mut in_flight = InFlightTasks::new(1000);
            while let Some(range) = in_flight.next_range(1) {
                assert_eq!(range.len(), 1);
                in_flight.add("task", range, Vec::new());
                in_flight.complete("task", 1, seconds, bytes);
            }
        }
    }

    #[test]
    fn tasks_in_flight_are_limited_relative_to_the_first_incomplete_one() {
        let mut in_flight = InFlightTasks::new(5000);
        let ids = fill(&mut in_flight, 50);
        assert_eq!(ids.len(), 200);
        for (sequence, id) in ids.iter().enumerate().skip(1) {
            in_flight.complete(id, sequence as u64, 10.0, 1);
        }
        assert!(in_flight.next_range(50).is_none(), "the first task is still outstanding");
        assert_eq!(in_flight.delete_before(199), 1, "later results wait for it");
        in_flight.complete(&ids[0], 200, 10.0, 1);
        assert_eq!(in_flight.delete_before(200), 201);
        assert_eq!(fill(&mut in_flight, 50).len(), 200);
    }

    #[test]
    fn task_is_lost_if_missing_in_two_checks() {
        let mut in_flight = InFlightTasks::new(2);
        fill(&mut in_flight, 1);
        let later = Instant::now() + Duration::from_secs(1);
        let queued = HashSet::from(["1-2".to_owned()]);
        assert!(in_flight.lost(&queued, later - Duration::from_secs(10)).is_empty());
        assert!(in_flight.lost(&queued, later).is_empty());
        assert_eq!(in_flight.lost(&queued, later), ["0-1"]);
        assert!(in_flight.lost(&queued, later).is_empty());
    }
}
