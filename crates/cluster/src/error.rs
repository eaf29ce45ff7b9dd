//! Errors of connections to a NATS server. Most messages end with advice for the user.

use outflank_runs::WorkQueueError;
use outflank_runs::files::FileError;

/// An error of a coordinator or worker.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The server address cannot be parsed.
    #[error(
        "'{address}' is not the address of a NATS server: {reason}. Use nats://HOST:4222 or tls://HOST:4222."
    )]
    InvalidAddress {
        /// The address, without its password.
        address: String,
        /// The parse error.
        reason: String,
    },
    /// The queue name cannot be part of a stream name.
    #[error("'{0}' is not a valid queue name. Use letters, digits, - and _ only.")]
    InvalidQueueName(String),
    /// The server does not respond.
    #[error(
        "no NATS server responds at {address}: {reason}. Start one with `nats-server -js`, or check the address."
    )]
    Unreachable {
        /// The server address.
        address: String,
        /// The error of the operating system.
        reason: String,
    },
    /// The server rejected the credentials.
    #[error("the NATS server at {address} rejected {credentials} ({reason}). {hint}")]
    Unauthorized {
        /// The server address.
        address: String,
        /// The kind of credentials that were used, such as "the user 'name'".
        credentials: String,
        /// The server's message.
        reason: String,
        /// Advice for the user.
        hint: &'static str,
    },
    /// A credentials file contains no credentials.
    #[error(
        "{file}: not a NATS credentials file ({reason}). Give --nats-creds a file with a user JWT and key, as `nsc generate creds` writes it."
    )]
    InvalidCredentials {
        /// The file.
        file: String,
        /// The parse error.
        reason: String,
    },
    /// The TLS handshake failed.
    #[error(
        "TLS connection to {address} failed: {reason}. Give the certificate authority of the server with --nats-ca FILE."
    )]
    Tls {
        /// The server address.
        address: String,
        /// The handshake error.
        reason: String,
    },
    /// The server does not support TLS.
    #[error(
        "the NATS server at {0} does not support TLS. Use nats:// instead of tls://, or start the server with a certificate."
    )]
    TlsUnsupported(String),
    /// The server requires a client certificate.
    #[error(
        "the NATS server at {0} requires a client certificate. Give --nats-cert FILE and --nats-key FILE."
    )]
    ClientCertificateRequired(String),
    /// JetStream is not enabled on the server.
    #[error(
        "the NATS server at {address} has no JetStream ({reason}). Start it with `nats-server -js`, or enable JetStream for this account."
    )]
    NoJetStream {
        /// The server address.
        address: String,
        /// The server's message.
        reason: String,
    },
    /// A credentials or certificate file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The server rejected a request.
    #[error("the NATS server at {address} could not {operation}: {reason}")]
    Server {
        /// The server address.
        address: String,
        /// The requested operation.
        operation: &'static str,
        /// The server's message.
        reason: String,
    },
    /// The name of a blob is not a SHA-256 checksum.
    #[error("'{0}' is not a SHA-256 checksum, so there is no such blob")]
    InvalidChecksum(String),
    /// A blob is larger than its receiver allows.
    #[error("the blob {sha256} is larger than {max_mib} MiB, the limit for this kind of data")]
    BlobTooLarge {
        /// The checksum of the blob.
        sha256: String,
        /// The limit in MiB.
        max_mib: u64,
    },
    /// A task failed on several workers.
    #[error("the workers cannot execute a task: {0}")]
    TaskFailed(String),
    /// The asynchronous runtime cannot be started.
    #[error("cannot start the network thread: {0}")]
    Runtime(#[from] std::io::Error),
}

impl From<ClusterError> for WorkQueueError {
    fn from(error: ClusterError) -> WorkQueueError {
        WorkQueueError(error.to_string())
    }
}
