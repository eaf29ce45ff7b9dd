//! Starts a `nats-server` with its own port and store folder for a test.

// Each test binary compiles this file and uses only some of its functions.
#![allow(dead_code)]

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A server that is killed when dropped.
pub struct NatsServer {
    child: Option<Child>,
    port: u16,
    store: TempDir,
    options: Vec<String>,
}

/// Returns the server program: OUTFLANK_NATS_SERVER, or nats-server on the path.
fn server_program() -> Option<PathBuf> {
    let given = std::env::var_os("OUTFLANK_NATS_SERVER").map(PathBuf::from);
    let program = given.unwrap_or_else(|| PathBuf::from("nats-server"));
    let found = Command::new(&program).arg("--version").stdout(Stdio::null()).status().is_ok();
    if !found {
        eprintln!("skipped: no nats-server on the path or in OUTFLANK_NATS_SERVER");
    }
    found.then_some(program)
}

impl NatsServer {
    /// Starts a server with JetStream, if the program is installed.
    pub fn start() -> Option<NatsServer> {
        NatsServer::start_with(&["-js"])
    }

    /// Starts a server with these command-line options, if the program is installed.
    pub fn start_with(options: &[&str]) -> Option<NatsServer> {
        server_program()?;
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("the local address").port();
        drop(listener);
        let mut server = NatsServer {
            child: None,
            port,
            store: tempfile::tempdir().expect("a temporary folder"),
            options: options.iter().map(|&option| option.to_owned()).collect(),
        };
        server.restart();
        Some(server)
    }

    /// Starts the killed server again with the same store.
    pub fn restart(&mut self) {
        let child = Command::new(server_program().expect("installed"))
            .args(["-a", "127.0.0.1", "-p", &self.port.to_string(), "-sd"])
            .arg(self.store.path())
            .args(&self.options)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("nats-server starts");
        self.child = Some(child);
        let since = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(since.elapsed() < Duration::from_secs(30), "nats-server does not respond");
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

    /// Kills the server and deletes its store.
    pub fn kill_and_delete_store(&mut self) {
        self.kill();
        self.store = tempfile::tempdir().expect("a temporary folder");
    }

    /// Returns the address.
    pub fn address(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}
