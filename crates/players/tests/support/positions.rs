//! Positions, evaluations and reference scores for the search tests.

#![allow(dead_code, reason = "each test file uses a part")]

use outflank_games::othello::{Othello, Square, Squares};
use outflank_games::{Line, Position, Side};
use outflank_models::Evaluate;
use outflank_players::endgame::Solver;
use outflank_players::{Player, Random};
use outflank_runs::Rng;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The standard heuristic of the Othello League, a weighted piece counter.
pub struct PieceCounterEval;

impl Evaluate<Othello> for PieceCounterEval {
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

/// Returns a random unfinished position after this many plies.
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

/// A hash-based evaluation with this many distinct values. It is not zero-sum.
pub struct HashEval(pub u64);

impl<P: Position> Evaluate<P> for HashEval {
    fn value(&self, position: &P, side: Side) -> f32 {
        let mut hasher = DefaultHasher::new();
        (position, side).hash(&mut hasher);
        (hasher.finish() % self.0) as f32 - (self.0 / 2) as f32
    }
}

/// Returns the exact score for the side to move by exhaustive search.
pub fn brute_force(position: &Othello) -> i32 {
    let side = position.to_move();
    let after = position.moves().map(|mv| {
        let after = position.play(mv);
        match brute_force(&after) {
            score if after.to_move() == side => score,
            score => -score,
        }
    });
    after
        .max()
        .unwrap_or_else(|| position.tournament_score().map_or(0, |score| side.sign() * score))
}

/// Returns the score of each move for the side to move, in square order.
pub fn move_scores(solver: &mut Solver, position: &Othello) -> Vec<(Square, i32)> {
    let board = position.board();
    Squares(board.moves()).map(|square| (square, -solver.score(board.play(square)))).collect()
}
