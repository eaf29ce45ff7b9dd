//! Boards as text: one board per line, or blocks of digits.
//!
//! A line has 64 cells (`X`, `*` or `b` for Black, `O`, `0` or `w` for White, `-` or `.` for an
//! empty square, with optional spaces) and optionally the side to move. The other form is that of
//! the Othello League openings: 0 for White, 1 for an empty square and 2 for Black, with blank
//! lines between boards and no side to move. A board of either form may extend over several lines,
//! followed by a blank line. Comments start with `#` or `%`.

use crate::error::{ParseError, ParseErrorKind, snippet};
use crate::replay::{all_lines, parse_side};
use outflank_games::Side;
use outflank_games::othello::{BoardError, Othello, parse_cells};

/// A board as read from text, with an optional side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedBoard {
    /// Black's discs.
    pub black: u64,
    /// White's discs.
    pub white: u64,
    /// The side to move, if given. It may have to pass.
    pub side: Option<Side>,
}

impl ParsedBoard {
    /// Parses 64 cells and an optional side to move.
    pub fn parse(text: &str) -> Result<ParsedBoard, ParseErrorKind> {
        let is_digit = |c: char| matches!(c, '0'..='2') || c.is_ascii_whitespace();
        if text.chars().all(is_digit) && text.contains(['1', '2']) {
            return ParsedBoard::parse_digits(text);
        }
        let (black, white, rest) = parse_cells(text)?;
        let side = match rest.trim() {
            "" => None,
            text => {
                Some(parse_side(text).ok_or_else(|| BoardError::Side(snippet(text.as_bytes())))?)
            }
        };
        Ok(ParsedBoard { black, white, side })
    }

    fn parse_digits(text: &str) -> Result<ParsedBoard, ParseErrorKind> {
        let mut board = ParsedBoard { black: 0, white: 0, side: None };
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

    /// Returns the position with this side to move. A side that cannot move passes.
    #[must_use]
    pub fn position(&self, side: Side) -> Othello {
        Othello::from_discs(self.black, self.white, side).expect("the bitboards are disjoint")
    }
}

/// Parses the boards of a text.
pub fn boards(bytes: &[u8]) -> impl Iterator<Item = Result<ParsedBoard, ParseError>> {
    boards_at(bytes).map(|(_, board)| board)
}

/// Parses the boards of a text, each with its byte offset.
pub(crate) fn boards_at(
    bytes: &[u8],
) -> impl Iterator<Item = (usize, Result<ParsedBoard, ParseError>)> {
    let mut lines = all_lines(bytes).peekable();
    let mut index = 0;
    std::iter::from_fn(move || {
        while lines.next_if(|(_, line)| line.is_empty()).is_some() {}
        let (byte, first) = lines.next()?;
        index += 1;
        let mut block = first.to_vec();
        // A line with 64 cells is a complete board.
        while count_cells(&block) < 64 && block.len() < MAX_BOARD_BYTES {
            let Some((_, line)) = lines.next_if(|(_, line)| !line.is_empty()) else { break };
            block.push(b' ');
            block.extend_from_slice(line);
        }
        let board = match std::str::from_utf8(&block) {
            Ok(text) => ParsedBoard::parse(text),
            Err(_) => Err(BoardError::Side(snippet(&block)).into()),
        };
        Some((
            byte,
            board.map_err(|kind| ParseError { number: Some(index), byte_offset: byte, kind }),
        ))
    })
}

/// The maximum length of the text of a board in bytes. Longer blocks are not read further.
const MAX_BOARD_BYTES: usize = 1024;

fn count_cells(text: &[u8]) -> usize {
    text.iter().take(MAX_BOARD_BYTES).filter(|byte| !byte.is_ascii_whitespace()).count()
}

/// Writes a position as 64 cells, a space, and the side to move.
#[must_use]
pub fn write(position: &Othello) -> String {
    position.to_string()
}
