//! A real server for a test: nats-server with JetStream on a port and in a folder of its own.

// Every test binary has this file to itself and uses its own part of it.
#![allow(dead_code)]

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A server that ends with the test.
pub struct NatsServer {
    child: Option<Child>,
    port: u16,
    store: TempDir,
    more: Vec<String>,
}

/// The program: OUTFLANK_NATS_SERVER, or nats-server on the path.
fn program() -> Option<PathBuf> {
    let given = std::env::var_os("OUTFLANK_NATS_SERVER").map(PathBuf::from);
    let program = given.unwrap_or_else(|| PathBuf::from("nats-server"));
    let found = Command::new(&program).arg("--version").stdout(Stdio::null()).status().is_ok();
    if !found {
        eprintln!("skipped: there is no nats-server on the path or in OUTFLANK_NATS_SERVER");
    }
    found.then_some(program)
}

impl NatsServer {
    /// A server with JetStream, if there is one on this machine.
    pub fn start() -> Option<NatsServer> {
        NatsServer::with(&["-js"])
    }

    /// A server with other options.
    pub fn with(more: &[&str]) -> Option<NatsServer> {
        program()?;
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        let mut server = NatsServer {
            child: None,
            port,
            store: tempfile::tempdir().expect("a folder"),
            more: more.iter().map(|&word| word.to_owned()).collect(),
        };
        server.start_again();
        Some(server)
    }

    /// Starts the server that was killed, with the store it had.
    pub fn start_again(&mut self) {
        let child = Command::new(program().expect("it was there before"))
            .args(["-a", "127.0.0.1", "-p", &self.port.to_string(), "-sd"])
            .arg(self.store.path())
            .args(&self.more)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("nats-server starts");
        self.child = Some(child);
        let since = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(since.elapsed() < Duration::from_secs(30), "nats-server does not answer");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Kills the server as `kill -9` does.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Throws away what a killed server had stored.
    pub fn lose_store(&mut self) {
        self.kill();
        self.store = tempfile::tempdir().expect("a folder");
    }

    /// Its address.
    pub fn address(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}
