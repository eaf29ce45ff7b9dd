//! Boards at a terminal: with colours where they are wanted, in plain letters everywhere else.

use outflank_analysis::Shown;
use outflank_games::Game;
use std::fmt::Write;

/// How to draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// With the colours of a terminal.
    pub colour: bool,
    /// With signs that are not ASCII.
    pub signs: bool,
}

/// A colour of the foreground and one of the background, among the 256 of terminals.
type Paint = (u8, u8);

const BLACK: u8 = 16;
const WHITE: u8 = 231;
const GREEN: u8 = 29;
const LIGHT_GREEN: u8 = 42;
const BROWN: u8 = 94;
const LIGHT_BROWN: u8 = 173;
const SAND: u8 = 180;
const PALE: u8 = 223;

impl Style {
    fn paint(self, text: &str, (front, back): Paint) -> String {
        match self.colour {
            true => format!("\x1b[38;5;{front};48;5;{back}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }
}

/// The board, with the squares marked where the side to move may begin a move, and in colours the
/// squares of the last move.
#[must_use]
pub fn board<P: BoardView>(position: &P, last: Option<P::Move>, style: Style) -> String {
    let mut marks = [false; 64];
    for mv in position.moves() {
        if let Some(mark) = P::path(mv).first().and_then(|&cell| marks.get_mut(usize::from(cell))) {
            *mark = true;
        }
    }
    let last = last.map(P::path).unwrap_or_default();
    let cells: Vec<char> = position.cells().chars().collect();
    let cell = |row: usize, column: usize| {
        let at = row * 8 + column;
        let content = cells.get(at).copied().unwrap_or('-');
        (content, marks[at], last.contains(&(at as u8)))
    };
    match P::GAME {
        Game::Othello => othello(cell, style),
        Game::Checkers => checkers(cell, style),
    }
}

fn othello(cell: impl Fn(usize, usize) -> (char, bool, bool), style: Style) -> String {
    let mut text = String::from("    a b c d e f g h\n");
    for row in 0..8 {
        let _ = write!(text, "{:>3}", row + 1);
        for column in 0..8 {
            let (content, may, last) = cell(row, column);
            let back = if last { LIGHT_GREEN } else { GREEN };
            let (sign, front) = match (content, may) {
                ('X', _) => (if style.signs { '●' } else { 'X' }, BLACK),
                ('O', _) => (if style.signs { '●' } else { 'O' }, WHITE),
                (_, true) => (if style.signs { '·' } else { '+' }, PALE),
                _ => (if style.colour { ' ' } else { '.' }, PALE),
            };
            text.push_str(&style.paint(&format!(" {sign}"), (front, back)));
        }
        let _ =
            writeln!(text, "{}", style.paint(if style.colour { " " } else { "" }, (PALE, GREEN)));
    }
    text
}

/// Dark squares have numbers, by which moves are written.
fn checkers(cell: impl Fn(usize, usize) -> (char, bool, bool), style: Style) -> String {
    let mut text = String::new();
    for row in 0..8 {
        let mut line = String::new();
        for column in 0..8 {
            if (row + column) % 2 == 0 {
                line.push_str(&style.paint("     ", (BLACK, SAND)));
                continue;
            }
            let (content, may, last) = cell(row, column);
            let (piece, front) = match content {
                'X' => ('b', BLACK),
                'B' => ('B', BLACK),
                'O' => ('w', WHITE),
                'W' => ('W', WHITE),
                _ => (' ', PALE),
            };
            let number = row * 4 + column / 2 + 1;
            let mark = if may { '*' } else { ' ' };
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
    fn boards_as_games_begin() {
        let plain = board(&Othello::start(), None, Style::default());
        let rows: Vec<&str> = plain.lines().collect();
        assert_eq!(rows[0], "    a b c d e f g h");
        assert_eq!(rows[3], "  3 . . . + . . . .");
        assert_eq!(rows[4], "  4 . . + O X . . .");
        assert_eq!(rows[5], "  5 . . . X O + . .");
        assert!(plain.is_ascii());
        let draughts = board(&Checkers::start(), None, Style::default());
        let rows: Vec<&str> = draughts.lines().collect();
        assert_eq!(rows[0], "      b 1       b 2       b 3       b 4");
        assert_eq!(rows[2], "      b 9*      b10*      b11*      b12*");
        assert_eq!(rows[3], "  13        14        15        16");
        assert_eq!(rows[7], " w29       w30       w31       w32");
        assert!(draughts.is_ascii());
    }

    /// The numbers on the board are those of the squares.
    #[test]
    fn squares_have_their_numbers() {
        for number in 1..=32u8 {
            let square = outflank_games::checkers::Square::new(number).unwrap();
            let (row, column) = (usize::from(square.row()), usize::from(square.column()));
            assert_eq!(row * 4 + column / 2 + 1, usize::from(number));
            assert_eq!((row + column) % 2, 1);
        }
    }

    #[test]
    fn colours_change_nothing_but_the_colours() {
        let style = Style { colour: true, signs: false };
        let last = Othello::start().parse_move("f5").unwrap();
        let after = Othello::start().play(last);
        let painted = board(&after, Some(last), style);
        assert!(painted.contains("\x1b["));
        let mut bare = String::new();
        let mut inside = false;
        for c in painted.chars() {
            match c {
                '\x1b' => inside = true,
                'm' if inside => inside = false,
                _ if inside => {}
                c => bare.push(c),
            }
        }
        let squeezed = |text: &str| text.replace(['.', ' '], "");
        assert_eq!(squeezed(&bare), squeezed(&board(&after, Some(last), Style::default())));
    }
}
