//! A line-based child process with timeouts and bounded buffers.
//!
//! One thread reads standard output and another standard error, so that the process never blocks on
//! a full pipe and the caller never waits longer than its timeout. Both buffers are bounded.

use super::ProtocolError;
use super::watchdog::Registration;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum length of a line in bytes; the rest is discarded.
const MAX_LINE_BYTES: usize = 4096;

/// Capacity of the output queue in lines. When it is full the process blocks, so nothing is lost.
const QUEUE_LINES: usize = 256;

/// Number of last lines of standard error that an error message quotes.
const STDERR_LINES: usize = 3;

/// Maximum number of characters of engine output in an error message.
const MAX_QUOTE: usize = 160;

/// Time for a process to exit before it is killed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// A running process. Dropping it kills its process group; so does the end of this program, however
/// it ends.
pub(super) struct Process {
    child: Child,
    registration: Option<Registration>,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr_lines: Arc<Mutex<VecDeque<String>>>,
    /// Disconnects when standard error is closed.
    stderr_closed: Receiver<()>,
}

impl Process {
    /// Starts a program.
    pub(super) fn spawn(program: &str, arguments: &[String]) -> io::Result<Process> {
        let mut command = Command::new(program);
        command.args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // With a separate process group the engine's children can be killed. It also prevents a
        // Ctrl-C in the terminal from reaching the engine before the current game is finished.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);

        let mut child = command.spawn()?;
        let registration = Some(Registration::new(child.id()));
        let (input, output, errors) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (sender, lines) = mpsc::sync_channel(QUEUE_LINES);
        let (stderr_open, stderr_closed) = mpsc::sync_channel(0);
        let stderr_lines = Arc::new(Mutex::new(VecDeque::new()));
        // From here on, an error drops `process`, which kills the child.
        let process = Process { child, registration, input, lines, stderr_lines, stderr_closed };

        // The threads are not joined: they end when the pipes close or the receiver is dropped. A
        // grandchild that keeps a pipe open must not block the caller.
        if let Some(output) = output {
            thread::Builder::new().name("engine output".into()).spawn(move || {
                for_each_line(output, |line| {
                    sender.send(String::from_utf8_lossy(line).trim().to_owned()).is_ok()
                });
            })?;
        }
        if let Some(errors) = errors {
            let stderr_lines = Arc::clone(&process.stderr_lines);
            thread::Builder::new().name("engine errors".into()).spawn(move || {
                let _open = stderr_open;
                for_each_line(errors, |line| {
                    let line = sanitize(&String::from_utf8_lossy(line));
                    if !line.is_empty() {
                        let mut last = stderr_lines.lock().unwrap_or_else(PoisonError::into_inner);
                        last.push_back(line);
                        if last.len() > STDERR_LINES {
                            last.pop_front();
                        }
                    }
                    true
                });
            })?;
        }
        Ok(process)
    }

    /// Sends one line.
    ///
    /// This does not block: the protocols send a few hundred bytes per answer, far less than a pipe
    /// holds, and a process that does not answer is killed.
    pub(super) fn send(&mut self, line: &str) -> Result<(), ProtocolError> {
        let input = self.input.as_mut().ok_or(ProtocolError::Exited)?;
        let message = format!("{line}\n");
        input
            .write_all(message.as_bytes())
            .and_then(|()| input.flush())
            .map_err(|_| ProtocolError::Exited)
    }

    /// Returns the next line of output, trimmed.
    pub(super) fn receive(&mut self, deadline: Instant) -> Result<String, ProtocolError> {
        // Check the deadline first, since a process that prints endlessly always has a line ready.
        let remaining = deadline.saturating_duration_since(Instant::now());
        if remaining.is_zero() {
            return Err(ProtocolError::Timeout);
        }
        self.lines.recv_timeout(remaining).map_err(|error| match error {
            RecvTimeoutError::Timeout => ProtocolError::Timeout,
            RecvTimeoutError::Disconnected => ProtocolError::Exited,
        })
    }

    /// Sends the quit command, waits for the exit and kills the process if necessary.
    pub(super) fn quit(mut self, command: &str) {
        // An error does not matter, since the process is killed anyway.
        let _ = self.send(command);
        self.input = None;
        self.wait_for_exit(Instant::now() + EXIT_TIMEOUT);
    }

    /// Describes how the process ended: exit status and last lines of standard error.
    pub(super) fn exit_report(mut self) -> String {
        self.input = None;
        let mut text = match self.wait_for_exit(Instant::now() + EXIT_TIMEOUT) {
            Some(status) => format!(": {status}"),
            None => ": it closed its output".to_owned(),
        };
        // Once the whole group is killed, the pipe closes and the rest of standard error can be
        // read.
        self.kill_group();
        let _ = self.stderr_closed.recv_timeout(EXIT_TIMEOUT);
        let last = self.stderr_lines.lock().unwrap_or_else(PoisonError::into_inner);
        if !last.is_empty() {
            let lines: Vec<&str> = last.iter().map(String::as_str).collect();
            text.push_str(&format!("; its last error output was '{}'", lines.join(" / ")));
        }
        text
    }

    /// Waits for the exit. Returns `None` if the deadline passes.
    fn wait_for_exit(&mut self, deadline: Instant) -> Option<ExitStatus> {
        let mut pause = Duration::from_millis(1);
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            let remaining = deadline.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                return None;
            }
            thread::sleep(pause.min(remaining));
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// Kills the process group.
    ///
    /// The group id stays reserved while the group has members, even after the child exited, so
    /// this cannot hit an unrelated process.
    fn kill_group(&self) {
        #[cfg(unix)]
        if let Ok(id) = i32::try_from(self.child.id()) {
            use nix::sys::signal::{Signal, killpg};
            let _ = killpg(nix::unistd::Pid::from_raw(id), Signal::SIGKILL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill_group();
        // The group id may be reused once the child has been waited for.
        self.registration = None;
        // Also kills a child that left its group, and on systems without process groups. Waiting
        // avoids a zombie.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Calls `on_line` for each line, truncated to [`MAX_LINE_BYTES`], until it returns false or the
/// input ends.
fn for_each_line(mut from: impl Read, mut on_line: impl FnMut(&[u8]) -> bool) {
    let mut chunk = [0; 8192];
    let mut line = Vec::new();
    loop {
        let read = match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => chunk.get(..count).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        for piece in read.split_inclusive(|&byte| byte == b'\n') {
            let body = piece.strip_suffix(b"\n").unwrap_or(piece);
            let room = MAX_LINE_BYTES - line.len();
            line.extend_from_slice(body.get(..room).unwrap_or(body));
            if body.len() < piece.len() {
                if !on_line(&line) {
                    return;
                }
                line.clear();
            }
        }
    }
    if !line.is_empty() {
        on_line(&line);
    }
}

/// Replaces control characters and truncates engine output for an error message.
pub(super) fn sanitize(text: &str) -> String {
    let mut quote: String =
        text.trim().chars().take(MAX_QUOTE).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.trim().chars().nth(MAX_QUOTE).is_some() {
        quote.push('…');
    }
    quote
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(from: impl Read) -> Vec<String> {
        let mut all = Vec::new();
        for_each_line(from, |line| {
            all.push(String::from_utf8_lossy(line).into_owned());
            true
        });
        all
    }

    #[test]
    fn lines_are_split_and_the_last_may_be_unterminated() {
        assert_eq!(lines(&b"one\n\ntwo\r\nthree"[..]), ["one", "", "two\r", "three"]);
        assert!(lines(&b""[..]).is_empty());
    }

    #[test]
    fn long_lines_are_truncated() {
        let endless = io::repeat(b'x').take(32 << 20);
        let found = lines(endless.chain(&b"\nnext\n"[..]));
        assert_eq!(found.iter().map(String::len).collect::<Vec<_>>(), [MAX_LINE_BYTES, 4]);
    }

    #[test]
    fn reading_stops_when_the_callback_returns_false() {
        let mut count = 0;
        for_each_line(io::repeat(b'\n'), |_| {
            count += 1;
            count < 1000
        });
        assert_eq!(count, 1000);
    }

    #[test]
    fn output_is_sanitized_for_a_terminal() {
        assert_eq!(sanitize("  \u{1b}[31mred\u{7}x "), " [31mred x");
        assert_eq!(sanitize(&"é".repeat(1000)).chars().count(), MAX_QUOTE + 1);
        assert_eq!(sanitize(&"e".repeat(MAX_QUOTE)), "e".repeat(MAX_QUOTE));
    }
}
