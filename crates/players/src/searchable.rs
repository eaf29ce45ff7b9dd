//! What a game can tell a search beyond its rules.

use crate::SearchControl;
use crate::endgame::ExactFrom;
use crate::random::random_move;
use outflank_games::checkers::Checkers;
use outflank_games::othello::kernel::{self, Kernel, Task};
use outflank_games::othello::{Board, Othello, Square};
use outflank_games::{Position, Side};
use outflank_runs::{RngExt, Rng};
use std::sync::Arc;

/// With so few discs a side of Othello may be wiped out before anyone's evaluation shows it.
const FEW: u32 = 4;

/// A game that can be searched: hints that make a search quicker, each with a plain default.
pub trait Searchable: Position {
    /// A rough guess, for trying moves in a good order, of how much freedom the side to move has;
    /// the search first tries the moves that leave the opponent little.
    fn freedom(&self) -> u32 {
        0
    }

    /// By how much the first player has won as players of the game count it, or `None` while the game
    /// goes on; what a search and a solver both call the result.
    fn result(&self) -> Option<i32> {
        self.margin()
    }

    /// How far the game has come, from 0 up to at most 7: searches err by different amounts then.
    fn stage(&self) -> usize {
        0
    }

    /// Whether a side has so little left that it may be wiped out within a few moves.
    fn fragile(&self, side: Side) -> bool {
        let _ = side;
        false
    }

    /// Plays random moves to the end and returns Black's margin.
    fn playout(self, rng: &mut Rng) -> i32 {
        let mut position = self;
        loop {
            if let Some(margin) = position.margin() {
                return margin;
            }
            match random_move(&position, rng) {
                Some(mv) => position = position.play(mv),
                None => return 0,
            }
        }
    }

    /// A solver for positions with at most this many empty squares, if the game has one.
    fn endgame(empties: u32) -> Option<Box<dyn Endgame<Self>>> {
        let _ = empties;
        None
    }

    /// The same for far more empty squares, on several threads.
    fn parallel_endgame_solver(empties: u32, threads: usize) -> Option<Box<dyn Endgame<Self>>> {
        let _ = (empties, threads);
        None
    }
}

/// Plays the last part of a game without error.
pub trait Endgame<P: Position>: Send {
    /// Whether this position belongs to that part; the game is not over.
    fn reaches(&self, position: &P) -> bool;

    /// Fills `best` with every move that keeps the value, in the order of [`Position::moves`], and
    /// returns the value to the side to move; `None` when the control ends it before.
    fn best_moves(
        &mut self,
        position: &P,
        best: &mut Vec<P::Move>,
        control: &Arc<SearchControl>,
    ) -> Option<i32>;

    /// The value of each move to the side to move, or of one best move alone; `None` when the
    /// control ends it before.
    fn judge(
        &mut self,
        position: &P,
        each: bool,
        control: &Arc<SearchControl>,
    ) -> Option<Vec<(P::Move, i32)>>;
}

// Ranking by the number of replies was measured to cost more nodes here than it saves.
impl Searchable for Checkers {}

impl Searchable for Othello {
    fn freedom(&self) -> u32 {
        const CORNERS: u64 = 0x8100_0000_0000_0081;
        let moves = self.move_bits();
        moves.count_ones() + (moves & CORNERS).count_ones()
    }

    /// The empty squares go to the winner, as in tournaments.
    fn result(&self) -> Option<i32> {
        self.score()
    }

    fn stage(&self) -> usize {
        (self.empties() / 10) as usize
    }

    fn fragile(&self, side: Side) -> bool {
        self.discs(side).count_ones() <= FEW
    }

    fn playout(self, rng: &mut Rng) -> i32 {
        self.to_move().sign() * kernel::run(Playout { board: self.board(), rng })
    }

    fn endgame(empties: u32) -> Option<Box<dyn Endgame<Othello>>> {
        Some(Box::new(ExactFrom::new(empties)))
    }

    fn parallel_endgame_solver(empties: u32, threads: usize) -> Option<Box<dyn Endgame<Othello>>> {
        Some(Box::new(ExactFrom::far(empties, threads)))
    }
}

/// A random game on bare bitboards; its outcome is the disc difference for the first to move.
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
