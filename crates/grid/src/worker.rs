//! The one who works for others: draws jobs, does them, stores the answer, acknowledges the job.
//!
//! Each thread has one job at a time. While it works, and until the answer is stored, the server
//! hears every second that the job is in good hands; a worker that is killed falls silent, and the
//! job goes to another.

use crate::Note;
use crate::error::GridError;
use crate::options::Options;
use crate::roll::{BEAT, counted};
use crate::server::{Server, causes, no_room};
use crate::wire::{self, Beat, header};
use async_nats::HeaderMap;
use async_nats::jetstream::consumer::{Consumer, pull};
use async_nats::jetstream::message::Acker;
use async_nats::jetstream::{AckKind, Context, Message};
use futures_util::StreamExt;
use outflank_runs::files::checksum;
use outflank_runs::{Trade, stop_requested};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// How often the server hears that a job is being done.
const IN_PROGRESS: Duration = Duration::from_secs(1);

/// The server keeps a request for a job open for so long.
const OPEN: Duration = Duration::from_secs(3);

/// A request that the server has not ended by then is dead.
const DEAD: Duration = Duration::from_secs(5);

/// How often a worker that waits looks whether it should stop.
const GLANCE: Duration = Duration::from_millis(200);

/// A worker that goes waits so long for its last answer to be stored.
const GOING: Duration = Duration::from_secs(10);

/// A job that was given out so often ends whoever does it.
const MOST_TIMES: i64 = 20;

/// An answer larger than this goes through the object store; a message may have a megabyte.
const LARGE: usize = 512 * 1024;

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
    trades: &'a [Box<dyn Trade>],
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
    trades: &[Box<dyn Trade>],
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

    /// Waits a while for a job.
    async fn next_job(&self, consumer: &mut Option<Consumer<pull::Config>>) -> Option<Message> {
        if !self.server.is_there() {
            sleep(Duration::from_millis(100)).await;
            return None;
        }
        if consumer.is_none() {
            match self.server.consumer().await {
                Ok(found) => *consumer = Some(found),
                Err(_) => {
                    // The stream may be gone with the server's disk.
                    let _ = self.server.set_up().await;
                    sleep(Duration::from_millis(500)).await;
                    return None;
                }
            }
        }
        let request = consumer.as_ref()?.batch().max_messages(1).expires(OPEN).messages().await;
        let (since, times) = (Instant::now(), self.server.times());
        let Ok(mut request) = request else {
            *consumer = None;
            return None;
        };
        while !stop_requested() && since.elapsed() < DEAD {
            match timeout(GLANCE, request.next()).await {
                Err(_) if self.server.is_there() && self.server.times() == times => {}
                Err(_) => break,
                Ok(Some(Ok(message))) => return Some(message),
                Ok(Some(Err(_))) => {
                    *consumer = None;
                    sleep(Duration::from_millis(200)).await;
                    return None;
                }
                Ok(None) => return None,
            }
        }
        None
    }

    /// Does a job; the handle is of what stores the answer.
    fn do_job(&self, message: Message) -> Option<JoinHandle<()>> {
        let info = message.info();
        let (times, place) = info.map_or((1, 0), |info| (info.delivered, info.stream_sequence));
        let (message, acker) = message.split();
        let acker = Arc::new(acker);
        let holding = self.server.runtime.spawn({
            let acker = acker.clone();
            async move {
                loop {
                    sleep(IN_PROGRESS).await;
                    let _ = acker.ack_with(AckKind::Progress).await;
                }
            }
        });
        let headers = message.headers.as_ref();
        let of = |name| header(headers, name);
        let began = Instant::now();
        let result = match times > MOST_TIMES {
            true => Err(format!("a job was given out {times} times and ended every worker")),
            false => self.result(of(wire::KIND), of(wire::VERSION), &message.payload),
        };
        if stop_requested() {
            // Whatever there is may be half of it.
            holding.abort();
            let _ = self.server.wait(acker.ack_with(AckKind::Nak(None)));
            return None;
        }
        let mut answer = HeaderMap::new();
        let payload = match result {
            Ok(bytes) => {
                self.jobs.fetch_add(1, Ordering::Relaxed);
                bytes
            }
            Err(reason) => {
                self.failed.fetch_add(1, Ordering::Relaxed);
                (self.server.note)(&format!("cannot do a job: {reason}"));
                answer.insert(wire::FAILED, "yes");
                reason.into_bytes()
            }
        };
        answer.insert(wire::VERSION, self.server.options.version.as_str());
        answer.insert(wire::WORKER, self.own);
        answer.insert(wire::JOB, of(wire::JOB));
        answer.insert(wire::SUM, checksum(&payload).as_str());
        answer.insert(wire::SECONDS, format!("{:.6}", began.elapsed().as_secs_f64()).as_str());
        // Storing it twice is storing it once; but every time that a job is given out there may be
        // another answer, since the one before may have been refused or removed.
        let id = format!("{}/{}/{place}/{times}", of(wire::JOB), self.own);
        answer.insert(wire::MESSAGE_ID, id.as_str());
        let payload = match payload.len() > LARGE {
            false => payload,
            true => match self.server.wait(self.server.put(&payload)) {
                Ok(_) => {
                    answer.insert(wire::ASIDE, "yes");
                    Vec::new()
                }
                Err(error) => {
                    (self.server.note)(&format!("cannot store an answer: {error}"));
                    holding.abort();
                    return None;
                }
            },
        };
        let subject = self.server.names.result(of(wire::RUN), of(wire::JOB));
        let store = Store {
            context: self.server.context.clone(),
            note: self.server.note.clone(),
            trouble: self.trouble.clone(),
            subject,
            headers: answer,
            payload,
            acker,
            holding,
        };
        Some(self.server.runtime.spawn(store.run()))
    }

    /// What a job comes to. A panic is a failure of this job, not of the worker.
    fn result(&self, kind: &str, version: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        let own = &self.server.options.version;
        if version != own {
            return Err(format!("the job is of version {version}, this worker of {own}"));
        }
        let trade = self.trades.iter().find(|trade| trade.kind() == kind);
        let trade = trade.ok_or_else(|| format!("this worker knows no work called '{kind}'"))?;
        let done = catch_unwind(AssertUnwindSafe(|| trade.work(payload, self.server)));
        done.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(format!("internal error: {}", text.unwrap_or("a panic")))
        })
    }
}

/// Waits until an answer is stored, and not for ever once the worker is going: a server that cannot
/// store it has the job still, and gives it to another.
async fn stored(mut storing: JoinHandle<()>, going: impl Fn() -> bool) {
    let mut left = GOING;
    while !left.is_zero() && timeout(GLANCE, &mut storing).await.is_err() {
        if going() {
            left = left.saturating_sub(GLANCE);
        }
    }
}

/// An answer on its way to the server.
struct Store {
    context: Context,
    note: Note,
    trouble: Arc<Mutex<String>>,
    subject: String,
    headers: HeaderMap,
    payload: Vec<u8>,
    acker: Arc<Acker>,
    holding: JoinHandle<()>,
}

impl Store {
    /// Stores the answer, trying until the server takes it, then acknowledges the job.
    async fn run(self) {
        let Store { context, note, trouble, subject, headers, payload, acker, holding } = self;
        let is = |text: String| *trouble.lock().unwrap_or_else(PoisonError::into_inner) = text;
        let mut told = false;
        loop {
            let (headers, payload) = (headers.clone(), payload.clone().into());
            let stored = match context.publish_with_headers(subject.clone(), headers, payload).await
            {
                Ok(ack) => ack.await.map(|_| ()),
                Err(error) => Err(error),
            };
            let Err(error) = stored else { break };
            if !told {
                let text = no_room("stores no answers", &causes(&error));
                note(&format!("{text}; trying on"));
                is(text);
                told = true;
            }
            sleep(Duration::from_secs(1)).await;
        }
        is(String::new());
        let _ = acker.ack().await;
        holding.abort();
    }
}
