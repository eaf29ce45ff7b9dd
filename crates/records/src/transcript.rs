//! Transcripts: a game a line, its moves one after the other, as in `f5d6c3d3c4`.
//!
//! Either case is read, white space may stand anywhere, and a forced pass may be left out or
//! written as `pa`, `ps`, `pass` or `--`. Blank lines are skipped, and so is what follows a `#` or
//! `%`. A game that starts elsewhere has its board, the side to move and a colon before its moves:
//!
//! ```text
//! f5d6c3d3c4
//! ---------------------------OX------XXX-----X-------------------- O: f6f4
//! ```
//!
//! A transcript knows nothing but the start and the moves.

use crate::Record;
use crate::fault::{Fault, Reason, snippet};
use crate::replay::{Replay, Start, leading_pass, lines, square};
use outflank_games::Position;
use outflank_games::othello::{BoardError, Othello};
use std::fmt::Write;

/// The games of a text, or what is wrong with each.
pub fn games(bytes: &[u8]) -> impl Iterator<Item = Result<Record<Othello>, Fault>> {
    lines(bytes).enumerate().map(|(place, (byte, line))| {
        game(line).map_err(|reason| Fault { index: place + 1, byte, reason })
    })
}

/// The game of one line.
pub fn game(line: &[u8]) -> Result<Record<Othello>, Reason> {
    let (start, mut moves) = match line.iter().position(|&byte| byte == b':') {
        None => (Start::usual(), line),
        Some(colon) => {
            let board = std::str::from_utf8(&line[..colon])
                .map_err(|_| BoardError::Side(snippet(&line[..colon])))?;
            (Start::parse(board)?, &line[colon + 1..])
        }
    };
    let mut replay = Replay::new(&start);
    loop {
        moves = moves.trim_ascii_start();
        if moves.is_empty() {
            return Ok(replay.finish(Default::default()));
        }
        if let Some(length) = leading_pass(moves) {
            replay.pass(None)?;
            moves = &moves[length..];
        } else {
            let (text, rest) = moves.split_at(moves.len().min(2));
            let ply = crate::Ply::new(square(text, replay.ply())?);
            replay.play(None, ply)?;
            moves = rest;
        }
    }
}

/// The line of a game, without its end of line.
///
/// The board stands before the moves only where a plain transcript would not do: when the game
/// starts elsewhere, or has no move.
#[must_use]
pub fn write(record: &Record<Othello>) -> String {
    let mut line = String::with_capacity(2 * record.plies().len());
    if *record.start() != Othello::start() || record.plies().is_empty() {
        let _ = write!(line, "{}: ", record.start());
    }
    for ply in record.plies() {
        let _ = write!(line, "{}", ply.mv);
    }
    line.truncate(line.trim_end().len());
    line
}
