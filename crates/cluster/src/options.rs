//! Where the server is, who we are to it, and which queue.

use crate::error::GridError;
use async_nats::{ConnectOptions, ServerAddr};
use outflank_runs::files;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How to reach a queue.
#[derive(Clone, Debug)]
pub struct Options {
    /// The server, or several of a cluster with commas between them; user and password may be in it.
    pub address: String,
    /// The queue's name.
    pub queue: String,
    /// The program's version; coordinators and workers of one version work together.
    pub version: String,
    /// A file of credentials: a token and its key, as `nsc` writes them.
    pub credentials: Option<PathBuf>,
    /// A user and the password.
    pub user: Option<(String, String)>,
    /// The authority that signed the server's certificate.
    pub authority: Option<PathBuf>,
    /// Our own certificate and its key.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// How long a worker may be silent before its work is given to another.
    pub patience: Duration,
}

impl Options {
    /// The queue `outflank` of a server that asks for nothing.
    #[must_use]
    pub fn new(address: &str, version: &str) -> Options {
        Options {
            address: address.to_owned(),
            queue: "outflank".to_owned(),
            version: version.to_owned(),
            credentials: None,
            user: None,
            authority: None,
            certificate: None,
            patience: Duration::from_secs(10),
        }
    }

    /// The address without what nobody else should read.
    #[must_use]
    pub fn shown(&self) -> String {
        let hide = |one: &str| {
            let (scheme, rest) = one.split_once("://").map_or(("", one), |(s, r)| (s, r));
            let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
            if scheme.is_empty() { rest.to_owned() } else { format!("{scheme}://{rest}") }
        };
        self.address.split(',').map(hide).collect::<Vec<_>>().join(",")
    }

    /// The user and the password that stand in the address.
    fn user_in_address(&self) -> Option<(String, String)> {
        let servers = self.servers().ok()?;
        let known = |server: &ServerAddr| {
            Some((plain(server.username()?), plain(server.password().unwrap_or(""))))
        };
        servers.iter().find_map(known)
    }

    /// An error about who we are, when the server does not want us.
    pub(crate) fn refused(&self, reason: String) -> GridError {
        let (given, next) =
            match (&self.credentials, self.user.clone().or_else(|| self.user_in_address())) {
                (Some(path), _) => (
                    format!("the credentials in {}", path.display()),
                    "they may have expired, or belong to another server or account",
                ),
                (None, Some((user, _))) => {
                    (format!("the user '{user}'"), "check the user and the password")
                }
                (None, None) => (
                    "a connection without credentials".to_owned(),
                    "give --nats-user and --nats-password, or --nats-creds FILE",
                ),
            };
        GridError::Credentials { at: self.shown(), given, reason, next }
    }

    /// The servers' addresses.
    pub(crate) fn servers(&self) -> Result<Vec<ServerAddr>, GridError> {
        let wrong = |reason: String| GridError::Address { given: self.shown(), reason };
        let parse = |one: &str| {
            let server =
                one.trim().parse::<ServerAddr>().map_err(|error| wrong(error.to_string()))?;
            match server.host().is_empty() {
                true => Err(wrong("it names no host".to_owned())),
                false => Ok(server),
            }
        };
        self.address.split(',').map(parse).collect()
    }

    /// Whether the queue's name can be part of subjects and streams.
    pub(crate) fn check_queue(&self) -> Result<(), GridError> {
        let good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let name = &self.queue;
        match !name.is_empty() && name.len() <= 64 && name.chars().all(good) {
            true => Ok(()),
            false => Err(GridError::Queue(name.clone())),
        }
    }

    /// Everything that NATS asks for. Files are read here once, so that a missing one is named.
    pub(crate) fn connect(&self) -> Result<ConnectOptions, GridError> {
        let mut options = ConnectOptions::new()
            .name(format!("outflank {}", self.version))
            .connection_timeout(Duration::from_secs(5))
            .ping_interval(Duration::from_secs(10))
            .max_reconnects(None)
            .reconnect_delay_callback(|tries| {
                // Soon at first, then every two seconds for as long as it takes.
                Duration::from_millis((100 * tries as u64).min(2000))
            });
        if let Some((user, password)) = self.user.clone().or_else(|| self.user_in_address()) {
            options = options.user_and_password(user, password);
        }
        if let Some(path) = &self.credentials {
            let text = String::from_utf8_lossy(&readable(path)?).into_owned();
            options = options.credentials(&text).map_err(|error| GridError::NoCredentials {
                file: path.display().to_string(),
                reason: error.to_string(),
            })?;
        }
        if let Some(path) = &self.authority {
            readable(path)?;
            options = options.add_root_certificates(path.clone());
        }
        if let Some((certificate, key)) = &self.certificate {
            readable(certificate)?;
            readable(key)?;
            options = options.add_client_certificate(certificate.clone(), key.clone());
        }
        Ok(options)
    }
}

/// A part of an address with its `%40` and the like as the signs they stand for.
fn plain(text: &str) -> String {
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

/// The content of a small file.
fn readable(path: &Path) -> Result<Vec<u8>, GridError> {
    Ok(files::read(path, 1 << 20)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        let shown = |address| Options::new(address, "1").shown();
        assert_eq!(shown("nats://me:secret@host:4222"), "nats://host:4222");
        assert_eq!(shown("tls://a,nats://me:p@ss@b"), "tls://a,nats://b");
        assert_eq!(shown("me:secret@host"), "host");
    }

    #[test]
    fn a_user_may_stand_in_the_address() {
        let user = |address| Options::new(address, "1").user_in_address();
        let of = |name: &str, word: &str| Some((name.to_owned(), word.to_owned()));
        assert_eq!(user("nats://host"), None);
        assert_eq!(user("nats://me:se%40cr%c3%a9t@host"), of("me", "se@crét"));
        assert_eq!(user("nats://a,tls://me:100%25@b"), of("me", "100%"));
    }

    #[test]
    fn a_queue_s_name_is_a_plain_word() {
        for (name, good) in [("outflank", true), ("a-b_2", true), ("a.b", false), ("", false)] {
            let options = Options { queue: name.to_owned(), ..Options::new("x", "1") };
            assert_eq!(options.check_queue().is_ok(), good, "{name}");
        }
    }
}
