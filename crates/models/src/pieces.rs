//! The weighted piece counter: one weight for each square, added for an own disc and taken away
//! for one of the opponent's.

use crate::{Features, Network, Tuples, View};
use outflank_games::Side;
use outflank_games::othello::{Othello, Squares};

/// The 64 weights of a piece counter, row by row.
pub type PieceCounter = [f32; 64];

/// What a piece counter looks at: for each square +1 with a disc of the side seen as Black, -1 with
/// one of the other.
#[derive(Clone, Copy, Debug)]
pub struct Pieces;

impl Features<Othello> for Pieces {
    fn count(&self) -> usize {
        64
    }

    fn visit(&self, position: &Othello, side: Side, mut f: impl FnMut(usize, f32)) {
        Squares(position.discs(side)).for_each(|square| f(square.index(), 1.0));
        Squares(position.discs(side.other())).for_each(|square| f(square.index(), -1.0));
    }
}

/// The network of single squares that computes a piece counter.
#[must_use]
pub fn from_piece_counter(weights: &PieceCounter) -> Network {
    let tables = weights.iter().flat_map(|&w| [-w, 0.0, w]).collect();
    Network::new(Tuples::squares(), tables, View::Negate)
        .unwrap_or_else(|| Network::zero(Tuples::squares(), View::Negate))
}

impl Network {
    /// The 64 weights, when this network is a piece counter: single squares whose table is
    /// (-w, 0, w).
    #[must_use]
    pub fn pieces(&self) -> Option<PieceCounter> {
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
