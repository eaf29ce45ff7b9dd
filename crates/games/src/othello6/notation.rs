//! Text notation of boards: 36 cells, row by row, and the side to move.

use super::Othello6;
use super::position::SIZE;
use crate::othello::BoardError;
use crate::{Position, Side};
use std::fmt;
use std::str::FromStr;

const CELLS: usize = SIZE * SIZE;

/// Returns the bit of a cell of the text.
fn cell_bit(cell: usize) -> u64 {
    1 << (8 * (cell / SIZE) + cell % SIZE)
}

impl FromStr for Othello6 {
    type Err = String;

    /// Parses 36 cells, which may be separated by spaces, and the side to move. If that side cannot
    /// move, it passes.
    fn from_str(text: &str) -> Result<Othello6, String> {
        let (mut black, mut white, mut count) = (0u64, 0u64, 0usize);
        let mut rest = "";
        for (at, found) in text.char_indices() {
            if count == CELLS {
                rest = &text[at..];
                break;
            }
            match found {
                'X' | 'x' | '*' | 'b' | 'B' => black |= cell_bit(count),
                'O' | 'o' | '0' | 'w' | 'W' => white |= cell_bit(count),
                '-' | '.' | '_' => {}
                space if space.is_ascii_whitespace() => continue,
                _ => return Err(BoardError::Cell { index: count + 1, found }.to_string()),
            }
            count += 1;
        }
        if count != CELLS {
            return Err(format!(
                "a board needs {CELLS} cells and then the side to move; this one has {count} cells"
            ));
        }
        let side = match rest.trim() {
            "X" | "x" | "*" | "b" | "B" => Side::Black,
            "O" | "o" | "0" | "w" | "W" => Side::White,
            other => {
                return Err(format!(
                    "the side to move is missing or invalid ('{other}'): write X or O after the \
                     {CELLS} cells"
                ));
            }
        };
        Othello6::from_discs(black, white, side).ok_or_else(|| "invalid board".to_owned())
    }
}

impl fmt::Display for Othello6 {
    /// Writes 36 cells (`X`, `O` or `-`), a space, and `X` or `O` for the side to move.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [black, white] = Side::BOTH.map(|side| self.discs(side));
        let mut text = String::with_capacity(CELLS + 2);
        for bit in (0..CELLS).map(cell_bit) {
            text.push(match () {
                () if black & bit != 0 => 'X',
                () if white & bit != 0 => 'O',
                () => '-',
            });
        }
        text.push(' ');
        text.push(if self.to_move() == Side::Black { 'X' } else { 'O' });
        f.pad(&text)
    }
}

impl fmt::Debug for Othello6 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const START: &str = "--------------OX----XO-------------- X";

    #[test]
    fn the_starting_position_round_trips() {
        assert_eq!(Othello6::start().to_string(), START);
        assert_eq!(START.parse(), Ok(Othello6::start()));
        let rows: Vec<_> = START.as_bytes().chunks(6).map(String::from_utf8_lossy).collect();
        assert_eq!(rows.join("\n").parse(), Ok(Othello6::start()));
    }

    #[test]
    fn invalid_boards_are_rejected() {
        let error = |text: &str| text.parse::<Othello6>().unwrap_err();
        assert!(error("").contains("this one has 0 cells"));
        assert!(error(&START[..35]).contains("this one has 35 cells"));
        assert!(error(&START[..36]).contains("write X or O after the 36 cells"));
        assert!(error(&START.replace('O', "?")).contains("'?' at cell 15"));
        assert!(Othello6::from_discs(1 << 6, 0, Side::Black).is_none());
        assert!(Othello6::from_discs(1, 1, Side::Black).is_none());
    }

    proptest! {
        #[test]
        fn boards_round_trip(a: u64, b: u64, white: bool) {
            let (a, b) = (a & super::super::BOARD, b & super::super::BOARD);
            let side = if white { Side::White } else { Side::Black };
            let position = Othello6::from_discs(a & !b, b & !a, side).unwrap();
            prop_assert_eq!(position.to_string().parse(), Ok(position));
        }

        #[test]
        fn arbitrary_text_does_not_panic(text in ".*", cells in "[XO.b*0w \n-]{30,40}.{0,3}") {
            for text in [text, cells] {
                if let Ok(position) = text.parse::<Othello6>() {
                    prop_assert_eq!(position.to_string().parse(), Ok(position));
                }
            }
        }
    }
}
