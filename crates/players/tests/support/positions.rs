//! Positions and an opinion of them, for tests of everybody who searches.

use outflank_games::othello::{Othello, Square, Squares};
use outflank_games::{Line, Position, Side};
use outflank_models::Evaluate;
use outflank_players::{Player, Random};
use outflank_runs::Rng;

/// The Othello League's piece counter.
pub struct Pieces;

impl Evaluate<Othello> for Pieces {
    fn value(&self, position: &Othello, side: Side) -> f32 {
        const EIGHTH: [[f32; 4]; 4] = [
            [1.0, -0.25, 0.1, 0.05],
            [-0.25, -0.25, 0.01, 0.01],
            [0.1, 0.01, 0.05, 0.02],
            [0.05, 0.01, 0.02, 0.01],
        ];
        let fold = |x: u8| usize::from(x.min(7 - x));
        let weight = |square: Square| EIGHTH[fold(square.row())][fold(square.column())];
        let sum = |side| Squares(position.discs(side)).map(weight).sum::<f32>();
        sum(side) - sum(side.other())
    }
}

/// A position some random moves into a game that is not over.
pub fn random_position<P: Position>(plies: u32, rng: &mut Rng) -> P {
    loop {
        let mut line = Line::<P>::default();
        for _ in 0..plies {
            if let Ok(mv) = Random.choose(&line, rng) {
                line.push(mv).unwrap();
            }
        }
        if !line.position().is_over() {
            return *line.position();
        }
    }
}
