//! A model's word on which moves to try first, where the tree is large enough to pay for it.

use outflank_games::othello::{Board, Othello, Square};
use outflank_games::{Position, Side};
use outflank_models::{Evaluate, embedded};
use std::sync::Arc;

/// A unit of the embedded model's worth counts as much as ten replies of the opponent (a reply
/// costs 4): measured on endgames of 20 to 23 empty squares, where 15 to 70 differ little.
const UNIT: f32 = 40.0;

/// Ranks moves by the embedded `champion`, at one ply or at two.
pub(super) struct Guide {
    model: Arc<dyn Evaluate<Othello>>,
    squares: Vec<Square>,
    replies: Vec<Square>,
    values: Vec<f32>,
    answers: Vec<f32>,
    worth: Vec<i32>,
}

impl Guide {
    /// The guide, where the program has one.
    pub fn embedded() -> Option<Guide> {
        let model = embedded::champion()?;
        Some(Guide {
            model,
            squares: Vec::new(),
            replies: Vec::new(),
            values: Vec::new(),
            answers: Vec::new(),
            worth: Vec::new(),
        })
    }

    /// What each move is worth in the units of a candidate's cost; nothing where the board is no
    /// position of a game.
    pub fn worth(
        &mut self,
        board: Board,
        squares: impl Iterator<Item = Square>,
        deeper: bool,
    ) -> &[i32] {
        self.worth.clear();
        self.squares.clear();
        self.squares.extend(squares);
        let Some(position) = Othello::from_discs(board.own, board.other, Side::Black) else {
            return &self.worth;
        };
        self.model.after_moves(&position, &self.squares, &mut self.values);
        for (&square, &value) in self.squares.iter().zip(&self.values) {
            let after = position.play(square);
            let mut value = value;
            if deeper && after.to_move() == Side::White && !after.is_over() {
                self.replies.clear();
                self.replies.extend(after.moves());
                self.model.after_moves(&after, &self.replies, &mut self.answers);
                value = -self.answers.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            }
            self.worth.push((value * UNIT) as i32);
        }
        &self.worth
    }
}
