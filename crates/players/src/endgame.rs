//! An exact Othello endgame solver.
//!
//! Alpha-beta on bitboards with a transposition table and bounds from stable discs. Moves are
//! ordered by the opponent's mobility (fastest first), then by parity; with many empty squares a
//! model can refine the order. With six empty squares or fewer only parity is used, and with four
//! or fewer no move list is generated. A score is the final disc difference with the empty squares
//! given to the winner, -64 to 64.
//!
//! Twenty empty squares take about a second, and each further square two to three times as long.

mod last_squares;
mod move_ordering;
mod search;
mod small;
mod stable_discs;
mod transposition_table;

pub(crate) use last_squares::final_score;
pub(crate) use search::odd_quadrants;
pub(crate) use small::{EndgameSearch, SharedTable, stable_bound};

use crate::SearchControl;
use crate::searchable::EndgameSolver;
use move_ordering::ModelOrdering;
use outflank_games::Position;
use outflank_games::othello::{Board, Othello, Square, Squares};
use search::Search;
use std::sync::Arc;
use transposition_table::TranspositionTable;

/// Minimum number of empty squares for a multithreaded search.
const PARALLEL_MIN_EMPTIES: u32 = 15;

/// Solves Othello endgames exactly.
///
/// The transposition table is kept between calls. The table, the move ordering and the number of
/// threads affect time and node counts only, never the results.
pub struct Solver {
    table: Arc<TranspositionTable>,
    model_ordering: bool,
    threads: usize,
    /// One search per thread, created at first use.
    searches: Vec<Search>,
    nodes: u64,
}

impl Solver {
    /// Creates a solver with a transposition table of `2^bits` entries of 24 bytes, with `bits`
    /// clamped to 1..=28. The number of empty squares plus 2 is a good choice.
    #[must_use]
    pub fn new(bits: u32) -> Solver {
        let table = Arc::new(TranspositionTable::new(bits));
        Solver { table, model_ordering: false, threads: 1, searches: Vec::new(), nodes: 0 }
    }

    /// Orders moves with the embedded model `champion`. This halves the time from 20 empty squares
    /// on.
    #[must_use]
    pub fn with_model_ordering(mut self) -> Solver {
        self.model_ordering = true;
        self
    }

    /// Sets the number of threads, which share the transposition table.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Solver {
        self.threads = threads.max(1);
        self
    }

    /// Returns the score under best play for the side to move, which passes if it cannot move.
    pub fn score(&mut self, board: Board) -> i32 {
        // Without limits there is always a result.
        self.try_score(board, &Arc::new(SearchControl::unlimited())).unwrap_or(0)
    }

    /// Fills `best` with all optimal moves in square order and returns the score for the side to
    /// move. `best` is empty if the side to move must pass. Returns `None` if the control stops the
    /// search.
    pub fn try_best_moves(
        &mut self,
        board: Board,
        best: &mut Vec<Square>,
        control: &Arc<SearchControl>,
    ) -> Option<i32> {
        let score = self.try_score(board, control)?;
        best.clear();
        for square in Squares(board.moves()) {
            // A null window is enough to test whether the move reaches the score.
            if -self.search_window(board.play(square), -score, 1 - score, control)? >= score {
                best.push(square);
            }
        }
        Some(score)
    }

    /// Like [`Solver::score`]. Returns `None` if the control stops the search.
    pub fn try_score(&mut self, board: Board, control: &Arc<SearchControl>) -> Option<i32> {
        self.search_window(board, -64, 64, control)
    }

    /// Returns an optimal move of a board whose score is `score`. The side to move must have a
    /// legal move. Returns `None` if the control stops the search.
    pub fn try_best_move(
        &mut self,
        board: Board,
        score: i32,
        control: &Arc<SearchControl>,
    ) -> Option<Square> {
        // Try the best move of the transposition table first.
        let hint = self.table.get(board).map_or(64, |entry| usize::from(entry.best));
        let mut squares: Vec<Square> = Squares(board.moves()).collect();
        squares.sort_by_key(|square| square.index() != hint);
        for square in squares {
            if -self.search_window(board.play(square), -score, 1 - score, control)? >= score {
                return Some(square);
            }
        }
        None
    }

    /// Returns the number of nodes searched since the solver was created or cleared.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Clears the transposition table, so that node counts are reproducible.
    pub fn clear(&mut self) {
        self.searches.clear();
        match Arc::get_mut(&mut self.table) {
            Some(table) => table.clear(),
            None => debug_assert!(false, "only the searches share the table"),
        }
        self.nodes = 0;
    }

    fn search_window(
        &mut self,
        board: Board,
        alpha: i32,
        beta: i32,
        control: &Arc<SearchControl>,
    ) -> Option<i32> {
        let parallel = self.threads > 1 && board.empty().count_ones() >= PARALLEL_MIN_EMPTIES;
        let threads = if parallel { self.threads } else { 1 };
        while self.searches.len() < threads {
            let mut search = Search::new(Arc::clone(&self.table), Arc::clone(control));
            search.model_ordering =
                if self.model_ordering { ModelOrdering::embedded() } else { None };
            // The salt of the first search is 0, so that a single thread is deterministic.
            search.salt = 0x5851_f42d_4c95_7f2d_u64.wrapping_mul(self.searches.len() as u64);
            self.searches.push(search);
        }
        let searches = self.searches.get_mut(..threads)?;
        for search in &mut *searches {
            search.control = Arc::clone(control);
        }
        let result = match searches {
            [single] => single.search_window(board, alpha, beta),
            several => search_parallel(several, board, alpha, beta, control),
        };
        self.nodes += self.searches.iter().take(threads).map(|search| search.nodes).sum::<u64>();
        result
    }
}

/// Searches the same board on all threads with a shared table. The first thread to finish stops the
/// others.
fn search_parallel(
    searches: &mut [Search],
    board: Board,
    alpha: i32,
    beta: i32,
    control: &Arc<SearchControl>,
) -> Option<i32> {
    let shared_control = Arc::new(control.child());
    let results = std::thread::scope(|scope| {
        let threads: Vec<_> = searches
            .iter_mut()
            .map(|search| {
                search.control = Arc::clone(&shared_control);
                let shared_control = &shared_control;
                scope.spawn(move || {
                    let result = search.search_window(board, alpha, beta);
                    shared_control.stop();
                    result
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().ok().flatten()).collect::<Vec<_>>()
    });
    results.into_iter().flatten().next()
}

/// The [`EndgameSolver`] of Othello, for positions with at most a given number of empty squares.
pub struct OthelloEndgame {
    empties: u32,
    max_bits: u32,
    /// Number of threads; `None` for a single thread without model ordering.
    threads: Option<usize>,
    /// Created at first use.
    solver: Option<Solver>,
}

impl OthelloEndgame {
    /// Creates a single-threaded solver. Slow above 20 empty squares.
    #[must_use]
    pub fn new(empties: u32) -> OthelloEndgame {
        OthelloEndgame { empties, max_bits: 20, threads: None, solver: None }
    }

    /// Creates a multithreaded solver with model ordering and a large transposition table, for
    /// positions with many empty squares.
    #[must_use]
    pub fn parallel(empties: u32, threads: usize) -> OthelloEndgame {
        OthelloEndgame { empties, max_bits: 23, threads: Some(threads), solver: None }
    }

    fn solver(&mut self) -> &mut Solver {
        self.solver.get_or_insert_with(|| {
            let solver = Solver::new(self.empties.saturating_add(2).clamp(8, self.max_bits));
            match self.threads {
                Some(threads) => solver.with_model_ordering().with_threads(threads),
                None => solver,
            }
        })
    }
}

impl EndgameSolver<Othello> for OthelloEndgame {
    fn can_solve(&self, position: &Othello) -> bool {
        position.empties() <= self.empties && !position.is_over()
    }

    fn best_moves(
        &mut self,
        position: &Othello,
        best: &mut Vec<Square>,
        control: &Arc<SearchControl>,
    ) -> Option<i32> {
        self.solver().try_best_moves(position.board(), best, control)
    }

    fn score_moves(
        &mut self,
        position: &Othello,
        all_moves: bool,
        control: &Arc<SearchControl>,
    ) -> Option<Vec<(Square, i32)>> {
        let board = position.board();
        let solver = self.solver();
        if all_moves {
            let score = |square| Some((square, -solver.try_score(board.play(square), control)?));
            return Squares(board.moves()).map(score).collect();
        }
        let score = solver.try_score(board, control)?;
        Some(vec![(solver.try_best_move(board, score, control)?, score)])
    }
}
