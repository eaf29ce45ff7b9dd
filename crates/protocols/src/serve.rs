//! The main loop of a line-based server: reads lines, writes answers, and interrupts searches.

use outflank_analysis::SearchInterrupt;
use outflank_runs::stop_requested;
use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The maximum length of a line in bytes; the rest of a longer line is dropped.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// The interval at which a stop request of the user is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The time that pending commands may run after the end of the input, as scripts expect. Then all
/// searches stop, because the client is gone.
const GRACE_AFTER_EOF: Duration = Duration::from_secs(10);

/// The effect of an incoming line on searches that earlier lines started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// The line waits until earlier commands are complete.
    None,
    /// The running search stops; pending commands are executed.
    RunningSearch,
    /// The running search and those of all pending commands stop.
    AllEarlierSearches,
}

/// A line-based protocol, from the server's side.
pub trait LineProtocol {
    /// Whether pending commands run to completion after the end of the input.
    const FINISHES_AFTER_EOF: bool = false;

    /// Writes the greeting; returns `false` to end the session.
    fn start(&mut self, out: &mut dyn Write) -> io::Result<bool> {
        let _ = out;
        Ok(true)
    }

    /// Writes the closing text, whatever ended the session.
    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let _ = out;
        Ok(())
    }

    /// Answers one line; returns `false` to end the session.
    fn handle_line(&mut self, line: &str, out: &mut dyn Write) -> io::Result<bool>;

    /// Returns the effect of a line on searches that earlier lines started.
    fn interruption(line: &str) -> Interruption
    where
        Self: Sized;

    /// Returns the handle that stops the session's searches.
    fn search_interrupt(&self) -> SearchInterrupt;
}

/// Serves until the protocol or the input ends, or the user stops the program. Flushes every
/// answer.
pub fn serve<C: LineProtocol>(
    protocol: &mut C,
    input: impl BufRead + Send + 'static,
    out: &mut impl Write,
) -> io::Result<()> {
    let interrupt = protocol.search_interrupt();
    let ended = Arc::new(AtomicBool::new(false));
    spawn_stop_watcher(interrupt.clone(), Arc::clone(&ended));
    let (sender, lines) = mpsc::channel();
    let session_ended = Arc::clone(&ended);
    // Reading cannot be interrupted, so this thread is not joined. It ends with its input.
    std::thread::spawn(move || {
        let mut input = input;
        while let Some(line) = next_line(&mut input) {
            let interruption = C::interruption(&line);
            match interruption {
                Interruption::None => {}
                Interruption::RunningSearch => interrupt.stop(),
                Interruption::AllEarlierSearches => interrupt.preempt(),
            }
            if sender.send((line, interruption)).is_err() {
                return;
            }
        }
        drop(sender);
        let deadline = Instant::now() + GRACE_AFTER_EOF;
        while !C::FINISHES_AFTER_EOF && !session_ended.load(Relaxed) {
            if Instant::now() >= deadline {
                return interrupt.close();
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    });
    let served = answer_lines(protocol, &lines, out);
    ended.store(true, Relaxed);
    served?;
    protocol.finish(out)?;
    out.flush()
}

/// Stops the running search when the user stops the program.
fn spawn_stop_watcher(interrupt: SearchInterrupt, ended: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        while !ended.load(Relaxed) {
            if stop_requested() {
                interrupt.stop();
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    });
}

fn answer_lines<C: LineProtocol>(
    protocol: &mut C,
    lines: &mpsc::Receiver<(String, Interruption)>,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut proceed = protocol.start(out)?;
    out.flush()?;
    while proceed && !stop_requested() {
        match lines.recv_timeout(POLL_INTERVAL) {
            Ok((line, interruption)) => {
                if interruption == Interruption::AllEarlierSearches {
                    protocol.search_interrupt().resume();
                }
                proceed = protocol.handle_line(&line, out)?;
            }
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        }
        out.flush()?;
    }
    Ok(())
}

/// Reads the next line without its line ending, replacing invalid UTF-8; `None` at the end of the
/// input or after an error.
fn next_line(input: &mut impl BufRead) -> Option<String> {
    let mut bytes = Vec::new();
    if input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes).ok()? == 0 {
        return None;
    }
    // Drop the rest of a line that is too long.
    while bytes.last() != Some(&b'\n') {
        let mut rest = Vec::new();
        match input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut rest) {
            Ok(0) | Err(_) => break,
            Ok(_) if rest.last() == Some(&b'\n') => break,
            Ok(_) => {}
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    Some(text.trim_end_matches(['\n', '\r']).to_owned())
}
