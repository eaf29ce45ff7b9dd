//! Processes of the program that end with the test: workers, and those they work for.

// Every test binary has this file to itself and uses its own part of it.
#![allow(dead_code)]

use crate::lab::{Lab, PROGRAM};
use crate::nats::NatsServer;
use std::io::Read;
use std::process::{Child, Command, Stdio};

/// A process of the program that is killed with the test.
pub struct Process(Child);

impl Process {
    pub fn start(lab: &Lab, arguments: &[&str]) -> Process {
        let child = Command::new(PROGRAM)
            .args(arguments)
            .current_dir(lab.path())
            .env_remove("OUTFLANK_DATA")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        Process(child)
    }

    pub fn worker(lab: &Lab, server: &NatsServer) -> Process {
        let address = server.address();
        let options = ["--on", &address, "--threads", "1", "--patience", "3"];
        Process::start(lab, &[&["worker", "--quiet"][..], &options].concat())
    }

    /// Halts it, or lets it go on: it knows nothing of the time between.
    pub fn halt(&self, halted: bool) {
        self.signal(if halted { "STOP" } else { "CONT" });
    }

    /// Asks it to stop.
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

    /// Waits for its end, which must be a good one.
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
