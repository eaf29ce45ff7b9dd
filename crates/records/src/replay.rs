//! Moves and passes from text, played one by one.

use crate::fault::Reason;
use crate::{About, Ply, Record};
use outflank_games::othello::{BoardError, Othello, Square, parse_cells};
use outflank_games::{MoveError, Position, Side};

/// A record that grows move by move and knows where a written pass belongs.
///
/// Positions pass by themselves, so a file may write a forced pass or leave it out. A pass that is
/// written must be one that was forced.
pub(crate) struct Replay {
    record: Record<Othello>,
    skipped: Option<Side>,
}

impl Replay {
    /// Begins at a board on which this side should move.
    pub(crate) fn new(start: &Start) -> Replay {
        let record = Record::new(start.position, GameInfo::default());
        let skipped = (start.position.to_move() != start.side).then_some(start.side);
        Replay { record, skipped }
    }

    /// The number of the move that comes next.
    pub(crate) fn ply(&self) -> usize {
        self.record.plies().len() + 1
    }

    /// Makes a move, by this side if the text says by whom.
    pub(crate) fn play(&mut self, by: Option<Side>, ply: Ply<Square>) -> Result<(), Reason> {
        let number = self.ply();
        let side = self.record.end().to_move();
        if by.is_some_and(|by| by != side) && !self.record.end().is_over() {
            return Err(Reason::Turn { ply: number, side });
        }
        self.record.push(ply).map_err(|error| Reason::Move { ply: number, error })?;
        let end = self.record.end();
        self.skipped = (end.to_move() == side && !end.is_over()).then_some(side.other());
        Ok(())
    }

    /// Makes a pass, by this side if the text says by whom.
    pub(crate) fn pass(&mut self, by: Option<Side>) -> Result<(), Reason> {
        let end = self.record.end();
        if end.is_over() {
            // Some servers write that both sides pass at the end.
            return Ok(());
        }
        match self.skipped.take() {
            Some(side) if by.is_none_or(|by| by == side) => Ok(()),
            _ => Err(Reason::Pass { ply: self.ply(), side: end.to_move() }),
        }
    }

    /// The finished record.
    pub(crate) fn finish(self, about: About) -> Record<Othello> {
        let mut record = self.record;
        record.info = about;
        record
    }
}

/// A board on which a text says that a side is to move, though it may have to pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub(crate) position: Othello,
    pub(crate) side: Side,
}

impl Start {
    pub(crate) fn usual() -> Start {
        Start { position: Othello::start(), side: Side::Black }
    }

    /// Reads 64 cells and a side.
    pub(crate) fn parse(text: &str) -> Result<Start, BoardError> {
        let (black, white, rest) = parse_cells(text)?;
        let side =
            side(rest).ok_or_else(|| BoardError::Side(crate::fault::snippet(rest.as_bytes())))?;
        let position = Othello::from_discs(black, white, side).ok_or(BoardError::Length(64))?;
        Ok(Start { position, side })
    }
}

/// The side that a text names after a board.
pub(crate) fn side(text: &str) -> Option<Side> {
    match text.trim() {
        "X" | "x" | "*" | "b" | "B" => Some(Side::Black),
        "O" | "o" | "0" | "w" | "W" => Some(Side::White),
        _ => None,
    }
}

/// The square that a text names.
pub(crate) fn square(text: &[u8], ply: usize) -> Result<Square, Reason> {
    std::str::from_utf8(text).ok().and_then(|text| text.trim().parse().ok()).ok_or_else(|| {
        Reason::Move { ply, error: MoveError::Unreadable(crate::fault::snippet(text)) }
    })
}

/// How long the pass is that a text begins with, if it begins with one.
pub(crate) fn leading_pass(text: &[u8]) -> Option<usize> {
    let is = |word: &[u8]| text.get(..word.len()).is_some_and(|t| t.eq_ignore_ascii_case(word));
    [b"pass".as_slice(), b"pas", b"pa", b"ps", b"--"].into_iter().find(|w| is(w)).map(<[u8]>::len)
}

/// The lines of a text that say something: where they begin, and the
/// text without the comment, which a `#` or `%` begins, and without the white space around it.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    all_lines(bytes).filter(|(_, line)| !line.is_empty())
}

/// As [`lines`], with the blank ones.
pub(crate) fn all_lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let bytes = match bytes.strip_prefix(b"\xef\xbb\xbf") {
        // The mark that some editors put at the start of a file counts as white space.
        Some(rest) => (3, rest),
        None => (0, bytes),
    };
    let mut at = bytes.0;
    bytes.1.split(|&byte| byte == b'\n').map(move |line| {
        let start = at;
        at += line.len() + 1;
        let said = line.split(|&byte| byte == b'#' || byte == b'%').next().unwrap_or_default();
        let indent = said.len() - said.trim_ascii_start().len();
        (start + indent, said.trim_ascii())
    })
}
