//! Test-time augmentation: averaging a policy over the eight symmetries of a position.

use crate::Policy;
use outflank_games::othello::{Othello, Square, Symmetry};

/// A policy averaged over the eight symmetries of a position (test-time augmentation).
///
/// The wrapped policy must score by logits. Probabilities are averaged, so that symmetric moves get
/// equal probabilities. The order of summation does not depend on the orientation of the board, so
/// that the results are bit-identical.
#[derive(Clone, Copy, Debug)]
pub struct SymmetryAveraged<M>(pub M);

impl<M: Policy<Othello>> SymmetryAveraged<M> {
    /// Returns the probabilities of the given moves of each position; they sum to 1.
    pub fn probabilities(&self, positions: &[(Othello, Vec<Square>)]) -> Vec<Vec<f64>> {
        let symmetric: Vec<(Othello, Vec<Square>)> = positions
            .iter()
            .flat_map(|(position, moves)| {
                Symmetry::ALL.map(|symmetry| {
                    let mut moves: Vec<Square> =
                        moves.iter().map(|&mv| symmetry.transform_square(mv)).collect();
                    moves.sort_unstable();
                    (position.transform(symmetry), moves)
                })
            })
            .collect();
        let scores = self.0.score_batch(&symmetric);
        let by_square: Vec<[f64; 64]> = symmetric
            .iter()
            .zip(&scores)
            .map(|((_, moves), scores)| softmax_by_square(moves, scores))
            .collect();
        let each = positions.iter().zip(by_square.chunks(Symmetry::ALL.len()));
        each.map(|((_, moves), symmetric)| moves.iter().map(|&mv| mean(symmetric, mv)).collect())
            .collect()
    }
}

/// Returns the mean probability of a move over the symmetries.
fn mean(symmetric: &[[f64; 64]], mv: Square) -> f64 {
    let each = Symmetry::ALL.iter().zip(symmetric);
    let mut each: Vec<f64> =
        each.map(|(s, probabilities)| probabilities[s.transform_square(mv).index()]).collect();
    each.sort_by(f64::total_cmp);
    each.iter().sum::<f64>() / each.len() as f64
}

/// Returns the softmax of the scores of the moves, by square.
fn softmax_by_square(moves: &[Square], scores: &[f32]) -> [f64; 64] {
    let top = scores.iter().copied().fold(f32::MIN, f32::max);
    let mut powers = [0.0; 64];
    for (square, score) in moves.iter().zip(scores) {
        powers[square.index()] = libm::exp(f64::from(score - top));
    }
    let sum: f64 = powers.iter().sum();
    powers.map(|power| if sum > 0.0 { power / sum } else { 0.0 })
}

impl<M: Policy<Othello>> Policy<Othello> for SymmetryAveraged<M> {
    fn score(&self, position: &Othello, moves: &[Square], out: &mut Vec<f32>) {
        out.clear();
        out.extend(self.score_batch(&[(*position, moves.to_vec())]).into_iter().flatten());
    }

    fn score_batch(&self, positions: &[(Othello, Vec<Square>)]) -> Vec<Vec<f32>> {
        let log = |probability: f64| libm::log(probability.max(f64::MIN_POSITIVE)) as f32;
        let each = self.probabilities(positions).into_iter();
        each.map(|probabilities| probabilities.into_iter().map(log).collect()).collect()
    }

    fn batch_size(&self) -> usize {
        self.0.batch_size().div_ceil(Symmetry::ALL.len())
    }
}
