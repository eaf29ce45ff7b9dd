//! Othello endgames, solved exactly.
//!
//! Alpha-beta on bare bitboards with a table of proved bounds. Moves that leave the opponent few
//! replies come first (they make the smallest trees), then moves into regions with an odd number
//! of empty squares. With six empty squares or fewer only the regions decide the order, with four
//! or fewer no move list is made at all. A score is always the disc difference at the end with the
//! empty squares given to the winner, -64 to 64.
//!
//! Twenty empty squares take about a second; each further one takes two to three times as long.

mod last;
mod search;
mod table;

use crate::searchable::Endgame;
use outflank_games::Position;
use outflank_games::othello::{Board, Othello, Square, Squares};
use search::Search;
use std::cmp::Ordering;

/// Solves endgames exactly.
///
/// It remembers what it proved from one question to the next. Answers do not depend on that, only
/// the time and the number of nodes do.
pub struct Solver {
    search: Search,
}

impl Solver {
    /// A solver with a table of `2^bits` entries of 24 bytes; `bits` is kept within 1 and 28.
    ///
    /// The number of empty squares plus 2 is a good choice.
    #[must_use]
    pub fn new(bits: u32) -> Solver {
        Solver { search: Search::new(bits) }
    }

    /// The score under best play for the player to move, who may have to pass.
    pub fn score(&mut self, board: Board) -> i32 {
        self.search.window(board, -64, 64)
    }

    /// Whether the player to move wins (`Greater`), draws or loses; quicker than the score.
    pub fn outcome(&mut self, board: Board) -> Ordering {
        self.search.window(board, -1, 1).cmp(&0)
    }

    /// The score if it lies strictly between `alpha` and `beta`. Otherwise a bound: at most
    /// `alpha` and not below the score, or at least `beta` and not above the score.
    ///
    /// An empty window (`alpha` not below `beta`) is taken as the question whether the score is
    /// above `alpha`.
    pub fn window(&mut self, board: Board, alpha: i32, beta: i32) -> i32 {
        let alpha = alpha.clamp(-64, 63);
        self.search.window(board, alpha, beta.clamp(alpha + 1, 64))
    }

    /// Fills `best` with every move that keeps the score, in the order of the squares, and returns
    /// the score. `best` is left empty when the player to move has no move.
    pub fn best_moves(&mut self, board: Board, best: &mut Vec<Square>) -> i32 {
        let score = self.score(board);
        best.clear();
        for square in Squares(board.moves()) {
            // One question each: is this move as good as the best?
            if -self.search.window(board.play(square), -score, 1 - score) >= score {
                best.push(square);
            }
        }
        score
    }

    /// The score of every move, for the player to move, in the order of the squares.
    pub fn move_scores(&mut self, board: Board) -> Vec<(Square, i32)> {
        Squares(board.moves()).map(|square| (square, -self.score(board.play(square)))).collect()
    }

    /// How many positions were visited since the solver was made or cleared.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.search.nodes
    }

    /// Forgets everything, so that the next question takes the same nodes as it would at first.
    pub fn clear(&mut self) {
        self.search.table.clear();
        self.search.nodes = 0;
    }
}

/// Takes over the game of an [`AlphaBeta`](crate::AlphaBeta) player when few squares are empty.
pub struct ExactFrom {
    empties: u32,
    solver: Solver,
}

impl ExactFrom {
    /// Plays exactly whenever at most this many squares are empty; above 20 a move takes long.
    #[must_use]
    pub fn new(empties: u32) -> ExactFrom {
        ExactFrom { empties, solver: Solver::new(empties.saturating_add(2).clamp(8, 20)) }
    }
}

impl Endgame<Othello> for ExactFrom {
    fn reaches(&self, position: &Othello) -> bool {
        position.empties() <= self.empties && !position.is_over()
    }

    fn best_moves(&mut self, position: &Othello, best: &mut Vec<Square>) -> i32 {
        self.solver.best_moves(position.board(), best)
    }
}
