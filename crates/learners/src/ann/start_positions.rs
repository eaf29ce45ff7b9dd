//! The start positions of training games (Binkley et al., 2007, section 4): all positions of the
//! first four moves, up to symmetry.

use outflank_games::Position;
use outflank_games::othello::{Board, Othello};
use std::collections::BTreeSet;

/// Maximum number of moves before a start position.
const MAX_PLIES: usize = 4;

/// Returns the initial position and the 78 positions after one to four moves. Each symmetry class
/// is represented by its first position in move order.
#[must_use]
pub fn start_positions() -> Vec<Othello> {
    let mut all = vec![Othello::start()];
    let mut last = all.clone();
    for _ in 0..MAX_PLIES {
        let mut seen: BTreeSet<Board> = BTreeSet::new();
        let next = last.iter().flat_map(|position| position.moves().map(|mv| position.play(mv)));
        last = next.filter(|position| seen.insert(position.board().canonical().0)).collect();
        all.extend(&last);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 4: 1, 3, 14 and 60 after one to four moves; with the start there are 79.
    #[test]
    fn counts_are_those_of_the_paper() {
        let positions = start_positions();
        let after = |moves: u32| positions.iter().filter(|p| p.pieces() == 4 + moves).count();
        assert_eq!([0, 1, 2, 3, 4].map(after), [1, 1, 3, 14, 60]);
        assert_eq!(positions.len(), 79);
    }
}
