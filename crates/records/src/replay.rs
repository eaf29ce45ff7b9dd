//! Replaying moves and passes from text, and line-based parsing.

use crate::error::ParseErrorKind;
use crate::{GameInfo, Ply, Record};
use outflank_games::othello::{BoardError, Othello, Square, parse_cells};
use outflank_games::{MoveError, Position, Side};

/// A record under construction that validates passes.
///
/// Positions make forced passes automatically, so files may write or omit them. A written pass must
/// be a forced one.
pub(crate) struct Replay {
    record: Record<Othello>,
    /// The side whose forced pass may be written next.
    passed: Option<Side>,
}

impl Replay {
    /// Starts from a board and the side to move in the text.
    pub(crate) fn new(start: &Start) -> Replay {
        let record = Record::new(start.position, GameInfo::default());
        let passed = (start.position.to_move() != start.side).then_some(start.side);
        Replay { record, passed }
    }

    /// Returns the number of the next move.
    pub(crate) fn next_ply(&self) -> usize {
        self.record.plies().len() + 1
    }

    /// Plays a move. `side_in_text` is the side that the text states, if any.
    pub(crate) fn play(
        &mut self,
        side_in_text: Option<Side>,
        ply: Ply<Square>,
    ) -> Result<(), ParseErrorKind> {
        let number = self.next_ply();
        let side = self.record.end().to_move();
        if side_in_text.is_some_and(|stated| stated != side) && !self.record.end().is_over() {
            return Err(ParseErrorKind::WrongSide { ply: number, side });
        }
        self.record.push(ply).map_err(|error| ParseErrorKind::Move { ply: number, error })?;
        let end = self.record.end();
        self.passed = (end.to_move() == side && !end.is_over()).then_some(side.other());
        Ok(())
    }

    /// Makes a pass. `side_in_text` is the side that the text states, if any.
    pub(crate) fn pass(&mut self, side_in_text: Option<Side>) -> Result<(), ParseErrorKind> {
        let end = self.record.end();
        if end.is_over() {
            // Some servers write passes of both sides at the end.
            return Ok(());
        }
        match self.passed.take() {
            Some(side) if side_in_text.is_none_or(|stated| stated == side) => Ok(()),
            _ => Err(ParseErrorKind::Pass { ply: self.next_ply(), side: end.to_move() }),
        }
    }

    /// Returns the finished record.
    pub(crate) fn finish(self, info: GameInfo) -> Record<Othello> {
        let mut record = self.record;
        record.info = info;
        record
    }
}

/// A starting position, and the side to move that the text states, which may have to pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub(crate) position: Othello,
    pub(crate) side: Side,
}

impl Start {
    /// Returns the standard starting position.
    pub(crate) fn standard() -> Start {
        Start { position: Othello::start(), side: Side::Black }
    }

    /// Parses 64 cells and a side.
    pub(crate) fn parse(text: &str) -> Result<Start, BoardError> {
        let (black, white, rest) = parse_cells(text)?;
        let side = parse_side(rest)
            .ok_or_else(|| BoardError::Side(crate::error::snippet(rest.as_bytes())))?;
        let position = Othello::from_discs(black, white, side).ok_or(BoardError::Length(64))?;
        Ok(Start { position, side })
    }
}

/// Parses the side to move after a board.
pub(crate) fn parse_side(text: &str) -> Option<Side> {
    match text.trim() {
        "X" | "x" | "*" | "b" | "B" => Some(Side::Black),
        "O" | "o" | "0" | "w" | "W" => Some(Side::White),
        _ => None,
    }
}

/// Parses the square of the move `ply`.
pub(crate) fn parse_square(text: &[u8], ply: usize) -> Result<Square, ParseErrorKind> {
    std::str::from_utf8(text).ok().and_then(|text| text.trim().parse().ok()).ok_or_else(|| {
        ParseErrorKind::Move { ply, error: MoveError::InvalidNotation(crate::error::snippet(text)) }
    })
}

/// Returns the length of the pass at the start of a text, or `None` if it does not start with a
/// pass.
pub(crate) fn leading_pass(text: &[u8]) -> Option<usize> {
    let is = |word: &[u8]| text.get(..word.len()).is_some_and(|t| t.eq_ignore_ascii_case(word));
    [b"pass".as_slice(), b"pas", b"pa", b"ps", b"--"].into_iter().find(|w| is(w)).map(<[u8]>::len)
}

/// Iterates over the non-blank lines of a text with their byte offsets.
///
/// Comments, which start with `#` or `%`, and surrounding white space are removed.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    all_lines(bytes).filter(|(_, line)| !line.is_empty())
}

/// Iterates over all lines as [`lines`] does, including blank ones.
pub(crate) fn all_lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    // Skip a UTF-8 byte order mark.
    let (mut offset, bytes) = match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => (3, rest),
        None => (0, bytes),
    };
    bytes.split(|&byte| byte == b'\n').map(move |line| {
        let start = offset;
        offset += line.len() + 1;
        let content = line.split(|&byte| byte == b'#' || byte == b'%').next().unwrap_or_default();
        let indent = content.len() - content.trim_ascii_start().len();
        (start + indent, content.trim_ascii())
    })
}
