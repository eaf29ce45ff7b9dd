//! A search that goes deeper as long as it may: iterative deepening on alpha-beta with a shared table,
//! selective pruning where it is wanted, and an exact endgame.
//!
//! With one thread and without a clock its result is a function of the position and the limits. With
//! a clock, or with several threads and pruning, it is not.

use super::table::Table;
use super::tree::{Candidate, Rank, Tree};
use super::{ProbCut, DEEPEST, SearchScore};
use crate::SearchControl;
use crate::searchable::{Endgame, Searchable};
use outflank_models::Evaluate;
use std::sync::Arc;

/// Below this depth a search is over before other threads have begun.
const SHARED_FROM: u32 = 5;

/// So deep a search looks before the endgame is tried, to have an answer if that takes too long.
const BEFORE_ENDGAME: u32 = 6;

/// A move and what the search thinks of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoredMove<M> {
    /// The move.
    pub mv: M,
    /// What it is worth to the side to move.
    pub verdict: SearchScore,
}

/// What a search has found so far.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResult<M> {
    /// The moves that were judged, the best first; only the best when no more was asked.
    pub moves: Vec<ScoredMove<M>>,
    /// The moves that best play is expected to go on with, beginning with the best move.
    pub line: Vec<M>,
    /// How deep it looked, in plies.
    pub depth: u32,
    /// What best play was worth a ply less deep, to the side to move as well; without any ply it is what the
    /// model says of the position.
    pub before: SearchScore,
    /// Whether verdicts are the true results under best play.
    pub exact: bool,
    /// Positions searched before the solver, if there was one.
    pub nodes: u64,
    /// Positions that were made only to be evaluated or to put moves in order.
    pub looked: u64,
}

/// Looks deeper and deeper.
pub struct IterativeDeepening<P: Searchable> {
    model: Arc<dyn Evaluate<P>>,
    table: Arc<Table<P>>,
    trees: Vec<Tree<P>>,
    cuts: Option<Arc<ProbCut>>,
    endgame: Option<Box<dyn Endgame<P>>>,
    threads: usize,
    deepest: u32,
}

impl<P: Searchable> IterativeDeepening<P> {
    /// A search with this model and a table of `2^bits` positions.
    #[must_use]
    pub fn new(model: Arc<dyn Evaluate<P>>, bits: u32) -> IterativeDeepening<P> {
        let table = Arc::new(Table::new(bits.clamp(8, 26)));
        IterativeDeepening {
            model,
            table,
            trees: Vec::new(),
            cuts: None,
            endgame: None,
            threads: 1,
            deepest: DEEPEST,
        }
    }

    /// The same search, which goes no deeper than this.
    #[must_use]
    pub fn with_max_depth(mut self, plies: u32) -> IterativeDeepening<P> {
        self.deepest = plies.clamp(1, DEEPEST);
        self
    }

    /// The same search with selective pruning, or without.
    #[must_use]
    pub fn with_probcut(mut self, cuts: impl Into<Option<Arc<ProbCut>>>) -> IterativeDeepening<P> {
        self.cuts = cuts.into();
        self
    }

    /// The same search, which solves the positions that this endgame reaches.
    #[must_use]
    pub fn with_endgame(mut self, endgame: Box<dyn Endgame<P>>) -> IterativeDeepening<P> {
        self.endgame = Some(endgame);
        self
    }

    /// The same search on several threads.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> IterativeDeepening<P> {
        self.threads = threads.max(1);
        self
    }

    /// Judges the best move, or each, until the control or the depth ends it; `say` hears of every
    /// depth. `None` when the game is over or there was no time for a single ply.
    pub fn think(
        &mut self,
        position: &P,
        each: bool,
        control: &Arc<SearchControl>,
        mut say: impl FnMut(&SearchResult<P::Move>),
    ) -> Option<SearchResult<P::Move>> {
        if position.is_over() {
            return None;
        }
        self.table.clear();
        while self.trees.len() < self.threads {
            self.trees.push(Tree::new(Arc::clone(&self.model), Arc::clone(&self.table)));
        }
        for tree in &mut self.trees {
            tree.cuts.clone_from(&self.cuts);
            tree.halted = false;
            (tree.nodes, tree.looked) = (0, 0);
        }
        let solvable = self.endgame.as_ref().is_some_and(|endgame| endgame.reaches(position));
        let deepest = if solvable { self.deepest.min(BEFORE_ENDGAME) } else { self.deepest };
        let mut thought: Option<SearchResult<P::Move>> = None;
        let side = position.to_move();
        let mut before = SearchScore::Estimate(-self.model.value(position, side.other()));
        for depth in 1..=deepest {
            let first = thought.as_ref().and_then(|t| t.moves.first()).map(|judged| judged.mv);
            let rank = if each { Rank::Each } else { Rank::Best { first } };
            let Some(root) = self.iterate(position, depth, rank, control) else { break };
            let found = self.thought(position, (depth, before), each, &root);
            before = found.moves.first().map_or(before, |judged| judged.score);
            say(&found);
            // Where everything is decided within the search, looking further shows nothing new.
            let decided = |judged: &ScoredMove<P::Move>| matches!(judged.score, SearchScore::Proven(_));
            let over = found.moves.iter().all(decided);
            thought = Some(found);
            if over || control.stopped() {
                break;
            }
        }
        if solvable && !control.stopped() {
            let solved = self.solve(position, before, each, control);
            if let Some(solved) = solved {
                say(&solved);
                thought = Some(solved);
            }
        }
        thought
    }

    /// Searches to one depth on all threads; gives the moves of the root with their worth.
    fn iterate(
        &mut self,
        position: &P,
        depth: u32,
        rank: Rank<P>,
        control: &Arc<SearchControl>,
    ) -> Option<Vec<Candidate<P>>> {
        let (first, others) = self.trees.split_first_mut()?;
        let mut root = Vec::new();
        first.control = Arc::clone(control);
        if others.is_empty() || depth < SHARED_FROM {
            first.rank_root(position, depth, rank, &mut root)?;
            return Some(root);
        }
        let over = Arc::new(control.child());
        let done = std::thread::scope(|scope| {
            for (number, tree) in others.iter_mut().enumerate() {
                tree.control = Arc::clone(&over);
                tree.halted = false;
                scope.spawn(move || {
                    // Each begins with another move; what it finds is in the table for all.
                    let first = position.moves().nth(number + 1);
                    let mut own = Vec::new();
                    tree.rank_root(position, depth, Rank::Best { first }, &mut own);
                });
            }
            let done = first.rank_root(position, depth, rank, &mut root);
            over.stop();
            done
        });
        done?;
        Some(root)
    }

    fn thought(
        &self,
        position: &P,
        (depth, before): (u32, SearchScore),
        each: bool,
        root: &[Candidate<P>],
    ) -> SearchResult<P::Move> {
        let mut moves: Vec<(i32, P::Move)> = root.iter().map(|c| (c.rank, c.mv)).collect();
        moves.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        if !each {
            moves.truncate(1);
        }
        let moves: Vec<ScoredMove<P::Move>> = moves
            .into_iter()
            .map(|(worth, mv)| ScoredMove { mv, verdict: SearchScore::of(worth) })
            .collect();
        let mut line = Vec::new();
        let mut at = *position;
        let mut next = moves.first().map(|judged| judged.mv);
        while let Some(mv) = next
            && line.len() < depth as usize
            && at.moves().any(|legal| legal == mv)
        {
            line.push(mv);
            at = at.play(mv);
            next = self.table.get(&at).map(|entry| entry.best);
        }
        let (nodes, looked) = self.counts();
        SearchResult { moves, line, depth, before, exact: false, nodes, looked }
    }

    fn solve(
        &mut self,
        position: &P,
        before: SearchScore,
        each: bool,
        control: &Arc<SearchControl>,
    ) -> Option<SearchResult<P::Move>> {
        let endgame = self.endgame.as_mut()?;
        let mut scores = endgame.score_moves(position, each, control)?;
        scores.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        let (nodes, looked) = self.counts();
        let moves: Vec<ScoredMove<P::Move>> = scores
            .into_iter()
            .map(|(mv, result)| ScoredMove { mv, verdict: SearchScore::Proven(result) })
            .collect();
        let line = moves.first().map(|judged| judged.mv).into_iter().collect();
        Some(SearchResult { moves, line, depth: DEEPEST, before, exact: true, nodes, looked })
    }

    fn counts(&self) -> (u64, u64) {
        let each = self.trees.iter().map(|tree| (tree.nodes, tree.looked));
        each.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
    }
}
