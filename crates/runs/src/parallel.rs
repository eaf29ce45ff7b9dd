//! Parallel execution with results in order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError, mpsc};

/// Stops the other threads when a thread panics, so that none waits forever for its result.
struct StopOnPanic<'a> {
    stopped: &'a AtomicBool,
    progressed: &'a Condvar,
}

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.stopped.store(true, Ordering::Relaxed);
            self.progressed.notify_all();
        }
    }
}

/// Runs jobs 0 to `jobs - 1` on `threads` threads and passes each result to `accept` in the order
/// of the job numbers.
///
/// `accept` runs on the calling thread, so its effects do not depend on the number of threads. It
/// returns whether to continue; after `false` no further result is passed and the threads stop
/// soon. Each thread calls `new_state` once and passes the state to all of its jobs, which saves
/// repeated costly setup. Jobs start at most `8 * threads` jobs ahead of the next accepted result.
pub fn parallel_in_order<S, T: Send>(
    jobs: usize,
    threads: usize,
    new_state: impl Fn() -> S + Sync,
    run_job: impl Fn(&mut S, usize) -> T + Sync,
    mut accept: impl FnMut(usize, T) -> bool,
) {
    let threads = threads.clamp(1, jobs.max(1));
    let max_ahead = threads * 8;
    let (next_job, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (accepted, progressed) = (Mutex::new(0usize), Condvar::new());
    let (send, receive) = mpsc::channel::<(usize, T)>();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let send = send.clone();
            let (next_job, stopped, accepted, progressed) =
                (&next_job, &stopped, &accepted, &progressed);
            let (new_state, run_job) = (&new_state, &run_job);
            scope.spawn(move || {
                let _guard = StopOnPanic { stopped, progressed };
                let mut state = new_state();
                loop {
                    let job = next_job.fetch_add(1, Ordering::Relaxed);
                    let mut done = accepted.lock().unwrap_or_else(PoisonError::into_inner);
                    while job >= *done + max_ahead && !stopped.load(Ordering::Relaxed) {
                        done = progressed.wait(done).unwrap_or_else(PoisonError::into_inner);
                    }
                    drop(done);
                    if job >= jobs || stopped.load(Ordering::Relaxed) {
                        return;
                    }
                    if send.send((job, run_job(&mut state, job))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        let mut pending = BTreeMap::new();
        let mut next = 0;
        'all: while next < jobs {
            let Ok((job, result)) = receive.recv() else { break };
            pending.insert(job, result);
            while let Some(result) = pending.remove(&next) {
                next += 1;
                if !accept(next - 1, result) {
                    break 'all;
                }
                *accepted.lock().unwrap_or_else(PoisonError::into_inner) = next;
                progressed.notify_all();
            }
        }
        let _lock = accepted.lock().unwrap_or_else(PoisonError::into_inner);
        stopped.store(true, Ordering::Relaxed);
        progressed.notify_all();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_for_any_number_of_threads() {
        for threads in [1, 2, 3, 16] {
            let mut results = Vec::new();
            parallel_in_order(
                500,
                threads,
                || (),
                |(), job| {
                    // Jobs of unequal length, so that they finish out of order.
                    (0..(job * 7919) % 997).map(|x| x as u64).sum::<u64>() + job as u64
                },
                |job, result| {
                    results.push((job, result));
                    true
                },
            );
            assert_eq!(results.len(), 500);
            assert!(results.iter().enumerate().all(|(i, (job, _))| i == *job));
        }
    }

    #[test]
    fn accept_can_stop_and_zero_jobs_return_at_once() {
        let mut last = 0;
        parallel_in_order(
            10_000,
            4,
            || (),
            |(), job| job,
            |job, _| {
                last = job;
                job < 20
            },
        );
        assert_eq!(last, 20);
        parallel_in_order(0, 4, || (), |(), job| job, |_, _| unreachable!());
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_panicking_job_panics_the_caller_instead_of_hanging() {
        parallel_in_order(1000, 3, || (), |(), job| assert_ne!(job, 5), |_, ()| true);
    }
}
