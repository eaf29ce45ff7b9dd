//! What a position of checkers is worth, in the simplest way that plays sensibly.

use crate::Evaluate;
use outflank_games::Side;
use outflank_games::checkers::Checkers;

/// Counts men and kings, and a little for men that have advanced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// What a king is worth, in men.
    pub king: f32,
    /// What a man gains with each row it has advanced.
    pub advance: f32,
}

impl Default for Material {
    fn default() -> Self {
        Material { king: 1.5, advance: 0.02 }
    }
}

impl Evaluate<Checkers> for Material {
    fn value(&self, position: &Checkers, side: Side) -> f32 {
        let worth = |side: Side| {
            let men = position.men(side);
            // The first rows are Black's own; White's men run the other way.
            let advanced: u32 = (0..8)
                .map(|row| {
                    let steps = if side == Side::Black { row } else { 7 - row };
                    steps * ((men >> (4 * row)) & 0xf).count_ones()
                })
                .sum();
            men.count_ones() as f32
                + self.king * position.kings(side).count_ones() as f32
                + self.advance * advanced as f32
        };
        worth(side) - worth(side.other())
    }
}
