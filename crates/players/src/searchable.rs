//! The [`Searchable`] trait of games and the [`EndgameSolver`] trait.

use crate::SearchControl;
use crate::endgame::OthelloEndgame;
use crate::random::random_move;
use outflank_games::checkers::Checkers;
use outflank_games::othello::kernel::{self, Kernel, Task};
use outflank_games::othello::{Board, Othello, Square};
use outflank_games::othello6::Othello6;
use outflank_games::{Position, Side};
use outflank_runs::{Rng, RngExt};
use std::sync::Arc;

/// Number of discs up to which an Othello side may lose all its discs within a few moves.
const WIPEOUT_DISCS: u32 = 4;

/// What search algorithms need from a game. All methods have defaults.
pub trait Searchable: Position {
    /// Estimates the mobility of the side to move, for move ordering: moves that leave the opponent
    /// little mobility are searched first.
    fn mobility(&self) -> u32 {
        0
    }

    /// Returns Black's final score under tournament scoring, negative for a loss, or `None` if the
    /// game is not over. Alpha-beta and the endgame solver maximize this score.
    fn final_score(&self) -> Option<i32> {
        self.result()
    }

    /// Returns the stage of the game, 0 to 7, for which ProbCut measures the search error.
    fn probcut_stage(&self) -> usize {
        0
    }

    /// Returns whether a side has so few pieces that it may lose all of them within a few moves.
    fn near_wipeout(&self, side: Side) -> bool {
        let _ = side;
        false
    }

    /// Plays random moves to the end of the game and returns its result (see [`Position::result`]).
    fn playout(self, rng: &mut Rng) -> i32 {
        let mut position = self;
        loop {
            if let Some(result) = position.result() {
                return result;
            }
            match random_move(&position, rng) {
                Some(mv) => position = position.play(mv),
                None => return 0,
            }
        }
    }

    /// Creates a solver for positions with at most this many empty squares, if the game has one.
    fn endgame_solver(empties: u32) -> Option<Box<dyn EndgameSolver<Self>>> {
        let _ = empties;
        None
    }

    /// Creates a multithreaded solver for positions with many empty squares, if the game has one.
    fn parallel_endgame_solver(
        empties: u32,
        threads: usize,
    ) -> Option<Box<dyn EndgameSolver<Self>>> {
        let _ = (empties, threads);
        None
    }
}

/// Solves endgame positions exactly.
pub trait EndgameSolver<P: Position>: Send {
    /// Returns whether the solver handles this position. The game must not be over.
    fn can_solve(&self, position: &P) -> bool;

    /// Fills `best` with all optimal moves, in the order of [`Position::moves`], and returns the
    /// score for the side to move. Returns `None` if the control stops the search.
    fn best_moves(
        &mut self,
        position: &P,
        best: &mut Vec<P::Move>,
        control: &Arc<SearchControl>,
    ) -> Option<i32>;

    /// Returns the score of each move for the side to move, or of one best move if `all_moves` is
    /// false. Returns `None` if the control stops the search.
    fn score_moves(
        &mut self,
        position: &P,
        all_moves: bool,
        control: &Arc<SearchControl>,
    ) -> Option<Vec<(P::Move, i32)>>;
}

// Move ordering by mobility costs more nodes than it saves in checkers.
impl Searchable for Checkers {}

impl Searchable for Othello {
    fn mobility(&self) -> u32 {
        const CORNERS: u64 = 0x8100_0000_0000_0081;
        let moves = self.move_bits();
        moves.count_ones() + (moves & CORNERS).count_ones()
    }

    /// Counts the empty squares for the winner, as in tournaments.
    fn final_score(&self) -> Option<i32> {
        self.tournament_score()
    }

    fn probcut_stage(&self) -> usize {
        (self.empties() / 10) as usize
    }

    fn near_wipeout(&self, side: Side) -> bool {
        self.discs(side).count_ones() <= WIPEOUT_DISCS
    }

    fn playout(self, rng: &mut Rng) -> i32 {
        self.to_move().sign() * kernel::run(Playout { board: self.board(), rng })
    }

    fn endgame_solver(empties: u32) -> Option<Box<dyn EndgameSolver<Othello>>> {
        Some(Box::new(OthelloEndgame::new(empties)))
    }

    fn parallel_endgame_solver(
        empties: u32,
        threads: usize,
    ) -> Option<Box<dyn EndgameSolver<Othello>>> {
        Some(Box::new(OthelloEndgame::parallel(empties, threads)))
    }
}

impl Searchable for Othello6 {
    fn mobility(&self) -> u32 {
        self.moves().count() as u32
    }

    /// Counts the empty squares for the winner, as in tournaments.
    fn final_score(&self) -> Option<i32> {
        self.tournament_score()
    }

    fn near_wipeout(&self, side: Side) -> bool {
        self.discs(side).count_ones() <= WIPEOUT_DISCS
    }
}

/// A random game on bitboards. Its output is the final disc difference for the side to move in
/// `board`.
struct Playout<'a> {
    board: Board,
    rng: &'a mut Rng,
}

impl Task for Playout<'_> {
    type Output = i32;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> i32 {
        let Playout { mut board, rng } = self;
        let mut sign = 1;
        loop {
            let mut moves = kernel.moves(board.own, board.other);
            if moves == 0 {
                board = board.pass();
                sign = -sign;
                moves = kernel.moves(board.own, board.other);
            }
            for _ in 0..rng.below(moves.count_ones()) {
                moves &= moves - 1;
            }
            let Some(square) = Square::lowest(moves) else {
                return sign * board.difference();
            };
            board = board.play_with_flips(square, kernel.flips(board.own, board.other, square));
            sign = -sign;
        }
    }
}
