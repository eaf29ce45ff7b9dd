//! Connection options: server address, credentials and queue name.

use crate::error::ClusterError;
use async_nats::{ConnectOptions, ServerAddr};
use outflank_runs::files;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Options for connecting to a queue.
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    /// Server address, or several separated by commas; may contain a user and a password.
    pub address: String,
    /// Queue name.
    pub queue: String,
    /// Program version; only coordinators and workers of the same version work together.
    pub version: String,
    /// Credentials file (user JWT and key), as `nsc` writes it.
    pub credentials: Option<PathBuf>,
    /// User name and password.
    pub user: Option<(String, String)>,
    /// Certificate of the authority that signed the server's certificate.
    pub ca_certificate: Option<PathBuf>,
    /// Client certificate file and its key file.
    pub client_certificate: Option<(PathBuf, PathBuf)>,
    /// Time without an acknowledgement from a worker after which the server delivers its task to
    /// another worker.
    pub worker_timeout: Duration,
    /// Share of the results that the coordinator verifies by executing their jobs itself.
    pub verify_share: f64,
    /// Threads that verify results.
    pub verify_threads: usize,
}

impl ClusterOptions {
    /// Creates options for the queue `outflank` without credentials.
    #[must_use]
    pub fn new(address: &str, version: &str) -> ClusterOptions {
        ClusterOptions {
            address: address.to_owned(),
            queue: "outflank".to_owned(),
            version: version.to_owned(),
            credentials: None,
            user: None,
            ca_certificate: None,
            client_certificate: None,
            worker_timeout: Duration::from_secs(10),
            verify_share: 0.02,
            verify_threads: 1,
        }
    }

    /// Returns the address without user and password, for messages.
    #[must_use]
    pub fn display_address(&self) -> String {
        let redact = |address: &str| {
            let (scheme, rest) = address.split_once("://").map_or(("", address), |(s, r)| (s, r));
            let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
            if scheme.is_empty() { rest.to_owned() } else { format!("{scheme}://{rest}") }
        };
        self.address.split(',').map(redact).collect::<Vec<_>>().join(",")
    }

    /// Returns the user and the password that the address contains.
    fn user_in_address(&self) -> Option<(String, String)> {
        let servers = self.servers().ok()?;
        let user_of = |server: &ServerAddr| {
            let password = percent_decode(server.password().unwrap_or(""));
            Some((percent_decode(server.username()?), password))
        };
        servers.iter().find_map(user_of)
    }

    /// Returns the error for a server that rejects these credentials.
    pub(crate) fn unauthorized(&self, reason: String) -> ClusterError {
        let (credentials, hint) =
            match (&self.credentials, self.user.clone().or_else(|| self.user_in_address())) {
                (Some(path), _) => (
                    format!("the credentials in {}", path.display()),
                    "They may have expired, or belong to another server or account.",
                ),
                (None, Some((user, _))) => {
                    (format!("the user '{user}'"), "Check the user and the password.")
                }
                (None, None) => (
                    "a connection without credentials".to_owned(),
                    "Give --nats-user and --nats-password, or --nats-creds FILE.",
                ),
            };
        ClusterError::Unauthorized { address: self.display_address(), credentials, reason, hint }
    }

    /// Parses the server addresses.
    pub(crate) fn servers(&self) -> Result<Vec<ServerAddr>, ClusterError> {
        let invalid = |reason: String| ClusterError::InvalidAddress {
            address: self.display_address(),
            reason,
        };
        let parse = |address: &str| {
            let server =
                address.trim().parse::<ServerAddr>().map_err(|error| invalid(error.to_string()))?;
            match server.host().is_empty() {
                true => Err(invalid("no host".to_owned())),
                false => Ok(server),
            }
        };
        self.address.split(',').map(parse).collect()
    }

    /// Checks that the queue name can be part of subject and stream names.
    pub(crate) fn check_queue(&self) -> Result<(), ClusterError> {
        let is_valid = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let name = &self.queue;
        match !name.is_empty() && name.len() <= 64 && name.chars().all(is_valid) {
            true => Ok(()),
            false => Err(ClusterError::InvalidQueueName(name.clone())),
        }
    }

    /// Returns the options of the NATS client. Reads every file once, so that an error names the
    /// file that cannot be read.
    pub(crate) fn connect_options(&self) -> Result<ConnectOptions, ClusterError> {
        let mut options = ConnectOptions::new()
            .name(format!("outflank {}", self.version))
            .connection_timeout(Duration::from_secs(5))
            .ping_interval(Duration::from_secs(10))
            .max_reconnects(None)
            // Retry without limit, at first quickly, then every two seconds.
            .reconnect_delay_callback(|attempts| {
                Duration::from_millis((100 * attempts as u64).min(2000))
            });
        if let Some((user, password)) = self.user.clone().or_else(|| self.user_in_address()) {
            options = options.user_and_password(user, password);
        }
        if let Some(path) = &self.credentials {
            let text = String::from_utf8_lossy(&read_small_file(path)?).into_owned();
            options =
                options.credentials(&text).map_err(|error| ClusterError::InvalidCredentials {
                    file: path.display().to_string(),
                    reason: error.to_string(),
                })?;
        }
        if let Some(path) = &self.ca_certificate {
            read_small_file(path)?;
            options = options.add_root_certificates(path.clone());
        }
        if let Some((certificate, key)) = &self.client_certificate {
            read_small_file(certificate)?;
            read_small_file(key)?;
            options = options.add_client_certificate(certificate.clone(), key.clone());
        }
        Ok(options)
    }
}

/// Decodes percent-encoded characters such as `%40`.
fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let pair = tail.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        match pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) if first == b'%' => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads a file of at most 1 MiB.
fn read_small_file(path: &Path) -> Result<Vec<u8>, ClusterError> {
    Ok(files::read(path, 1 << 20)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displayed_addresses_have_no_password() {
        let displayed = |address| ClusterOptions::new(address, "1").display_address();
        assert_eq!(displayed("nats://me:secret@host:4222"), "nats://host:4222");
        assert_eq!(displayed("tls://a,nats://me:p@ss@b"), "tls://a,nats://b");
        assert_eq!(displayed("me:secret@host"), "host");
    }

    #[test]
    fn user_is_parsed_from_the_address() {
        let user = |address| ClusterOptions::new(address, "1").user_in_address();
        let expected = |name: &str, password: &str| Some((name.to_owned(), password.to_owned()));
        assert_eq!(user("nats://host"), None);
        assert_eq!(user("nats://me:se%40cr%c3%a9t@host"), expected("me", "se@crét"));
        assert_eq!(user("nats://a,tls://me:100%25@b"), expected("me", "100%"));
    }

    #[test]
    fn queue_names_are_validated() {
        for (name, valid) in [("outflank", true), ("a-b_2", true), ("a.b", false), ("", false)] {
            let options =
                ClusterOptions { queue: name.to_owned(), ..ClusterOptions::new("x", "1") };
            assert_eq!(options.check_queue().is_ok(), valid, "{name}");
        }
    }
}
