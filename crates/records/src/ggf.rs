//! GGF, the Generic Game Format of the Generic Game Server, also used by NBoard and Edax.
//!
//! A game is a list of properties, `NAME[value]`, between `(;` and `;)`:
//!
//! ```text
//! (;GM[Othello]PC[GGS/os]DT[2003.12.15 13:24:03.MST]PB[Ada]PW[Ben]RB[2197.01]RW[2199.72]
//! TI[05:00//02:00]TY[8]RE[-38.00]BO[8 -------- -------- -------- ---O*--- ---*O--- --------
//! -------- -------- *]B[f5//0.01]W[d6/2.00/0.02];)
//! ```
//!
//! A move has an optional evaluation and an optional time in seconds. A forced pass is written as
//! `PA` or omitted. Text between games, such as the number of games of a match, and unknown
//! properties are skipped. Komi games, other board sizes and anti-Othello are errors of the game,
//! not of the file.
//!
//! In a value, `\]`, `\\` and `\(` are escapes. An unescaped `(;` always starts the next game, even
//! in a value, so that a missing bracket affects only one game.
//!
//! Fields without a GGF property are stored in a comment that starts with `outflank`, since NBoard
//! rejects unknown properties but ignores comments. `CO[outflank perfect=-2@24 random=1,4]`
//! contains the result of perfect play from 24 empty squares and the numbers of the random moves.

mod parse;
mod write;

pub use parse::{game, sides_to_move};
pub use write::write;

use crate::Record;
use crate::error::{ParseError, ParseErrorKind};
use outflank_games::othello::Othello;

/// Parses the games of a text.
pub fn games(bytes: &[u8]) -> impl Iterator<Item = Result<Record<Othello>, ParseError>> {
    game_texts(bytes).map(|text| text.parse())
}

/// The text of one game.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GameText<'a> {
    index: usize,
    byte: usize,
    text: &'a [u8],
}

impl GameText<'_> {
    /// Returns the byte offset.
    pub(crate) fn byte(&self) -> usize {
        self.byte
    }

    /// Parses the game.
    pub(crate) fn parse(&self) -> Result<Record<Othello>, ParseError> {
        let GameText { index, byte, .. } = *self;
        match index {
            0 => Err(ParseError::of_file(byte, ParseErrorKind::NotOpened)),
            _ => game(self.text).map_err(|kind| ParseError {
                number: Some(index),
                byte_offset: byte,
                kind,
            }),
        }
    }
}

/// Splits a text at the starts of games. An item with index 0 stands for an end `;)` before the start
/// of the first game.
pub(crate) fn game_texts(bytes: &[u8]) -> impl Iterator<Item = GameText<'_>> {
    let first = next_start(bytes, 0).unwrap_or(bytes.len());
    let unmatched_end = bytes[..first].windows(2).position(|pair| pair == b";)");
    let unmatched_end = unmatched_end.map(|byte| GameText { index: 0, byte, text: &[] });
    let mut index = 0;
    let mut from = first;
    unmatched_end.into_iter().chain(std::iter::from_fn(move || {
        let byte = from;
        if byte >= bytes.len() {
            return None;
        }
        from = next_start(bytes, byte + 2).unwrap_or(bytes.len());
        index += 1;
        Some(GameText { index, byte, text: &bytes[byte..from] })
    }))
}

/// Returns the offset of the next start of a game at or after `from`.
fn next_start(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let mut offset = 0;
    while let Some(found) = rest[offset..].windows(2).position(|pair| pair == b"(;") {
        offset += found;
        if offset == 0 || rest[offset - 1] != b'\\' {
            return Some(from + offset);
        }
        offset += 1;
    }
    None
}
