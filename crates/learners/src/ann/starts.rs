//! The positions that games begin from (section 4): all of the first four moves, up to symmetry.

use outflank_games::Position;
use outflank_games::othello::{Board, Othello};
use std::collections::BTreeSet;

/// How many moves the latest of them is away from the start.
const PLIES: usize = 4;

/// The start and the 78 positions that one to four moves lead to, one of each set of symmetric
/// ones: that which is met first when moves are tried in order.
#[must_use]
pub fn starts() -> Vec<Othello> {
    let mut all = vec![Othello::start()];
    let mut last = all.clone();
    for _ in 0..PLIES {
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
    fn there_are_as_many_as_the_paper_says() {
        let starts = starts();
        let after = |moves: u32| starts.iter().filter(|p| p.pieces() == 4 + moves).count();
        assert_eq!([0, 1, 2, 3, 4].map(after), [1, 1, 3, 14, 60]);
        assert_eq!(starts.len(), 79);
    }
}
