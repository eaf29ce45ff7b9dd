//! Draws boards in a terminal, in color or in plain ASCII.

use outflank_analysis::BoardView;
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

/// Returns the content of each of the 64 cells, whether it begins a legal move, and whether the
/// last move touched it.
fn marked_cells<P: BoardView>(position: &P, last: Option<P::Move>) -> [(char, bool, bool); 64] {
    let mut marked = [('-', false, false); 64];
    for (cell, content) in marked.iter_mut().zip(position.cells().chars()) {
        cell.0 = content;
    }
    for mv in position.moves() {
        let first = P::path(mv).first().copied().map(usize::from);
        if let Some(cell) = first.and_then(|cell| marked.get_mut(cell)) {
            cell.1 = true;
        }
    }
    for index in last.map(P::path).unwrap_or_default() {
        if let Some(cell) = marked.get_mut(usize::from(index)) {
            cell.2 = true;
        }
    }
    marked
}

/// Draws a board of `size` by `size` squares with discs, in the top left corner of the 64 cells,
/// and marks the squares of legal moves.
pub(crate) fn draw_discs<P: BoardView>(
    position: &P,
    last: Option<P::Move>,
    style: BoardStyle,
    size: usize,
) -> String {
    let cells = marked_cells(position, last);
    let mut text = String::from("   ");
    ('a'..='h').take(size).for_each(|letter| text.extend([' ', letter]));
    text.push('\n');
    for row in 0..size {
        let _ = write!(text, "{:>3}", row + 1);
        for column in 0..size {
            let (content, can_move, last) = cells[row * 8 + column];
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

/// Draws a checkers board, with the numbers of the dark squares that moves refer to, and marks the
/// pieces that can move.
pub(crate) fn draw_checkers<P: BoardView>(
    position: &P,
    last: Option<P::Move>,
    style: BoardStyle,
) -> String {
    let cells = marked_cells(position, last);
    let mut text = String::new();
    for row in 0..8 {
        let mut line = String::new();
        for column in 0..8 {
            if (row + column) % 2 == 0 {
                line.push_str(&style.paint("     ", (BLACK, SAND)));
                continue;
            }
            let (content, can_move, last) = cells[row * 8 + column];
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
    use crate::terminal_game::TerminalGame;
    use outflank_games::Position;
    use outflank_games::checkers::Checkers;
    use outflank_games::othello::Othello;
    use outflank_games::othello6::Othello6;

    #[test]
    fn starting_boards_in_ascii() {
        let plain = Othello::start().draw(None, BoardStyle::default());
        let rows: Vec<&str> = plain.lines().collect();
        assert_eq!(rows[0], "    a b c d e f g h");
        assert_eq!(rows[3], "  3 . . . + . . . .");
        assert_eq!(rows[4], "  4 . . + O X . . .");
        assert_eq!(rows[5], "  5 . . . X O + . .");
        assert!(plain.is_ascii());
        let small = Othello6::start().draw(None, BoardStyle::default());
        let rows: Vec<&str> = small.lines().collect();
        assert_eq!(rows.len(), 7);
        assert_eq!(rows[0], "    a b c d e f");
        assert_eq!(rows[2], "  2 . . + . . .");
        assert_eq!(rows[3], "  3 . + O X . .");
        let checkers = Checkers::start().draw(None, BoardStyle::default());
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
        let painted = after.draw(Some(last), style);
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
            without_blanks(&after.draw(Some(last), BoardStyle::default()))
        );
    }
}
