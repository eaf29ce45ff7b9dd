//! What experts would play: the preferences learned from their choices, as probabilities.

use outflank_games::Position;
use outflank_games::othello::{Othello, Square};
use outflank_models::{Evaluate, embedded};

/// How likely an expert is to make each move here, likeliest first; `None` only if the program was
/// built without its move predictor.
///
/// The predictor `ipref` was learned so that the odds of one move against another are the exponential
/// of the difference of their scores.
pub(crate) fn experts(position: &Othello) -> Option<Vec<(Square, f64)>> {
    let model = embedded::ipref()?;
    let moves: Vec<Square> = position.moves().collect();
    let mut scores = Vec::new();
    model.after_moves(position, &moves, &mut scores);
    let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let odds: Vec<f64> = scores.iter().map(|&score| libm::exp(f64::from(score - most))).collect();
    let sum: f64 = odds.iter().sum();
    let mut likely: Vec<(Square, f64)> =
        moves.into_iter().zip(odds).map(|(mv, odds)| (mv, odds / sum)).collect();
    likely.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    Some(likely)
}
