//! Perft: counting the leaves of the game tree, the standard test of a move generator.

use crate::Position;

/// Returns the number of leaf positions after `depth` plies, for a game without passes.
///
/// The last ply is counted, not played.
pub(crate) fn perft<P: Position>(position: &P, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => position.moves().count() as u64,
        _ => position.moves().map(|mv| perft(&position.play(mv), depth - 1)).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::othello::Othello;

    /// There are no passes in the first six plies.
    #[test]
    fn generic_perft_agrees_with_othello_without_passes() {
        let start = Othello::start();
        for depth in 0..=6 {
            assert_eq!(perft(&start, depth), start.perft(depth));
        }
    }
}
