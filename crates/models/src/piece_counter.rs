//! The weighted piece counter (WPC): the sum of the weights of own discs minus that of the
//! opponent's.

use crate::{Features, NTupleNetwork, Tuples, View};
use outflank_games::Side;
use outflank_games::othello::{Othello, Squares};

/// The 64 weights of a weighted piece counter, row by row.
pub type PieceCounter = [f32; 64];

/// The features of a piece counter: for each square +1 for a disc of the given side, -1 for a disc
/// of its opponent.
#[derive(Clone, Copy, Debug)]
pub struct PieceFeatures;

impl Features<Othello> for PieceFeatures {
    fn feature_count(&self) -> usize {
        64
    }

    fn visit(&self, position: &Othello, side: Side, mut f: impl FnMut(usize, f32)) {
        Squares(position.discs(side)).for_each(|square| f(square.index(), 1.0));
        Squares(position.discs(side.other())).for_each(|square| f(square.index(), -1.0));
    }
}

/// Creates the network of 1-tuples that computes a piece counter.
#[must_use]
pub fn from_piece_counter(weights: &PieceCounter) -> NTupleNetwork {
    let tables = weights.iter().flat_map(|&w| [-w, 0.0, w]).collect();
    NTupleNetwork::new(Tuples::squares(), tables, View::Negate)
        .unwrap_or_else(|| NTupleNetwork::zero(Tuples::squares(), View::Negate))
}

impl NTupleNetwork {
    /// Returns the 64 weights if this network is a piece counter, i.e. consists of 1-tuples with
    /// tables (-w, 0, w).
    #[must_use]
    pub fn piece_counter(&self) -> Option<PieceCounter> {
        if *self.tuples() != Tuples::squares() {
            return None;
        }
        let mut weights = [0.0; 64];
        for (weight, table) in weights.iter_mut().zip(self.weights().as_chunks::<3>().0) {
            if table[1] != 0.0 || table[0] != -table[2] {
                return None;
            }
            *weight = table[2];
        }
        Some(weights)
    }
}
