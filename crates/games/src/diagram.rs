//! Text diagrams of boards.

/// Draws a square board with column letters above and a label before each row.
///
/// `cell` returns the character for a row and a column; (0, 0) is top left.
pub(crate) fn diagram(
    size: usize,
    label: impl Fn(usize) -> String,
    cell: impl Fn(usize, usize) -> char,
) -> String {
    let mut text = String::from("   ");
    for letter in ('a'..='h').take(size) {
        text.push(' ');
        text.push(letter);
    }
    text.push('\n');
    for row in 0..size {
        text.push_str(&format!("{:>3}", label(row)));
        for column in 0..size {
            text.push(' ');
            text.push(cell(row, column));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use crate::{Position, checkers::Checkers, othello::Othello};

    #[test]
    fn diagrams_of_starting_positions() {
        let lines = |text: String| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let othello = lines(Othello::start().diagram());
        assert_eq!(othello[0], "    a b c d e f g h");
        assert_eq!(othello[4], "  4 . . . O X . . .");
        assert_eq!(othello[5], "  5 . . . X O . . .");
        // Black's back row is on top; a row's label is the number of its first dark square.
        let checkers = lines(Checkers::start().diagram());
        assert_eq!(checkers[1], "  1   b   b   b   b");
        assert_eq!(checkers[2], "  5 b   b   b   b  ");
        assert_eq!(checkers[4], " 13 .   .   .   .  ");
        assert_eq!(checkers[8], " 29 w   w   w   w  ");
        let kings: Checkers = "B:WK30:BK1,2".parse().unwrap();
        assert_eq!(lines(kings.diagram())[1], "  1   B   b   .   .");
        assert_eq!(lines(kings.diagram())[8], " 29 .   W   .   .  ");
    }
}
