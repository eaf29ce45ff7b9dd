//! What can go wrong between here and the server, with the next step.

use outflank_runs::WorkQueueError;
use outflank_runs::files::FileError;

/// Why work cannot be spread, or not done for others.
#[derive(Debug, thiserror::Error)]
pub enum GridError {
    /// It is not an address.
    #[error(
        "'{given}' is not the address of a NATS server: {reason}; write nats://HOST:4222 or tls://HOST:4222"
    )]
    Address {
        /// What was given, without a password.
        given: String,
        /// What is wrong.
        reason: String,
    },
    /// A queue's name is part of the names of streams.
    #[error("'{0}' cannot be the name of a queue; use letters, digits, - and _")]
    Queue(String),
    /// Nobody answers.
    #[error(
        "no NATS server answers at {at}: {reason}; start one with `nats-server -js`, or check the address"
    )]
    Unreachable {
        /// Where.
        at: String,
        /// What the system said.
        reason: String,
    },
    /// The server does not let us in.
    #[error("the NATS server at {at} refuses {given} ({reason}); {next}")]
    Credentials {
        /// Where.
        at: String,
        /// Who we said we are.
        given: String,
        /// What it said.
        reason: String,
        /// What to do about it.
        next: &'static str,
    },
    /// A file that holds no credentials.
    #[error(
        "{file} holds no NATS credentials: {reason}; give --nats-creds a file with the token and the key of a user, as `nsc generate creds` writes it"
    )]
    NoCredentials {
        /// Which.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No secure connection.
    #[error(
        "no secure connection to {at}: {reason}; give the authority that signed its certificate with --nats-ca FILE"
    )]
    Tls {
        /// Where.
        at: String,
        /// What is wrong.
        reason: String,
    },
    /// A server that knows no secure connections.
    #[error(
        "the NATS server at {0} has no secure connections; write nats:// for tls://, or start it with a certificate"
    )]
    NoTls(String),
    /// The server wants to know who we are by a certificate.
    #[error(
        "the NATS server at {0} asks for a certificate of ours; give --nats-cert FILE and --nats-key FILE"
    )]
    NoCertificate(String),
    /// A server without streams.
    #[error(
        "the NATS server at {at} has no JetStream ({reason}); start it with `nats-server -js`, or enable JetStream for this account"
    )]
    NoJetStream {
        /// Where.
        at: String,
        /// What it said.
        reason: String,
    },
    /// A file of credentials or certificates.
    #[error(transparent)]
    File(#[from] FileError),
    /// The server refused something it should do.
    #[error("the NATS server at {at} could not {doing}: {reason}")]
    Server {
        /// Where.
        at: String,
        /// What was asked of it.
        doing: &'static str,
        /// What it said.
        reason: String,
    },
    /// Nobody can do a job.
    #[error("workers cannot do this: {0}")]
    Failed(String),
    /// This machine has no room for threads.
    #[error("cannot start what talks to the server: {0}")]
    Runtime(#[from] std::io::Error),
}

impl From<GridError> for WorkQueueError {
    fn from(error: GridError) -> WorkQueueError {
        WorkQueueError(error.to_string())
    }
}
