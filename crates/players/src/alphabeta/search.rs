//! The alpha-beta recursion: principal variation search with a transposition table.

use super::leaf_noise::LeafNoise;
use super::probcut::ProbCut;
use super::score::{self, MAX_SCORE, OrderedScore};
use super::transposition_table::TranspositionTable;
use crate::SearchControl;
use crate::searchable::Searchable;
use outflank_games::Side;
use outflank_models::Evaluate;
use std::sync::Arc;

/// Minimum remaining depth for move ordering by the model; below it, moves are ordered by mobility.
const MODEL_ORDERING_MIN_DEPTH: u32 = 3;

/// Number of leaves in the first batch. It is small, since the first leaves often cause a cutoff.
const FIRST_LEAVES: usize = 2;

/// A move, the position after it, and a score that orders the moves.
#[derive(Clone, Copy)]
pub(crate) struct Candidate<P: Searchable> {
    pub mv: P::Move,
    pub after: P,
    /// The ordering score; after a root search, the score of the move.
    pub score: OrderedScore,
}

/// Which root moves get exact scores.
#[derive(Clone, Copy)]
pub(crate) enum RootMode<P: Searchable> {
    /// The best moves. `first` is searched first.
    Best { first: Option<P::Move> },
    /// All moves.
    All,
}

/// Nodes between checks of the search control.
const CHECK_INTERVAL: u64 = 1 << 10;

/// The state of an alpha-beta search on one thread.
pub(crate) struct TreeSearch<P: Searchable> {
    model: Arc<dyn Evaluate<P>>,
    pub noise: LeafNoise,
    pub table: Arc<TranspositionTable<P>>,
    pub control: Arc<SearchControl>,
    /// Whether the control stopped the search. If so, returned scores have no meaning.
    pub halted: bool,
    pub probcut: Option<Arc<ProbCut>>,
    /// Move lists by remaining depth, reused to avoid allocation.
    move_lists: Vec<Vec<Candidate<P>>>,
    /// Input and output buffers of the model.
    moves: Vec<P::Move>,
    values: Vec<f32>,
    /// Nodes searched.
    pub nodes: u64,
    /// Positions evaluated as leaves or for move ordering.
    pub evaluated: u64,
}

impl<P: Searchable> TreeSearch<P> {
    pub fn new(model: Arc<dyn Evaluate<P>>, table: Arc<TranspositionTable<P>>) -> TreeSearch<P> {
        TreeSearch {
            model,
            noise: LeafNoise::NONE,
            table,
            control: Arc::new(SearchControl::unlimited()),
            halted: false,
            probcut: None,
            move_lists: Vec::new(),
            moves: Vec::new(),
            values: Vec::new(),
            nodes: 0,
            evaluated: 0,
        }
    }

    /// Searches the root and fills `root` with all moves and their scores.
    ///
    /// With [`RootMode::Best`] the scores of moves that tie with the best are exact, and those of
    /// other moves are upper bounds below a tie. Returns the best score, or `None` if the search
    /// was stopped or there is no move.
    pub fn search_root(
        &mut self,
        position: &P,
        depth: u32,
        mode: RootMode<P>,
        root: &mut Vec<Candidate<P>>,
    ) -> Option<OrderedScore> {
        self.count_node();
        let side = position.to_move();
        if depth <= 1 {
            self.evaluate_moves(position);
            self.evaluated += self.moves.len() as u64;
            root.clear();
            for (&mv, &value) in self.moves.iter().zip(&self.values) {
                let after = position.play(mv);
                root.push(Candidate { mv, after, score: self.leaf_score(&after, side, value) });
            }
            return root.iter().map(|candidate| candidate.score).max();
        }

        if self.move_lists.len() < depth as usize {
            self.move_lists.resize_with(depth as usize, Vec::new);
        }
        let hint = match mode {
            RootMode::Best { first } => first,
            RootMode::All => self.table.get(position).map(|entry| entry.best),
        };
        self.candidates(position, depth, hint, root);
        // A stable sort, so that the order is deterministic.
        root.sort_by_key(|candidate| std::cmp::Reverse(candidate.score));
        let mut best = None;
        if matches!(mode, RootMode::All) {
            for candidate in &mut *root {
                candidate.score =
                    self.score_after(&candidate.after, side, depth - 1, -MAX_SCORE, MAX_SCORE);
            }
            best = root.iter().map(|candidate| candidate.score).max();
            return best.filter(|_| !self.halted);
        }
        for candidate in root {
            // The window reaches just below the best score so far, so that ties are detected.
            let floor = best.map_or(-MAX_SCORE, |best| score::tie_floor(best) - 1);
            let scout_beta = if best.is_none() { MAX_SCORE } else { floor + 1 };
            candidate.score =
                self.score_after(&candidate.after, side, depth - 1, floor, scout_beta);
            if best.is_some() && candidate.score > floor {
                candidate.score =
                    self.score_after(&candidate.after, side, depth - 1, floor, MAX_SCORE);
            }
            best = best.max(Some(candidate.score));
        }
        best.filter(|_| !self.halted)
    }

    /// Returns the score of an unfinished position, searched with a full window.
    pub fn score(&mut self, position: &P, depth: u32) -> OrderedScore {
        if self.move_lists.len() < depth as usize + 1 {
            self.move_lists.resize_with(depth as usize + 1, Vec::new);
        }
        self.search(position, depth, -MAX_SCORE, MAX_SCORE)
    }

    /// Counts a node and periodically checks the search control.
    #[inline]
    fn count_node(&mut self) {
        self.nodes += 1;
        if self.nodes.is_multiple_of(CHECK_INTERVAL) {
            self.halted |= self.control.add_nodes(CHECK_INTERVAL);
        }
    }

    /// Returns the score for `side`, which has just moved into `after`, of searching `depth` more
    /// plies.
    fn score_after(
        &mut self,
        after: &P,
        side: Side,
        depth: u32,
        alpha: OrderedScore,
        beta: OrderedScore,
    ) -> OrderedScore {
        if let Some(black_score) = after.final_score() {
            return score::from_final_score(side.sign() * black_score);
        }
        // The same side moves again if the opponent must pass.
        if after.to_move() == side {
            self.search(after, depth, alpha, beta)
        } else {
            -self.search(after, depth, -beta, -alpha)
        }
    }

    /// Returns the score of an unfinished position for its side to move: exact strictly between
    /// alpha and beta, a bound outside.
    fn search(
        &mut self,
        position: &P,
        depth: u32,
        mut alpha: OrderedScore,
        beta: OrderedScore,
    ) -> OrderedScore {
        if depth <= 1 {
            return self.last_ply(position, beta);
        }
        self.count_node();
        if self.halted {
            return 0;
        }
        let mut hint = None;
        if let Some(entry) = self.table.get(position) {
            // Bounds hold for the same depth only; the best move of any depth is a hint.
            if entry.depth == depth {
                if entry.lower >= beta || entry.lower == entry.upper {
                    return entry.lower;
                }
                if entry.upper <= alpha {
                    return entry.upper;
                }
            }
            hint = Some(entry.best);
        }

        if let Some(bound) = self.try_probcut(position, depth, alpha, beta) {
            return bound;
        }

        let side = position.to_move();
        let window = (alpha, beta);
        let list = depth as usize;
        let mut candidates = self.move_lists.get_mut(list).map(std::mem::take).unwrap_or_default();
        self.candidates(position, depth, hint, &mut candidates);
        let mut best = None;
        for next in 0..candidates.len() {
            let Some(Candidate { mv, after, .. }) = select_best(&mut candidates, next) else {
                break;
            };
            let scout_beta = if next == 0 { beta } else { alpha + 1 };
            let mut score = self.score_after(&after, side, depth - 1, alpha, scout_beta);
            if next > 0 && score > alpha && score < beta {
                score = self.score_after(&after, side, depth - 1, alpha, beta);
            }
            if best.is_none_or(|(best, _)| score > best) {
                best = Some((score, mv));
                alpha = alpha.max(score);
                if score >= beta {
                    break;
                }
            }
        }
        if let Some(list) = self.move_lists.get_mut(list) {
            *list = candidates;
        }
        if self.halted {
            return 0;
        }
        let Some((score, mv)) = best else { return -MAX_SCORE };
        self.table.put(position, depth, window, score, mv);
        score
    }

    /// Tries to replace a deep search by a shallow one (see [`ProbCut`]). Returns the bound if it
    /// succeeds.
    fn try_probcut(
        &mut self,
        position: &P,
        depth: u32,
        alpha: OrderedScore,
        beta: OrderedScore,
    ) -> Option<OrderedScore> {
        let shallow = ProbCut::shallow_depth(depth)?;
        // The shallow search itself runs without ProbCut.
        let probcut = self.probcut.take()?;
        let margin = probcut.margin(position.probcut_stage(), depth);
        let side = position.to_move();
        let mut bound = None;
        // Evaluations do not foresee that a side loses all its discs, so a good score of a side near
        // a wipeout is not trusted.
        if let Err(value) = score::decode(beta)
            && !position.near_wipeout(side)
        {
            let high = score::from_value(value + margin);
            if self.search(position, shallow, high - 1, high) >= high {
                bound = Some(beta);
            }
        }
        if bound.is_none()
            && let Err(value) = score::decode(alpha)
            && !position.near_wipeout(side.other())
        {
            let low = score::from_value(value - margin);
            if self.search(position, shallow, low, low + 1) <= low {
                bound = Some(alpha);
            }
        }
        self.probcut = Some(probcut);
        bound.filter(|_| !self.halted)
    }

    /// Returns the score of the best leaf.
    ///
    /// The transposition table is not used, since an evaluation is as cheap as a lookup. Moves that
    /// leave the opponent little mobility are evaluated first and often cause a cutoff.
    fn last_ply(&mut self, position: &P, beta: OrderedScore) -> OrderedScore {
        self.count_node();
        let side = position.to_move();
        let mut leaves = self.move_lists.get_mut(1).map(std::mem::take).unwrap_or_default();
        self.candidates(position, 1, None, &mut leaves);
        let count = if leaves.len() > 2 * FIRST_LEAVES { FIRST_LEAVES } else { leaves.len() };
        for next in 0..count {
            select_best(&mut leaves, next);
        }
        let (first, rest) = leaves.split_at(count);
        let mut best = -MAX_SCORE;
        for batch in [first, rest] {
            self.moves.clear();
            self.moves.extend(batch.iter().map(|leaf| leaf.mv));
            self.evaluate_listed_moves(position);
            self.evaluated += batch.len() as u64;
            for (leaf, &value) in batch.iter().zip(&self.values) {
                best = best.max(self.leaf_score(&leaf.after, side, value));
            }
            if best >= beta || rest.is_empty() {
                break;
            }
        }
        if let Some(list) = self.move_lists.get_mut(1) {
            *list = leaves;
        }
        best
    }

    /// Returns the score of a leaf with this evaluation for `side`, which has just moved into it.
    fn leaf_score(&self, after: &P, side: Side, value: f32) -> OrderedScore {
        match after.final_score() {
            Some(black_score) => score::from_final_score(side.sign() * black_score),
            None => score::from_value(value + self.noise.at(after, side)),
        }
    }

    /// Fills `list` with the moves of a position and their ordering scores: by the opponent's
    /// mobility near the leaves, by the model further up.
    fn candidates(
        &mut self,
        position: &P,
        depth: u32,
        hint: Option<P::Move>,
        list: &mut Vec<Candidate<P>>,
    ) {
        list.clear();
        if depth < MODEL_ORDERING_MIN_DEPTH {
            list.extend(position.moves().map(|mv| {
                let after = position.play(mv);
                Candidate { mv, after, score: -(after.mobility() as OrderedScore) }
            }));
        } else {
            self.evaluate_moves(position);
            list.extend(self.moves.iter().zip(&self.values).map(|(&mv, &value)| Candidate {
                mv,
                after: position.play(mv),
                score: score::from_value(value),
            }));
        }
        if depth > 1 {
            self.evaluated += list.len() as u64;
        }
        if let Some(candidate) = list.iter_mut().find(|candidate| Some(candidate.mv) == hint) {
            candidate.score = MAX_SCORE;
        }
    }

    /// Fills `moves` with the moves of a position and `values` with their evaluations.
    fn evaluate_moves(&mut self, position: &P) {
        self.moves.clear();
        self.moves.extend(position.moves());
        self.evaluate_listed_moves(position);
    }

    /// Fills `values` with the evaluations of `moves`.
    fn evaluate_listed_moves(&mut self, position: &P) {
        self.model.move_values(position, &self.moves, &mut self.values);
        // If the model returned too few values, the remaining moves still count.
        self.values.resize(self.moves.len(), f32::NEG_INFINITY);
    }
}

/// Swaps the candidate with the highest score from `next` on to index `next` and returns it. The
/// first of equal candidates wins.
#[inline]
fn select_best<P: Searchable>(
    candidates: &mut [Candidate<P>],
    next: usize,
) -> Option<Candidate<P>> {
    let rest = candidates.get_mut(next..)?;
    let (mut at, mut highest) = (0, OrderedScore::MIN);
    for (index, candidate) in rest.iter().enumerate() {
        if candidate.score > highest {
            (at, highest) = (index, candidate.score);
        }
    }
    rest.swap(0, at);
    rest.first().copied()
}
