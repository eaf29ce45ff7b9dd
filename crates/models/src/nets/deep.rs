//! A network that rates the legal moves of a position.

use super::{CLASSES, Cpu, Input, Net, Weights, class_of};
use crate::Policy;
use outflank_games::othello::{Board, Othello, Square, Squares, Symmetry};
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

    /// How likely each legal move is, likeliest first: the mean of the answers for the eight images of
    /// the position, so that moves which a symmetry turns into each other are equally likely.
    ///
    /// What is added has an order that does not depend on how the board lies, so that this holds to the
    /// last bit.
    #[must_use]
    pub fn odds(&self, position: &Othello) -> Vec<(Square, f64)> {
        let input: Input = self.net.input();
        let boards = Symmetry::ALL.map(|symmetry| position.board().transform(symmetry));
        let mut words = Vec::with_capacity(boards.len() * input.planes());
        for board in boards {
            input.words(board, position.to_move() == Side::White, &mut words);
        }
        let logits = self.cpu.logits(&words);
        let images: Vec<[f64; 64]> =
            boards.iter().zip(logits.chunks(CLASSES)).map(|(&b, l)| shares(b, l)).collect();
        let mean = |mv: Square| {
            let each = Symmetry::ALL.iter().zip(&images);
            let mut each: Vec<f64> = each.map(|(s, shares)| shares[s.square(mv).index()]).collect();
            each.sort_by(f64::total_cmp);
            each.iter().sum::<f64>() / each.len() as f64
        };
        let mut likely: Vec<(Square, f64)> = position.moves().map(|mv| (mv, mean(mv))).collect();
        likely.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        likely
    }
}

/// The shares of the legal moves of a board by their squares, which sum to one.
fn shares(board: Board, logits: &[f32]) -> [f64; 64] {
    let moves = board.moves();
    let logit = |square: Square| class_of(square).map_or(f32::MIN, |class| logits[class]);
    let top = Squares(moves).map(logit).fold(f32::MIN, f32::max);
    let mut shares = [0.0; 64];
    for square in Squares(moves) {
        shares[square.index()] = libm::exp(f64::from(logit(square) - top));
    }
    let sum: f64 = shares.iter().sum();
    shares.map(|share| if sum > 0.0 { share / sum } else { 0.0 })
}

/// What each of these moves is rated in each of these positions, by whatever answers their planes with
/// [`CLASSES`] outputs for each.
pub fn rate_moves(
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
        out.extend(self.score_all(&[(*position, moves.to_vec())]).into_iter().flatten());
    }

    fn score_all(&self, positions: &[(Othello, Vec<Square>)]) -> Vec<Vec<f32>> {
        rate_moves(self.net.input(), positions, |words| self.cpu.logits(words))
    }

    fn at_a_time(&self) -> usize {
        256
    }
}
