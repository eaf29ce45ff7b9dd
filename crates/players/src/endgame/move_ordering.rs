//! Move ordering by a model, for nodes with many empty squares.

use outflank_games::othello::{Board, Othello, Square};
use outflank_games::{Position, Side};
use outflank_models::{Evaluate, embedded};
use std::sync::Arc;

/// Reduction of a move's cost per unit of the model's value. A move of the opponent costs 4, so one
/// unit of value equals ten moves. On endgames of 20 to 23 empty squares, weights of 15 to 70 perform
/// similarly.
const VALUE_WEIGHT: f32 = 40.0;

/// Scores moves with the embedded model `champion`, at one or two plies.
pub(super) struct ModelOrdering {
    model: Arc<dyn Evaluate<Othello>>,
    squares: Vec<Square>,
    replies: Vec<Square>,
    values: Vec<f32>,
    reply_values: Vec<f32>,
    bonuses: Vec<i32>,
}

impl ModelOrdering {
    /// Creates the ordering from the embedded model, if the program contains it.
    pub fn embedded() -> Option<ModelOrdering> {
        let model = embedded::champion()?;
        Some(ModelOrdering {
            model,
            squares: Vec::new(),
            replies: Vec::new(),
            values: Vec::new(),
            reply_values: Vec::new(),
            bonuses: Vec::new(),
        })
    }

    /// Returns the amount by which to reduce the cost of each move, or an empty slice if the board
    /// is not a valid position.
    pub fn bonuses(
        &mut self,
        board: Board,
        squares: impl Iterator<Item = Square>,
        two_plies: bool,
    ) -> &[i32] {
        self.bonuses.clear();
        self.squares.clear();
        self.squares.extend(squares);
        let Some(position) = Othello::from_discs(board.own, board.other, Side::Black) else {
            return &self.bonuses;
        };
        self.model.move_values(&position, &self.squares, &mut self.values);
        for (&square, &value) in self.squares.iter().zip(&self.values) {
            let after = position.play(square);
            let mut value = value;
            if two_plies && after.to_move() == Side::White && !after.is_over() {
                self.replies.clear();
                self.replies.extend(after.moves());
                self.model.move_values(&after, &self.replies, &mut self.reply_values);
                value = -self.reply_values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            }
            self.bonuses.push((value * VALUE_WEIGHT) as i32);
        }
        &self.bonuses
    }
}
