//! Material evaluation for checkers.

use crate::Evaluate;
use outflank_games::Side;
use outflank_games::checkers::Checkers;

/// A material count of men and kings with a small bonus for advanced men.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Value of a king, in men.
    pub king: f32,
    /// Bonus of a man per row advanced.
    pub advance: f32,
}

impl Default for Material {
    fn default() -> Self {
        Material { king: 1.5, advance: 0.02 }
    }
}

impl Evaluate<Checkers> for Material {
    fn value(&self, position: &Checkers, side: Side) -> f32 {
        let material = |side: Side| {
            let men = position.men(side);
            // Row 0 is Black's home row; White's men move the other way.
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
        material(side) - material(side.other())
    }
}
