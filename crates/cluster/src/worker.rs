//! The worker's end of the queue: fetches tasks, executes them, publishes their results and
//! acknowledges them.
//!
//! Each thread executes one task at a time. Until the result is stored, the worker sends the server
//! a progress acknowledgement every second. If the worker is killed, the acknowledgements stop and
//! the server delivers the task to another worker.

mod execute;
mod fetch;
mod publish;
pub(crate) mod state_machine;

use crate::LogFn;
use crate::connection::{Connection, Role};
use crate::error::ClusterError;
use crate::options::ClusterOptions;
use crate::wire::{self, Heartbeat};
use crate::worker_registry::{HEARTBEAT_INTERVAL, with_count};
use async_nats::{Client, Subscriber};
use futures_util::StreamExt;
use outflank_runs::{JobHandler, stop_requested};
use publish::wait_until_stored;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Interval at which a waiting worker checks for a stop request.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Numbers of tasks that a worker executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerSummary {
    /// Tasks with a result.
    pub completed: u64,
    /// Tasks that failed.
    pub failed: u64,
}

/// State shared by the threads of a worker.
struct WorkerState<'a> {
    connection: &'a Connection,
    handlers: &'a [Box<dyn JobHandler>],
    name: &'a str,
    idle_timeout: Option<Duration>,
    /// Why results cannot be stored at present; empty if they can.
    storage_error: Arc<Mutex<String>>,
    busy_threads: AtomicUsize,
    /// Time at which a thread last finished a task.
    last_active: Mutex<Instant>,
    completed: AtomicU64,
    failed: AtomicU64,
    started: Instant,
}

/// Executes tasks until the user requests a stop, or no thread had a task for `idle_timeout`.
pub fn run_worker(
    options: &ClusterOptions,
    threads: usize,
    idle_timeout: Option<Duration>,
    handlers: &[Box<dyn JobHandler>],
    log: LogFn,
) -> Result<WorkerSummary, ClusterError> {
    let connection = Connection::open(options, log, Role::Worker)?;
    let name = wire::unique_process_name();
    (connection.log)(&format!(
        "worker {name}: {}, queue {} at {}; press Ctrl-C to stop",
        with_count(threads, "thread"),
        options.queue,
        options.display_address()
    ));
    let storage_error = Arc::new(Mutex::new(String::new()));
    let heartbeat = Heartbeat {
        worker: name.clone(),
        version: options.version.clone(),
        threads,
        leaving: false,
        problem: String::new(),
    };
    let requests = connection.client.subscribe(connection.names.heartbeat_requests());
    let requests = connection.block_on(requests);
    let requests = requests.map_err(connection.server_error("subscribe to heartbeat requests"))?;
    let heartbeats = connection.runtime.spawn(send_heartbeats(
        connection.client.clone(),
        connection.names.heartbeats(),
        requests,
        heartbeat.clone(),
        storage_error.clone(),
    ));
    let state = WorkerState {
        connection: &connection,
        handlers,
        name: &name,
        idle_timeout,
        storage_error,
        busy_threads: AtomicUsize::new(0),
        last_active: Mutex::new(Instant::now()),
        completed: AtomicU64::new(0),
        failed: AtomicU64::new(0),
        started: Instant::now(),
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| state.run_thread());
        }
    });
    heartbeats.abort();
    let last = serde_json::to_vec(&Heartbeat { leaving: true, ..heartbeat }).unwrap_or_default();
    connection.block_on(async {
        let _ = connection.client.publish(connection.names.heartbeats(), last.into()).await;
        let _ = timeout(Duration::from_secs(2), connection.client.flush()).await;
    });
    Ok(WorkerSummary { completed: state.completed.into_inner(), failed: state.failed.into_inner() })
}

/// Sends heartbeats at a fixed interval, and at once when a coordinator requests one.
async fn send_heartbeats(
    client: Client,
    subject: String,
    mut requests: Subscriber,
    mut heartbeat: Heartbeat,
    storage_error: Arc<Mutex<String>>,
) {
    loop {
        heartbeat.problem = storage_error.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let payload = serde_json::to_vec(&heartbeat).unwrap_or_default();
        let _ = client.publish(subject.clone(), payload.into()).await;
        let _ = timeout(HEARTBEAT_INTERVAL, requests.next()).await;
    }
}

impl WorkerState<'_> {
    /// Runs the loop of one thread: fetch a task, execute it, store its result.
    fn run_thread(&self) {
        let mut consumer = None;
        // The result of a task is stored while the next task is fetched and executed.
        let mut storing: Option<JoinHandle<()>> = None;
        while !stop_requested() && !self.is_idle() {
            let Some(message) = self.connection.block_on(self.fetch_task(&mut consumer)) else {
                continue;
            };
            self.busy_threads.fetch_add(1, Ordering::SeqCst);
            let storing_next = self.execute(message);
            if let Some(previous) = storing.take() {
                self.connection.block_on(wait_until_stored(previous, stop_requested));
            }
            storing = storing_next;
            *self.last_active.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
            self.busy_threads.fetch_sub(1, Ordering::SeqCst);
        }
        if let Some(last) = storing {
            self.connection.block_on(wait_until_stored(last, || true));
        }
    }

    /// Returns whether no thread had a task for the idle timeout.
    fn is_idle(&self) -> bool {
        let last = *self.last_active.lock().unwrap_or_else(PoisonError::into_inner);
        let timed_out = self.idle_timeout.is_some_and(|idle| last.elapsed() >= idle);
        timed_out && self.busy_threads.load(Ordering::SeqCst) == 0
    }
}
