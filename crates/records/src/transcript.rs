//! Transcripts: one game per line, as a sequence of moves such as `f5d6c3d3c4`.
//!
//! Case, white space and move numbers such as `1.` do not matter. A forced pass is omitted or written as `pa`, `ps`, `pass` or
//! `--`. Blank lines are skipped; comments start with `#` or `%`. A game with another starting
//! position has the board, the side to move and a colon before its moves:
//!
//! ```text
//! f5d6c3d3c4
//! ---------------------------OX------XXX-----X-------------------- O: f6f4
//! ```
//!
//! A transcript has no metadata.

use crate::Record;
use crate::error::{ParseError, ParseErrorKind, snippet};
use crate::replay::{Replay, Start, leading_pass, lines, parse_square};
use outflank_games::Position;
use outflank_games::othello::{BoardError, Othello};
use std::fmt::Write;

/// Parses the games of a text.
pub fn games(bytes: &[u8]) -> impl Iterator<Item = Result<Record<Othello>, ParseError>> {
    lines(bytes).enumerate().map(|(index, (byte, line))| {
        game(line).map_err(|kind| ParseError { number: Some(index + 1), byte_offset: byte, kind })
    })
}

/// Parses the game of one line.
pub fn game(line: &[u8]) -> Result<Record<Othello>, ParseErrorKind> {
    let (start, mut moves) = match line.iter().position(|&byte| byte == b':') {
        None => (Start::standard(), line),
        Some(colon) => {
            let board = std::str::from_utf8(&line[..colon])
                .map_err(|_| BoardError::Side(snippet(&line[..colon])))?;
            (Start::parse(board)?, &line[colon + 1..])
        }
    };
    let mut replay = Replay::new(&start);
    loop {
        moves = moves.trim_ascii_start();
        if let Some(length) = leading_number(moves) {
            moves = &moves[length..];
            continue;
        }
        if moves.is_empty() {
            return Ok(replay.finish(Default::default()));
        }
        if let Some(length) = leading_pass(moves) {
            replay.pass(None)?;
            moves = &moves[length..];
        } else {
            let (text, rest) = moves.split_at(moves.len().min(2));
            let ply = crate::Ply::new(parse_square(text, replay.next_ply())?);
            replay.play(None, ply)?;
            moves = rest;
        }
    }
}

/// Returns the length of the move number at the start of a text, such as `12.`; `None` without one.
fn leading_number(text: &[u8]) -> Option<usize> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let dots = text[digits..].iter().take_while(|&&byte| byte == b'.').count();
    (digits > 0 && dots > 0).then_some(digits + dots)
}

/// Writes a game as a line, without the line break.
///
/// The board precedes the moves if the game does not start from the standard position or has no
/// moves.
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
