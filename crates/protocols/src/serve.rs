//! The loop of a server: lines come in, answers go out, and a line that comes in while the player
//! thinks may end its thinking.

use crate::brain::Current;
use outflank_runs::stop_requested;
use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// A longer line is cut; no command of either protocol is so long.
const LONGEST: u64 = 1 << 20;

/// So often it looks up whether the user wants it to stop.
const GLANCE: Duration = Duration::from_millis(50);

/// What was asked before the input ended is answered in full for so long, as a script expects; then
/// whoever asked has gone, and all thinking is cut short.
const AFTER_THE_END: Duration = Duration::from_secs(10);

/// What a line that comes in does to thinking that was asked for before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It waits for its turn.
    None,
    /// What is under way ends; what is still to come is done.
    EndsTheCurrent,
    /// Everything before it ends, also what has not begun.
    EndsAllBefore,
}

/// A protocol, from the player's side.
pub trait Conversation {
    /// Whether what was asked is done to its end even when no more input comes.
    const PATIENT: bool = false;

    /// Speaks first.
    fn open(&mut self, out: &mut dyn Write) -> io::Result<bool> {
        let _ = out;
        Ok(true)
    }

    /// Has the last word, however the conversation ended.
    fn close(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let _ = out;
        Ok(())
    }

    /// Answers one line; `false` ends the conversation.
    fn answer(&mut self, line: &str, out: &mut dyn Write) -> io::Result<bool>;

    /// What a line does to the thinking before it.
    fn effect(line: &str) -> Effect
    where
        Self: Sized;

    /// The search that is under way.
    fn current(&self) -> Current;
}

/// Serves until the other side is done or goes away, or the user asks the program to stop. Every answer
/// is flushed.
pub fn serve<C: Conversation>(
    conversation: &mut C,
    input: impl BufRead + Send + 'static,
    out: &mut impl Write,
) -> io::Result<()> {
    let current = conversation.current();
    let over = Arc::new(AtomicBool::new(false));
    let (watched, ended) = (current.clone(), Arc::clone(&over));
    std::thread::spawn(move || {
        while !ended.load(Relaxed) {
            if stop_requested() {
                watched.stop();
            }
            std::thread::sleep(GLANCE);
        }
    });
    let (sender, lines) = mpsc::channel();
    let ended = Arc::clone(&over);
    // It ends with its input; nobody waits for it, since reading cannot be interrupted.
    std::thread::spawn(move || {
        let mut input = input;
        while let Some(line) = next_line(&mut input) {
            let effect = C::effect(&line);
            match effect {
                Effect::None => {}
                Effect::EndsTheCurrent => current.stop(),
                Effect::EndsAllBefore => current.wait(),
            }
            if sender.send((line, effect)).is_err() {
                return;
            }
        }
        drop(sender);
        let end = Instant::now() + AFTER_THE_END;
        while !C::PATIENT && !ended.load(Relaxed) {
            if Instant::now() >= end {
                return current.give_up();
            }
            std::thread::sleep(GLANCE);
        }
    });
    let served = converse(conversation, &lines, out);
    over.store(true, Relaxed);
    served?;
    conversation.close(out)?;
    out.flush()
}

fn converse<C: Conversation>(
    conversation: &mut C,
    lines: &mpsc::Receiver<(String, Effect)>,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut go_on = conversation.open(out)?;
    out.flush()?;
    while go_on && !stop_requested() {
        match lines.recv_timeout(GLANCE) {
            Ok((line, effect)) => {
                if effect == Effect::EndsAllBefore {
                    conversation.current().turn();
                }
                go_on = conversation.answer(&line, out)?;
            }
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        }
        out.flush()?;
    }
    Ok(())
}

/// The next line without its end, whatever bytes it holds; `None` at the end or after an error.
fn next_line(input: &mut impl BufRead) -> Option<String> {
    let mut bytes = Vec::new();
    if input.by_ref().take(LONGEST).read_until(b'\n', &mut bytes).ok()? == 0 {
        return None;
    }
    // What is left of a line that is too long belongs to no command.
    while bytes.last() != Some(&b'\n') {
        let mut rest = Vec::new();
        match input.by_ref().take(LONGEST).read_until(b'\n', &mut rest) {
            Ok(0) | Err(_) => break,
            Ok(_) if rest.last() == Some(&b'\n') => break,
            Ok(_) => {}
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    Some(text.trim_end_matches(['\n', '\r']).to_owned())
}
