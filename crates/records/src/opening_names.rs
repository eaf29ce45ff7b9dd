//! Names of openings.
//!
//! A name belongs to a position. Move orders that transpose into the same position and symmetric
//! positions share the name.

use crate::transcript;
use outflank_games::othello::{Board, Othello};
use outflank_games::{Line, Position};
use std::collections::HashMap;
use std::sync::OnceLock;

/// One opening per line: moves, a tab, the name.
const TABLE: &str = include_str!("opening_names.txt");

/// A named opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NamedOpening {
    /// The name.
    pub name: &'static str,
    /// A sequence of moves from the standard start that leads to it.
    pub moves: &'static str,
}

/// Iterates over all named openings.
pub fn named_openings() -> impl Iterator<Item = NamedOpening> {
    TABLE
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('\t'))
        .map(|(moves, name)| NamedOpening { name, moves })
}

/// Returns the named opening with exactly this position, up to symmetry.
#[must_use]
pub fn opening_at(position: &Othello) -> Option<NamedOpening> {
    static BY_BOARD: OnceLock<HashMap<Board, NamedOpening>> = OnceLock::new();
    let by_board = BY_BOARD.get_or_init(|| {
        let mut by_board = HashMap::new();
        for opening in named_openings() {
            if let Ok(record) = transcript::game(opening.moves.as_bytes()) {
                // The first of two openings with the same position takes precedence.
                by_board.entry(record.end().board().canonical().0).or_insert(opening);
            }
        }
        by_board
    });
    by_board.get(&position.board().canonical().0).copied()
}

/// Returns the last named opening in a game, and the number of moves that lead to it.
#[must_use]
pub fn opening_of(line: &Line<Othello>) -> Option<(NamedOpening, usize)> {
    if *line.start() != Othello::start() {
        return None;
    }
    let (mut position, mut last) = (*line.start(), None);
    for (index, &mv) in line.moves().iter().enumerate() {
        position = position.play(mv);
        last = opening_at(&position).map(|opening| (opening, index + 1)).or(last);
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::othello::Symmetry;
    use std::collections::BTreeSet;

    fn line(moves: &str) -> Line<Othello> {
        transcript::game(moves.as_bytes()).unwrap().to_line()
    }

    #[test]
    fn openings_are_legal_and_have_unique_names_and_positions() {
        let all: Vec<_> = named_openings().collect();
        let lines = TABLE.lines().filter(|line| !line.starts_with('#')).count();
        assert!(all.len() >= 50 && all.len() == lines, "{} of {lines}", all.len());
        let names: BTreeSet<_> = all.iter().map(|opening| opening.name).collect();
        assert_eq!(names.len(), all.len());
        for opening in all {
            let line = line(opening.moves);
            assert_eq!(2 * line.moves().len(), opening.moves.len(), "{}", opening.name);
            assert_eq!(opening_at(line.position()).unwrap(), opening);
            assert_eq!(opening_of(&line), Some((opening, line.moves().len())));
        }
    }

    #[test]
    fn symmetric_positions_and_transpositions_share_the_name() {
        for opening in named_openings() {
            let line = line(opening.moves);
            for symmetry in Symmetry::ALL {
                // Half of the symmetries exchange the colors of the starting position. No game
                // reaches the resulting positions, but they have the same name.
                let transformed = line.position().transform(symmetry);
                assert_eq!(opening_at(&transformed), Some(opening));
            }
        }
        // Tiger, from each of the four first moves.
        for moves in ["c4e3f6e6f5", "f5d6c3d3c4", "d3c5f6f5e6", "e6f4c3c4d3"] {
            assert_eq!(opening_of(&line(moves)).unwrap().0.name, "Tiger", "{moves}");
        }
    }

    #[test]
    fn a_game_has_the_name_of_its_last_named_position() {
        assert_eq!(opening_of(&line("")), None);
        assert_eq!(opening_of(&line("f5")), None);
        let (opening, plies) = opening_of(&line("f5d6c3d3c4f4c5b3c2e6")).unwrap();
        assert!(plies <= 10, "{opening:?}");
        assert_eq!(opening_of(&line("f5f6")).unwrap().0.name, "Diagonal");
        assert_eq!(opening_of(&line("f5f4")).unwrap().0.name, "Parallel");
        assert_eq!(opening_of(&line("f5d6")).unwrap().0.name, "Perpendicular");
    }
}
