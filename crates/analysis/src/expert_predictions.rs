//! Expert moves as predicted by the embedded network that was trained on expert games.

use crate::evaluate::Analyzable;
use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Position};
use outflank_models::{embedded, nets};

/// Returns the probability that an expert plays each move, most likely first.
///
/// `None` if the embedded policy network `experts` cannot be unpacked. The first call unpacks it,
/// which takes a few tenths of a second; each later call takes a few hundredths.
pub(crate) fn move_probabilities(position: &Othello) -> Option<Vec<(Square, f64)>> {
    Some(embedded::experts()?.move_probabilities(position))
}

/// The predicted expert move at one ply of a game, compared with the move played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpertPrediction {
    /// The most likely move. Among equally likely moves it is the move played, or else the first.
    pub most_likely: Square,
    /// The probability of the most likely move and of all moves that are equal to it by symmetry.
    pub probability: f64,
    /// The probability of the move played and of all moves that are equal to it by symmetry.
    pub played_probability: f64,
}

/// Predicts the expert move at every ply of a game; empty if the embedded policy
/// network `experts` cannot be unpacked.
pub(crate) fn predict_game(line: &Line<Othello>) -> Vec<ExpertPrediction> {
    let Some(network) = embedded::experts() else { return Vec::new() };
    let steps: Vec<(Othello, Square)> = line.steps().collect();
    let queries: Vec<(Othello, Vec<Square>)> =
        steps.iter().map(|(position, _)| (*position, position.moves().collect())).collect();
    let probabilities = nets::SymmetryAveraged(&*network).probabilities(&queries);
    let plies = steps.iter().zip(queries.iter().zip(probabilities));
    let merge = |position, moves: &[Square], all| merge_symmetric(position, moves, all);
    plies
        .map(|(&(_, played), ((position, moves), all))| {
            prediction(played, moves, &merge(position, moves, all))
        })
        .collect()
}

/// Gives every move the probability of all moves that are equal to it by symmetry.
fn merge_symmetric(position: &Othello, moves: &[Square], probabilities: Vec<f64>) -> Vec<f64> {
    let sum = |mv: Square| {
        let equal = moves.iter().zip(&probabilities);
        equal.filter(|(other, _)| position.are_symmetric(mv, **other)).map(|(_, p)| p).sum()
    };
    moves.iter().map(|&mv| sum(mv)).collect()
}

fn prediction(played: Square, moves: &[Square], probabilities: &[f64]) -> ExpertPrediction {
    let index = moves.iter().position(|&mv| mv == played);
    let played_probability = index.map_or(0.0, |index| probabilities[index]);
    let probability = probabilities.iter().copied().fold(0.0, f64::max);
    let mut pairs = moves.iter().zip(probabilities);
    let first = pairs.find(|(_, p)| **p == probability).map(|(&mv, _)| mv);
    let most_likely = match played_probability == probability {
        true => played,
        false => first.unwrap_or(played),
    };
    ExpertPrediction { most_likely, probability, played_probability }
}
