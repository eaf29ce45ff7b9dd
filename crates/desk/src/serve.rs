//! The loop of a server: lines come in, answers go out, and a line that comes in while the player
//! thinks may end its thinking.

use crate::brain::Current;
use std::io::{self, BufRead, Read, Write};
use std::sync::mpsc;

/// A longer line is cut; no command of either protocol is so long.
const LONGEST: u64 = 1 << 20;

/// A protocol, from the player's side.
pub trait Conversation {
    /// Answers one line; `false` ends the conversation.
    fn answer(&mut self, line: &str, out: &mut dyn Write) -> io::Result<bool>;

    /// Whether a line that comes in while the player thinks is to end its thinking.
    fn interrupts(line: &str) -> bool
    where
        Self: Sized;

    /// The search that is under way.
    fn current(&self) -> Current;
}

/// Serves until the other side is done or goes away. Every answer is flushed.
pub fn serve<C: Conversation>(
    conversation: &mut C,
    input: impl BufRead + Send + 'static,
    out: &mut impl Write,
) -> io::Result<()> {
    let current = conversation.current();
    let (sender, lines) = mpsc::channel();
    // It ends with its input; nobody waits for it, since reading cannot be interrupted.
    std::thread::spawn(move || {
        let mut input = input;
        while let Some(line) = next_line(&mut input) {
            if C::interrupts(&line) {
                current.stop();
            }
            if sender.send(line).is_err() {
                return;
            }
        }
        current.stop();
    });
    for line in lines {
        let go_on = conversation.answer(&line, out)?;
        out.flush()?;
        if !go_on {
            break;
        }
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
