//! The root of the selective search: iterative deepening, aspiration windows, the endgame levels
//! and helper threads.

use super::model::SelectiveModel;
use super::search::{MAX_SCORE, Worker};
use super::table::{Table, hash};
use super::{DISC, Techniques};
use crate::SearchControl;
use crate::alphabeta::{ScoredMove, SearchResult, SearchScore};
use crate::endgame::{EndgameSearch, SharedTable};
use outflank_games::Position;
use outflank_games::othello::{Board, Othello, Square, Squares};
use std::sync::Arc;

/// Binary logarithm of the number of buckets (64 bytes) of the default table.
const TABLE_BITS: u32 = 16;

/// Binary logarithm of the number of entries (24 bytes) of the table of the last empty squares.
const ENDGAME_TABLE_BITS: u32 = 17;

/// Half of the first aspiration window.
const WINDOW: i32 = 3 * DISC;

/// Searches of one iteration with narrow windows. The searches of a selective iteration may
/// contradict each other, so the next one has the full window.
const MAX_WINDOWS: u32 = 4;

/// Minimum depth for a multithreaded search; shallower ones finish before other threads start.
const PARALLEL_MIN_DEPTH: u32 = 7;

/// ProbCut thresholds of the endgame searches before the exact one, in standard deviations.
const ENDGAME_THRESHOLDS: [f32; 2] = [1.0, 1.8];

/// With at most this many empty squares the exact search starts at once.
const DIRECT_SOLVE_EMPTIES: u32 = 12;

/// Depth of the last midgame search before an endgame search.
fn depth_before_endgame(empties: u32) -> u32 {
    (empties / 2).clamp(4, 14)
}

/// Plies by which the last midgame search of a limited search falls short of the end of the game.
/// From this depth on, the first search to the end takes about as long as another midgame
/// iteration and the time is not lost if it does not finish.
const PLIES_BEFORE_END: u32 = 6;

/// The same depth if a limit may end the search before the endgame search finishes.
fn limited_depth_before_endgame(empties: u32) -> u32 {
    depth_before_endgame(empties).max(empties - PLIES_BEFORE_END.min(empties))
}

/// A root move with the score of its last search.
#[derive(Clone, Copy)]
struct RootMove {
    square: Square,
    after: Board,
    score: i32,
}

/// One search of the root.
#[derive(Clone, Copy)]
struct Iteration {
    depth: u32,
    threshold: f32,
    /// Whether every move gets an exact score.
    all_moves: bool,
    alpha: i32,
    beta: i32,
}

/// A selective search with its tables and threads.
pub struct SelectiveSearch {
    model: SelectiveModel,
    table: Arc<Table>,
    endgame_table: SharedTable,
    workers: Vec<Worker>,
    techniques: Techniques,
    threads: usize,
    threshold: f32,
    max_depth: u32,
    solve_from: u32,
}

impl SelectiveSearch {
    /// Creates a search with a ProbCut threshold of 1.2 standard deviations on one thread.
    #[must_use]
    pub fn new(model: SelectiveModel) -> SelectiveSearch {
        SelectiveSearch {
            model,
            table: Arc::new(Table::new(TABLE_BITS)),
            endgame_table: SharedTable::new(ENDGAME_TABLE_BITS),
            workers: Vec::new(),
            techniques: Techniques::ALL,
            threads: 1,
            threshold: 1.2,
            max_depth: 60,
            solve_from: 0,
        }
    }

    /// Sets the size of the transposition table: `2^bits` buckets of 64 bytes.
    #[must_use]
    pub fn with_table_bits(mut self, bits: u32) -> SelectiveSearch {
        self.table = Arc::new(Table::new(bits));
        self.endgame_table = SharedTable::new((bits + 1).min(24));
        self.workers.clear();
        self
    }

    /// Sets the maximum depth of midgame searches in plies.
    #[must_use]
    pub fn with_max_depth(mut self, plies: u32) -> SelectiveSearch {
        self.max_depth = plies.clamp(1, 60);
        self
    }

    /// Solves positions with at most this many empty squares exactly.
    #[must_use]
    pub fn with_exact(mut self, empties: u32) -> SelectiveSearch {
        self.solve_from = empties;
        self
    }

    /// Sets the ProbCut threshold of midgame searches in standard deviations; infinite or 0 for
    /// none.
    #[must_use]
    pub fn with_threshold(mut self, threshold: f32) -> SelectiveSearch {
        self.threshold = if threshold > 0.0 { threshold } else { f32::INFINITY };
        self
    }

    /// Sets the techniques.
    #[must_use]
    pub fn with_techniques(mut self, techniques: Techniques) -> SelectiveSearch {
        self.techniques = techniques;
        self
    }

    /// Sets the number of threads, which share the transposition table (lazy SMP).
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> SelectiveSearch {
        self.threads = threads.max(1);
        self
    }

    /// Clears the transposition tables and all ordering statistics, for a new game.
    pub fn clear(&mut self) {
        self.table.clear();
        self.endgame_table.clear();
        self.workers.clear();
    }

    /// Returns the nodes of the last search, summed over the threads.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.workers.iter().map(Worker::total_nodes).sum()
    }

    /// Returns the nodes of the last search on its first thread, which determines its duration.
    #[must_use]
    pub fn first_thread_nodes(&self) -> u64 {
        self.workers.first().map_or(0, Worker::total_nodes)
    }

    /// Returns the exact score of a board for its side to move, which may have to pass. Returns
    /// `None` if the control stops the search.
    pub fn solve(&mut self, board: Board, control: &Arc<SearchControl>) -> Option<i32> {
        if board.moves() == 0 {
            let passed = board.pass();
            if passed.moves() == 0 {
                return Some(crate::endgame::final_score(board.own, board.other));
            }
            return self.solve(passed, control).map(|score| -score);
        }
        self.start(control);
        let mut root = root_moves(board);
        let empties = board.empty().count_ones();
        if empties > DIRECT_SOLVE_EMPTIES {
            for depth in 1..=depth_before_endgame(empties) {
                self.iterate(board, &mut root, (depth, self.threshold), false, control);
            }
        }
        self.search_to_end(board, &mut root, false, control, |_, _, _| {})?;
        root.first().map(|best| best.score / DISC)
    }

    /// Searches until the control stops, the maximum depth is reached or the game is solved.
    ///
    /// Scores every move if `all_moves` is true, else only the best. Calls `on_result` after each
    /// iteration. Estimates are in discs. Returns `None` if the game is over or the first iteration
    /// did not finish.
    pub fn run(
        &mut self,
        position: &Othello,
        all_moves: bool,
        control: &Arc<SearchControl>,
        mut on_result: impl FnMut(&SearchResult<Square>),
    ) -> Option<SearchResult<Square>> {
        if position.is_over() {
            return None;
        }
        self.start(control);
        let (board, empties) = (position.board(), position.empties());
        let mut root = root_moves(board);
        let evaluation = self.workers.first_mut().map_or(0, |worker| worker.evaluate(board));
        let mut previous_score = SearchScore::Estimate(evaluation as f32 / DISC as f32);
        let mut best: Option<SearchResult<Square>> = None;
        let mut report = |search: &SelectiveSearch, root: &[RootMove], depth: u32, exact: bool| {
            let result = search.result(position, root, (depth, exact), previous_score, all_moves);
            previous_score = result.moves.first().map_or(previous_score, |scored| scored.score);
            on_result(&result);
            best = Some(result);
        };
        let solves = empties <= self.solve_from;
        let mut last_depth = self.max_depth.min(empties);
        if solves {
            last_depth = match (empties <= DIRECT_SOLVE_EMPTIES, control.is_limited()) {
                (true, _) => 1,
                (false, true) => last_depth.min(limited_depth_before_endgame(empties)),
                (false, false) => last_depth.min(depth_before_endgame(empties)),
            };
        }
        let mut solved = false;
        for depth in 1..=last_depth {
            let threshold = self.threshold;
            if !self.iterate(board, &mut root, (depth, threshold), all_moves, control) {
                break;
            }
            solved = depth == empties && !threshold.is_finite();
            report(self, &root, depth, solved);
            if control.stopped() {
                break;
            }
        }
        if solves && !solved && !control.stopped() {
            let selective = |search: &SelectiveSearch, root: &[RootMove], exact: bool| {
                report(search, root, empties, exact);
            };
            self.search_to_end(board, &mut root, all_moves, control, selective);
        }
        best
    }

    /// Prepares the threads for a search.
    fn start(&mut self, control: &Arc<SearchControl>) {
        if !self.techniques.keep_table {
            self.clear();
        }
        self.table.start_search();
        while self.workers.len() < self.threads {
            let mut worker = Worker::new(
                Arc::clone(&self.model.evaluator),
                Arc::clone(&self.model.errors),
                Arc::clone(&self.table),
                EndgameSearch::new(&self.endgame_table),
            );
            // The first worker has no salt, so that a single thread is deterministic.
            worker.salt = 0x5851_f42d_4c95_7f2d_u64.wrapping_mul(self.workers.len() as u64);
            self.workers.push(worker);
        }
        self.workers.truncate(self.threads);
        for worker in &mut self.workers {
            worker.techniques = self.techniques;
            worker.start(control);
        }
    }

    /// Searches to the end of the game with increasing confidence, then exactly. Calls `report`
    /// after each search, with true after the exact one. Returns `None` if the control stops the
    /// search.
    fn search_to_end(
        &mut self,
        board: Board,
        root: &mut [RootMove],
        all_moves: bool,
        control: &Arc<SearchControl>,
        mut report: impl FnMut(&SelectiveSearch, &[RootMove], bool),
    ) -> Option<()> {
        let empties = board.empty().count_ones();
        if empties > DIRECT_SOLVE_EMPTIES && self.techniques.selective_endgame {
            for threshold in ENDGAME_THRESHOLDS {
                if !self.iterate(board, root, (empties, threshold), all_moves, control) {
                    return None;
                }
                report(self, root, false);
            }
        }
        if !self.iterate(board, root, (empties, f32::INFINITY), all_moves, control) {
            return None;
        }
        report(self, root, true);
        Some(())
    }

    /// Searches the root once, with a window around the last score, and sorts the moves. Returns
    /// false if the control stopped the search; a better move found until then is still first.
    fn iterate(
        &mut self,
        board: Board,
        root: &mut [RootMove],
        (depth, threshold): (u32, f32),
        all_moves: bool,
        control: &Arc<SearchControl>,
    ) -> bool {
        let full = Iteration { depth, threshold, all_moves, alpha: -MAX_SCORE, beta: MAX_SCORE };
        if all_moves {
            let done = self.search_on_all_threads(root, full, control).is_some();
            if done {
                root.sort_by_key(|candidate| std::cmp::Reverse(candidate.score));
            }
            return done;
        }
        let mut iteration = full;
        let to_end = depth >= board.empty().count_ones();
        if self.techniques.aspiration && depth > 2 {
            let center = root.first().map_or(0, |best| best.score);
            // Results are even numbers of discs.
            let (center, window) = match to_end {
                true => ((f64::from(center) / f64::from(2 * DISC)).round() as i32 * 2 * DISC, DISC),
                false => (center, WINDOW),
            };
            iteration.alpha = (center - window).max(-MAX_SCORE);
            iteration.beta = (center + window).min(MAX_SCORE);
        }
        for search in 0.. {
            if search == MAX_WINDOWS {
                (iteration.alpha, iteration.beta) = (-MAX_SCORE, MAX_SCORE);
            }
            let Some(score) = self.search_on_all_threads(root, iteration, control) else {
                return false;
            };
            let widen = if to_end { 4 * DISC } else { MAX_SCORE };
            if score <= iteration.alpha && iteration.alpha > -MAX_SCORE {
                iteration.beta = score + 1;
                iteration.alpha = (score - widen).max(-MAX_SCORE);
            } else if score >= iteration.beta && iteration.beta < MAX_SCORE {
                iteration.alpha = score - 1;
                iteration.beta = (score + widen).min(MAX_SCORE);
            } else {
                break;
            }
        }
        true
    }

    /// Searches the root on all threads with a shared table; the result is that of the first.
    fn search_on_all_threads(
        &mut self,
        root: &mut [RootMove],
        iteration: Iteration,
        control: &Arc<SearchControl>,
    ) -> Option<i32> {
        let (first, helpers) = self.workers.split_first_mut()?;
        if helpers.is_empty() || iteration.depth < PARALLEL_MIN_DEPTH {
            return search_root(first, root, iteration);
        }
        let helpers_control = Arc::new(control.child());
        std::thread::scope(|scope| {
            for (number, helper) in helpers.iter_mut().enumerate() {
                helper.set_control(&helpers_control);
                let mut moves = root.to_vec();
                // Every other helper searches one ply deeper, to fill the table in advance.
                let mut iteration = iteration;
                iteration.depth += (number % 2) as u32;
                scope.spawn(move || search_root(helper, &mut moves, iteration));
            }
            let score = search_root(first, root, iteration);
            helpers_control.stop();
            score
        })
    }

    /// Builds the result of an iteration, with the principal variation from the table.
    fn result(
        &self,
        position: &Othello,
        root: &[RootMove],
        (depth, exact): (u32, bool),
        previous_score: SearchScore,
        all_moves: bool,
    ) -> SearchResult<Square> {
        let count = if all_moves { root.len() } else { 1 };
        let score = |score: i32| match exact {
            true => SearchScore::Proven(score / DISC),
            false => SearchScore::Estimate(score as f32 / DISC as f32),
        };
        let moves: Vec<ScoredMove<Square>> = root
            .iter()
            .take(count)
            .map(|best| ScoredMove { mv: best.square, score: score(best.score) })
            .collect();
        let (mut pv, mut at) = (Vec::new(), *position);
        let mut next = moves.first().map(|scored| scored.mv);
        while let Some(mv) = next
            && pv.len() < depth as usize
            && at.moves().any(|legal| legal == mv)
        {
            pv.push(mv);
            at = at.play(mv);
            next = self.table.get(hash(at.board())).and_then(|entry| entry.best);
        }
        let evaluated = self.workers.iter().map(|worker| worker.evaluated).sum();
        SearchResult { moves, pv, depth, previous_score, exact, nodes: self.nodes(), evaluated }
    }
}

fn root_moves(board: Board) -> Vec<RootMove> {
    let moves = Squares(board.moves());
    moves.map(|square| RootMove { square, after: board.play(square), score: 0 }).collect()
}

/// Searches the root moves in order, with null windows after the first. The best move is moved to
/// the front as soon as it is known. Returns `None` if the search was stopped.
fn search_root(worker: &mut Worker, root: &mut [RootMove], iteration: Iteration) -> Option<i32> {
    let Iteration { depth, threshold, all_moves, mut alpha, beta } = iteration;
    worker.threshold = threshold;
    let mut best = i32::MIN;
    for index in 0..root.len() {
        let after = root[index].after;
        let full = index == 0 || all_moves;
        let mut score = 0;
        let lower = if all_moves { -MAX_SCORE } else { alpha };
        if !full {
            score = -worker.search(after, depth - 1, -alpha - 1, -alpha);
        }
        if full || (score > alpha && score < beta) {
            score = -worker.search(after, depth - 1, -beta, -lower);
        }
        if worker.halted {
            return None;
        }
        root[index].score = score;
        if score > best {
            best = score;
            alpha = alpha.max(score);
            if !all_moves {
                // A move that fails low after the first is not known to be better.
                root[..=index].rotate_right(1);
                if score >= beta {
                    break;
                }
            }
        }
    }
    Some(best)
}
