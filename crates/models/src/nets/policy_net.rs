//! A deep network as a policy.

use super::{CLASSES, CpuNet, Input, NetGraph, SymmetryAveraged, Weights, class_of};
use crate::Policy;
use outflank_games::othello::{Othello, Square};
use outflank_games::{Position, Side};

/// A policy network: a graph with its weights, prepared for inference on the CPU.
///
/// The score of a move is its logit. Illegal moves are not scored.
#[derive(Clone, Debug)]
pub struct PolicyNet {
    net: NetGraph,
    weights: Weights,
    cpu: CpuNet,
}

impl PolicyNet {
    /// Creates a policy network.
    #[must_use]
    pub fn new(net: NetGraph, weights: Weights) -> PolicyNet {
        let cpu = CpuNet::new(&net, &weights);
        PolicyNet { net, weights, cpu }
    }

    /// Returns the graph.
    #[must_use]
    pub fn net(&self) -> &NetGraph {
        &self.net
    }

    /// Returns the trained weights, before batch normalization is folded.
    #[must_use]
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Computes the logits of positions, [`CLASSES`] for each.
    #[must_use]
    pub fn logits(&self, positions: impl IntoIterator<Item = Othello>) -> Vec<f32> {
        let input: Input = self.net.input();
        let mut words = Vec::new();
        for position in positions {
            input.encode(position.board(), position.to_move() == Side::White, &mut words);
        }
        self.cpu.logits(&words)
    }

    /// Returns the legal moves with their probabilities, the most probable first, averaged over the
    /// eight symmetries of the position.
    #[must_use]
    pub fn move_probabilities(&self, position: &Othello) -> Vec<(Square, f64)> {
        let moves: Vec<Square> = position.moves().collect();
        let probabilities =
            SymmetryAveraged(self).probabilities(&[(*position, moves.clone())]).concat();
        let mut moves: Vec<(Square, f64)> = moves.into_iter().zip(probabilities).collect();
        moves.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        moves
    }
}

/// Returns the logits of the given moves of each position. `infer` maps the input planes of all
/// positions to [`CLASSES`] logits per position.
pub fn score_moves(
    input: Input,
    positions: &[(Othello, Vec<Square>)],
    infer: impl FnOnce(&[u64]) -> Vec<f32>,
) -> Vec<Vec<f32>> {
    let mut words = Vec::with_capacity(positions.len() * input.planes());
    for (position, _) in positions {
        input.encode(position.board(), position.to_move() == Side::White, &mut words);
    }
    let logits = infer(&words);
    let each = positions.iter().zip(logits.chunks(CLASSES));
    each.map(|((_, moves), logits)| {
        let logit = |&mv: &Square| class_of(mv).map_or(f32::MIN, |class| logits[class]);
        moves.iter().map(logit).collect()
    })
    .collect()
}

impl Policy<Othello> for PolicyNet {
    fn score(&self, position: &Othello, moves: &[Square], out: &mut Vec<f32>) {
        out.clear();
        out.extend(self.score_batch(&[(*position, moves.to_vec())]).into_iter().flatten());
    }

    fn score_batch(&self, positions: &[(Othello, Vec<Square>)]) -> Vec<Vec<f32>> {
        score_moves(self.net.input(), positions, |words| self.cpu.logits(words))
    }

    fn batch_size(&self) -> usize {
        256
    }
}
