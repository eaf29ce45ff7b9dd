//! Counting the leaves of the game tree, the standard check of a move generator.

use crate::Position;

/// Leaf positions after `depth` plies, for a game without passes.
///
/// The last ply is counted, not played. A game that has a faster way, or that passes, says so in
/// [`Position::perft`].
pub fn perft<P: Position>(position: &P, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => position.moves().count() as u64,
        _ => position.moves().map(|mv| perft(&position.play(mv), depth - 1)).sum(),
    }
}
