//! The eight images of a position, about which a network is asked as if they were eight positions.

use crate::Policy;
use outflank_games::othello::{Othello, Square, Symmetry};

/// A policy whose scores are logarithms of odds, asked about all images of a position: a move is as likely
/// as it is on the mean of them, so that moves which a symmetry turns into each other are equally likely.
///
/// What is added has an order that does not depend on how the board lies, so that this holds to the last bit.
#[derive(Clone, Copy, Debug)]
pub struct Images<M>(pub M);

impl<M: Policy<Othello>> Images<M> {
    /// How likely each of these moves is in each of these positions; they sum to one in each.
    pub fn shares(&self, positions: &[(Othello, Vec<Square>)]) -> Vec<Vec<f64>> {
        let images: Vec<(Othello, Vec<Square>)> = positions
            .iter()
            .flat_map(|(position, moves)| {
                Symmetry::ALL.map(|symmetry| {
                    let mut moves: Vec<Square> =
                        moves.iter().map(|&mv| symmetry.square(mv)).collect();
                    moves.sort_unstable();
                    (position.transform(symmetry), moves)
                })
            })
            .collect();
        let scores = self.0.score_batch(&images);
        let odds: Vec<[f64; 64]> = images
            .iter()
            .zip(&scores)
            .map(|((_, moves), scores)| by_square(moves, scores))
            .collect();
        let each = positions.iter().zip(odds.chunks(Symmetry::ALL.len()));
        each.map(|((_, moves), images)| moves.iter().map(|&mv| mean(images, mv)).collect())
            .collect()
    }
}

/// The mean over the images of how likely a move is.
fn mean(images: &[[f64; 64]], mv: Square) -> f64 {
    let each = Symmetry::ALL.iter().zip(images);
    let mut each: Vec<f64> = each.map(|(s, shares)| shares[s.square(mv).index()]).collect();
    each.sort_by(f64::total_cmp);
    each.iter().sum::<f64>() / each.len() as f64
}

/// The shares of these moves by their squares, which sum to one.
fn by_square(moves: &[Square], scores: &[f32]) -> [f64; 64] {
    let top = scores.iter().copied().fold(f32::MIN, f32::max);
    let mut shares = [0.0; 64];
    for (square, score) in moves.iter().zip(scores) {
        shares[square.index()] = libm::exp(f64::from(score - top));
    }
    let sum: f64 = shares.iter().sum();
    shares.map(|share| if sum > 0.0 { share / sum } else { 0.0 })
}

impl<M: Policy<Othello>> Policy<Othello> for Images<M> {
    fn score(&self, position: &Othello, moves: &[Square], out: &mut Vec<f32>) {
        out.clear();
        out.extend(self.score_batch(&[(*position, moves.to_vec())]).into_iter().flatten());
    }

    fn score_batch(&self, positions: &[(Othello, Vec<Square>)]) -> Vec<Vec<f32>> {
        let score = |share: f64| libm::log(share.max(f64::MIN_POSITIVE)) as f32;
        let each = self.shares(positions).into_iter();
        each.map(|shares| shares.into_iter().map(score).collect()).collect()
    }

    fn at_a_time(&self) -> usize {
        self.0.at_a_time().div_ceil(Symmetry::ALL.len())
    }
}
