//! A job queue on a Python executor.
//!
//! The tasks are those of remote workers: bytes that name games of a contest or runs of an experiment. A process of the executor
//! executes a task, and its result is checked here, so the results do not depend on the executor.

use crate::errors::{OrRaise, error};
use outflank_arena::remote::GameJobHandler;
use outflank_experiments::RunJobHandler;
use outflank_runs::files::checksum;
use outflank_runs::{
    AcceptFn, Ack, BlobStore, JobBatch, JobHandler, Verification, WorkQueue, WorkQueueError,
    stop_requested,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tempfile::TempDir;

/// Tasks per worker, so that workers with short tasks do not wait for one with a long task.
const TASKS_PER_WORKER: usize = 4;

/// The name of all workers of an executor.
const EXECUTOR: &str = "executor";

/// The largest total size of the models that a process keeps, in bytes.
const CACHE_BYTES: u64 = 4 << 30;

type Blobs = BTreeMap<String, Vec<u8>>;

/// A work queue whose tasks a `concurrent.futures.Executor` executes.
pub(crate) struct ExecutorQueue {
    /// The Python object `outflank._executor.Runner`.
    runner: Py<PyAny>,
    workers: usize,
    blobs: Mutex<Blobs>,
    /// Verifies nothing: the processes of an executor belong to the caller.
    verification: Verification,
    /// Returns whether the caller requested a stop.
    is_stopped: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl fmt::Debug for ExecutorQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutorQueue").field("workers", &self.workers).finish_non_exhaustive()
    }
}

impl ExecutorQueue {
    /// Creates a queue on an executor.
    pub(crate) fn new(
        executor: &Bound<'_, PyAny>,
        is_stopped: Arc<dyn Fn() -> bool + Send + Sync>,
    ) -> PyResult<ExecutorQueue> {
        let module = executor.py().import("outflank._executor")?;
        let runner = module.getattr("Runner")?.call1((executor,))?;
        let workers = runner.getattr("workers")?.extract()?;
        let runner = runner.unbind();
        let verification = Verification::new(0.0, 1);
        Ok(ExecutorQueue { runner, workers, blobs: Mutex::default(), verification, is_stopped })
    }

    fn blobs(&self) -> std::sync::MutexGuard<'_, Blobs> {
        self.blobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopped(&self) -> bool {
        stop_requested() || (self.is_stopped)()
    }

    /// Submits a message. Its result has the number `id`.
    fn submit(&self, kind: &str, id: usize, message: &[u8]) -> PyResult<()> {
        Python::attach(|py| {
            let blobs = PyDict::new(py);
            for (key, blob) in self.blobs().iter() {
                blobs.set_item(key, PyBytes::new(py, blob))?;
            }
            let message = PyBytes::new(py, message);
            self.runner.call_method1(py, "submit", (id, kind, message, blobs)).map(drop)
        })
    }

    /// Waits a moment and returns the finished results.
    fn finished(&self) -> PyResult<Vec<(usize, Vec<u8>)>> {
        Python::attach(|py| {
            let found = self.runner.call_method0(py, "finished")?;
            let found: Vec<(usize, Bound<'_, PyBytes>)> = found.extract(py)?;
            Ok(found.into_iter().map(|(id, bytes)| (id, bytes.as_bytes().to_vec())).collect())
        })
    }

    fn cancel(&self) {
        // The work is over; errors of the cancellation change nothing.
        let _ = Python::attach(|py| self.runner.call_method0(py, "cancel").map(drop));
    }
}

impl BlobStore for ExecutorQueue {
    fn put(&self, bytes: &[u8]) -> Result<String, WorkQueueError> {
        let key = checksum(bytes);
        self.blobs().insert(key.clone(), bytes.to_vec());
        Ok(key)
    }

    fn get(&self, sha256: &str, max_bytes: u64) -> Result<Vec<u8>, WorkQueueError> {
        MapBlobs(&self.blobs()).get(sha256, max_bytes)
    }
}

impl WorkQueue for ExecutorQueue {
    fn run(
        &self,
        batch: JobBatch<'_>,
        encode: &dyn Fn(Range<usize>) -> Vec<u8>,
        accept: &mut AcceptFn<'_>,
    ) -> Result<(), WorkQueueError> {
        let failed = |error: PyErr| WorkQueueError(format!("the executor failed: {error}"));
        let size = batch.jobs.div_ceil(self.workers * TASKS_PER_WORKER).max(1);
        let ranges: Vec<Range<usize>> =
            (0..batch.jobs).step_by(size).map(|from| from..(from + size).min(batch.jobs)).collect();
        for (id, range) in ranges.iter().enumerate() {
            self.submit(batch.kind, id, &encode(range.clone())).map_err(failed)?;
        }
        let mut open = ranges.len();
        while open > 0 {
            if self.is_stopped() {
                self.cancel();
                return Ok(());
            }
            for (id, result) in self.finished().map_err(failed)? {
                let range = ranges.get(id).cloned().unwrap_or(0..0);
                match accept(range, EXECUTOR, &result) {
                    Ack::Accepted => open -= 1,
                    Ack::Stop => {
                        self.cancel();
                        return Ok(());
                    }
                    Ack::Rejected(reason) => {
                        self.cancel();
                        return Err(WorkQueueError(format!(
                            "the executor returned an invalid result: {reason}"
                        )));
                    }
                }
            }
        }
        Ok(())
    }

    fn verification(&self) -> &Verification {
        &self.verification
    }

    fn quarantine(&self, worker: &str, _: &str) {
        self.verification.quarantine(worker);
    }

    fn delete(&self, sha256: &str) {
        self.blobs().remove(sha256);
    }

    fn status(&self) -> String {
        format!("{} workers", self.workers)
    }
}

/// The blobs of a task.
struct MapBlobs<'a>(&'a Blobs);

impl BlobStore for MapBlobs<'_> {
    fn put(&self, _: &[u8]) -> Result<String, WorkQueueError> {
        Err(WorkQueueError("a task stores no blobs".to_owned()))
    }

    fn get(&self, sha256: &str, max_bytes: u64) -> Result<Vec<u8>, WorkQueueError> {
        match self.0.get(sha256) {
            Some(blob) if blob.len() as u64 <= max_bytes => Ok(blob.clone()),
            Some(_) => {
                Err(WorkQueueError(format!("blob {sha256} has more than {max_bytes} bytes")))
            }
            None => Err(WorkQueueError(format!("no blob {sha256}"))),
        }
    }
}

/// The handlers of this process, their folder, and the number of running tasks.
struct Worker {
    handlers: [Box<dyn JobHandler>; 2],
    folder: PathBuf,
    running: Mutex<usize>,
}

/// Executes a task in a process of an executor. The function outflank._executor.execute_task calls it.
#[pyfunction]
pub(crate) fn execute_task<'py>(
    py: Python<'py>,
    kind: &str,
    task: &[u8],
    blobs: Blobs,
) -> PyResult<Bound<'py, PyBytes>> {
    static WORKER: OnceLock<Result<Worker, String>> = OnceLock::new();
    let worker = WORKER.get_or_init(|| {
        let folder = TempDir::new().map_err(|error| error.to_string())?.keep();
        let _ = std::fs::remove_dir(&folder);
        Ok(Worker {
            handlers: [
                Box::new(GameJobHandler::new(&folder, CACHE_BYTES)),
                Box::new(RunJobHandler::new(&folder)),
            ],
            folder,
            running: Mutex::new(0),
        })
    });
    let worker = worker.as_ref().map_err(error)?;
    let handler = worker.handlers.iter().find(|handler| handler.kind() == kind);
    let handler =
        handler.ok_or_else(|| error(format!("there is no handler for jobs of kind '{kind}'")))?;
    let running = || worker.running.lock().unwrap_or_else(PoisonError::into_inner);
    let result = py.detach(|| {
        *running() += 1;
        let result = handler.execute(task, &MapBlobs(&blobs));
        let mut running = running();
        *running -= 1;
        if *running == 0 {
            // Loaded players do not read their files again.
            let _ = std::fs::remove_dir_all(&worker.folder);
        }
        result
    });
    Ok(PyBytes::new(py, &result.or_raise()?))
}
