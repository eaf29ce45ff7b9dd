//! A child process that is talked to line by line, and that may misbehave in any way it likes.
//!
//! One thread reads what it prints and another what it complains about, so that it never waits
//! for us to read, and we never wait for it longer than we mean to. Neither keeps more than a
//! fixed amount, however much the process prints.

use super::Trouble;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes kept of one line; the rest of a longer one is thrown away.
const LONGEST_LINE: usize = 4096;

/// Lines kept that nobody has asked for yet. When there are more, the process has to wait with
/// its printing, which bounds the memory and loses nothing.
const BACKLOG: usize = 256;

/// Lines of complaint kept for an error message.
const COMPLAINTS: usize = 3;

/// Characters of an engine's words that an error message repeats.
const QUOTED: usize = 160;

/// How long a process may take to go by itself, whether it was asked to or is already ending.
const GRACE: Duration = Duration::from_secs(1);

/// A running engine. Dropping it kills it, with whatever it started itself.
pub(super) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    complaints: Arc<Mutex<VecDeque<String>>>,
    complained: Receiver<()>,
}

impl Process {
    /// Starts a program with these arguments.
    pub(super) fn spawn(program: &str, arguments: &[String]) -> io::Result<Process> {
        let mut command = Command::new(program);
        command.args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own lets us end the engine's children with it. It also keeps a Ctrl-C at
        // the terminal from reaching the engine while we are still finishing a game with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);

        let mut child = command.spawn()?;
        let (input, output, errors) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (print, lines) = mpsc::sync_channel(BACKLOG);
        let (still_complaining, complained) = mpsc::sync_channel(0);
        let complaints = Arc::new(Mutex::new(VecDeque::new()));
        // From here on a failure drops `process`, which kills the child.
        let process = Process { child, input, lines, complaints, complained };

        // The threads are never joined: they end with the pipes, or when nobody listens any more,
        // and a grandchild that ran away with a pipe must not be able to hold us up.
        if let Some(output) = output {
            thread::Builder::new().name("engine output".into()).spawn(move || {
                each_line(output, |line| {
                    print.send(String::from_utf8_lossy(line).trim().to_owned()).is_ok()
                });
            })?;
        }
        if let Some(errors) = errors {
            let complaints = Arc::clone(&process.complaints);
            thread::Builder::new().name("engine errors".into()).spawn(move || {
                let _until_the_end = still_complaining;
                each_line(errors, |line| {
                    let line = tidy(&String::from_utf8_lossy(line));
                    if !line.is_empty() {
                        let mut kept = complaints.lock().unwrap_or_else(PoisonError::into_inner);
                        kept.push_back(line);
                        if kept.len() > COMPLAINTS {
                            kept.pop_front();
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
    /// This cannot block for long: the protocols send a few hundred bytes and then wait for an
    /// answer, far less than a pipe holds, and a process that does not answer is ended.
    pub(super) fn send(&mut self, line: &str) -> Result<(), Trouble> {
        let input = self.input.as_mut().ok_or(Trouble::Ended)?;
        let message = format!("{line}\n");
        input.write_all(message.as_bytes()).and_then(|()| input.flush()).map_err(|_| Trouble::Ended)
    }

    /// The next line it prints, without the white space around it.
    pub(super) fn receive(&mut self, deadline: Instant) -> Result<String, Trouble> {
        // The clock is looked at first, since a process that prints without end always has a
        // line ready.
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Trouble::Hung);
        }
        self.lines.recv_timeout(left).map_err(|error| match error {
            RecvTimeoutError::Timeout => Trouble::Hung,
            RecvTimeoutError::Disconnected => Trouble::Ended,
        })
    }

    /// Asks it to go, gives it a moment, and ends it.
    pub(super) fn dismiss(mut self, farewell: &str) {
        // Whether it still listens does not matter, since it is ended either way.
        let _ = self.send(farewell);
        self.input = None;
        self.wait_for_end(Instant::now() + GRACE);
    }

    /// What there is to say of a process that has stopped talking: how it ended, its last words.
    pub(super) fn epitaph(mut self) -> String {
        self.input = None;
        let mut text = match self.wait_for_end(Instant::now() + GRACE) {
            Some(status) => format!(": {status}"),
            None => ": it closed its output".to_owned(),
        };
        // Once the whole group is gone nobody holds the pipe open, so that the last words, which
        // may still be in it, are soon all read.
        self.end_group();
        let _ = self.complained.recv_timeout(GRACE);
        let kept = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        if !kept.is_empty() {
            let words: Vec<&str> = kept.iter().map(String::as_str).collect();
            text.push_str(&format!("; its last words were '{}'", words.join(" / ")));
        }
        text
    }

    /// How it ended, if it does so before the deadline.
    fn wait_for_end(&mut self, deadline: Instant) -> Option<ExitStatus> {
        let mut pause = Duration::from_millis(1);
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            thread::sleep(pause.min(left));
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// Kills every process of its group.
    ///
    /// The group keeps the child's number for as long as it has a member, also after the child
    /// itself is gone, so that this meets the child's own children or nobody.
    fn end_group(&self) {
        #[cfg(unix)]
        if let Ok(id) = i32::try_from(self.child.id()) {
            use nix::sys::signal::{Signal, killpg};
            let _ = killpg(nix::unistd::Pid::from_raw(id), Signal::SIGKILL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end_group();
        // A child that left its group, or a system without groups, still loses its first process;
        // waiting for that one leaves no zombie behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Hands on each line, cut to [`LONGEST_LINE`], until the end or until `act` says no.
fn each_line(mut from: impl Read, mut act: impl FnMut(&[u8]) -> bool) {
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
            let room = LONGEST_LINE - line.len();
            line.extend_from_slice(body.get(..room).unwrap_or(body));
            if body.len() < piece.len() {
                if !act(&line) {
                    return;
                }
                line.clear();
            }
        }
    }
    if !line.is_empty() {
        act(&line);
    }
}

/// An engine's words, fit for one line of an error message on a terminal.
pub(super) fn tidy(text: &str) -> String {
    let mut kept: String =
        text.trim().chars().take(QUOTED).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.trim().chars().nth(QUOTED).is_some() {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(from: impl Read) -> Vec<String> {
        let mut all = Vec::new();
        each_line(from, |line| {
            all.push(String::from_utf8_lossy(line).into_owned());
            true
        });
        all
    }

    #[test]
    fn lines_are_split_and_the_last_needs_no_end() {
        assert_eq!(lines(&b"one\n\ntwo\r\nthree"[..]), ["one", "", "two\r", "three"]);
        assert!(lines(&b""[..]).is_empty());
    }

    #[test]
    fn a_line_without_end_costs_no_memory() {
        let endless = io::repeat(b'x').take(32 << 20);
        let found = lines(endless.chain(&b"\nnext\n"[..]));
        assert_eq!(found.iter().map(String::len).collect::<Vec<_>>(), [LONGEST_LINE, 4]);
    }

    #[test]
    fn a_listener_who_has_heard_enough_stops_the_reading() {
        let mut heard = 0;
        each_line(io::repeat(b'\n'), |_| {
            heard += 1;
            heard < 1000
        });
        assert_eq!(heard, 1000);
    }

    #[test]
    fn words_are_made_fit_for_a_terminal() {
        assert_eq!(tidy("  \u{1b}[31mred\u{7}x "), " [31mred x");
        assert_eq!(tidy(&"é".repeat(1000)).chars().count(), QUOTED + 1);
        assert_eq!(tidy(&"e".repeat(QUOTED)), "e".repeat(QUOTED));
    }
}
