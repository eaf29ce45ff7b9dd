//! Iterative deepening on alpha-beta with a shared transposition table, optional ProbCut and an
//! endgame solver.
//!
//! With one thread and without a time limit the result is deterministic. With a time limit, or with
//! several threads and ProbCut, it is not.

use super::search::{Candidate, RootMode, TreeSearch};
use super::transposition_table::TranspositionTable;
use super::{MAX_DEPTH, ProbCut, SearchScore};
use crate::SearchControl;
use crate::searchable::{EndgameSolver, Searchable};
use outflank_models::Evaluate;
use std::sync::Arc;

/// Minimum depth for a multithreaded search; shallower ones finish before other threads start.
const PARALLEL_MIN_DEPTH: u32 = 5;

/// Maximum search depth in positions that the endgame solver can handle. The search runs first, so
/// that there is a move if the solver does not finish.
const MAX_DEPTH_BEFORE_SOLVER: u32 = 6;

/// A move and its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoredMove<M> {
    /// The move.
    pub mv: M,
    /// Its score for the side to move.
    pub score: SearchScore,
}

/// The result of a search to some depth.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResult<M> {
    /// The scored moves, best first; only the best one unless all were requested.
    pub moves: Vec<ScoredMove<M>>,
    /// The principal variation, starting with the best move.
    pub pv: Vec<M>,
    /// Search depth in plies.
    pub depth: u32,
    /// The score of the previous iteration, for the side to move. For depth 1 this is the model's
    /// value of the position.
    pub previous_score: SearchScore,
    /// Whether the scores are exact, from the endgame solver.
    pub exact: bool,
    /// Nodes searched, without those of the endgame solver.
    pub nodes: u64,
    /// Positions evaluated as leaves or for move ordering.
    pub evaluated: u64,
}

/// An alpha-beta search with iterative deepening.
pub struct IterativeDeepening<P: Searchable> {
    model: Arc<dyn Evaluate<P>>,
    table: Arc<TranspositionTable<P>>,
    /// One search per thread.
    searches: Vec<TreeSearch<P>>,
    probcut: Option<Arc<ProbCut>>,
    endgame: Option<Box<dyn EndgameSolver<P>>>,
    threads: usize,
    max_depth: u32,
}

impl<P: Searchable> IterativeDeepening<P> {
    /// Creates a search with a model and a transposition table of `2^bits` entries.
    #[must_use]
    pub fn new(model: Arc<dyn Evaluate<P>>, bits: u32) -> IterativeDeepening<P> {
        let table = Arc::new(TranspositionTable::new(bits.clamp(8, 26)));
        IterativeDeepening {
            model,
            table,
            searches: Vec::new(),
            probcut: None,
            endgame: None,
            threads: 1,
            max_depth: MAX_DEPTH,
        }
    }

    /// Sets the maximum depth in plies.
    #[must_use]
    pub fn with_max_depth(mut self, plies: u32) -> IterativeDeepening<P> {
        self.max_depth = plies.clamp(1, MAX_DEPTH);
        self
    }

    /// Enables or disables ProbCut.
    #[must_use]
    pub fn with_probcut(
        mut self,
        probcut: impl Into<Option<Arc<ProbCut>>>,
    ) -> IterativeDeepening<P> {
        self.probcut = probcut.into();
        self
    }

    /// Sets the endgame solver, which runs after the search in positions that it can handle.
    #[must_use]
    pub fn with_endgame(mut self, endgame: Box<dyn EndgameSolver<P>>) -> IterativeDeepening<P> {
        self.endgame = Some(endgame);
        self
    }

    /// Sets the number of threads.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> IterativeDeepening<P> {
        self.threads = threads.max(1);
        self
    }

    /// Searches until the control stops or the maximum depth is reached.
    ///
    /// Scores every move if `all_moves` is true, else only the best. Calls `on_result` after each
    /// iteration. Returns `None` if the game is over or the first iteration did not finish.
    pub fn run(
        &mut self,
        position: &P,
        all_moves: bool,
        control: &Arc<SearchControl>,
        mut on_result: impl FnMut(&SearchResult<P::Move>),
    ) -> Option<SearchResult<P::Move>> {
        if position.is_over() {
            return None;
        }
        self.table.clear();
        while self.searches.len() < self.threads {
            self.searches.push(TreeSearch::new(Arc::clone(&self.model), Arc::clone(&self.table)));
        }
        for search in &mut self.searches {
            search.probcut.clone_from(&self.probcut);
            search.halted = false;
            (search.nodes, search.evaluated) = (0, 0);
        }
        let solvable = self.endgame.as_ref().is_some_and(|endgame| endgame.can_solve(position));
        let max_depth =
            if solvable { self.max_depth.min(MAX_DEPTH_BEFORE_SOLVER) } else { self.max_depth };
        let mut best: Option<SearchResult<P::Move>> = None;
        let side = position.to_move();
        let mut previous_score = SearchScore::Estimate(-self.model.value(position, side.other()));
        for depth in 1..=max_depth {
            let first =
                best.as_ref().and_then(|result| result.moves.first()).map(|scored| scored.mv);
            let mode = if all_moves { RootMode::All } else { RootMode::Best { first } };
            let Some(root) = self.iterate(position, depth, mode, control) else { break };
            let result = self.result(position, (depth, previous_score), all_moves, &root);
            previous_score = result.moves.first().map_or(previous_score, |scored| scored.score);
            on_result(&result);
            // If all scores are proven, deeper iterations cannot change them.
            let proven =
                |scored: &ScoredMove<P::Move>| matches!(scored.score, SearchScore::Proven(_));
            let all_proven = result.moves.iter().all(proven);
            best = Some(result);
            if all_proven || control.stopped() {
                break;
            }
        }
        if solvable && !control.stopped() {
            let solved = self.solve(position, previous_score, all_moves, control);
            if let Some(solved) = solved {
                on_result(&solved);
                best = Some(solved);
            }
        }
        best
    }

    /// Searches to one depth on all threads. Returns the scored root moves.
    fn iterate(
        &mut self,
        position: &P,
        depth: u32,
        mode: RootMode<P>,
        control: &Arc<SearchControl>,
    ) -> Option<Vec<Candidate<P>>> {
        let (first, helpers) = self.searches.split_first_mut()?;
        let mut root = Vec::new();
        first.control = Arc::clone(control);
        if helpers.is_empty() || depth < PARALLEL_MIN_DEPTH {
            first.search_root(position, depth, mode, &mut root)?;
            return Some(root);
        }
        let helpers_control = Arc::new(control.child());
        let done = std::thread::scope(|scope| {
            for (number, helper) in helpers.iter_mut().enumerate() {
                helper.control = Arc::clone(&helpers_control);
                helper.halted = false;
                scope.spawn(move || {
                    // Each helper starts with another move and fills the shared table (lazy SMP).
                    let first = position.moves().nth(number + 1);
                    let mut moves = Vec::new();
                    helper.search_root(position, depth, RootMode::Best { first }, &mut moves);
                });
            }
            let done = first.search_root(position, depth, mode, &mut root);
            helpers_control.stop();
            done
        });
        done?;
        Some(root)
    }

    /// Builds the result of an iteration, with the principal variation from the transposition
    /// table.
    fn result(
        &self,
        position: &P,
        (depth, previous_score): (u32, SearchScore),
        all_moves: bool,
        root: &[Candidate<P>],
    ) -> SearchResult<P::Move> {
        let mut moves: Vec<(i32, P::Move)> = root.iter().map(|c| (c.score, c.mv)).collect();
        moves.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        if !all_moves {
            moves.truncate(1);
        }
        let moves: Vec<ScoredMove<P::Move>> = moves
            .into_iter()
            .map(|(score, mv)| ScoredMove { mv, score: SearchScore::from_ordered(score) })
            .collect();
        let mut pv = Vec::new();
        let mut at = *position;
        let mut next = moves.first().map(|scored| scored.mv);
        while let Some(mv) = next
            && pv.len() < depth as usize
            && at.moves().any(|legal| legal == mv)
        {
            pv.push(mv);
            at = at.play(mv);
            next = self.table.get(&at).map(|entry| entry.best);
        }
        let (nodes, evaluated) = self.counts();
        SearchResult { moves, pv, depth, previous_score, exact: false, nodes, evaluated }
    }

    /// Solves the position with the endgame solver.
    fn solve(
        &mut self,
        position: &P,
        previous_score: SearchScore,
        all_moves: bool,
        control: &Arc<SearchControl>,
    ) -> Option<SearchResult<P::Move>> {
        let endgame = self.endgame.as_mut()?;
        let mut scores = endgame.score_moves(position, all_moves, control)?;
        scores.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        let (nodes, evaluated) = self.counts();
        let moves: Vec<ScoredMove<P::Move>> = scores
            .into_iter()
            .map(|(mv, result)| ScoredMove { mv, score: SearchScore::Proven(result) })
            .collect();
        let pv = moves.first().map(|scored| scored.mv).into_iter().collect();
        Some(SearchResult {
            moves,
            pv,
            depth: MAX_DEPTH,
            previous_score,
            exact: true,
            nodes,
            evaluated,
        })
    }

    /// Returns the numbers of searched nodes and of evaluated positions, summed over the threads.
    fn counts(&self) -> (u64, u64) {
        let counts = self.searches.iter().map(|search| (search.nodes, search.evaluated));
        counts.fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1))
    }
}
