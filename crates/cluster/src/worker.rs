//! The one who works for others: draws jobs, does them, stores the answer, acknowledges the job.
//!
//! Each thread has one job at a time. While it works, and until the answer is stored, the server
//! hears every second that the job is in good hands; a worker that is killed falls silent, and the
//! job goes to another.

mod draw;
mod job;
mod store;

use crate::Note;
use crate::error::GridError;
use crate::options::Options;
use crate::roll::{BEAT, counted};
use crate::server::Server;
use crate::wire::{self, Beat};
use futures_util::StreamExt;
use outflank_runs::{JobHandler, stop_requested};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use store::stored;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How often a worker that waits looks whether it should stop.
const GLANCE: Duration = Duration::from_millis(200);

/// What a worker did before it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worked {
    /// Jobs that were done.
    pub jobs: u64,
    /// Jobs that could not be done.
    pub failed: u64,
}

/// What the threads of a worker share.
struct Bench<'a> {
    server: &'a Server,
    trades: &'a [Box<dyn JobHandler>],
    own: &'a str,
    idle: Option<Duration>,
    /// Why answers cannot be stored at the moment; nothing when they can.
    trouble: Arc<Mutex<String>>,
    busy: AtomicUsize,
    /// When anybody last had a job.
    last: Mutex<Instant>,
    jobs: AtomicU64,
    failed: AtomicU64,
}

/// Works for others until the user asks to stop, or nobody has had a job for the time `idle`.
pub fn work(
    options: &Options,
    threads: usize,
    idle: Option<Duration>,
    trades: &[Box<dyn JobHandler>],
    note: Note,
) -> Result<Worked, GridError> {
    let server = Server::connect(options, note, false)?;
    let own = wire::own_name();
    (server.note)(&format!(
        "worker {own}: {} for the queue {} at {}; stop with Ctrl-C",
        counted(threads, "thread"),
        options.queue,
        options.shown()
    ));
    let trouble = Arc::new(Mutex::new(String::new()));
    let beat = Beat {
        worker: own.clone(),
        version: options.version.clone(),
        threads,
        leaving: false,
        trouble: String::new(),
    };
    let calls = server.wait(server.client.subscribe(server.names.calls()));
    let mut calls = calls.map_err(server.failed("pass on calls"))?;
    let saying = server.runtime.spawn({
        let (client, subject) = (server.client.clone(), server.names.beats());
        let (mut beat, trouble) = (beat.clone(), trouble.clone());
        async move {
            loop {
                beat.trouble = trouble.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let words = serde_json::to_vec(&beat).unwrap_or_default();
                let _ = client.publish(subject.clone(), words.into()).await;
                // Every now and then, and at once when somebody asks who is there.
                let _ = timeout(BEAT, calls.next()).await;
            }
        }
    });
    let bench = Bench {
        server: &server,
        trades,
        own: &own,
        idle,
        trouble,
        busy: AtomicUsize::new(0),
        last: Mutex::new(Instant::now()),
        jobs: AtomicU64::new(0),
        failed: AtomicU64::new(0),
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| bench.work());
        }
    });
    saying.abort();
    let words = serde_json::to_vec(&Beat { leaving: true, ..beat }).unwrap_or_default();
    server.wait(async {
        let _ = server.client.publish(server.names.beats(), words.into()).await;
        let _ = timeout(Duration::from_secs(2), server.client.flush()).await;
    });
    Ok(Worked { jobs: bench.jobs.into_inner(), failed: bench.failed.into_inner() })
}

impl Bench<'_> {
    /// One thread's day.
    fn work(&self) {
        let mut consumer = None;
        // The answer to the last job is stored while the next one is fetched and done.
        let mut storing: Option<JoinHandle<()>> = None;
        while !stop_requested() && !self.has_nothing_to_do() {
            let Some(message) = self.server.wait(self.next_job(&mut consumer)) else { continue };
            self.busy.fetch_add(1, Ordering::SeqCst);
            let next = self.do_job(message);
            if let Some(earlier) = storing.take() {
                self.server.wait(stored(earlier, stop_requested));
            }
            storing = next;
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
            self.busy.fetch_sub(1, Ordering::SeqCst);
        }
        if let Some(last) = storing {
            self.server.wait(stored(last, || true));
        }
    }

    fn has_nothing_to_do(&self) -> bool {
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = self.idle.is_some_and(|idle| last.elapsed() >= idle);
        idle && self.busy.load(Ordering::SeqCst) == 0
    }
}
