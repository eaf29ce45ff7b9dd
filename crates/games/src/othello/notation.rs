//! Text notation of boards: 64 cells, row by row, and the side to move.

use super::Othello;
use crate::{Position, Side};
use std::fmt;
use std::str::FromStr;

/// An error while parsing a board.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoardError {
    /// A character is neither a disc nor an empty square.
    #[error("'{found}' at cell {index} is not a disc or an empty square (use X*b, O0w and -.)")]
    Cell {
        /// The cell, counted from 1.
        index: usize,
        /// The character.
        found: char,
    },
    /// The number of cells is not 64.
    #[error("a board needs 64 cells and then the side to move; this one has {0} cells")]
    Length(usize),
    /// The side to move is missing or invalid.
    #[error("the side to move is missing or invalid ('{0}'): write X or O after the 64 cells")]
    Side(String),
}

/// Parses 64 cells, which may be separated by spaces. Returns Black's discs, White's discs and the
/// remaining text.
pub fn parse_cells(text: &str) -> Result<(u64, u64, &str), BoardError> {
    let (mut black, mut white, mut count) = (0u64, 0u64, 0usize);
    for (at, found) in text.char_indices() {
        if count == 64 {
            return Ok((black, white, &text[at..]));
        }
        match found {
            'X' | 'x' | '*' | 'b' | 'B' => black |= 1 << count,
            'O' | 'o' | '0' | 'w' | 'W' => white |= 1 << count,
            '-' | '.' | '_' => {}
            space if space.is_ascii_whitespace() => continue,
            _ => return Err(BoardError::Cell { index: count + 1, found }),
        }
        count += 1;
    }
    if count == 64 { Ok((black, white, "")) } else { Err(BoardError::Length(count)) }
}

impl FromStr for Othello {
    type Err = BoardError;

    /// Parses 64 cells and the side to move. If that side cannot move, it passes.
    fn from_str(text: &str) -> Result<Othello, BoardError> {
        let (black, white, rest) = parse_cells(text)?;
        let side = match rest.trim() {
            "X" | "x" | "*" | "b" | "B" => Side::Black,
            "O" | "o" | "0" | "w" | "W" => Side::White,
            other => return Err(BoardError::Side(other.to_owned())),
        };
        Othello::from_discs(black, white, side).ok_or(BoardError::Length(64))
    }
}

impl fmt::Display for Othello {
    /// Writes 64 cells (`X`, `O` or `-`), a space, and `X` or `O` for the side to move.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (black, white) = (self.discs(Side::Black), self.discs(Side::White));
        let mut text = String::with_capacity(66);
        for square in 0..64 {
            text.push(match (black >> square & 1, white >> square & 1) {
                (1, _) => 'X',
                (_, 1) => 'O',
                _ => '-',
            });
        }
        text.push(' ');
        text.push(if self.to_move() == Side::Black { 'X' } else { 'O' });
        f.pad(&text)
    }
}

impl fmt::Debug for Othello {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const START: &str = "---------------------------OX------XO--------------------------- X";

    #[test]
    fn the_starting_position_round_trips() {
        assert_eq!(Othello::start().to_string(), START);
        assert_eq!(START.parse(), Ok(Othello::start()));
    }

    #[test]
    fn alternative_symbols_are_accepted() {
        for (x, o, empty) in [("*", "0", "."), ("b", "w", "-"), ("B", "W", "_"), ("x", "o", ".")] {
            let text = START.replace('X', x).replace('O', o).replace('-', empty);
            assert_eq!(text.parse(), Ok(Othello::start()), "{text}");
            assert_eq!(text.replace(' ', "").parse(), Ok(Othello::start()), "{text}");
        }
        let rows: Vec<_> = START.as_bytes().chunks(8).map(String::from_utf8_lossy).collect();
        assert_eq!(rows.join("\n").parse(), Ok(Othello::start()));
    }

    #[test]
    fn a_side_without_moves_passes_when_parsed() {
        let text = format!("XO{} O", "-".repeat(62));
        let position: Othello = text.parse().unwrap();
        assert_eq!(position.to_move(), Side::Black);
        let text = format!("X{} O", "-".repeat(63));
        let over: Othello = text.parse().unwrap();
        assert_eq!((over.result(), over.tournament_score()), (Some(1), Some(64)));
        assert_eq!(over.to_string(), text);
    }

    #[test]
    fn invalid_boards_are_rejected() {
        let parse = |text: &str| text.parse::<Othello>().unwrap_err();
        assert_eq!(parse(""), BoardError::Length(0));
        assert_eq!(parse(&START[..63]), BoardError::Length(63));
        assert_eq!(parse(&START[..64]), BoardError::Side(String::new()));
        assert_eq!(parse(&format!("{START}X")), BoardError::Side("XX".into()));
        assert_eq!(parse(&START.replace(" X", " ?")), BoardError::Side("?".into()));
        assert_eq!(parse(&START.replacen('O', "1", 1)), BoardError::Cell { index: 28, found: '1' });
        assert_eq!(parse("é"), BoardError::Cell { index: 1, found: 'é' });
        let multibyte = format!("{}黒", &START[..64]);
        assert_eq!(parse(&multibyte), BoardError::Side("黒".into()));
        assert_eq!(parse_cells(&multibyte).map(|(_, _, rest)| rest), Ok("黒"));
    }

    proptest! {
        #[test]
        fn boards_round_trip(a: u64, b: u64, white: bool) {
            let side = if white { Side::White } else { Side::Black };
            let position = Othello::from_discs(a & !b, b & !a, side).unwrap();
            prop_assert_eq!(position.to_string().parse(), Ok(position));
            prop_assert_eq!(Othello::from_discs(a, b, side).is_none(), a & b != 0);
        }

        #[test]
        fn arbitrary_text_does_not_panic(text in ".*", cells in "[XO.b*0w \n-]{60,70}.{0,3}") {
            for text in [text, cells] {
                if let Ok(position) = text.parse::<Othello>() {
                    prop_assert_eq!(position.to_string().parse(), Ok(position));
                }
            }
        }
    }
}
