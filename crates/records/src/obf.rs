//! OBF, a format for endgame positions: board, side to move, scores of moves.
//!
//! ```text
//! ---------------------------OX------XO--------------------------- X; D3:+0; C4:+0; F5:+0;
//! ```
//!
//! Scores are optional and in discs for the side to move. Every line ends with `;` and a line break.
//! Blank lines are skipped; comments start with `#` or `%`.

use crate::error::{ParseError, ParseErrorKind, snippet};
use crate::replay::{Start, leading_pass, lines};
use outflank_games::othello::{BoardError, Othello, Square};
use outflank_games::{Position, Side};
use std::fmt::Write;

/// A position with scores of moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObfEntry {
    /// The position, after the pass if the side in the file cannot move.
    pub position: Othello,
    /// The side to move in the file, to which the scores refer.
    pub side: Side,
    /// Moves with their scores, in the order of the file. `None` is a pass.
    pub scores: Vec<(Option<Square>, i32)>,
}

/// Parses the positions of a text.
///
/// A line that does not end with `;`, or a last line without a line break, is an error: the file
/// may be truncated.
pub fn entries(bytes: &[u8]) -> impl Iterator<Item = Result<ObfEntry, ParseError>> {
    let end = bytes.iter().rposition(|&byte| byte == b'\n').unwrap_or(0);
    lines(bytes).enumerate().map(move |(index, (byte, line))| {
        let is_complete = line.ends_with(b";") && byte < end;
        let parsed = match entry(line) {
            Ok(_) if !is_complete => Err(ParseErrorKind::TruncatedLine),
            parsed => parsed,
        };
        parsed.map_err(|kind| ParseError { number: Some(index + 1), byte_offset: byte, kind })
    })
}

/// Parses the position of one line.
pub fn entry(line: &[u8]) -> Result<ObfEntry, ParseErrorKind> {
    let text = std::str::from_utf8(line).map_err(|_| BoardError::Side(snippet(line)))?;
    let mut fields = text.split(';').map(str::trim);
    let Start { position, side } = Start::parse(fields.next().unwrap_or_default())?;
    let mut entry = ObfEntry { position, side, scores: Vec::new() };
    for field in fields.filter(|field| !field.is_empty()) {
        let (name, score) = field.split_once(':').unwrap_or((field, ""));
        let name = name.trim();
        let illegal = || ParseErrorKind::ScoredMove { text: snippet(name.as_bytes()) };
        let square = match leading_pass(name.as_bytes()) {
            Some(_) if position.to_move() != side || position.is_over() => None,
            Some(_) => return Err(illegal()),
            None if position.to_move() != side => return Err(illegal()),
            None => Some(position.parse_move(name).map_err(|_| illegal())?),
        };
        let score = score.trim();
        match score.parse::<i32>() {
            Ok(discs) if discs.abs() <= 64 => entry.scores.push((square, discs)),
            _ => {
                let text = snippet(score.as_bytes());
                return Err(ParseErrorKind::Number { expected: "a score from -64 to +64", text });
            }
        }
    }
    Ok(entry)
}

/// Writes a position as a line, without the line break.
#[must_use]
pub fn write(entry: &ObfEntry) -> String {
    let board = entry.position.to_string();
    let cells = board.split(' ').next().unwrap_or_default();
    let mut line = format!("{cells} {};", if entry.side == Side::Black { 'X' } else { 'O' });
    for (square, score) in &entry.scores {
        let _ = match square {
            Some(square) => write!(line, " {}:{score:+};", square.to_string().to_uppercase()),
            None => write!(line, " PS:{score:+};"),
        };
    }
    line
}
