//! Background processes of the program, killed when dropped.

// Each test binary includes this file and uses a part of it.
#![allow(dead_code)]

use crate::nats::NatsServer;
use crate::sandbox::{PROGRAM, Sandbox};
use std::io::Read;
use std::process::{Child, Command, Stdio};

/// A process of the program, killed when dropped.
pub struct Process(Child);

impl Process {
    pub fn start(sandbox: &Sandbox, arguments: &[&str]) -> Process {
        let child = Command::new(PROGRAM)
            .args(arguments)
            .current_dir(sandbox.path())
            .env_remove("OUTFLANK_DATA")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        Process(child)
    }

    pub fn worker(sandbox: &Sandbox, server: &NatsServer) -> Process {
        let address = server.address();
        let options = ["--on", &address, "--threads", "1", "--worker-timeout", "3"];
        Process::start(sandbox, &[&["worker", "--quiet"][..], &options].concat())
    }

    /// Suspends the process.
    pub fn suspend(&self) {
        self.signal("STOP");
    }

    /// Continues a suspended process.
    pub fn resume(&self) {
        self.signal("CONT");
    }

    /// Requests a stop.
    pub fn stop(&self) {
        self.signal("TERM");
    }

    fn signal(&self, signal: &str) {
        let command = format!("kill -{signal} {}", self.0.id());
        let done = Command::new("sh").args(["-c", &command]).status().expect("a shell");
        assert!(done.success(), "{command}");
    }

    /// Kills it as `kill -9` does.
    pub fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    pub fn has_ended(&mut self) -> bool {
        self.0.try_wait().expect("a process").is_some()
    }

    /// Waits for its end and asserts success.
    pub fn wait(&mut self) {
        let status = self.0.wait().expect("a process");
        let mut text = String::new();
        if let Some(mut stderr) = self.0.stderr.take() {
            let _ = stderr.read_to_string(&mut text);
        }
        assert!(status.success(), "{text}");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
