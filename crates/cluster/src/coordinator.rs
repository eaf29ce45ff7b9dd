//! The coordinator's end of the queue: submits tasks, accepts results, resubmits lost tasks.

mod accept;
mod publish;

use crate::LogFn;
use crate::connection::{Connection, Role};
use crate::error::ClusterError;
use crate::in_flight::InFlightTasks;
use crate::options::ClusterOptions;
use crate::results::ResultReader;
use crate::wire::{self, task_id};
use crate::worker_registry::{self, WorkerRegistry};
use futures_util::StreamExt;
use outflank_runs::{Ack, BlobStore, JobBatch, WorkQueue, WorkQueueError, stop_requested};
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum time to wait for a result before doing other work.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Interval between maintenance passes: finding lost tasks, deleting accepted results.
const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(3);

/// Interval between warnings that there is no worker.
const WARNING_INTERVAL: Duration = Duration::from_secs(30);

/// Maximum number of tasks to publish before reading results again.
const MAX_PUBLISHED_AT_ONCE: usize = 64;

/// A [`WorkQueue`] whose workers are reached through a NATS server.
pub struct NatsQueue {
    connection: Connection,
    /// Updated by a background task, also between two batches.
    registry: Arc<Mutex<WorkerRegistry>>,
    /// Copies of all blobs, in case the server loses them.
    blobs: Mutex<BTreeMap<String, Vec<u8>>>,
    /// Distinguishes the messages of this process from those of another with the same batch.
    process: String,
}

impl fmt::Debug for NatsQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.connection.options.display_address();
        f.debug_struct("NatsQueue").field("address", &address).finish_non_exhaustive()
    }
}

/// The state of a batch in progress.
struct BatchState<'a> {
    batch: JobBatch<'a>,
    /// The run's token in subjects.
    run: String,
    in_flight: InFlightTasks,
    results: ResultReader,
    /// Tasks that were already queued when this process started.
    queued_before: HashSet<String>,
    last_maintenance: Instant,
    last_warning: Instant,
}

impl NatsQueue {
    /// Connects to a queue. `log` receives status messages for the user.
    pub fn connect(options: &ClusterOptions, log: LogFn) -> Result<NatsQueue, ClusterError> {
        let connection = Connection::open(options, log, Role::Coordinator)?;
        let (registry, client, names) =
            (Arc::default(), connection.client.clone(), &connection.names);
        let heartbeats = connection.wait(async {
            let heartbeats = client.subscribe(names.heartbeats()).await;
            let _ = client.publish(names.heartbeat_requests(), "".into()).await;
            heartbeats
        });
        let heartbeats = heartbeats.map_err(connection.error("subscribe to heartbeats"))?;
        let (version, log) = (options.version.clone(), connection.log.clone());
        let listen =
            worker_registry::listen(client, heartbeats, version, Arc::clone(&registry), log);
        connection.runtime.spawn(listen);
        let process = wire::unique_process_name();
        Ok(NatsQueue { connection, registry, blobs: Mutex::default(), process })
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

    fn run_batch(
        &self,
        batch: JobBatch<'_>,
        encode: &dyn Fn(Range<usize>) -> Vec<u8>,
        accept: &mut dyn FnMut(Range<usize>, &[u8]) -> Ack,
    ) -> Result<(), ClusterError> {
        if batch.jobs == 0 {
            return Ok(());
        }
        let names = &self.connection.names;
        let run = wire::short_checksum(batch.run.as_bytes());
        let now = Instant::now();
        let mut state = BatchState {
            in_flight: InFlightTasks::new(batch.jobs),
            results: ResultReader::new(names.run_results(&run)),
            queued_before: self.queued_tasks(&run)?,
            last_maintenance: now,
            // Warn soon, but leave workers the time to send a heartbeat.
            last_warning: now - WARNING_INTERVAL + MAINTENANCE_INTERVAL,
            batch,
            run,
        };
        let mut outcome = Ok(());
        while !state.in_flight.all_completed() && !stop_requested() {
            match self.step(&mut state, encode, accept) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => break,
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            }
        }
        // Delete the remaining tasks, so that workers do not execute them. The results of a stopped
        // batch are kept for the run that resumes it.
        let keep_results = outcome.is_err() || stop_requested();
        self.connection.wait(self.purge_run(&state.run, keep_results));
        outcome
    }

    fn step(
        &self,
        state: &mut BatchState<'_>,
        encode: &dyn Fn(Range<usize>) -> Vec<u8>,
        accept: &mut dyn FnMut(Range<usize>, &[u8]) -> Ack,
    ) -> Result<ControlFlow<()>, ClusterError> {
        let threads = self.registry().count(self.version()).1;
        let mut new = Vec::new();
        while new.len() < MAX_PUBLISHED_AT_ONCE
            && let Some(range) = state.in_flight.next_range(threads)
        {
            let content = encode(range.clone());
            let task = task_id(state.batch.kind, self.version(), &content);
            state.in_flight.add(&task, range, content);
            new.push(task);
        }
        self.submit(state, &new);
        let result = self.connection.wait(state.results.next(&self.connection, POLL_INTERVAL));
        if let Some(result) = result
            && self.process_result(state, &result, accept)?.is_break()
        {
            return Ok(ControlFlow::Break(()));
        }
        if state.last_maintenance.elapsed() >= MAINTENANCE_INTERVAL {
            self.maintain(state)?;
            state.last_maintenance = Instant::now();
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Resubmits lost tasks and deletes accepted results.
    fn maintain(&self, state: &mut BatchState<'_>) -> Result<(), ClusterError> {
        let workers = self.registry().count(self.version()).0;
        if workers == 0 && state.last_warning.elapsed() >= WARNING_INTERVAL {
            state.last_warning = Instant::now();
            let options = &self.connection.options;
            let (address, queue) = (options.display_address(), &options.queue);
            self.log(&format!(
                "waiting for workers; start one with: outflank worker --on {address} --queue {queue}"
            ));
        }
        if !self.connection.is_connected() {
            return Ok(());
        }
        let before = Instant::now() - MAINTENANCE_INTERVAL;
        if state.in_flight.any_submitted_before(before) && !state.results.has_pending() {
            // If the server does not respond, the next maintenance pass tries again.
            if let Ok(queued) = self.queued_tasks(&state.run) {
                let lost = state.in_flight.lost(&queued, before);
                if !lost.is_empty() {
                    // The server may have lost its blobs too.
                    self.log(&format!("{} tasks were lost; submitting them again", lost.len()));
                    self.restore_blobs()?;
                }
                lost.iter().for_each(|task| self.resubmit(state, task));
            }
        }
        let sequence = state.in_flight.delete_before(state.results.last_returned());
        let subject = self.connection.names.run_results(&state.run);
        self.connection.wait(async {
            if let Ok(stream) = self.connection.results().await {
                let _ = stream.purge().filter(subject).sequence(sequence).await;
            }
        });
        Ok(())
    }

    /// Stores all blobs that the server does not have.
    fn restore_blobs(&self) -> Result<(), ClusterError> {
        let blobs = self.blobs.lock().unwrap_or_else(PoisonError::into_inner);
        for bytes in blobs.values() {
            self.connection.wait(self.connection.put_blob(bytes))?;
        }
        Ok(())
    }

    /// Lists the tasks of a run that are queued or in progress.
    fn queued_tasks(&self, run: &str) -> Result<HashSet<String>, ClusterError> {
        self.connection.wait(async {
            let stream = self.connection.jobs().await?;
            let subject = self.connection.names.run_tasks(run);
            let info = stream.info_with_subjects(subject).await;
            let mut subjects = info.map_err(self.connection.error("list jobs"))?;
            let mut queued = HashSet::new();
            while let Some(entry) = subjects.next().await {
                let (subject, _) = entry.map_err(self.connection.error("list jobs"))?;
                queued.extend(subject.rsplit('.').next().map(str::to_owned));
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
        if let Ok(stream) = self.connection.jobs().await {
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

    fn get(&self, sha256: &str) -> Result<Vec<u8>, WorkQueueError> {
        self.connection.get(sha256)
    }
}

impl WorkQueue for NatsQueue {
    fn run(
        &self,
        batch: JobBatch<'_>,
        encode: &dyn Fn(Range<usize>) -> Vec<u8>,
        accept: &mut dyn FnMut(Range<usize>, &[u8]) -> Ack,
    ) -> Result<(), WorkQueueError> {
        Ok(self.run_batch(batch, encode, accept)?)
    }

    fn delete(&self, sha256: &str) {
        self.blobs.lock().unwrap_or_else(PoisonError::into_inner).remove(sha256);
        if self.connection.is_connected() {
            self.connection.wait(self.connection.delete_blob(sha256));
        }
    }

    fn status(&self) -> String {
        self.registry().status(self.version())
    }
}
