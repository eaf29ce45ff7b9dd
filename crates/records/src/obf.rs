//! OBF, the format of endgame positions: a board, the side to move, and what its moves are worth.
//!
//! ```text
//! ---------------------------OX------XO--------------------------- X; D3:+0; C4:+0; F5:+0;
//! ```
//!
//! Scores are in discs for the side to move. They may be left out, all or some. Blank lines are
//! skipped, and so is what follows a `#` or `%`.

use crate::fault::{Fault, Reason, snippet};
use crate::replay::{Start, leading_pass, lines};
use outflank_games::othello::{BoardError, Othello, Square};
use outflank_games::{Position, Side};
use std::fmt::Write;

/// A position and what its moves are worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The position; the turn has passed already if the side in the file cannot move.
    pub position: Othello,
    /// The side that the file says is to move, for which the scores count.
    pub side: Side,
    /// Moves and their scores in the order of the file; `None` is a pass.
    pub scores: Vec<(Option<Square>, i32)>,
}

/// The positions of a text, or what is wrong with each.
pub fn entries(bytes: &[u8]) -> impl Iterator<Item = Result<Entry, Fault>> {
    lines(bytes).enumerate().map(|(place, (byte, line))| {
        entry(line).map_err(|reason| Fault { index: place + 1, byte, reason })
    })
}

/// The position of one line.
pub fn entry(line: &[u8]) -> Result<Entry, Reason> {
    let text = std::str::from_utf8(line).map_err(|_| BoardError::Side(snippet(line)))?;
    let mut parts = text.split(';').map(str::trim);
    let Start { position, side } = Start::parse(parts.next().unwrap_or_default())?;
    let mut entry = Entry { position, side, scores: Vec::new() };
    for part in parts.filter(|part| !part.is_empty()) {
        let (name, score) = part.split_once(':').unwrap_or((part, ""));
        let name = name.trim();
        let unplayable = || Reason::ScoredMove { text: snippet(name.as_bytes()) };
        let square = match leading_pass(name.as_bytes()) {
            Some(_) if position.to_move() != side || position.is_over() => None,
            Some(_) => return Err(unplayable()),
            None if position.to_move() != side => return Err(unplayable()),
            None => Some(position.parse_move(name).map_err(|_| unplayable())?),
        };
        let score = score.trim();
        match score.parse::<i32>() {
            Ok(discs) if discs.abs() <= 64 => entry.scores.push((square, discs)),
            _ => {
                let text = snippet(score.as_bytes());
                return Err(Reason::Number { what: "a score from -64 to +64", text });
            }
        }
    }
    Ok(entry)
}

/// The line of a position, without its end of line.
#[must_use]
pub fn write(entry: &Entry) -> String {
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
