//! A connection to the server, with what must be there, and content by its checksum.

use crate::Note;
use crate::error::GridError;
use crate::options::Options;
use crate::wire::Names;
use async_nats::connection::State;
use async_nats::jetstream::consumer::{AckPolicy, Consumer, pull};
use async_nats::jetstream::object_store::{self, ObjectStore};
use async_nats::jetstream::stream::{Config, RetentionPolicy, StorageType, Stream};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectErrorKind, Event};
use outflank_runs::files::checksum;
use outflank_runs::{WorkQueueError, BlobStore};
use std::fmt::Display;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::runtime::Runtime;

/// Messages with the same id within this time are one message.
const SAME: Duration = Duration::from_secs(120);

/// Answers that nobody fetches, and content that nobody asked for again, go after this time.
const FORGOTTEN: Duration = Duration::from_secs(30 * 86_400);

/// How often something is tried before it is an error.
const TRIES: u32 = 5;

/// A connection and everything that is asked of it.
pub(crate) struct Server {
    pub(crate) runtime: Runtime,
    pub(crate) client: Client,
    pub(crate) context: Context,
    pub(crate) names: Names,
    pub(crate) options: Options,
    pub(crate) note: Note,
    /// How often the server was reached: a request that was open before is dead.
    times: Arc<AtomicU64>,
    /// Whether this is a coordinator, whose word on how long a worker may be silent counts.
    leads: bool,
}

impl Server {
    /// Connects, and makes sure that streams, store and the workers' consumer are there.
    pub(crate) fn connect(options: &Options, note: Note, leads: bool) -> Result<Server, GridError> {
        options.check_queue()?;
        let servers = options.servers()?;
        // One thread carries the messages; whoever waits for them does so in its own.
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let times = Arc::new(AtomicU64::new(0));
        let (tell, count) = (note.clone(), times.clone());
        let connect = options.connect()?.event_callback(move |event| {
            let (tell, count) = (tell.clone(), count.clone());
            async move {
                match event {
                    Event::Disconnected => tell("the server is away; waiting for it"),
                    // The first time it was not away.
                    Event::Connected if count.fetch_add(1, Ordering::SeqCst) > 0 => {
                        tell("the server is back");
                    }
                    Event::ServerError(error) => tell(&format!("the server says: {error}")),
                    _ => {}
                }
            }
        });
        let at = options.shown();
        let client = runtime.block_on(connect.connect(servers)).map_err(|error| {
            let reason = causes(&error);
            match error.kind() {
                ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
                    options.refused(reason)
                }
                ConnectErrorKind::Tls => GridError::Tls { at: at.clone(), reason },
                // It answers a secure greeting in plain words.
                _ if reason.contains("InvalidContentType") => GridError::NoTls(at.clone()),
                _ if reason.contains("CertificateRequired") => GridError::NoCertificate(at.clone()),
                _ if reason.contains("certificate") => GridError::Tls { at: at.clone(), reason },
                _ if reason.contains("uthorization") => options.refused(reason),
                _ => GridError::Unreachable { at: at.clone(), reason },
            }
        })?;
        let context = {
            // It has a task of its own, which needs to know where to run.
            let _inside = runtime.enter();
            jetstream::new(client.clone())
        };
        let names = Names::new(&options.queue, &options.version);
        let options = options.clone();
        let server = Server { runtime, client, context, names, options, note, times, leads };
        server.wait(async {
            let account = server.context.query_account().await;
            account.map_err(|error| GridError::NoJetStream { at, reason: causes(&error) })?;
            server.set_up().await
        })?;
        Ok(server)
    }

    /// Waits for something that is done asynchronously.
    pub(crate) fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Whether the server is connected; a request to one that is away would only time out.
    pub(crate) fn is_there(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// How often the server was reached by now.
    pub(crate) fn times(&self) -> u64 {
        self.times.load(Ordering::SeqCst)
    }

    /// An error about what the server was to do.
    pub(crate) fn failed<E: std::error::Error>(
        &self,
        doing: &'static str,
    ) -> impl FnOnce(E) -> GridError {
        let at = self.options.shown();
        move |error| GridError::Server { at, doing, reason: causes(&error) }
    }

    /// Makes what is missing; what is there stays.
    pub(crate) async fn set_up(&self) -> Result<(), GridError> {
        let jobs = Config {
            name: self.names.jobs_stream(),
            subjects: vec![self.names.all_jobs()],
            retention: RetentionPolicy::WorkQueue,
            storage: StorageType::File,
            duplicate_window: SAME,
            ..Config::default()
        };
        let results = Config {
            name: self.names.results_stream(),
            subjects: vec![self.names.all_results()],
            retention: RetentionPolicy::Limits,
            storage: StorageType::File,
            duplicate_window: SAME,
            max_age: FORGOTTEN,
            ..Config::default()
        };
        let make = self.context.get_or_create_stream(jobs).await;
        make.map_err(self.failed("make a stream for jobs"))?;
        let make = self.context.get_or_create_stream(results).await;
        make.map_err(self.failed("make a stream for results"))?;
        if self.context.get_object_store(self.names.store()).await.is_err() {
            let store = object_store::Config {
                bucket: self.names.store(),
                max_age: FORGOTTEN,
                ..object_store::Config::default()
            };
            let make = self.context.create_object_store(store).await;
            make.map_err(self.failed("make an object store"))?;
        }
        self.consumer().await.map(|_| ())
    }

    /// The stream of jobs.
    pub(crate) async fn jobs(&self) -> Result<Stream, GridError> {
        let stream = self.context.get_stream(self.names.jobs_stream()).await;
        stream.map_err(self.failed("find the stream of jobs"))
    }

    /// The stream of answers.
    pub(crate) async fn results(&self) -> Result<Stream, GridError> {
        let stream = self.context.get_stream(self.names.results_stream()).await;
        stream.map_err(self.failed("find the stream of results"))
    }

    /// What all workers of this version draw their jobs from.
    pub(crate) async fn consumer(&self) -> Result<Consumer<pull::Config>, GridError> {
        let config = pull::Config {
            durable_name: Some(self.names.consumer()),
            filter_subject: self.names.our_jobs(),
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.options.patience,
            // A job that ends the worker is noticed by the worker that gets it too often.
            max_deliver: -1,
            // Room for many thousands of threads, busy or waiting.
            max_ack_pending: 200_000,
            max_waiting: 100_000,
            ..pull::Config::default()
        };
        let (jobs, doing) = (self.jobs().await?, "make a consumer for workers");
        match self.leads {
            true => jobs.create_consumer(config).await.map_err(self.failed(doing)),
            false => {
                let name = self.names.consumer();
                jobs.get_or_create_consumer(&name, config).await.map_err(self.failed(doing))
            }
        }
    }

    async fn store(&self) -> Result<ObjectStore, GridError> {
        let store = self.context.get_object_store(self.names.store()).await;
        store.map_err(self.failed("find the object store"))
    }

    /// Stores content under its checksum, unless it is there.
    pub(crate) async fn put(&self, bytes: &[u8]) -> Result<String, GridError> {
        let name = checksum(bytes);
        let mut last = None;
        for _ in 0..TRIES {
            match self.put_once(&name, bytes).await {
                Ok(()) => return Ok(name),
                Err(error) => last = Some(error),
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        last.map_or(Ok(name), Err)
    }

    async fn put_once(&self, name: &str, bytes: &[u8]) -> Result<(), GridError> {
        let store = self.store().await?;
        if store.info(name).await.is_ok_and(|info| !info.deleted && info.size == bytes.len()) {
            return Ok(());
        }
        let put = store.put(name, &mut &bytes[..]).await;
        put.map(|_| ()).map_err(self.failed("store content"))
    }

    /// The content with a checksum; anything else under that name is an error.
    pub(crate) async fn get(&self, name: &str) -> Result<Vec<u8>, GridError> {
        let mut last = None;
        for _ in 0..TRIES {
            match self.get_once(name).await {
                Ok(bytes) if checksum(&bytes) == name => return Ok(bytes),
                Ok(_) => {
                    let reason = format!("what it holds as {name} is something else");
                    let (at, doing) = (self.options.shown(), "give back content");
                    last = Some(GridError::Server { at, doing, reason });
                }
                Err(error) => last = Some(error),
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        last.map_or(Ok(Vec::new()), Err)
    }

    async fn get_once(&self, name: &str) -> Result<Vec<u8>, GridError> {
        let store = self.store().await?;
        let mut object = store.get(name).await.map_err(self.failed("give back content"))?;
        let mut bytes = Vec::new();
        object.read_to_end(&mut bytes).await.map_err(self.failed("give back content"))?;
        Ok(bytes)
    }

    /// Removes content that nobody needs any more.
    pub(crate) async fn remove(&self, name: &str) {
        if let Ok(store) = self.store().await {
            let _ = store.delete(name).await;
        }
    }
}

impl BlobStore for Server {
    fn put(&self, bytes: &[u8]) -> Result<String, WorkQueueError> {
        Ok(self.wait(self.put(bytes))?)
    }

    fn get(&self, sha256: &str) -> Result<Vec<u8>, WorkQueueError> {
        Ok(self.wait(self.get(sha256))?)
    }
}

/// What to say of a server that stores nothing: one whose disk was full goes on storing nothing
/// until it is started again.
pub(crate) fn no_room(what: &str, reason: &str) -> String {
    format!("the server {what} ({reason}); if its disk is full, make room and start it again")
}

/// An error and what brought it about, each thing once.
pub(crate) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let more = (cause as &dyn Display).to_string();
        let more = more.strip_prefix("nats: ").unwrap_or(&more);
        if !text.contains(more) {
            text = format!("{text}: {more}");
        }
        next = cause.source();
    }
    text
}
