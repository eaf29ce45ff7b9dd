//! Many threads work, one caller sees the results in order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError, mpsc};

/// Stops the others when a thread panics, so that nobody waits for its result for ever.
struct Alarm<'a> {
    stopped: &'a AtomicBool,
    moved: &'a Condvar,
}

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.stopped.store(true, Ordering::Relaxed);
            self.moved.notify_all();
        }
    }
}

/// Does `jobs` pieces of work on `threads` threads and hands their results to `take` in the order
/// of their numbers, so that what the caller writes does not depend on the number of threads.
///
/// Each thread makes its own `state` once, for what is costly to set up. `take` returns whether to
/// go on; after `false` no further result is handed over and the threads stop soon. Threads run
/// ahead of the slowest piece by a bounded number of pieces only.
pub fn parallel_in_order<S, T: Send>(
    jobs: usize,
    threads: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> T + Sync,
    mut take: impl FnMut(usize, T) -> bool,
) {
    let threads = threads.clamp(1, jobs.max(1));
    let ahead = threads * 8;
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (taken, moved) = (Mutex::new(0usize), Condvar::new());
    let (send, receive) = mpsc::channel::<(usize, T)>();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let send = send.clone();
            let (next, stopped, taken, moved) = (&next, &stopped, &taken, &moved);
            let (state, work) = (&state, &work);
            scope.spawn(move || {
                let _alarm = Alarm { stopped, moved };
                let mut own = state();
                loop {
                    let job = next.fetch_add(1, Ordering::Relaxed);
                    let mut done = taken.lock().unwrap_or_else(PoisonError::into_inner);
                    while job >= *done + ahead && !stopped.load(Ordering::Relaxed) {
                        done = moved.wait(done).unwrap_or_else(PoisonError::into_inner);
                    }
                    drop(done);
                    if job >= jobs || stopped.load(Ordering::Relaxed) {
                        return;
                    }
                    if send.send((job, work(&mut own, job))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        let mut early = BTreeMap::new();
        let mut due = 0;
        'all: while due < jobs {
            let Ok((job, result)) = receive.recv() else { break };
            early.insert(job, result);
            while let Some(result) = early.remove(&due) {
                due += 1;
                if !take(due - 1, result) {
                    break 'all;
                }
                *taken.lock().unwrap_or_else(PoisonError::into_inner) = due;
                moved.notify_all();
            }
        }
        let _lock = taken.lock().unwrap_or_else(PoisonError::into_inner);
        stopped.store(true, Ordering::Relaxed);
        moved.notify_all();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_on_any_number_of_threads() {
        for threads in [1, 2, 3, 16] {
            let mut seen = Vec::new();
            parallel_in_order(
                500,
                threads,
                || (),
                |(), job| {
                    // Uneven pieces, so that they finish out of order.
                    (0..(job * 7919) % 997).map(|x| x as u64).sum::<u64>() + job as u64
                },
                |job, result| {
                    seen.push((job, result));
                    true
                },
            );
            assert_eq!(seen.len(), 500);
            assert!(seen.iter().enumerate().all(|(i, (job, _))| i == *job));
        }
    }

    #[test]
    fn it_stops_when_told_and_copes_with_nothing_to_do() {
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
    fn a_panic_in_a_piece_reaches_the_caller_instead_of_hanging() {
        parallel_in_order(1000, 3, || (), |(), job| assert_ne!(job, 5), |_, ()| true);
    }
}
