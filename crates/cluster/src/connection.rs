//! A connection to the NATS server: streams, the consumer of the workers, and the object store.

use crate::LogFn;
use crate::error::ClusterError;
use crate::options::ClusterOptions;
use crate::text::sanitize;
use crate::wire::QueueNames;
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
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::runtime::Runtime;
use tokio::time::{sleep, timeout};

/// Time window in which the server drops messages with a repeated id.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(120);

/// Time after which the server deletes results and blobs of runs that did not clean up.
const MAX_AGE: Duration = Duration::from_secs(30 * 86_400);

/// Maximum number of characters of a message to the user.
const MAX_LOG_LINE: usize = 4000;

/// Time without data after which the transfer of a blob is attempted again.
const TRANSFER_STALL: Duration = Duration::from_secs(10);

/// Bytes of a blob that are read at a time.
const READ_BYTES: usize = 1 << 16;

/// Maximum attempts to transfer a blob.
const MAX_TRANSFER_ATTEMPTS: u32 = 5;

/// The role of this process on a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Submits tasks, and sets the timeout of the workers' consumer.
    Coordinator,
    /// Executes tasks, and leaves the consumer as the coordinator configured it.
    Worker,
}

/// A connection with its own asynchronous runtime.
pub(crate) struct Connection {
    pub(crate) runtime: Runtime,
    pub(crate) client: Client,
    pub(crate) context: Context,
    pub(crate) names: QueueNames,
    pub(crate) options: ClusterOptions,
    pub(crate) log: LogFn,
    /// Number of times that the connection was established. A reconnect ends all open requests.
    connection_count: Arc<AtomicU64>,
    role: Role,
    /// Held while a blob is read.
    transfer: Mutex<()>,
}

impl Connection {
    /// Connects, and creates the streams, the object store and the consumer if they are missing.
    pub(crate) fn open(
        options: &ClusterOptions,
        log: LogFn,
        role: Role,
    ) -> Result<Connection, ClusterError> {
        options.check_queue()?;
        // Names and messages of other clients may contain terminal escapes.
        let log: LogFn = Arc::new(move |text| log(&sanitize(text, MAX_LOG_LINE)));
        let servers = options.servers()?;
        // One thread does all network I/O; callers block in their own threads.
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let connection_count = Arc::new(AtomicU64::new(0));
        let (event_log, count) = (log.clone(), connection_count.clone());
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
        let names = QueueNames::new(&options.queue, &options.version);
        let options = options.clone();
        let connection = Connection {
            runtime,
            client,
            context,
            names,
            options,
            log,
            connection_count,
            role,
            transfer: Mutex::default(),
        };
        connection.block_on(async {
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
    pub(crate) fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Returns whether the server is connected. Requests to a disconnected server time out.
    pub(crate) fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Returns the number of times that the connection was established.
    pub(crate) fn connection_count(&self) -> u64 {
        self.connection_count.load(Ordering::SeqCst)
    }

    /// Returns a function that converts an error of a server operation. `operation` is a verb phrase
    /// such as "open the stream".
    pub(crate) fn server_error<E: std::error::Error>(
        &self,
        operation: &'static str,
    ) -> impl FnOnce(E) -> ClusterError {
        let address = self.options.display_address();
        move |error| ClusterError::Server { address, operation, reason: error_chain(&error) }
    }

    /// Creates the streams, the object store and the consumer if they are missing.
    pub(crate) async fn set_up(&self) -> Result<(), ClusterError> {
        let tasks = Config {
            name: self.names.tasks_stream(),
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
        let created = self.context.get_or_create_stream(tasks).await;
        created.map_err(self.server_error("create the stream of tasks"))?;
        let created = self.context.get_or_create_stream(results).await;
        created.map_err(self.server_error("create the stream of results"))?;
        if self.context.get_object_store(self.names.object_store()).await.is_err() {
            let store = object_store::Config {
                bucket: self.names.object_store(),
                max_age: MAX_AGE,
                ..object_store::Config::default()
            };
            let created = self.context.create_object_store(store).await;
            created.map_err(self.server_error("create the object store"))?;
        }
        self.consumer().await.map(|_| ())
    }

    /// Opens the stream of tasks.
    pub(crate) async fn tasks(&self) -> Result<Stream, ClusterError> {
        let stream = self.context.get_stream(self.names.tasks_stream()).await;
        stream.map_err(self.server_error("open the stream of tasks"))
    }

    /// Opens the stream of results.
    pub(crate) async fn results(&self) -> Result<Stream, ClusterError> {
        let stream = self.context.get_stream(self.names.results_stream()).await;
        stream.map_err(self.server_error("open the stream of results"))
    }

    /// Creates or opens the consumer that all workers of this version share; a coordinator also updates
    /// its configuration.
    pub(crate) async fn consumer(&self) -> Result<Consumer<pull::Config>, ClusterError> {
        let config = pull::Config {
            durable_name: Some(self.names.consumer()),
            filter_subject: self.names.version_tasks(),
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.options.worker_timeout,
            // Unlimited: the worker itself rejects a task that was delivered too often, because such a
            // task probably crashes workers.
            max_deliver: -1,
            // Sufficient for many thousands of worker threads.
            max_ack_pending: 200_000,
            max_waiting: 100_000,
            ..pull::Config::default()
        };
        let (tasks, operation) = (self.tasks().await?, "create the consumer of the workers");
        match self.role {
            Role::Coordinator => {
                tasks.create_consumer(config).await.map_err(self.server_error(operation))
            }
            Role::Worker => {
                let name = self.names.consumer();
                let consumer = tasks.get_or_create_consumer(&name, config).await;
                consumer.map_err(self.server_error(operation))
            }
        }
    }

    async fn object_store(&self) -> Result<ObjectStore, ClusterError> {
        let store = self.context.get_object_store(self.names.object_store()).await;
        store.map_err(self.server_error("open the object store"))
    }

    /// Returns a writer of blobs for background threads and futures.
    pub(crate) fn blob_writer(&self) -> BlobWriter {
        BlobWriter {
            context: self.context.clone(),
            object_store: self.names.object_store(),
            address: self.options.display_address(),
        }
    }

    /// Stores a blob under its checksum, unless it exists. Returns the checksum.
    pub(crate) async fn put_blob(&self, bytes: &[u8]) -> Result<String, ClusterError> {
        let writer = self.blob_writer();
        let mut last_error = None;
        for _ in 0..MAX_TRANSFER_ATTEMPTS {
            match writer.put(bytes).await {
                Ok(sha256) => return Ok(sha256),
                Err(error) => last_error = Some(error),
            }
            sleep(Duration::from_secs(1)).await;
        }
        last_error.map_or_else(|| Ok(checksum(bytes)), Err)
    }

    /// Reads the blob with this checksum, of at most `max_bytes`, and verifies it.
    pub(crate) async fn get_blob(
        &self,
        sha256: &str,
        max_bytes: u64,
    ) -> Result<Vec<u8>, ClusterError> {
        if !is_checksum(sha256) {
            return Err(ClusterError::InvalidChecksum(sanitize(sha256, 80)));
        }
        let mut last_error = None;
        for _ in 0..MAX_TRANSFER_ATTEMPTS {
            match self.try_get_blob(sha256, max_bytes).await {
                Err(error @ ClusterError::BlobTooLarge { .. }) => return Err(error),
                Ok(bytes) if checksum(&bytes) == sha256 => return Ok(bytes),
                Ok(_) => {
                    let reason = format!("the content of {sha256} has a different checksum");
                    let address = self.options.display_address();
                    last_error =
                        Some(ClusterError::Server { address, operation: READ_BLOB, reason });
                }
                Err(error) => last_error = Some(error),
            }
            sleep(Duration::from_secs(1)).await;
        }
        last_error.map_or(Ok(Vec::new()), Err)
    }

    async fn try_get_blob(&self, sha256: &str, max_bytes: u64) -> Result<Vec<u8>, ClusterError> {
        let too_large =
            || ClusterError::BlobTooLarge { sha256: sha256.to_owned(), max_mib: max_bytes >> 20 };
        let store = self.object_store().await?;
        let stalled = |_| ClusterError::Server {
            address: self.options.display_address(),
            operation: READ_BLOB,
            reason: format!("no data for {} s", TRANSFER_STALL.as_secs()),
        };
        let object = timeout(TRANSFER_STALL, store.get(sha256)).await.map_err(stalled)?;
        let object = object.map_err(self.server_error(READ_BLOB))?;
        if object.info.size as u64 > max_bytes {
            return Err(too_large());
        }
        // The stated size comes from the client that stored the blob and may be wrong.
        let mut bytes = Vec::new();
        let mut object = object.take(max_bytes.saturating_add(1));
        loop {
            bytes.reserve(READ_BYTES);
            let read = timeout(TRANSFER_STALL, object.read_buf(&mut bytes)).await;
            if read.map_err(stalled)?.map_err(self.server_error(READ_BLOB))? == 0 {
                break;
            }
        }
        if bytes.len() as u64 > max_bytes {
            return Err(too_large());
        }
        Ok(bytes)
    }

    /// Deletes a blob. Errors are ignored: blobs expire.
    pub(crate) async fn delete_blob(&self, sha256: &str) {
        if let Ok(store) = self.object_store().await {
            let _ = store.delete(sha256).await;
        }
    }
}

/// Stores blobs in the object store.
pub(crate) struct BlobWriter {
    context: Context,
    object_store: String,
    address: String,
}

impl BlobWriter {
    /// Tries once to store a blob under its checksum, unless it exists. Returns the checksum.
    pub(crate) async fn put(&self, bytes: &[u8]) -> Result<String, ClusterError> {
        let failed = |error: &dyn std::error::Error| ClusterError::Server {
            address: self.address.clone(),
            operation: "store a blob",
            reason: error_chain(error),
        };
        let sha256 = checksum(bytes);
        let store = self.context.get_object_store(&self.object_store).await;
        let store = store.map_err(|error| failed(&error))?;
        let info = store.info(&sha256).await;
        if !info.is_ok_and(|info| !info.deleted && info.size == bytes.len()) {
            let put = store.put(&*sha256, &mut &bytes[..]).await;
            put.map_err(|error| failed(&error))?;
        }
        Ok(sha256)
    }
}

/// Returns whether the text is a SHA-256 checksum in lowercase hex digits.
fn is_checksum(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

const READ_BLOB: &str = "read a blob";

impl BlobStore for Connection {
    fn put(&self, bytes: &[u8]) -> Result<String, WorkQueueError> {
        Ok(self.block_on(self.put_blob(bytes))?)
    }

    fn get(&self, sha256: &str, max_bytes: u64) -> Result<Vec<u8>, WorkQueueError> {
        // One transfer at a time, so that the threads of a worker hold one blob in memory.
        let _transfer = self.transfer.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(self.block_on(self.get_blob(sha256, max_bytes))?)
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

/// Returns the message for a failed write. A server whose disk was full rejects writes until it is
/// restarted.
pub(crate) fn write_error(operation: &str, reason: &str) -> String {
    format!(
        "the server cannot {operation} ({reason}). If its disk is full, free space and restart the server"
    )
}

/// Formats an error and its causes, separated by colons; a cause that repeats earlier text is left
/// out.
pub(crate) fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next_cause = error.source();
    while let Some(cause) = next_cause {
        let cause_text = (cause as &dyn Display).to_string();
        let cause_text = cause_text.strip_prefix("nats: ").unwrap_or(&cause_text);
        if !text.contains(cause_text) {
            text = format!("{text}: {cause_text}");
        }
        next_cause = cause.source();
    }
    text
}
