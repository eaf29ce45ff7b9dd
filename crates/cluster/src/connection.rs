//! A connection to the NATS server: streams, the consumer of the workers, and the object store.

use crate::LogFn;
use crate::error::ClusterError;
use crate::options::ClusterOptions;
use crate::wire::Names;
use async_nats::connection::State;
use async_nats::jetstream::consumer::{AckPolicy, Consumer, pull};
use async_nats::jetstream::object_store::{self, ObjectStore};
use async_nats::jetstream::stream::{Config, RetentionPolicy, StorageType, Stream};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectError, ConnectErrorKind, Event};
use outflank_runs::files::checksum;
use outflank_runs::{BlobStore, WorkQueueError};
use std::fmt::Display;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::runtime::Runtime;

/// Time window in which the server drops messages with a repeated id.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(120);

/// Time after which the server deletes results and blobs of runs that did not clean up.
const MAX_AGE: Duration = Duration::from_secs(30 * 86_400);

/// Number of attempts of a blob transfer.
const ATTEMPTS: u32 = 5;

/// The role of this process on a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Submits tasks, and sets the acknowledgement timeout of the workers' consumer.
    Coordinator,
    /// Executes tasks, with the consumer as the coordinator configured it.
    Worker,
}

/// A connection with its own asynchronous runtime.
pub(crate) struct Connection {
    pub(crate) runtime: Runtime,
    pub(crate) client: Client,
    pub(crate) context: Context,
    pub(crate) names: Names,
    pub(crate) options: ClusterOptions,
    pub(crate) log: LogFn,
    /// Number of times that the connection was established. Requests do not survive a reconnect.
    connections: Arc<AtomicU64>,
    role: Role,
}

impl Connection {
    /// Connects, and creates the streams, the object store and the consumer if they are missing.
    pub(crate) fn open(
        options: &ClusterOptions,
        log: LogFn,
        role: Role,
    ) -> Result<Connection, ClusterError> {
        options.check_queue()?;
        let servers = options.servers()?;
        // One thread does all network I/O; callers block in their own threads.
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let connections = Arc::new(AtomicU64::new(0));
        let (event_log, count) = (log.clone(), connections.clone());
        let connect = options.connect_options()?.event_callback(move |event| {
            let (log, count) = (event_log.clone(), count.clone());
            async move {
                match event {
                    Event::Disconnected => log("connection to the server lost; reconnecting"),
                    // The first event is the initial connection.
                    Event::Connected if count.fetch_add(1, Ordering::SeqCst) > 0 => {
                        log("reconnected to the server");
                    }
                    Event::ServerError(error) => log(&format!("server error: {error}")),
                    _ => {}
                }
            }
        });
        let client = runtime.block_on(connect.connect(servers));
        let client = client.map_err(|error| connect_error(options, &error))?;
        let context = {
            // The context spawns a task, which needs a runtime.
            let _guard = runtime.enter();
            jetstream::new(client.clone())
        };
        let names = Names::new(&options.queue, &options.version);
        let options = options.clone();
        let connection =
            Connection { runtime, client, context, names, options, log, connections, role };
        connection.wait(async {
            let account = connection.context.query_account().await;
            account.map_err(|error| ClusterError::NoJetStream {
                address: connection.options.display_address(),
                reason: error_chain(&error),
            })?;
            connection.set_up().await
        })?;
        Ok(connection)
    }

    /// Blocks until a future completes.
    pub(crate) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Returns whether the server is connected. Requests to a disconnected server time out.
    pub(crate) fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Returns the number of times that the connection was established.
    pub(crate) fn connection_count(&self) -> u64 {
        self.connections.load(Ordering::SeqCst)
    }

    /// Returns a function that converts an error of a server operation.
    pub(crate) fn error<E: std::error::Error>(
        &self,
        operation: &'static str,
    ) -> impl FnOnce(E) -> ClusterError {
        let address = self.options.display_address();
        move |error| ClusterError::Server { address, operation, reason: error_chain(&error) }
    }

    /// Creates the streams, the object store and the consumer if they are missing.
    pub(crate) async fn set_up(&self) -> Result<(), ClusterError> {
        let jobs = Config {
            name: self.names.jobs_stream(),
            subjects: vec![self.names.all_tasks()],
            retention: RetentionPolicy::WorkQueue,
            storage: StorageType::File,
            duplicate_window: DUPLICATE_WINDOW,
            ..Config::default()
        };
        let results = Config {
            name: self.names.results_stream(),
            subjects: vec![self.names.all_results()],
            retention: RetentionPolicy::Limits,
            storage: StorageType::File,
            duplicate_window: DUPLICATE_WINDOW,
            max_age: MAX_AGE,
            ..Config::default()
        };
        let created = self.context.get_or_create_stream(jobs).await;
        created.map_err(self.error("create the stream of jobs"))?;
        let created = self.context.get_or_create_stream(results).await;
        created.map_err(self.error("create the stream of results"))?;
        if self.context.get_object_store(self.names.object_store()).await.is_err() {
            let store = object_store::Config {
                bucket: self.names.object_store(),
                max_age: MAX_AGE,
                ..object_store::Config::default()
            };
            let created = self.context.create_object_store(store).await;
            created.map_err(self.error("create the object store"))?;
        }
        self.consumer().await.map(|_| ())
    }

    /// Opens the stream of jobs.
    pub(crate) async fn jobs(&self) -> Result<Stream, ClusterError> {
        let stream = self.context.get_stream(self.names.jobs_stream()).await;
        stream.map_err(self.error("open the stream of jobs"))
    }

    /// Opens the stream of results.
    pub(crate) async fn results(&self) -> Result<Stream, ClusterError> {
        let stream = self.context.get_stream(self.names.results_stream()).await;
        stream.map_err(self.error("open the stream of results"))
    }

    /// Opens the consumer that all workers of this version share.
    pub(crate) async fn consumer(&self) -> Result<Consumer<pull::Config>, ClusterError> {
        let config = pull::Config {
            durable_name: Some(self.names.consumer()),
            filter_subject: self.names.version_tasks(),
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.options.ack_timeout,
            // No limit here: the worker rejects a task that was delivered too often, because it
            // probably crashes workers.
            max_deliver: -1,
            // Sufficient for many thousands of worker threads.
            max_ack_pending: 200_000,
            max_waiting: 100_000,
            ..pull::Config::default()
        };
        let (jobs, operation) = (self.jobs().await?, "create the consumer of the workers");
        match self.role {
            Role::Coordinator => jobs.create_consumer(config).await.map_err(self.error(operation)),
            Role::Worker => {
                let name = self.names.consumer();
                let consumer = jobs.get_or_create_consumer(&name, config).await;
                consumer.map_err(self.error(operation))
            }
        }
    }

    async fn object_store(&self) -> Result<ObjectStore, ClusterError> {
        let store = self.context.get_object_store(self.names.object_store()).await;
        store.map_err(self.error("open the object store"))
    }

    /// Stores a blob under its checksum, unless it exists. Returns the checksum.
    pub(crate) async fn put_blob(&self, bytes: &[u8]) -> Result<String, ClusterError> {
        let name = checksum(bytes);
        let mut last = None;
        for _ in 0..ATTEMPTS {
            match self.try_put_blob(&name, bytes).await {
                Ok(()) => return Ok(name),
                Err(error) => last = Some(error),
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        last.map_or(Ok(name), Err)
    }

    async fn try_put_blob(&self, name: &str, bytes: &[u8]) -> Result<(), ClusterError> {
        let store = self.object_store().await?;
        if store.info(name).await.is_ok_and(|info| !info.deleted && info.size == bytes.len()) {
            return Ok(());
        }
        let put = store.put(name, &mut &bytes[..]).await;
        put.map(|_| ()).map_err(self.error("store a blob"))
    }

    /// Reads the blob with this checksum and verifies it.
    pub(crate) async fn get_blob(&self, name: &str) -> Result<Vec<u8>, ClusterError> {
        let mut last = None;
        for _ in 0..ATTEMPTS {
            match self.try_get_blob(name).await {
                Ok(bytes) if checksum(&bytes) == name => return Ok(bytes),
                Ok(_) => {
                    let reason = format!("the content of {name} has a different checksum");
                    let address = self.options.display_address();
                    last = Some(ClusterError::Server { address, operation: READ_BLOB, reason });
                }
                Err(error) => last = Some(error),
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        last.map_or(Ok(Vec::new()), Err)
    }

    async fn try_get_blob(&self, name: &str) -> Result<Vec<u8>, ClusterError> {
        let store = self.object_store().await?;
        let mut object = store.get(name).await.map_err(self.error(READ_BLOB))?;
        let mut bytes = Vec::new();
        object.read_to_end(&mut bytes).await.map_err(self.error(READ_BLOB))?;
        Ok(bytes)
    }

    /// Deletes a blob. Errors are ignored: blobs expire.
    pub(crate) async fn delete_blob(&self, name: &str) {
        if let Ok(store) = self.object_store().await {
            let _ = store.delete(name).await;
        }
    }
}

const READ_BLOB: &str = "read a blob";

impl BlobStore for Connection {
    fn put(&self, bytes: &[u8]) -> Result<String, WorkQueueError> {
        Ok(self.wait(self.put_blob(bytes))?)
    }

    fn get(&self, sha256: &str) -> Result<Vec<u8>, WorkQueueError> {
        Ok(self.wait(self.get_blob(sha256))?)
    }
}

/// Classifies a failed connection attempt.
fn connect_error(options: &ClusterOptions, error: &ConnectError) -> ClusterError {
    let (address, reason) = (options.display_address(), error_chain(error));
    match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            options.unauthorized(reason)
        }
        ConnectErrorKind::Tls => ClusterError::Tls { address, reason },
        // A plain-text reply to a TLS handshake.
        _ if reason.contains("InvalidContentType") => ClusterError::TlsUnsupported(address),
        _ if reason.contains("CertificateRequired") => {
            ClusterError::ClientCertificateRequired(address)
        }
        _ if reason.contains("certificate") => ClusterError::Tls { address, reason },
        _ if reason.contains("uthorization") => options.unauthorized(reason),
        _ => ClusterError::Unreachable { address, reason },
    }
}

/// Describes a failed write. A server whose disk was full rejects writes until it is restarted.
pub(crate) fn write_failed(operation: &str, reason: &str) -> String {
    format!(
        "the server cannot {operation} ({reason}). If its disk is full, free space and restart it"
    )
}

/// Formats an error with its chain of causes, without repetitions.
pub(crate) fn error_chain(error: &dyn std::error::Error) -> String {
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
