//! Compact training examples.

use super::Decision;
use outflank_games::Side;
use outflank_games::othello::{Board, Othello, Square, Symmetry};
use rayon::prelude::*;
use std::cmp::Ordering;
use std::fmt;

/// A board from the view of the side to move, and the square chosen there, in sixteen bytes.
///
/// The chosen square is set in both bitboards; the square of a disc is set in only one. Forty
/// million examples, a large database with all symmetries, take 640 MB.
///
/// The order compares boards first, so sorting groups the moves played on the same board.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Example {
    own: u64,
    other: u64,
}

impl Example {
    /// Creates an example. Returns `None` if the square is occupied or the bitboards overlap.
    #[must_use]
    pub fn new(board: Board, chosen: Square) -> Option<Example> {
        let occupied = board.own | board.other;
        (board.own & board.other == 0 && occupied & chosen.bit() == 0)
            .then(|| Example::new_unchecked(board, chosen))
    }

    fn new_unchecked(board: Board, chosen: Square) -> Example {
        Example { own: board.own | chosen.bit(), other: board.other | chosen.bit() }
    }

    /// Returns the bitboard with only the chosen square set.
    #[inline]
    #[must_use]
    pub fn chosen_bit(self) -> u64 {
        self.own & self.other
    }

    /// Returns the chosen square.
    #[inline]
    #[must_use]
    pub fn chosen(self) -> Square {
        Square::lowest(self.chosen_bit()).expect("an example marks its chosen square")
    }

    /// Returns the board from the view of the side to move.
    #[inline]
    #[must_use]
    pub fn board(self) -> Board {
        let chosen = self.chosen_bit();
        Board { own: self.own ^ chosen, other: self.other ^ chosen }
    }

    /// Returns the decision with Black to move, or `None` if the chosen move is illegal.
    #[must_use]
    pub fn decision(self) -> Option<Decision<Othello>> {
        let board = self.board();
        if board.moves() & self.chosen_bit() == 0 {
            return None;
        }
        let position = Othello::from_discs(board.own, board.other, Side::Black)?;
        Some(Decision { position, chosen: self.chosen() })
    }

    /// Returns the example transformed by a symmetry.
    #[inline]
    #[must_use]
    pub fn transform(self, symmetry: Symmetry) -> Example {
        Example {
            own: symmetry.transform_bits(self.own),
            other: symmetry.transform_bits(self.other),
        }
    }

    /// Returns the eight symmetric examples, in the order of [`Symmetry::ALL`]. Some may be equal.
    #[inline]
    #[must_use]
    pub fn symmetries(self) -> [Example; 8] {
        Symmetry::ALL.map(|symmetry| self.transform(symmetry))
    }

    /// Returns the smallest of the eight symmetric examples.
    #[must_use]
    pub fn canonical(self) -> Example {
        self.symmetries().into_iter().min().unwrap_or(self)
    }

    /// Iterates over the distinct symmetric examples in ascending order.
    pub fn orbit(self) -> impl Iterator<Item = Example> {
        let mut symmetries = self.symmetries();
        symmetries.sort_unstable();
        let mut last = None;
        symmetries.into_iter().filter(move |&example| last.replace(example) != Some(example))
    }

    /// Returns the number of distinct symmetric examples: 1, 2, 4 or 8.
    #[must_use]
    pub fn orbit_size(self) -> usize {
        // Orbit-stabilizer theorem: the size is 8 divided by the number of symmetries that change
        // nothing.
        8 / self.symmetries().into_iter().filter(|&example| example == self).count().max(1)
    }

    #[inline]
    fn key(self) -> (u64, u64, u64) {
        let Board { own, other } = self.board();
        (own, other, self.chosen_bit())
    }
}

impl Ord for Example {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Example {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Example {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.board(), self.chosen())
    }
}

impl From<&Decision<Othello>> for Example {
    /// Takes the view of the side to move.
    #[inline]
    fn from(decision: &Decision<Othello>) -> Example {
        let board = decision.position.board();
        // A legal move goes to an empty square. Clearing the square keeps the invariant of
        // `Example` even for an illegal decision.
        let mask = !decision.chosen.bit();
        let board = Board { own: board.own & mask, other: board.other & mask };
        Example::new_unchecked(board, decision.chosen)
    }
}

/// Sorts the examples and removes duplicates.
pub fn remove_duplicates(examples: &mut Vec<Example>) {
    examples.par_sort_unstable();
    examples.dedup();
}

/// Returns all distinct symmetries of all examples.
///
/// The symmetries of one example are adjacent, and these groups are sorted by their smallest
/// members, so the result does not depend on the order of the input.
#[must_use]
pub fn expand_symmetries(examples: &[Example]) -> Vec<Example> {
    let mut classes: Vec<Example> = examples.par_iter().map(|e| e.canonical()).collect();
    remove_duplicates(&mut classes);
    let count = classes.par_iter().map(|e| e.orbit_size()).sum();
    let mut expanded = Vec::with_capacity(count);
    for class in classes {
        expanded.extend(class.orbit());
    }
    expanded
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::Position;
    use outflank_games::othello::Squares;
    use outflank_runs::{RngExt, rng::stream};
    use std::collections::HashSet;

    /// Examples of random games, in which early plies repeat.
    fn examples(games: usize) -> Vec<Example> {
        let mut rng = stream(3, &["examples"]);
        let mut found = Vec::new();
        for _ in 0..games {
            let mut position = Othello::start();
            while !position.is_over() {
                let moves: Vec<Square> = position.moves().collect();
                let chosen = moves[rng.below(moves.len() as u32) as usize];
                found.push(Example::from(&Decision { position, chosen }));
                position = position.play(chosen);
            }
        }
        found
    }

    #[test]
    fn examples_store_board_and_square() {
        for example in examples(5) {
            let (board, chosen) = (example.board(), example.chosen());
            assert_eq!(Example::new(board, chosen), Some(example));
            let decision = example.decision().unwrap();
            assert_eq!(decision.position.board(), board);
            assert_eq!(Example::from(&decision), example);
            for symmetry in Symmetry::ALL {
                let transformed = example.transform(symmetry);
                assert_eq!(transformed.board(), board.transform(symmetry));
                assert_eq!(transformed.chosen(), symmetry.transform_square(chosen));
            }
        }
    }

    #[test]
    fn invalid_examples_are_rejected() {
        let [e4, a1] = ["e4", "a1"].map(|text| text.parse::<Square>().unwrap());
        assert_eq!(Example::new(Board::START, e4), None);
        assert_eq!(Example::new(Board { own: 3, other: 2 }, e4), None);
        let illegal = Example::new(Board::START, a1).unwrap();
        assert_eq!(illegal.decision(), None);
    }

    #[test]
    fn sorting_groups_the_moves_of_a_board() {
        let mut sorted = examples(40);
        sorted.sort();
        let groups: Vec<Board> =
            sorted.chunk_by(|a, b| a.board() == b.board()).map(|g| g[0].board()).collect();
        assert_eq!(groups.iter().collect::<HashSet<_>>().len(), groups.len());
    }

    #[test]
    fn orbit_sizes_follow_from_the_symmetries() {
        // Four symmetries keep the starting board, and its four moves are symmetric to each other.
        let f5: Square = "f5".parse().unwrap();
        let first = Example::new(Board::START, f5).unwrap();
        assert_eq!((first.orbit_size(), first.orbit().count()), (8, 8));
        let firsts: HashSet<Example> = Squares(Board::START.moves())
            .map(|square| Example::new(Board::START, square).unwrap().canonical())
            .collect();
        assert_eq!(firsts.len(), 1);
        // A board and a square on the main diagonal, invariant under its reflection.
        let diagonal = Example::new(Board { own: 1, other: 1 << 9 }, Square::new(18).unwrap());
        assert_eq!(diagonal.map(|e| (e.orbit_size(), e.orbit().count())), Some((4, 4)));
    }

    #[test]
    fn expansion_contains_all_symmetries_once() {
        let mut examples = examples(30);
        let expected: HashSet<Example> = examples.iter().flat_map(|e| e.symmetries()).collect();
        let expanded = expand_symmetries(&examples);
        assert_eq!(expanded.len(), expected.len());
        assert_eq!(expanded.iter().copied().collect::<HashSet<_>>(), expected);
        examples.reverse();
        assert_eq!(expand_symmetries(&examples), expanded);
        let distinct: HashSet<Example> = examples.iter().copied().collect();
        assert!(distinct.len() < examples.len());
        remove_duplicates(&mut examples);
        assert_eq!(examples.len(), distinct.len());
    }

    #[test]
    fn an_example_is_sixteen_bytes() {
        assert_eq!(size_of::<Example>(), 16);
    }
}
