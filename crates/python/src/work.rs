//! Long-running work: without the interpreter lock, with progress, stopped by Ctrl-C.

use outflank_players::SearchControl;
use outflank_runs::{clear_stop_request, request_stop, stop_requested};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Interval at which pending signals are checked.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// Number of items that are computed without looking for a signal.
const SHORT: usize = 256;

/// Thread pools by process. A forked process does not have the threads of its parent, so each
/// process has its own pool.
static POOLS: Mutex<BTreeMap<u32, Arc<ThreadPool>>> = Mutex::new(BTreeMap::new());

/// Returns the thread pool of this process.
fn pool() -> PyResult<Arc<ThreadPool>> {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = pools.get(&std::process::id()) {
        return Ok(Arc::clone(pool));
    }
    let pool = ThreadPoolBuilder::new().build().map_err(crate::errors::error)?;
    // The handles of a parent's pool must not be dropped here: that would wait for its threads.
    Ok(Arc::clone(pools.entry(std::process::id()).or_insert(Arc::new(pool))))
}

/// Returns the number of threads to use: `threads`, or all available ones.
pub(crate) fn thread_count(threads: Option<usize>) -> usize {
    threads.filter(|&threads| threads > 0).unwrap_or_else(|| {
        std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
    })
}

/// The progress callback and the stop state of one piece of work.
pub(crate) struct Task {
    progress: Option<Py<PyAny>>,
    error: Mutex<Option<PyErr>>,
    stopped: AtomicBool,
    /// Stops searches.
    pub(crate) control: Arc<SearchControl>,
}

impl Task {
    /// Calls `progress(done, total, message)`. Returns whether to continue.
    pub(crate) fn report(&self, done: u64, total: u64, message: &str) -> bool {
        if let Some(progress) = &self.progress
            && !self.is_stopped()
        {
            let called = Python::attach(|py| progress.call1(py, (done, total, message)).map(drop));
            if let Err(error) = called {
                self.fail(error);
            }
        }
        !self.is_stopped()
    }

    /// Stops the work; `error` is raised when it has stopped.
    pub(crate) fn fail(&self, error: PyErr) {
        let mut first = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(error);
        self.stopped.store(true, Ordering::Relaxed);
        self.control.stop();
    }

    /// Returns whether the work must stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || stop_requested()
    }
}

/// Runs work on another thread and waits for it without the interpreter lock.
///
/// An exception of the progress callback or of a signal handler, such as `KeyboardInterrupt`, stops
/// the work and is raised once it has stopped.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Arc<Task>) -> T + Send,
) -> PyResult<T> {
    let task = Arc::new(Task {
        progress,
        error: Mutex::new(None),
        stopped: AtomicBool::new(false),
        control: Arc::new(SearchControl::unlimited()),
    });
    let task = &task;
    let (result, interrupted) = py.detach(|| {
        let (send, receive) = channel();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // The receiver waits until this is sent.
                let _ = send.send(catch_unwind(AssertUnwindSafe(|| work(task))));
            });
            let mut interrupted = false;
            loop {
                match receive.recv_timeout(SIGNAL_INTERVAL) {
                    Ok(result) => return (Some(result), interrupted),
                    Err(RecvTimeoutError::Disconnected) => return (None, interrupted),
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(error) = Python::attach(|py| py.check_signals()) {
                            interrupted = true;
                            task.fail(error);
                            request_stop();
                        }
                    }
                }
            }
        })
    });
    if interrupted {
        clear_stop_request();
    }
    let error = task.error.lock().unwrap_or_else(PoisonError::into_inner).take();
    match (error, result) {
        (Some(error), _) => Err(error),
        (None, Some(Ok(value))) => Ok(value),
        (None, Some(Err(panic))) => resume_unwind(panic),
        (None, None) => Err(crate::errors::error("the work ended without a result")),
    }
}

/// Like [`run`], for work that is divided among the threads of the pool.
pub(crate) fn run_in_pool<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Arc<Task>) -> T + Send,
) -> PyResult<T> {
    let pool = pool()?;
    run(py, progress, |task| pool.install(|| work(task)))
}

/// Runs a short computation on the thread pool without the interpreter lock.
pub(crate) fn compute<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = pool()?;
    Ok(py.detach(|| pool.install(work)))
}

/// Runs a computation on `len` items on the thread pool without the interpreter lock. A long one can be
/// stopped by Ctrl-C: `work` receives a function that says whether to leave out the rest.
pub(crate) fn compute_items<T: Send>(
    py: Python<'_>,
    len: usize,
    work: impl FnOnce(&(dyn Fn() -> bool + Sync)) -> T + Send,
) -> PyResult<T> {
    if len <= SHORT {
        return compute(py, || work(&|| false));
    }
    let incomplete = AtomicBool::new(false);
    let result = run_in_pool(py, None, |task| {
        work(&|| {
            let is_stopped = task.is_stopped();
            if is_stopped {
                incomplete.store(true, Ordering::Relaxed);
            }
            is_stopped
        })
    })?;
    match incomplete.into_inner() {
        true => Err(interrupted()),
        false => Ok(result),
    }
}

/// Returns the error of work that another thread's Ctrl-C stopped.
pub(crate) fn interrupted() -> PyErr {
    pyo3::exceptions::PyKeyboardInterrupt::new_err("stopped")
}
