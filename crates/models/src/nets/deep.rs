//! A network that rates the legal moves of a position.

use super::{CLASSES, Cpu, Images, Input, Net, Weights, class_of};
use crate::Policy;
use outflank_games::othello::{Othello, Square};
use outflank_games::{Position, Side};

/// A network with its weights, ready to rate moves. Illegal moves are never asked about: a score is
/// the logarithm of the odds among the moves that are given.
#[derive(Clone, Debug)]
pub struct Deep {
    net: Net,
    weights: Weights,
    cpu: Cpu,
}

impl Deep {
    /// A network with these weights.
    #[must_use]
    pub fn new(net: Net, weights: Weights) -> Deep {
        let cpu = Cpu::new(&net, &weights);
        Deep { net, weights, cpu }
    }

    /// The network.
    #[must_use]
    pub fn net(&self) -> &Net {
        &self.net
    }

    /// Its weights as they were learned, before normalisations are folded in.
    #[must_use]
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The outputs for these positions, [`CLASSES`] for each.
    #[must_use]
    pub fn logits(&self, positions: impl IntoIterator<Item = Othello>) -> Vec<f32> {
        let input: Input = self.net.input();
        let mut words = Vec::new();
        for position in positions {
            input.words(position.board(), position.to_move() == Side::White, &mut words);
        }
        self.cpu.logits(&words)
    }

    /// How likely each legal move is, likeliest first, on the mean of the eight [images](Images) of the
    /// position.
    #[must_use]
    pub fn odds(&self, position: &Othello) -> Vec<(Square, f64)> {
        let moves: Vec<Square> = position.moves().collect();
        let shares = Images(self).shares(&[(*position, moves.clone())]).concat();
        let mut likely: Vec<(Square, f64)> = moves.into_iter().zip(shares).collect();
        likely.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        likely
    }
}

/// What each of these moves is rated in each of these positions, by whatever answers their planes with
/// [`CLASSES`] outputs for each.
pub fn score_moves(
    input: Input,
    positions: &[(Othello, Vec<Square>)],
    answer: impl FnOnce(&[u64]) -> Vec<f32>,
) -> Vec<Vec<f32>> {
    let mut words = Vec::with_capacity(positions.len() * input.planes());
    for (position, _) in positions {
        input.words(position.board(), position.to_move() == Side::White, &mut words);
    }
    let logits = answer(&words);
    let each = positions.iter().zip(logits.chunks(CLASSES));
    each.map(|((_, moves), logits)| {
        let rate = |&mv: &Square| class_of(mv).map_or(f32::MIN, |class| logits[class]);
        moves.iter().map(rate).collect()
    })
    .collect()
}

impl Policy<Othello> for Deep {
    fn score(&self, position: &Othello, moves: &[Square], out: &mut Vec<f32>) {
        out.clear();
        out.extend(self.score_batch(&[(*position, moves.to_vec())]).into_iter().flatten());
    }

    fn score_batch(&self, positions: &[(Othello, Vec<Square>)]) -> Vec<Vec<f32>> {
        score_moves(self.net.input(), positions, |words| self.cpu.logits(words))
    }

    fn at_a_time(&self) -> usize {
        256
    }
}
