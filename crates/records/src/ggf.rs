//! GGF, the Generic Game Format of the Generic Game Server, which NBoard and Edax also speak.
//!
//! A game is a list of properties, `NAME[value]`, between `(;` and `;)`:
//!
//! ```text
//! (;GM[Othello]PC[GGS/os]DT[2003.12.15 13:24:03.MST]PB[Ada]PW[Ben]RB[2197.01]RW[2199.72]
//! TI[05:00//02:00]TY[8]RE[-38.00]BO[8 -------- -------- -------- ---O*--- ---*O--- --------
//! -------- -------- *]B[f5//0.01]W[d6/2.00/0.02];)
//! ```
//!
//! A move is written with its value and its time in seconds, a forced pass as `PA` or not at all.
//! What stands between games, such as the number of games of a match, is skipped. Properties that
//! mean nothing here are skipped too. Komi games, boards of other sizes and games in which the
//! fewest discs win are faults of the game, not of the file.
//!
//! In a value, `\]`, `\\` and `\(` stand for the second character. A game must not hold a bare `(;`
//! inside a value: that begins the next game, so that one game with a bracket missing does not
//! swallow its successors.
//!
//! What has no property of its own is kept in a comment that begins with `outflank`, since NBoard
//! refuses properties that it does not know but skips comments: `CO[outflank perfect=-2@24
//! random=1,4]` is the result of perfect play from 24 empty squares, and the numbers of the moves
//! that were forced at random.

mod parse;
mod write;

pub use parse::{game, turns};
pub use write::write;

use crate::Record;
use crate::fault::{Fault, Reason};
use outflank_games::othello::Othello;

/// The games of a text, or what is wrong with each.
pub fn games(bytes: &[u8]) -> impl Iterator<Item = Result<Record<Othello>, Fault>> {
    pieces(bytes).map(|piece| piece.read())
}

/// A stretch of the text that holds one game.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece<'a> {
    index: usize,
    byte: usize,
    text: &'a [u8],
}

impl Piece<'_> {
    /// Where it begins.
    pub(crate) fn byte(&self) -> usize {
        self.byte
    }

    /// The game, or what is wrong with it.
    pub(crate) fn read(&self) -> Result<Record<Othello>, Fault> {
        let Piece { index, byte, .. } = *self;
        match index {
            0 => Err(Fault { index, byte, reason: Reason::NotOpened }),
            _ => game(self.text).map_err(|reason| Fault { index, byte, reason }),
        }
    }
}

/// Cuts the text where games begin. A piece with the index 0 is text before the first game that
/// looks like the rest of one.
pub(crate) fn pieces(bytes: &[u8]) -> impl Iterator<Item = Piece<'_>> {
    let first = next_start(bytes, 0).unwrap_or(bytes.len());
    let torn = bytes[..first].windows(2).position(|pair| pair == b";)");
    let torn = torn.map(|byte| Piece { index: 0, byte, text: &[] });
    let mut index = 0;
    let mut from = first;
    torn.into_iter().chain(std::iter::from_fn(move || {
        let byte = from;
        if byte >= bytes.len() {
            return None;
        }
        from = next_start(bytes, byte + 2).unwrap_or(bytes.len());
        index += 1;
        Some(Piece { index, byte, text: &bytes[byte..from] })
    }))
}

/// Where the next game begins at or after this place.
fn next_start(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let mut at = 0;
    while let Some(found) = rest[at..].windows(2).position(|pair| pair == b"(;") {
        at += found;
        if at == 0 || rest[at - 1] != b'\\' {
            return Some(from + at);
        }
        at += 1;
    }
    None
}
