//! Moves and positions as text, after Portable Draughts Notation.

use super::position::crowning_row;
use super::{Checkers, DRAW_PLIES, Move, Square, Squares};
use crate::{MoveError, Position, Side};
use std::fmt;
use std::str::FromStr;

/// Why a text is not a position of English draughts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckersError {
    /// The first part is not a side.
    #[error("the side to move is unreadable ('{0}'): begin with B: or W:")]
    Side(String),
    /// A part that is neither a list of pieces nor the count of plies.
    #[error(
        "'{0}' is unreadable: after the side to move come W and B with their squares, then H and a count, as in B:W30,K31:B1:H4"
    )]
    Part(String),
    /// One side's pieces are not given.
    #[error(
        "the pieces of {0} are missing: write W or B and their squares, or the letter alone when there are none"
    )]
    Missing(Side),
    /// A part is given twice.
    #[error("'{0}' is the second part of its kind")]
    Repeated(String),
    /// Not the number of a square.
    #[error(
        "'{text}' among the pieces of {side} is not a square: squares are 1 to 32, with K before the number of a king"
    )]
    Square {
        /// Whose pieces were being read.
        side: Side,
        /// What stood there.
        text: String,
    },
    /// A square that holds two pieces.
    #[error("square {0} is given two pieces")]
    Occupied(Square),
    /// A man where it would have been crowned.
    #[error("a man of {side} cannot stand on {square}, where it is crowned: write K{square}")]
    Uncrowned {
        /// Whose man it is.
        side: Side,
        /// Where it stands.
        square: Square,
    },
    /// More pieces than a side starts with.
    #[error("{side} has {count} pieces, and no side has more than 12")]
    TooMany {
        /// Which side.
        side: Side,
        /// How many it has.
        count: u32,
    },
    /// An unreadable count of plies, or one at which the game had been over before.
    #[error("'H{0}' is not a count of plies without a capture or a man's move: they are 0 to 80")]
    Quiet(String),
}

/// A short integer of decimal digits alone: no sign, no more than two digits.
fn number(text: &str) -> Option<u8> {
    let short = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if short { text.parse().ok() } else { None }
}

fn letter_side(letter: &str) -> Option<Side> {
    match letter {
        "B" | "b" => Some(Side::Black),
        "W" | "w" => Some(Side::White),
        _ => None,
    }
}

/// One side's pieces and kings from squares with commas between them.
fn parse_pieces(side: Side, text: &str) -> Result<(u32, u32), CheckersError> {
    let (mut pieces, mut kings) = (0u32, 0u32);
    if text.trim().is_empty() {
        return Ok((pieces, kings));
    }
    for word in text.split(',').map(str::trim) {
        let crowned = word.strip_prefix(['K', 'k']);
        let square = number(crowned.unwrap_or(word))
            .and_then(Square::new)
            .ok_or_else(|| CheckersError::Square { side, text: word.to_owned() })?;
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

    /// Reads `B:W21,22,K30:B1,2,K5`, the sides in either order, perhaps with `:H` and the number
    /// of plies since the last capture or man's move at the end. Case and spaces do not matter,
    /// and a full stop may follow.
    fn from_str(text: &str) -> Result<Checkers, CheckersError> {
        let text = text.trim();
        let mut parts = text.strip_suffix('.').unwrap_or(text).split(':').map(str::trim);
        let first = parts.next().unwrap_or_default();
        let side = letter_side(first).ok_or_else(|| CheckersError::Side(first.to_owned()))?;

        let (mut read, mut quiet) = ([None; 2], None);
        for part in parts {
            let unreadable = || CheckersError::Part(part.to_owned());
            let (letter, rest) = part.split_at_checked(1).ok_or_else(unreadable)?;
            if let Some(side) = letter_side(letter) {
                if read[side.index()].replace(parse_pieces(side, rest)?).is_some() {
                    return Err(CheckersError::Repeated(part.to_owned()));
                }
            } else if letter.eq_ignore_ascii_case("H") {
                let plies = number(rest.trim()).filter(|&plies| plies <= DRAW_PLIES);
                let plies = plies.ok_or_else(|| CheckersError::Quiet(rest.to_owned()))?;
                if quiet.replace(plies).is_some() {
                    return Err(CheckersError::Repeated(part.to_owned()));
                }
            } else {
                return Err(unreadable());
            }
        }

        let (black, black_kings) = read[0].ok_or(CheckersError::Missing(Side::Black))?;
        let (white, white_kings) = read[1].ok_or(CheckersError::Missing(Side::White))?;
        if let Some(square) = Squares(black & white).next() {
            return Err(CheckersError::Occupied(square));
        }
        let kings = black_kings | white_kings;
        Ok(Checkers::from_checked([black, white], kings, side, quiet.unwrap_or(0)))
    }
}

impl fmt::Display for Checkers {
    /// `B:W21,22,K30:B1,2,K5`, and `:H` with the quiet plies when there are any.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = |side| if side == Side::Black { "B" } else { "W" };
        let mut text = String::from(letter(self.to_move()));
        for side in [Side::White, Side::Black] {
            text.push(':');
            text.push_str(letter(side));
            let (men, kings) = (self.men(side), self.kings(side));
            for (at, square) in Squares(men | kings).enumerate() {
                let comma = if at == 0 { "" } else { "," };
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

/// The squares of a move's text, the first and the rest; `None` when it is no move at all.
fn parse_path(text: &str) -> Option<(Square, Vec<Square>)> {
    let mut squares =
        text.split(['-', 'x', 'X', ':']).map(|word| number(word.trim()).and_then(Square::new));
    let from = squares.next()??;
    // Longer texts are turned away before their squares are collected.
    let landings: Vec<Square> = squares.by_ref().take(10).collect::<Option<_>>()?;
    (!landings.is_empty() && squares.next().is_none()).then_some((from, landings))
}

/// Reads a move and finds it among the legal ones.
pub(super) fn parse_move(position: &Checkers, text: &str) -> Result<Move, MoveError> {
    let unreadable = || MoveError::Unreadable(text.to_owned());
    let (from, landings) = parse_path(text).ok_or_else(unreadable)?;
    let side = position.to_move();
    let illegal = |mv| Err(MoveError::Illegal { mv, side });
    let trimmed = text.trim().to_owned();
    if position.is_over() {
        return Err(MoveError::Over(trimmed));
    }
    let mut candidates = position.moves().filter(|mv| mv.from() == from);
    if let Some(exact) = candidates.find(|mv| mv.landings().eq(landings.iter().copied())) {
        return Ok(exact);
    }
    let [to] = landings[..] else { return illegal(trimmed) };
    let mut sharing = position.moves().filter(|mv| mv.from() == from && mv.to() == to);
    match (sharing.next(), sharing.count()) {
        (None, _) => illegal(trimmed),
        (Some(only), 0) => Ok(only),
        (Some(_), others) => illegal(format!(
            "{trimmed}, which could be any of {} captures until every square is written,",
            others + 1
        )),
    }
}
