//! An Othello decision as its player saw it, in sixteen bytes.

use super::Decision;
use outflank_games::Side;
use outflank_games::othello::{Board, Othello, Square, Symmetry};
use rayon::prelude::*;
use std::cmp::Ordering;
use std::fmt;

/// A board seen from the player to move, and an empty square of it that the player chose.
///
/// No square holds discs of both players, so the chosen square is stored by setting it in both
/// bitboards. Forty million examples, as many as a large game base has under the eight
/// symmetries, take 640 MB.
///
/// Examples are ordered by their boards first, so the moves played on one board stand together
/// after sorting.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Example {
    own: u64,
    other: u64,
}

impl Example {
    /// The example of a board and an empty square; `None` when the square is taken or a square
    /// holds two discs.
    #[must_use]
    pub fn new(board: Board, chosen: Square) -> Option<Example> {
        let taken = board.own | board.other;
        (board.own & board.other == 0 && taken & chosen.bit() == 0)
            .then(|| Example::mark(board, chosen))
    }

    fn mark(board: Board, chosen: Square) -> Example {
        Example { own: board.own | chosen.bit(), other: board.other | chosen.bit() }
    }

    /// The bitboard with the chosen square alone.
    #[inline]
    #[must_use]
    pub fn chosen_bit(self) -> u64 {
        self.own & self.other
    }

    /// The chosen square.
    #[inline]
    #[must_use]
    pub fn chosen(self) -> Square {
        Square::lowest(self.chosen_bit()).expect("an example marks its chosen square")
    }

    /// The board, seen from the player to move.
    #[inline]
    #[must_use]
    pub fn board(self) -> Board {
        let chosen = self.chosen_bit();
        Board { own: self.own ^ chosen, other: self.other ^ chosen }
    }

    /// The decision, with Black as the player to move.
    ///
    /// `None` when the player to move has no move on this board, which does not happen to
    /// examples that come from games.
    #[must_use]
    pub fn decision(self) -> Option<Decision<Othello>> {
        let board = self.board();
        if board.moves() & self.chosen_bit() == 0 {
            return None;
        }
        let position = Othello::from_discs(board.own, board.other, Side::Black)?;
        Some(Decision { position, chosen: self.chosen() })
    }

    /// The example turned or mirrored.
    #[inline]
    #[must_use]
    pub fn transform(self, symmetry: Symmetry) -> Example {
        Example { own: symmetry.bits(self.own), other: symmetry.bits(self.other) }
    }

    /// The eight images, in the order of [`Symmetry::ALL`]; some may be equal.
    #[inline]
    #[must_use]
    pub fn images(self) -> [Example; 8] {
        Symmetry::ALL.map(|symmetry| self.transform(symmetry))
    }

    /// The least of the eight images.
    #[must_use]
    pub fn canonical(self) -> Example {
        self.images().into_iter().min().unwrap_or(self)
    }

    /// The images without repetition, in ascending order.
    pub fn orbit(self) -> impl Iterator<Item = Example> {
        let mut images = self.images();
        images.sort_unstable();
        let mut last = None;
        images.into_iter().filter(move |&image| last.replace(image) != Some(image))
    }

    /// How many different images there are: 1, 2, 4 or 8.
    #[must_use]
    pub fn orbit_size(self) -> usize {
        // The symmetries that change nothing form a group, and each image is met once for each.
        8 / self.images().into_iter().filter(|&image| image == self).count().max(1)
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
    /// The decision as its player saw it.
    #[inline]
    fn from(decision: &Decision<Othello>) -> Example {
        let board = decision.position.board();
        // A legal move goes to an empty square. Should a caller have put together a decision that
        // is none, the bits of its square are cleared so that the example still has one mark.
        let free = !decision.chosen.bit();
        let board = Board { own: board.own & free, other: board.other & free };
        Example::mark(board, decision.chosen)
    }
}

/// Sorts the examples and removes those that occur again.
pub fn remove_duplicates(examples: &mut Vec<Example>) {
    examples.par_sort_unstable();
    examples.dedup();
}

/// All images of all examples under the eight symmetries, each once.
///
/// The images of one example stand together, and these groups are in ascending order of their
/// first members, so the result does not depend on the order of the input.
#[must_use]
pub fn expand_symmetries(examples: &[Example]) -> Vec<Example> {
    let mut classes: Vec<Example> = examples.par_iter().map(|e| e.canonical()).collect();
    remove_duplicates(&mut classes);
    let count = classes.par_iter().map(|e| e.orbit_size()).sum();
    let mut images = Vec::with_capacity(count);
    for class in classes {
        images.extend(class.orbit());
    }
    images
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::Position;
    use outflank_games::othello::Squares;
    use outflank_runs::{RngExt, rng::stream};
    use std::collections::HashSet;

    /// Examples of games played at random, early plies over and over again.
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
    fn an_example_gives_back_its_board_and_square() {
        for example in examples(5) {
            let (board, chosen) = (example.board(), example.chosen());
            assert_eq!(Example::new(board, chosen), Some(example));
            let decision = example.decision().unwrap();
            assert_eq!(decision.position.board(), board);
            assert_eq!(Example::from(&decision), example);
            for symmetry in Symmetry::ALL {
                let image = example.transform(symmetry);
                assert_eq!(image.board(), board.transform(symmetry));
                assert_eq!(image.chosen(), symmetry.square(chosen));
            }
        }
    }

    #[test]
    fn an_example_needs_an_empty_square_and_disjoint_discs() {
        let [e4, a1] = ["e4", "a1"].map(|text| text.parse::<Square>().unwrap());
        assert_eq!(Example::new(Board::START, e4), None);
        assert_eq!(Example::new(Board { own: 3, other: 2 }, e4), None);
        let useless = Example::new(Board::START, a1).unwrap();
        assert_eq!(useless.decision(), None);
    }

    #[test]
    fn order_groups_the_moves_of_one_board() {
        let mut sorted = examples(40);
        sorted.sort();
        let groups: Vec<Board> =
            sorted.chunk_by(|a, b| a.board() == b.board()).map(|g| g[0].board()).collect();
        assert_eq!(groups.iter().collect::<HashSet<_>>().len(), groups.len());
    }

    #[test]
    fn orbits_are_as_large_as_the_symmetries_say() {
        // The start maps to itself four ways, and its four moves are one move under them.
        let f5: Square = "f5".parse().unwrap();
        let first = Example::new(Board::START, f5).unwrap();
        assert_eq!((first.orbit_size(), first.orbit().count()), (8, 8));
        let firsts: HashSet<Example> = Squares(Board::START.moves())
            .map(|square| Example::new(Board::START, square).unwrap().canonical())
            .collect();
        assert_eq!(firsts.len(), 1);
        // A board and a square on the long diagonal, kept by its reflection.
        let diagonal = Example::new(Board { own: 1, other: 1 << 9 }, Square::new(18).unwrap());
        assert_eq!(diagonal.map(|e| (e.orbit_size(), e.orbit().count())), Some((4, 4)));
    }

    #[test]
    fn expansion_is_the_set_of_all_images() {
        let mut examples = examples(30);
        let expected: HashSet<Example> = examples.iter().flat_map(|e| e.images()).collect();
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
