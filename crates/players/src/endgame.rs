//! Othello endgames, solved exactly.
//!
//! Alpha-beta on bare bitboards with a table of proved bounds, and bounds from stable discs. Moves
//! that leave the opponent few replies come first (they make the smallest trees), then moves into
//! regions with an odd number of empty squares; where many squares are empty a model may have its
//! say. With six empty squares or fewer only the regions decide the order, with four
//! or fewer no move list is made at all. A score is always the disc difference at the end with the
//! empty squares given to the winner, -64 to 64.
//!
//! Twenty empty squares take about a second; each further one takes two to three times as long.

mod guide;
mod last;
mod search;
mod stable;
mod table;

use crate::SearchControl;
use crate::searchable::Endgame;
use guide::Guide;
use outflank_games::Position;
use outflank_games::othello::{Board, Othello, Square, Squares};
use search::Search;
use std::cmp::Ordering;
use std::sync::Arc;
use table::Table;

/// Below this many empty squares one thread is done before others have begun.
const SHARED_FROM: u32 = 15;

/// Solves endgames exactly.
///
/// It remembers what it proved from one question to the next. Answers do not depend on that, nor on
/// the guide or the number of threads; only the time and the number of nodes do.
pub struct Solver {
    table: Arc<Table>,
    guided: bool,
    threads: usize,
    /// One for each thread, made when it is needed.
    searches: Vec<Search>,
    nodes: u64,
}

impl Solver {
    /// A solver with a table of `2^bits` entries of 24 bytes; `bits` is kept within 1 and 28.
    ///
    /// The number of empty squares plus 2 is a good choice.
    #[must_use]
    pub fn new(bits: u32) -> Solver {
        let table = Arc::new(Table::new(bits));
        Solver { table, guided: false, threads: 1, searches: Vec::new(), nodes: 0 }
    }

    /// The same solver, with an embedded model's word on which moves to try first: from 20 empty
    /// squares on it needs half the time.
    #[must_use]
    pub fn guided(mut self) -> Solver {
        self.with_model_ordering = true;
        self
    }

    /// The same solver on several threads, which work on one question with one memory.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Solver {
        self.threads = threads.max(1);
        self
    }

    /// The score under best play for the player to move, who may have to pass.
    pub fn score(&mut self, board: Board) -> i32 {
        self.whole(board, -64, 64)
    }

    /// Whether the player to move wins (`Greater`), draws or loses; quicker than the score.
    pub fn outcome(&mut self, board: Board) -> Ordering {
        self.whole(board, -1, 1).cmp(&0)
    }

    /// The score if it lies strictly between `alpha` and `beta`. Otherwise a bound: at most
    /// `alpha` and not below the score, or at least `beta` and not above the score.
    ///
    /// An empty window (`alpha` not below `beta`) is taken as the question whether the score is
    /// above `alpha`.
    pub fn window(&mut self, board: Board, alpha: i32, beta: i32) -> i32 {
        let alpha = alpha.clamp(-64, 63);
        self.whole(board, alpha, beta.clamp(alpha + 1, 64))
    }

    /// Fills `best` with every move that keeps the score, in the order of the squares, and returns
    /// the score. `best` is left empty when the player to move has no move.
    pub fn best_moves(&mut self, board: Board, best: &mut Vec<Square>) -> i32 {
        // A question without limits always has an answer.
        self.best_moves_within(board, best, &Arc::new(SearchControl::unlimited())).unwrap_or(0)
    }

    /// The same, unless the control ends the search before.
    pub fn best_moves_within(
        &mut self,
        board: Board,
        best: &mut Vec<Square>,
        control: &Arc<SearchControl>,
    ) -> Option<i32> {
        let score = self.try_score(board, control)?;
        best.clear();
        for square in Squares(board.moves()) {
            // One question each: is this move as good as the best?
            if -self.ask(board.play(square), -score, 1 - score, control)? >= score {
                best.push(square);
            }
        }
        Some(score)
    }

    /// The score of every move, for the player to move, in the order of the squares.
    pub fn move_scores(&mut self, board: Board) -> Vec<(Square, i32)> {
        Squares(board.moves()).map(|square| (square, -self.score(board.play(square)))).collect()
    }

    /// The score, unless the control ends the search before.
    pub fn try_score(&mut self, board: Board, control: &Arc<SearchControl>) -> Option<i32> {
        self.ask(board, -64, 64, control)
    }

    /// A move that keeps the score, for a board whose score is known and whose mover can move;
    /// `None` when the control ends the search before.
    pub fn try_best_move(&mut self, board: Board, score: i32, control: &Arc<SearchControl>) -> Option<Square> {
        // The move that the solver found best, if it still remembers it, is asked about first.
        let hint = self.table.get(board).map_or(64, |entry| usize::from(entry.best));
        let mut squares: Vec<Square> = Squares(board.moves()).collect();
        squares.sort_by_key(|square| square.index() != hint);
        for square in squares {
            if -self.ask(board.play(square), -score, 1 - score, control)? >= score {
                return Some(square);
            }
        }
        None
    }

    /// How many positions were visited since the solver was made or cleared.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Forgets everything, so that the next question takes the same nodes as it would at first.
    pub fn clear(&mut self) {
        self.searches.clear();
        match Arc::get_mut(&mut self.table) {
            Some(table) => table.clear(),
            None => debug_assert!(false, "only the searches shared the table"),
        }
        self.nodes = 0;
    }

    /// A question without limits always has an answer.
    fn whole(&mut self, board: Board, alpha: i32, beta: i32) -> i32 {
        self.ask(board, alpha, beta, &Arc::new(SearchControl::unlimited())).unwrap_or(0)
    }

    fn ask(&mut self, board: Board, alpha: i32, beta: i32, control: &Arc<SearchControl>) -> Option<i32> {
        let shared = self.threads > 1 && board.empty().count_ones() >= SHARED_FROM;
        let threads = if shared { self.threads } else { 1 };
        while self.searches.len() < threads {
            let mut search = Search::new(Arc::clone(&self.table), Arc::clone(control));
            search.guide = if self.with_model_ordering { Guide::embedded() } else { None };
            // The first has no salt, so that alone it is the same as ever.
            search.salt = 0x5851_f42d_4c95_7f2d_u64.wrapping_mul(self.searches.len() as u64);
            self.searches.push(search);
        }
        let searches = self.searches.get_mut(..threads)?;
        for search in &mut *searches {
            search.control = Arc::clone(control);
        }
        let answer = match searches {
            [alone] => alone.window(board, alpha, beta),
            many => race(many, board, alpha, beta, control),
        };
        self.nodes += self.searches.iter().take(threads).map(|search| search.nodes).sum::<u64>();
        answer
    }
}

/// All threads work on the same question; what one proves helps the others, and the first to finish
/// ends the work of all.
fn race(
    searches: &mut [Search],
    board: Board,
    alpha: i32,
    beta: i32,
    control: &Arc<SearchControl>,
) -> Option<i32> {
    let over = Arc::new(control.child());
    let answers = std::thread::scope(|scope| {
        let threads: Vec<_> = searches
            .iter_mut()
            .map(|search| {
                search.control = Arc::clone(&over);
                let over = &over;
                scope.spawn(move || {
                    let answer = search.window(board, alpha, beta);
                    over.stop();
                    answer
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().ok().flatten()).collect::<Vec<_>>()
    });
    answers.into_iter().flatten().next()
}

/// Takes over the game of an [`AlphaBeta`](crate::AlphaBeta) player when few squares are empty.
pub struct ExactFrom {
    empties: u32,
    most_bits: u32,
    /// With a guide, on so many threads.
    far: Option<usize>,
    /// Its memory is claimed when the first question comes.
    solver: Option<Solver>,
}

impl ExactFrom {
    /// Plays exactly whenever at most this many squares are empty; above 20 a move takes long.
    #[must_use]
    pub fn new(empties: u32) -> ExactFrom {
        ExactFrom { empties, most_bits: 20, far: None, solver: None }
    }

    /// The same for positions with many empty squares: guided, on several threads, with a large
    /// memory.
    #[must_use]
    pub fn far(empties: u32, threads: usize) -> ExactFrom {
        ExactFrom { empties, most_bits: 23, far: Some(threads), solver: None }
    }

    fn solver(&mut self) -> &mut Solver {
        self.solver.get_or_insert_with(|| {
            let solver = Solver::new(self.empties.saturating_add(2).clamp(8, self.most_bits));
            match self.far {
                Some(threads) => solver.with_model_ordering().with_threads(threads),
                None => solver,
            }
        })
    }
}

impl Endgame<Othello> for ExactFrom {
    fn reaches(&self, position: &Othello) -> bool {
        position.empties() <= self.empties && !position.is_over()
    }

    fn best_moves(
        &mut self,
        position: &Othello,
        best: &mut Vec<Square>,
        control: &Arc<SearchControl>,
    ) -> Option<i32> {
        self.solver().best_moves_within(position.board(), best, control)
    }

    fn judge(
        &mut self,
        position: &Othello,
        each: bool,
        control: &Arc<SearchControl>,
    ) -> Option<Vec<(Square, i32)>> {
        let board = position.board();
        let solver = self.solver();
        if each {
            let score = |square| Some((square, -solver.try_score(board.play(square), control)?));
            return Squares(board.moves()).map(score).collect();
        }
        let score = solver.try_score(board, control)?;
        Some(vec![(solver.try_best_move(board, score, control)?, score)])
    }
}
