//! Draws boards in a terminal, in color or in plain ASCII.

use outflank_analysis::BoardView;
use outflank_games::Game;
use std::fmt::Write;

/// The style of a board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoardStyle {
    /// Whether to use terminal colors.
    pub color: bool,
    /// Whether to use characters other than ASCII.
    pub unicode: bool,
}

/// Foreground and background, as numbers of the 256-color terminal palette.
type Colors = (u8, u8);

const BLACK: u8 = 16;
const WHITE: u8 = 231;
const GREEN: u8 = 29;
const LIGHT_GREEN: u8 = 42;
const BROWN: u8 = 94;
const LIGHT_BROWN: u8 = 173;
const SAND: u8 = 180;
const PALE: u8 = 223;

impl BoardStyle {
    fn paint(self, text: &str, (front, back): Colors) -> String {
        match self.color {
            true => format!("\x1b[38;5;{front};48;5;{back}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }
}

/// Draws a board and marks the legal moves: target squares in Othello, pieces that can move in
/// checkers. With colors, also marks the squares of the last move.
#[must_use]
pub fn draw_board<P: BoardView>(position: &P, last: Option<P::Move>, style: BoardStyle) -> String {
    let mut can_move = [false; 64];
    for mv in position.moves() {
        let first = P::path(mv).first().copied().map(usize::from);
        if let Some(cell) = first.and_then(|cell| can_move.get_mut(cell)) {
            *cell = true;
        }
    }
    let last = last.map(P::path).unwrap_or_default();
    let cells: Vec<char> = position.cells().chars().collect();
    let cell = |row: usize, column: usize| {
        let at = row * 8 + column;
        let content = cells.get(at).copied().unwrap_or('-');
        (content, can_move[at], last.contains(&(at as u8)))
    };
    match P::GAME {
        Game::Othello => draw_othello(cell, style),
        Game::Checkers => draw_checkers(cell, style),
    }
}

/// Draws an Othello board. `cell` returns the content of a cell, whether it is a legal move, and
/// whether it was the last move.
fn draw_othello(cell: impl Fn(usize, usize) -> (char, bool, bool), style: BoardStyle) -> String {
    let mut text = String::from("    a b c d e f g h\n");
    for row in 0..8 {
        let _ = write!(text, "{:>3}", row + 1);
        for column in 0..8 {
            let (content, can_move, last) = cell(row, column);
            let back = if last { LIGHT_GREEN } else { GREEN };
            let (symbol, front) = match (content, can_move) {
                ('X', _) => (if style.unicode { '●' } else { 'X' }, BLACK),
                ('O', _) => (if style.unicode { '●' } else { 'O' }, WHITE),
                (_, true) => (if style.unicode { '·' } else { '+' }, PALE),
                _ => (if style.color { ' ' } else { '.' }, PALE),
            };
            text.push_str(&style.paint(&format!(" {symbol}"), (front, back)));
        }
        let _ =
            writeln!(text, "{}", style.paint(if style.color { " " } else { "" }, (PALE, GREEN)));
    }
    text
}

/// Draws a checkers board, with the numbers of the dark squares that moves refer to.
fn draw_checkers(cell: impl Fn(usize, usize) -> (char, bool, bool), style: BoardStyle) -> String {
    let mut text = String::new();
    for row in 0..8 {
        let mut line = String::new();
        for column in 0..8 {
            if (row + column) % 2 == 0 {
                line.push_str(&style.paint("     ", (BLACK, SAND)));
                continue;
            }
            let (content, can_move, last) = cell(row, column);
            let (piece, front) = match content {
                'X' => ('b', BLACK),
                'B' => ('B', BLACK),
                'O' => ('w', WHITE),
                'W' => ('W', WHITE),
                _ => (' ', PALE),
            };
            let number = row * 4 + column / 2 + 1;
            let mark = if can_move { '*' } else { ' ' };
            let back = if last { LIGHT_BROWN } else { BROWN };
            line.push_str(&style.paint(&format!(" {piece}{number:>2}{mark}"), (front, back)));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::Position;
    use outflank_games::checkers::Checkers;
    use outflank_games::othello::Othello;

    #[test]
    fn starting_boards_in_ascii() {
        let plain = draw_board(&Othello::start(), None, BoardStyle::default());
        let rows: Vec<&str> = plain.lines().collect();
        assert_eq!(rows[0], "    a b c d e f g h");
        assert_eq!(rows[3], "  3 . . . + . . . .");
        assert_eq!(rows[4], "  4 . . + O X . . .");
        assert_eq!(rows[5], "  5 . . . X O + . .");
        assert!(plain.is_ascii());
        let checkers = draw_board(&Checkers::start(), None, BoardStyle::default());
        let rows: Vec<&str> = checkers.lines().collect();
        assert_eq!(rows[0], "      b 1       b 2       b 3       b 4");
        assert_eq!(rows[2], "      b 9*      b10*      b11*      b12*");
        assert_eq!(rows[3], "  13        14        15        16");
        assert_eq!(rows[7], " w29       w30       w31       w32");
        assert!(checkers.is_ascii());
    }

    #[test]
    fn drawn_numbers_are_those_of_the_squares() {
        for number in 1..=32u8 {
            let square = outflank_games::checkers::DarkSquare::new(number).unwrap();
            let (row, column) = (usize::from(square.row()), usize::from(square.column()));
            assert_eq!(row * 4 + column / 2 + 1, usize::from(number));
            assert_eq!((row + column) % 2, 1);
        }
    }

    #[test]
    fn colors_do_not_change_the_text() {
        let style = BoardStyle { color: true, unicode: false };
        let last = Othello::start().parse_move("f5").unwrap();
        let after = Othello::start().play(last);
        let painted = draw_board(&after, Some(last), style);
        assert!(painted.contains("\x1b["));
        let mut stripped = String::new();
        let mut in_escape = false;
        for c in painted.chars() {
            match c {
                '\x1b' => in_escape = true,
                'm' if in_escape => in_escape = false,
                _ if in_escape => {}
                c => stripped.push(c),
            }
        }
        let without_blanks = |text: &str| text.replace(['.', ' '], "");
        assert_eq!(
            without_blanks(&stripped),
            without_blanks(&draw_board(&after, Some(last), BoardStyle::default()))
        );
    }
}
