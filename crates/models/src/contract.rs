//! Test helpers that check the contracts of [`Evaluate`] and [`Policy`] for any model.
//!
//! ```
//! use outflank_games::checkers::Checkers;
//! use outflank_models::{Material, OnePlyPolicy, contract};
//!
//! contract::check_evaluator::<Checkers>(&Material::default(), 1);
//! contract::check_policy::<Checkers>(&OnePlyPolicy(Material::default()), 1);
//! ```

use crate::{Evaluate, Policy};
use outflank_games::{Position, Side};
use outflank_runs::RngExt;
use outflank_runs::rng::stream;

/// Number of positions that are checked.
const POSITIONS: usize = 200;

/// The relative difference that rounding may cause between [`Evaluate::move_values`] and
/// [`Evaluate::value`].
const TOLERANCE: f32 = 1e-4;

/// Returns positions of random games in which the game is not over.
fn positions<P: Position>(seed: u64) -> Vec<P> {
    let mut rng = stream(seed, &["contract", "positions"]);
    let mut positions = Vec::with_capacity(POSITIONS);
    let mut position = P::start();
    while positions.len() < POSITIONS {
        let moves: Vec<P::Move> = position.moves().collect();
        match rng.pick(&moves) {
            Some(&mv) => {
                positions.push(position);
                position = position.play(mv);
            }
            None => position = P::start(),
        }
    }
    positions
}

/// Checks an evaluation function on positions of random games: it is a function of the position and
/// the side, and the values of moves are those of their afterstates.
///
/// # Panics
///
/// Panics with the property and the position if the contract is violated.
pub fn check_evaluator<P: Position>(evaluator: &dyn Evaluate<P>, seed: u64) {
    // Previous content must be cleared.
    let mut values = vec![f32::NAN; 3];
    for position in positions::<P>(seed) {
        for side in Side::BOTH {
            let [first, second] = [(); 2].map(|()| evaluator.value(&position, side));
            assert_eq!(first.to_bits(), second.to_bits(), "value changes: {position}, {side}");
        }
        let (moves, side) = (position.moves().collect::<Vec<_>>(), position.to_move());
        evaluator.move_values(&position, &moves, &mut values);
        assert_eq!(values.len(), moves.len(), "move_values has another length: {position}");
        for (mv, value) in moves.iter().zip(&values) {
            let expected = evaluator.value(&position.play(*mv), side);
            let is_equal = value.to_bits() == expected.to_bits()
                || (value - expected).abs() <= TOLERANCE * expected.abs().max(1.0);
            assert!(is_equal, "{mv} in {position}: move_values {value}, value {expected}");
        }
    }
}

/// Checks a policy on positions of random games: it scores every move, its scores are a function of
/// the position and the moves, and a batch has the same scores as single positions.
///
/// # Panics
///
/// Panics with the property and the position if the contract is violated.
pub fn check_policy<P: Position>(policy: &dyn Policy<P>, seed: u64) {
    assert!(policy.batch_size() >= 1, "the batch size is 0");
    let inputs: Vec<(P, Vec<P::Move>)> =
        positions::<P>(seed).into_iter().map(|p| (p, p.moves().collect())).collect();
    let bits = |scores: &[f32]| scores.iter().map(|score| score.to_bits()).collect::<Vec<_>>();
    let mut scores = vec![f32::NAN; 3];
    let mut all = Vec::with_capacity(inputs.len());
    for (position, moves) in &inputs {
        policy.score(position, moves, &mut scores);
        assert_eq!(scores.len(), moves.len(), "score has another length: {position}");
        let first = bits(&scores);
        policy.score(position, moves, &mut scores);
        assert_eq!(bits(&scores), first, "scores change: {position}");
        all.push(first);
    }
    let batch = policy.score_batch(&inputs);
    assert_eq!(batch.len(), inputs.len(), "score_batch has another length");
    for ((scores, expected), (position, _)) in batch.iter().zip(all).zip(&inputs) {
        assert_eq!(bits(scores), expected, "a batch changes the scores: {position}");
    }
}
