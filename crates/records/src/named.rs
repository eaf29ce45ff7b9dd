//! The names of openings.
//!
//! A name belongs to a position, however it was reached and however the board is turned: the eight
//! ways to look at a board share one entry, and so do lines that transpose into each other.

use crate::transcript;
use outflank_games::Line;
use outflank_games::Position;
use outflank_games::othello::{Board, Othello};
use std::collections::HashMap;
use std::sync::OnceLock;

/// The table as text.
const TABLE: &str = include_str!("named.txt");

/// An opening that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NamedOpening {
    /// What players call it.
    pub name: &'static str,
    /// The moves that lead to it from the usual start.
    pub moves: &'static str,
}

/// Every opening that has a name, in the order of the table.
pub fn named_openings() -> impl Iterator<Item = NamedOpening> {
    TABLE
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('\t'))
        .map(|(moves, name)| NamedOpening { name, moves })
}

/// The opening of a position, if this very position has a name.
#[must_use]
pub fn opening_at(position: &Othello) -> Option<NamedOpening> {
    static BY_BOARD: OnceLock<HashMap<Board, NamedOpening>> = OnceLock::new();
    let by_board = BY_BOARD.get_or_init(|| {
        let mut by_board = HashMap::new();
        for opening in named_openings() {
            if let Ok(record) = transcript::game(opening.moves.as_bytes()) {
                // Where two lines meet, the first keeps its name.
                by_board.entry(record.end().board().canonical().0).or_insert(opening);
            }
        }
        by_board
    });
    by_board.get(&position.board().canonical().0).copied()
}

/// The last opening with a name that a game went through, and after how many moves.
#[must_use]
pub fn opening_of(line: &Line<Othello>) -> Option<(NamedOpening, usize)> {
    if *line.start() != Othello::start() {
        return None;
    }
    let (mut position, mut found) = (*line.start(), None);
    for (place, &mv) in line.moves().iter().enumerate() {
        position = position.play(mv);
        found = opening_at(&position).map(|opening| (opening, place + 1)).or(found);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::othello::Symmetry;
    use std::collections::BTreeSet;

    fn line(moves: &str) -> Line<Othello> {
        let mut line = Line::default();
        for ply in transcript::game(moves.as_bytes()).unwrap().plies() {
            line.push(ply.mv).unwrap();
        }
        line
    }

    #[test]
    fn each_is_replayed_legally_and_has_a_name_and_a_position_of_its_own() {
        let all: Vec<_> = named_openings().collect();
        let lines = TABLE.lines().filter(|line| !line.starts_with('#')).count();
        assert!(all.len() >= 50 && all.len() == lines, "{} of {lines}", all.len());
        let names: BTreeSet<_> = all.iter().map(|opening| opening.name).collect();
        assert_eq!(names.len(), all.len());
        for opening in all {
            let line = line(opening.moves);
            assert_eq!(2 * line.moves().len(), opening.moves.len(), "{}", opening.name);
            let found = opening_at(line.position()).unwrap();
            assert_eq!(found, opening);
            assert_eq!(opening_of(&line), Some((opening, line.moves().len())));
        }
    }

    #[test]
    fn the_board_may_be_turned_and_the_moves_transposed() {
        for opening in named_openings() {
            let line = line(opening.moves);
            for symmetry in Symmetry::ALL {
                // Half of the symmetries exchange the colours of the start, and those lines begin
                // elsewhere; the position still has its name.
                let turned = line.position().transform(symmetry);
                assert_eq!(opening_at(&turned), Some(opening));
            }
        }
        // Tiger, from each of the four first moves.
        for moves in ["c4e3f6e6f5", "f5d6c3d3c4", "d3c5f6f5e6", "e6f4c3c4d3"] {
            assert_eq!(opening_of(&line(moves)).unwrap().0.name, "Tiger", "{moves}");
        }
    }

    #[test]
    fn a_game_keeps_the_name_it_had_last() {
        assert_eq!(opening_of(&line("")), None);
        assert_eq!(opening_of(&line("f5")), None);
        let (opening, plies) = opening_of(&line("f5d6c3d3c4f4c5b3c2e6")).unwrap();
        assert!(plies <= 10, "{opening:?}");
        assert_eq!(opening_of(&line("f5f6")).unwrap().0.name, "Diagonal");
        assert_eq!(opening_of(&line("f5f4")).unwrap().0.name, "Parallel");
        assert_eq!(opening_of(&line("f5d6")).unwrap().0.name, "Perpendicular");
    }
}
