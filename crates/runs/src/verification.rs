//! Verification of remote results: a random sample is executed again by the coordinator.
//!
//! Jobs are deterministic, so the result of an honest worker equals that of the coordinator. A
//! worker whose result differs is quarantined: all of its results are ignored from then on, and the
//! caller executes its jobs again.

use crate::stop_requested;
use crate::work_queue::{Ack, JobBatch, WorkQueue, WorkQueueError};
use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};

/// Which results are verified, and which workers failed. Lasts for all batches of a process.
#[derive(Debug)]
pub struct Verification {
    share: f64,
    threads: usize,
    state: Mutex<WorkerRecords>,
}

#[derive(Debug, Default)]
struct WorkerRecords {
    /// Workers with a result.
    known: BTreeSet<String>,
    quarantined: BTreeSet<String>,
    /// Number of random draws.
    draws: u64,
    /// Source of draws that workers cannot predict. They decide what is verified and never enter a
    /// result.
    random: RandomState,
}

impl Verification {
    /// Creates a verification of a share of all results, from 0 (none) to 1 (all).
    #[must_use]
    pub fn new(share: f64, threads: usize) -> Verification {
        Verification { share, threads: threads.max(1), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, WorkerRecords> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Chooses which of `unit_count` units of a worker's result are verified, each with the probability
    /// `share`. Of the first result of a worker, at least one is if `check_first` is set.
    pub fn choose(&self, worker: &str, unit_count: usize, check_first: bool) -> Vec<usize> {
        if self.share <= 0.0 || unit_count == 0 {
            return Vec::new();
        }
        let mut state = self.state();
        let is_first = state.known.insert(worker.to_owned());
        let mut draw = || {
            state.draws += 1;
            state.random.hash_one(state.draws)
        };
        // The highest 53 bits, as a number from 0 to 1.
        let chosen =
            (0..unit_count).filter(|_| ((draw() >> 11) as f64) < self.share * (1u64 << 53) as f64);
        let mut chosen: Vec<usize> = chosen.collect();
        if chosen.is_empty() && is_first && check_first {
            chosen.push((draw() % unit_count as u64) as usize);
        }
        chosen
    }

    /// Quarantines a worker. Returns whether it was not quarantined before.
    pub fn quarantine(&self, worker: &str) -> bool {
        self.state().quarantined.insert(worker.to_owned())
    }

    /// Returns whether a worker is quarantined.
    #[must_use]
    pub fn is_quarantined(&self, worker: &str) -> bool {
        self.state().quarantined.contains(worker)
    }

    /// Returns the number of quarantined workers.
    #[must_use]
    pub fn quarantined_count(&self) -> usize {
        self.state().quarantined.len()
    }
}

/// Compares some units of the result of a job with those of this process.
type CheckFn<'a, T> = dyn Fn(usize, &T, &[usize]) -> Result<(), String> + Sync + 'a;

/// How the results of a batch are verified.
pub struct Verifier<'a, T> {
    /// Returns the number of units of a result that can be verified one by one, such as games.
    pub unit_count: &'a dyn Fn(&T) -> usize,
    /// Executes some units of a job and compares them with its result. The error says how they
    /// differ.
    pub check: &'a CheckFn<'a, T>,
    /// Whether a unit of the first result of every worker is verified.
    pub check_first: bool,
}

impl<T> Clone for Verifier<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Verifier<'_, T> {}

/// A result to verify.
struct Sample<T> {
    job: usize,
    result: T,
    units: Vec<usize>,
    worker: String,
}

/// Runs a batch as [`run_verified`] does, and passes its results to `accept` in the order of the jobs.
pub fn run_in_order<T: Clone + Send>(
    queue: &dyn WorkQueue,
    batch: JobBatch<'_>,
    encode: &dyn Fn(Range<usize>) -> Vec<u8>,
    decode: impl Fn(Range<usize>, &[u8]) -> Result<Vec<T>, String>,
    verifier: Verifier<'_, T>,
    mut accept: impl FnMut(usize, T, &str) -> bool,
) -> Result<Vec<String>, WorkQueueError> {
    let mut pending = BTreeMap::new();
    let mut next = 0;
    run_verified(queue, batch, encode, decode, verifier, |job, result, worker| {
        pending.insert(job, (result, worker.to_owned()));
        while let Some((result, worker)) = pending.remove(&next) {
            next += 1;
            if !accept(next - 1, result, &worker) {
                return false;
            }
        }
        true
    })
}

/// Runs a batch and passes its results to `accept` in any order.
///
/// `decode` parses the result of a task into one value for each of its jobs; its error says why the
/// result is invalid. `accept` receives a job, its result and its worker, and returns whether to
/// continue.
///
/// A random sample of the results is verified on other threads. If a worker fails, it is
/// quarantined, the batch ends early, and its name is returned. Then the caller executes all jobs of
/// that worker again: results that were accepted from it may be forged.
pub fn run_verified<T: Clone + Send>(
    queue: &dyn WorkQueue,
    batch: JobBatch<'_>,
    encode: &dyn Fn(Range<usize>) -> Vec<u8>,
    decode: impl Fn(Range<usize>, &[u8]) -> Result<Vec<T>, String>,
    verifier: Verifier<'_, T>,
    mut accept: impl FnMut(usize, T, &str) -> bool,
) -> Result<Vec<String>, WorkQueueError> {
    let verification = queue.verification();
    let (send, receive) = mpsc::channel::<Sample<T>>();
    let receive = Mutex::new(receive);
    let failures: Mutex<Vec<(String, String)>> = Mutex::default();
    let lock = || failures.lock().unwrap_or_else(PoisonError::into_inner);
    let check = verifier.check;
    let verify_samples = || {
        loop {
            let next = receive.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(Sample { job, result, units, worker }) = next else { return };
            let is_needed = !stop_requested() && lock().iter().all(|(failed, _)| *failed != worker);
            if is_needed
                && let Err(reason) = check(job, &result, &units)
                // A job that is stopped has an incomplete result.
                && !stop_requested()
            {
                lock().push((worker, reason));
            }
        }
    };
    let ended = std::thread::scope(|scope| {
        let threads = if verification.share > 0.0 { verification.threads } else { 0 };
        for _ in 0..threads {
            scope.spawn(verify_samples);
        }
        let ended = queue.run(batch, encode, &mut |range, worker, task_result| {
            if !lock().is_empty() {
                return Ack::Stop;
            }
            let results = match decode(range.clone(), task_result) {
                Ok(results) if results.len() == range.len() => results,
                Ok(results) => {
                    let count = results.len();
                    return Ack::Rejected(format!(
                        "it has {count} results for {} jobs",
                        range.len()
                    ));
                }
                Err(reason) => return Ack::Rejected(reason),
            };
            for (job, result) in range.zip(results) {
                let unit_count = (verifier.unit_count)(&result);
                let units = verification.choose(worker, unit_count, verifier.check_first);
                if !units.is_empty() {
                    let (result, worker) = (result.clone(), worker.to_owned());
                    let _ = send.send(Sample { job, result, units, worker });
                }
                if !accept(job, result, worker) {
                    return Ack::Stop;
                }
            }
            Ack::Accepted
        });
        // The threads verify the remaining samples and end.
        drop(send);
        ended
    });
    let failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    for (worker, reason) in &failures {
        queue.quarantine(worker, reason);
    }
    ended?;
    Ok(failures.into_iter().map(|(worker, _)| worker).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work_queue::{AcceptFn, BlobStore};

    /// Executes tasks of two jobs in reverse order, and passes invalid results before each valid one.
    /// The worker "forger" executes every third task until it is quarantined, and returns capitals.
    #[derive(Debug)]
    struct ReverseQueue(Verification);

    impl BlobStore for ReverseQueue {
        fn put(&self, bytes: &[u8]) -> Result<String, WorkQueueError> {
            Ok(crate::files::checksum(bytes))
        }

        fn get(&self, sha256: &str, _: u64) -> Result<Vec<u8>, WorkQueueError> {
            Err(WorkQueueError(format!("no blob {sha256}")))
        }
    }

    impl WorkQueue for ReverseQueue {
        fn run(
            &self,
            batch: JobBatch<'_>,
            encode: &dyn Fn(Range<usize>) -> Vec<u8>,
            accept: &mut AcceptFn<'_>,
        ) -> Result<(), WorkQueueError> {
            for from in (0..batch.jobs).step_by(2).rev() {
                let range = from..(from + 2).min(batch.jobs);
                let ack = accept(range.clone(), "w", b"?");
                if ack == Ack::Stop {
                    return Ok(());
                }
                assert!(matches!(ack, Ack::Rejected(_)));
                let mut truncated = encode(range.clone());
                truncated.truncate(1);
                if range.len() > 1 {
                    assert!(!matches!(accept(range.clone(), "w", &truncated), Ack::Accepted));
                }
                let forges = from % 3 == 0 && !self.0.is_quarantined("forger");
                let (worker, mut content) = ("w", encode(range.clone()));
                let worker = if forges { "forger" } else { worker };
                if forges {
                    content.make_ascii_uppercase();
                }
                if accept(range, worker, &content) == Ack::Stop {
                    return Ok(());
                }
            }
            Ok(())
        }

        fn verification(&self) -> &Verification {
            &self.0
        }

        fn quarantine(&self, worker: &str, _: &str) {
            self.0.quarantine(worker);
        }

        fn delete(&self, _: &str) {}

        fn status(&self) -> String {
            String::new()
        }
    }

    fn run(share: f64, jobs: usize, until: usize) -> (Vec<u8>, Vec<String>) {
        let queue = ReverseQueue(Verification::new(share, 2));
        let letter = |job: usize| b'a' + job as u8;
        let check = |job: usize, result: &u8, _: &[usize]| match *result == letter(job) {
            true => Ok(()),
            false => Err("other letter".to_owned()),
        };
        let run = || {
            let mut accepted = Vec::new();
            let failed = run_in_order(
                &queue,
                JobBatch { kind: "test", run: "run", jobs },
                &|range| range.map(letter).collect(),
                |_, message| match message {
                    b"?" => Err("invalid".to_owned()),
                    letters => Ok(letters.to_vec()),
                },
                Verifier { unit_count: &|_| 1, check: &check, check_first: true },
                |job, letter, _| {
                    accepted.push(letter);
                    job + 1 < until
                },
            );
            (accepted, failed.unwrap())
        };
        let first = run();
        match first.1.is_empty() {
            true => first,
            false => (run().0, first.1),
        }
    }

    #[test]
    fn results_are_ordered_and_invalid_results_rejected() {
        for (jobs, until) in [(9, 9), (8, 8), (8, 3), (0, 0)] {
            let (accepted, _) = run(0.0, jobs, until);
            let lower: Vec<u8> = accepted.iter().map(u8::to_ascii_lowercase).collect();
            assert_eq!(lower, (0..until as u8).map(|i| b'a' + i).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_forger_is_found_and_its_jobs_are_executed_again() {
        // The first result of a worker is always verified.
        for share in [1e-9, 0.02, 1.0] {
            let (accepted, failed) = run(share, 20, 20);
            assert_eq!(failed, ["forger"]);
            assert_eq!(accepted, (0..20).map(|i| b'a' + i).collect::<Vec<_>>());
        }
        let (accepted, failed) = run(0.0, 20, 20);
        assert!(failed.is_empty() && accepted.contains(&b'A'), "share 0 verifies nothing");
    }

    #[test]
    fn the_share_of_verified_results_is_that_of_the_option() {
        let verification = Verification::new(0.02, 1);
        let chosen: usize = (0..100).map(|_| verification.choose("w", 1000, true).len()).sum();
        // Binomial with mean 2000 and standard deviation 44.
        assert!((1700..2300).contains(&chosen), "{chosen}");
        assert_eq!(Verification::new(1.0, 1).choose("w", 5, true), [0, 1, 2, 3, 4]);
        assert_eq!(Verification::new(1e-9, 1).choose("w", 5, true).len(), 1);
        assert_eq!(Verification::new(1e-9, 1).choose("w", 5, false).len(), 0);
    }
}
