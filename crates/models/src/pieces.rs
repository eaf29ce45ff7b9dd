//! The weighted piece counter: one weight for each square, added for an own disc and taken away
//! for one of the opponent's.

use crate::{Network, Tuples, View};

/// The 64 weights of a piece counter, row by row.
pub type PieceCounter = [f32; 64];

/// The network of single squares that computes a piece counter.
#[must_use]
pub fn from_pieces(weights: &PieceCounter) -> Network {
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
