//! The coordinator's end of the queue: submits tasks, accepts results, resubmits lost tasks.

mod perform;
pub(crate) mod state_machine;

use crate::LogFn;
use crate::connection::{Connection, Role};
use crate::error::ClusterError;
use crate::in_flight::Time;
use crate::options::ClusterOptions;
use crate::results::ResultReader;
use crate::wire;
use crate::worker_registry::{self, WorkerRegistry};
use futures_util::StreamExt;
use outflank_runs::{
    AcceptFn, BlobStore, JobBatch, Verification, WorkQueue, WorkQueueError, stop_requested,
};
use state_machine::{BatchStateMachine, PollInput};
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum time to wait for a result before doing other work.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// A [`WorkQueue`] whose workers are reached through a NATS server.
pub struct NatsQueue {
    connection: Connection,
    /// Updated by a background task, also between two batches.
    registry: Arc<Mutex<WorkerRegistry>>,
    /// Copies of all blobs, in case the server loses them.
    blobs: Mutex<BTreeMap<String, Vec<u8>>>,
    /// Part of message ids, to distinguish this process from another one that runs the same batch.
    process_name: String,
    /// Number of batches that were started.
    batches: AtomicU64,
    verification: Verification,
    started: Instant,
}

impl fmt::Debug for NatsQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.connection.options.display_address();
        f.debug_struct("NatsQueue").field("address", &address).finish_non_exhaustive()
    }
}

/// The kind of a batch and the checksum of its run identifier, which subjects contain.
struct Batch<'a> {
    kind: &'a str,
    run: String,
}

impl NatsQueue {
    /// Connects to a queue. `log` receives status messages for the user.
    pub fn connect(options: &ClusterOptions, log: LogFn) -> Result<NatsQueue, ClusterError> {
        let connection = Connection::open(options, log, Role::Coordinator)?;
        let (registry, client, names) =
            (Arc::default(), connection.client.clone(), &connection.names);
        let heartbeats = connection.block_on(async {
            let heartbeats = client.subscribe(names.heartbeats()).await;
            let _ = client.publish(names.heartbeat_requests(), "".into()).await;
            heartbeats
        });
        let heartbeats = heartbeats.map_err(connection.server_error("subscribe to heartbeats"))?;
        let (version, log) = (options.version.clone(), connection.log.clone());
        let listen =
            worker_registry::listen(client, heartbeats, version, Arc::clone(&registry), log);
        connection.runtime.spawn(listen);
        let process_name = wire::unique_process_name();
        let verification = Verification::new(options.verify_share, options.verify_threads);
        Ok(NatsQueue {
            connection,
            registry,
            blobs: Mutex::default(),
            process_name,
            batches: AtomicU64::new(0),
            verification,
            started: Instant::now(),
        })
    }

    fn registry(&self) -> MutexGuard<'_, WorkerRegistry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn version(&self) -> &str {
        &self.connection.options.version
    }

    fn log(&self, text: &str) {
        (self.connection.log)(text);
    }

    /// Returns the time since this queue was opened.
    fn now(&self) -> Time {
        self.started.elapsed()
    }

    /// Submits the tasks of a batch and processes results until all jobs are completed.
    fn run_batch(
        &self,
        jobs: JobBatch<'_>,
        encode: &dyn Fn(Range<usize>) -> Vec<u8>,
        accept: &mut AcceptFn<'_>,
    ) -> Result<(), ClusterError> {
        if jobs.jobs == 0 {
            return Ok(());
        }
        let run = wire::short_checksum(jobs.run.as_bytes());
        let batch = Batch { kind: jobs.kind, run };
        let mut reader = ResultReader::new(self.connection.names.run_results(&batch.run));
        // Message ids of an earlier batch would be taken for duplicates.
        let number = self.batches.fetch_add(1, Ordering::Relaxed);
        let process = format!("{}-{number}", self.process_name);
        let queued_before = self.queued_tasks(&batch.run)?;
        let (version, now) = (self.version(), self.now());
        let mut machine =
            BatchStateMachine::new(batch.kind, jobs.jobs, version, &process, queued_before, now);
        let mut outcome = Ok(());
        while machine.end().is_none() && !stop_requested() && outcome.is_ok() {
            outcome = self.step(&batch, &mut machine, &mut reader, encode, accept);
        }
        if let Some(Err(reason)) = machine.end() {
            outcome = Err(ClusterError::TaskFailed(reason.clone()));
        }
        // Delete the remaining tasks, so that workers do not execute them. The results of a stopped
        // batch are kept for the run that resumes it.
        let keep_results = outcome.is_err() || stop_requested();
        self.connection.block_on(self.purge_run(&batch.run, keep_results));
        outcome
    }

    /// Submits due tasks, does maintenance and processes at most one result.
    fn step(
        &self,
        batch: &Batch<'_>,
        machine: &mut BatchStateMachine,
        reader: &mut ResultReader,
        encode: &dyn Fn(Range<usize>) -> Vec<u8>,
        accept: &mut AcceptFn<'_>,
    ) -> Result<(), ClusterError> {
        let (workers, threads) = {
            let registry = self.registry();
            (registry.worker_count(self.version()), registry.thread_count(self.version()))
        };
        let input = PollInput {
            now: self.now(),
            is_connected: self.connection.is_connected(),
            workers,
            threads,
            has_pending_results: reader.has_pending(),
            last_result: reader.last_returned(),
        };
        let actions = machine.poll(input, encode);
        self.perform(batch, machine, actions)?;
        let stored = self.connection.block_on(reader.next(&self.connection, POLL_INTERVAL));
        let Some(stored) = stored else { return Ok(()) };
        let Some((result, blob_key)) = self.parse_result(machine, &stored) else { return Ok(()) };
        let is_quarantined = self.verification.is_quarantined(&result.worker);
        let actions = machine.on_result(&result, is_quarantined, accept, self.now());
        if let Some(sha256) = blob_key.filter(|_| !machine.needs(&result.task)) {
            self.connection.block_on(self.connection.delete_blob(&sha256));
        }
        self.perform(batch, machine, actions)
    }

    /// Stores all blobs that the server does not have.
    fn restore_blobs(&self) -> Result<(), ClusterError> {
        let blobs = self.blobs.lock().unwrap_or_else(PoisonError::into_inner);
        for bytes in blobs.values() {
            self.connection.block_on(self.connection.put_blob(bytes))?;
        }
        Ok(())
    }

    /// Lists the tasks of a run that are queued or in progress.
    fn queued_tasks(&self, run: &str) -> Result<HashSet<String>, ClusterError> {
        self.connection.block_on(async {
            let stream = self.connection.tasks().await?;
            let subject = self.connection.names.run_tasks(run);
            let info = stream.info_with_subjects(subject).await;
            let mut subjects = info.map_err(self.connection.server_error("list tasks"))?;
            let mut queued = HashSet::new();
            while let Some(entry) = subjects.next().await {
                let (subject, _) = entry.map_err(self.connection.server_error("list tasks"))?;
                queued.extend(self.connection.names.parse_task(&subject).map(|name| name.task));
            }
            Ok(queued)
        })
    }

    /// Deletes the tasks of a run and, unless `keep_results` is set, its results.
    async fn purge_run(&self, run: &str, keep_results: bool) {
        if !self.connection.is_connected() {
            return;
        }
        let names = &self.connection.names;
        if let Ok(stream) = self.connection.tasks().await {
            let _ = stream.purge().filter(names.run_tasks(run)).await;
        }
        if !keep_results && let Ok(stream) = self.connection.results().await {
            let _ = stream.purge().filter(names.run_results(run)).await;
        }
    }
}

impl BlobStore for NatsQueue {
    fn put(&self, bytes: &[u8]) -> Result<String, WorkQueueError> {
        let name = self.connection.put(bytes)?;
        let mut blobs = self.blobs.lock().unwrap_or_else(PoisonError::into_inner);
        blobs.entry(name.clone()).or_insert_with(|| bytes.to_vec());
        Ok(name)
    }

    fn get(&self, sha256: &str, max_bytes: u64) -> Result<Vec<u8>, WorkQueueError> {
        let own = self.blobs.lock().unwrap_or_else(PoisonError::into_inner).get(sha256).cloned();
        own.map_or_else(|| self.connection.get(sha256, max_bytes), Ok)
    }
}

impl WorkQueue for NatsQueue {
    fn run(
        &self,
        batch: JobBatch<'_>,
        encode: &dyn Fn(Range<usize>) -> Vec<u8>,
        accept: &mut AcceptFn<'_>,
    ) -> Result<(), WorkQueueError> {
        Ok(self.run_batch(batch, encode, accept)?)
    }

    fn delete(&self, sha256: &str) {
        self.blobs.lock().unwrap_or_else(PoisonError::into_inner).remove(sha256);
        if self.connection.is_connected() {
            self.connection.block_on(self.connection.delete_blob(sha256));
        }
    }

    fn verification(&self) -> &Verification {
        &self.verification
    }

    fn quarantine(&self, worker: &str, reason: &str) {
        if self.verification.quarantine(worker) {
            self.log(&format!(
                "worker {worker} is quarantined: {reason}. Its jobs are executed again; stop this worker."
            ));
        }
    }

    fn status(&self) -> String {
        let mut status = self.registry().status(self.version());
        match self.verification.quarantined_count() {
            0 => {}
            count => status.push_str(&format!("; {count} quarantined")),
        }
        status
    }
}
