//! Text notation of moves and positions (Portable Draughts Notation).

use super::position::crowning_row;
use super::{Checkers, DRAW_PLIES, DarkSquare, DarkSquares, Move};
use crate::{MoveError, Position, Side};
use std::fmt;
use std::str::FromStr;

/// An error while parsing a position of checkers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckersError {
    /// The side to move is invalid.
    #[error("'{0}' is not a side to move: start with B: or W:")]
    SideToMove(String),
    /// A section is neither a list of pieces nor a ply count.
    #[error(
        "'{0}' is not a section of a position: write W and B with their squares, then H and a ply count, as in B:W30,K31:B1:H4"
    )]
    Section(String),
    /// The section of one side is missing.
    #[error(
        "the pieces of {0} are missing: write W or B and their squares, or the letter alone if there are none"
    )]
    Missing(Side),
    /// A section occurs twice.
    #[error("'{0}' repeats an earlier section: remove one of them")]
    Repeated(String),
    /// A square number is invalid.
    #[error(
        "'{text}' in the pieces of {side} is not a square: use 1 to 32, with K before the number of a king"
    )]
    InvalidSquare {
        /// The side of the piece.
        side: Side,
        /// The invalid text.
        text: String,
    },
    /// A square has two pieces.
    #[error("square {0} has two pieces: remove one of them")]
    Occupied(DarkSquare),
    /// A man is on its crowning row.
    #[error("a man of {side} on {square} would have been crowned: write K{square}")]
    Uncrowned {
        /// The side of the man.
        side: Side,
        /// The square of the man.
        square: DarkSquare,
    },
    /// A side has more than 12 pieces.
    #[error("{side} has {count} pieces; the maximum is 12")]
    TooMany {
        /// The side.
        side: Side,
        /// The number of its pieces.
        count: u32,
    },
    /// The number of plies since the last capture or man's move is invalid.
    #[error("'H{0}' is not a number of plies without a capture or a man's move: use 0 to 80")]
    QuietPlies(String),
}

/// Parses an integer of one or two decimal digits without a sign.
fn parse_number(text: &str) -> Option<u8> {
    let short = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if short { text.parse().ok() } else { None }
}

fn parse_side(letter: &str) -> Option<Side> {
    match letter {
        "B" | "b" => Some(Side::Black),
        "W" | "w" => Some(Side::White),
        _ => None,
    }
}

/// Parses the comma-separated squares of one side. Returns all pieces and the kings.
fn parse_pieces(side: Side, text: &str) -> Result<(u32, u32), CheckersError> {
    let (mut pieces, mut kings) = (0u32, 0u32);
    if text.trim().is_empty() {
        return Ok((pieces, kings));
    }
    for word in text.split(',').map(str::trim) {
        let crowned = word.strip_prefix(['K', 'k']);
        let square = parse_number(crowned.unwrap_or(word))
            .and_then(DarkSquare::new)
            .ok_or_else(|| CheckersError::InvalidSquare { side, text: word.to_owned() })?;
        if pieces & square.bit() != 0 {
            return Err(CheckersError::Occupied(square));
        }
        pieces |= square.bit();
        if crowned.is_some() {
            kings |= square.bit();
        } else if square.bit() & crowning_row(side) != 0 {
            return Err(CheckersError::Uncrowned { side, square });
        }
    }
    match pieces.count_ones() {
        0..=12 => Ok((pieces, kings)),
        count => Err(CheckersError::TooMany { side, count }),
    }
}

impl FromStr for Checkers {
    type Err = CheckersError;

    /// Parses `B:W21,22,K30:B1,2,K5`, with the sides in either order and an optional `:H` section,
    /// the number of plies since the last capture or man's move. Case and spaces do not matter, and
    /// a period may follow.
    fn from_str(text: &str) -> Result<Checkers, CheckersError> {
        let text = text.trim();
        let mut sections = text.strip_suffix('.').unwrap_or(text).split(':').map(str::trim);
        let first = sections.next().unwrap_or_default();
        let side = parse_side(first).ok_or_else(|| CheckersError::SideToMove(first.to_owned()))?;

        let (mut pieces, mut quiet) = ([None; 2], None);
        for section in sections {
            let invalid = || CheckersError::Section(section.to_owned());
            let (letter, rest) = section.split_at_checked(1).ok_or_else(invalid)?;
            if let Some(side) = parse_side(letter) {
                if pieces[side.index()].replace(parse_pieces(side, rest)?).is_some() {
                    return Err(CheckersError::Repeated(section.to_owned()));
                }
            } else if letter.eq_ignore_ascii_case("H") {
                let plies = parse_number(rest.trim()).filter(|&plies| plies <= DRAW_PLIES);
                let plies = plies.ok_or_else(|| CheckersError::QuietPlies(rest.to_owned()))?;
                if quiet.replace(plies).is_some() {
                    return Err(CheckersError::Repeated(section.to_owned()));
                }
            } else {
                return Err(invalid());
            }
        }

        let (black, black_kings) = pieces[0].ok_or(CheckersError::Missing(Side::Black))?;
        let (white, white_kings) = pieces[1].ok_or(CheckersError::Missing(Side::White))?;
        if let Some(square) = DarkSquares(black & white).next() {
            return Err(CheckersError::Occupied(square));
        }
        let kings = black_kings | white_kings;
        Ok(Checkers::new_unchecked([black, white], kings, side, quiet.unwrap_or(0)))
    }
}

impl fmt::Display for Checkers {
    /// Writes `B:W21,22,K30:B1,2,K5`, and `:H` with the number of quiet plies unless it is 0.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = |side| if side == Side::Black { "B" } else { "W" };
        let mut text = String::from(letter(self.to_move()));
        for side in [Side::White, Side::Black] {
            text.push(':');
            text.push_str(letter(side));
            let (men, kings) = (self.men(side), self.kings(side));
            for (index, square) in DarkSquares(men | kings).enumerate() {
                let comma = if index == 0 { "" } else { "," };
                let crown = if kings & square.bit() != 0 { "K" } else { "" };
                text.push_str(&format!("{comma}{crown}{square}"));
            }
        }
        if self.quiet_plies() != 0 {
            text.push_str(&format!(":H{}", self.quiet_plies()));
        }
        f.pad(&text)
    }
}

impl fmt::Debug for Checkers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Parses the origin and the landing squares of a move; returns `None` if the text is not a move.
fn parse_path(text: &str) -> Option<(DarkSquare, Vec<DarkSquare>)> {
    let mut squares = text
        .split(['-', 'x', 'X', ':'])
        .map(|word| parse_number(word.trim()).and_then(DarkSquare::new));
    let from = squares.next()??;
    // Reject long texts before collecting their squares.
    let landings: Vec<DarkSquare> = squares.by_ref().take(10).collect::<Option<_>>()?;
    (!landings.is_empty() && squares.next().is_none()).then_some((from, landings))
}

/// Parses a move and finds it among the legal moves.
pub(super) fn parse_move(position: &Checkers, text: &str) -> Result<Move, MoveError> {
    let unreadable = || MoveError::InvalidNotation(text.to_owned());
    let (from, landings) = parse_path(text).ok_or_else(unreadable)?;
    let side = position.to_move();
    let illegal = |mv| Err(MoveError::Illegal { mv, side });
    let trimmed = text.trim().to_owned();
    if position.is_over() {
        return Err(MoveError::GameOver(trimmed));
    }
    let mut candidates = position.moves().filter(|mv| mv.from() == from);
    if let Some(exact) = candidates.find(|mv| mv.landings().eq(landings.iter().copied())) {
        return Ok(exact);
    }
    let [to] = landings[..] else { return illegal(trimmed) };
    let mut same_ends = position.moves().filter(|mv| mv.from() == from && mv.to() == to);
    match (same_ends.next(), same_ends.count()) {
        (None, _) => illegal(trimmed),
        (Some(only), 0) => Ok(only),
        (Some(_), others) => illegal(format!(
            "{trimmed} (ambiguous: {} captures start and end there; write all squares)",
            others + 1
        )),
    }
}
