//! What experts would play, as the embedded network that learned from their games says.

use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Position};
use outflank_models::embedded;
use outflank_models::nets::SymmetryAveraged;

/// How likely an expert is to make each move here, likeliest first; `None` only if the program was
/// built without its move predictor. The first answer takes some tenths of a second, while the network is
/// unpacked, and each later one some hundredths.
pub(crate) fn experts(position: &Othello) -> Option<Vec<(Square, f64)>> {
    Some(embedded::experts()?.move_probabilities(position))
}

/// What experts would have played where a move was made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Habit {
    /// The move that is likeliest.
    pub usual: Square,
    /// How likely it is.
    pub share: f64,
    /// How likely the move is that was made.
    pub played: f64,
}

/// What experts would have played throughout a game, for each of its moves; nothing where the program was
/// built without its move predictor.
pub(crate) fn habits(line: &Line<Othello>) -> Vec<Habit> {
    let Some(network) = embedded::experts() else { return Vec::new() };
    let steps: Vec<(Othello, Square)> = line.steps().collect();
    let asked: Vec<(Othello, Vec<Square>)> =
        steps.iter().map(|(position, _)| (*position, position.moves().collect())).collect();
    let shares = SymmetryAveraged(&*network).probabilities(&asked);
    let each = steps.iter().zip(asked.iter().zip(shares));
    each.map(|(&(_, made), ((_, moves), shares))| {
        let played = moves.iter().position(|&mv| mv == made).map_or(0.0, |at| shares[at]);
        let share = shares.iter().copied().fold(0.0, f64::max);
        // Of moves that are equally likely the one that was made, or else the first.
        let first = moves.iter().zip(&shares).find(|(_, of)| **of == share).map(|(&mv, _)| mv);
        let usual = if played == share { made } else { first.unwrap_or(made) };
        Habit { usual, share, played }
    })
    .collect()
}
