//! Boards as text: a board a line, or a block of digits.
//!
//! A line holds 64 cells (`X`, `*`, `b` for Black, `O`, `0`, `w` for White, `-`, `.` for an empty
//! square, spaces allowed between them) and, if it likes, the side to move, glued on or after a
//! space. The other form is that of the league openings of Lucas: the digits 0 for White, 1 for an
//! empty square and 2 for Black, with blank lines between boards and no word about who moves. A
//! board of either form may run over several lines, ended by a blank one. What follows a `#` or `%`
//! is skipped.

use crate::fault::{Fault, Reason, snippet};
use crate::replay::{all_lines, side};
use outflank_games::othello::{BoardError, Othello, parse_cells};
use outflank_games::{Position, Side};

/// A board that may not say who is to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    /// Black's discs.
    pub black: u64,
    /// White's discs.
    pub white: u64,
    /// The side to move, if the text says; it may have to pass.
    pub side: Option<Side>,
}

impl Board {
    /// Reads 64 cells and the side to move if there is one.
    pub fn parse(text: &str) -> Result<Board, Reason> {
        let digits = |c: char| matches!(c, '0'..='2') || c.is_ascii_whitespace();
        if text.chars().all(digits) && text.contains(['1', '2']) {
            return Board::parse_digits(text);
        }
        let (black, white, rest) = parse_cells(text)?;
        let side = match rest.trim() {
            "" => None,
            named => Some(side(named).ok_or_else(|| BoardError::Side(snippet(named.as_bytes())))?),
        };
        Ok(Board { black, white, side })
    }

    fn parse_digits(text: &str) -> Result<Board, Reason> {
        let mut board = Board { black: 0, white: 0, side: None };
        let mut count = 0;
        for cell in text.bytes().filter(u8::is_ascii_digit) {
            match cell {
                _ if count >= 64 => {}
                b'0' => board.white |= 1 << count,
                b'2' => board.black |= 1 << count,
                _ => {}
            }
            count += 1;
        }
        if count == 64 { Ok(board) } else { Err(BoardError::Length(count).into()) }
    }

    /// The position in which this side is to move, or passes if it cannot.
    #[must_use]
    pub fn position(&self, side: Side) -> Othello {
        // The two sides are disjoint by construction, so the fallback is never taken.
        Othello::from_discs(self.black, self.white, side).unwrap_or_else(Othello::start)
    }
}

/// The boards of a text, or what is wrong with each.
pub fn boards(bytes: &[u8]) -> impl Iterator<Item = Result<Board, Fault>> {
    boards_at(bytes).map(|(_, board)| board)
}

/// The boards of a text and where each begins.
pub(crate) fn boards_at(bytes: &[u8]) -> impl Iterator<Item = (usize, Result<Board, Fault>)> {
    let mut lines = all_lines(bytes).peekable();
    let mut index = 0;
    std::iter::from_fn(move || {
        while lines.next_if(|(_, line)| line.is_empty()).is_some() {}
        let (byte, first) = lines.next()?;
        index += 1;
        let mut block = first.to_vec();
        // A line with all cells of a board is one by itself, whatever comes next.
        while cells(&block) < 64 && block.len() < LONGEST {
            let Some((_, line)) = lines.next_if(|(_, line)| !line.is_empty()) else { break };
            block.push(b' ');
            block.extend_from_slice(line);
        }
        let board = match std::str::from_utf8(&block) {
            Ok(text) => Board::parse(text),
            Err(_) => Err(BoardError::Side(snippet(&block)).into()),
        };
        Some((byte, board.map_err(|reason| Fault { index, byte, reason })))
    })
}

/// No board takes more characters than this, so a block that does is not read on.
const LONGEST: usize = 1024;

fn cells(text: &[u8]) -> usize {
    text.iter().take(LONGEST).filter(|byte| !byte.is_ascii_whitespace()).count()
}

/// The line of a position: 64 cells, a space, and the side to move.
#[must_use]
pub fn write(position: &Othello) -> String {
    position.to_string()
}
