//! The recursion of the alpha-beta search.

use super::cuts::ProbCut;
use super::noise::Noise;
use super::table::Table;
use super::worth::{self, TOP, Worth};
use crate::SearchControl;
use crate::searchable::Searchable;
use outflank_games::Side;
use outflank_models::Evaluate;
use std::sync::Arc;

/// From this remaining depth on, the model says which moves to try first.
const BY_MODEL: u32 = 3;

/// So many leaves of a position are evaluated first, to see whether they settle the matter.
const TRIED: usize = 2;

/// A move, where it leads, and how soon it is tried: a higher rank comes first.
#[derive(Clone, Copy)]
pub(crate) struct Candidate<P: Searchable> {
    pub mv: P::Move,
    pub after: P,
    pub rank: Worth,
}

/// What is asked about the moves of the root.
#[derive(Clone, Copy)]
pub(crate) enum Rank<P: Searchable> {
    /// The best of them, of which this may be one.
    Best { first: Option<P::Move> },
    /// The worth of each.
    Each,
}

/// Whether to stop is asked after so many positions.
const BREATH: u64 = 1 << 10;

/// All that a search carries along.
pub(crate) struct Tree<P: Searchable> {
    model: Arc<dyn Evaluate<P>>,
    pub noise: Noise,
    pub table: Arc<Table<P>>,
    /// What it may spend, and whether it has spent it: then what it returns means nothing.
    pub control: Arc<SearchControl>,
    pub halted: bool,
    /// Where a shallow look may save a deep one.
    pub cuts: Option<Arc<ProbCut>>,
    /// For each remaining depth the moves being tried; kept so that nothing is allocated.
    levels: Vec<Vec<Candidate<P>>>,
    /// Room for asking the model.
    moves: Vec<P::Move>,
    values: Vec<f32>,
    /// Positions searched, and those made only to be evaluated or to put moves in order.
    pub nodes: u64,
    pub looked: u64,
}

impl<P: Searchable> Tree<P> {
    pub fn new(model: Arc<dyn Evaluate<P>>, table: Arc<Table<P>>) -> Tree<P> {
        Tree {
            model,
            noise: Noise::NONE,
            table,
            control: Arc::new(SearchControl::unlimited()),
            halted: false,
            cuts: None,
            levels: Vec::new(),
            moves: Vec::new(),
            values: Vec::new(),
            nodes: 0,
            looked: 0,
        }
    }

    /// Fills `root` with all moves, those within a tie of the best having their exact worth as
    /// rank and the others one that is too low for a tie; with [`Rank::Each`] all have their exact
    /// worth. Returns the best worth, `None` when it was stopped or there is no move.
    pub fn rank_root(
        &mut self,
        position: &P,
        depth: u32,
        rank: Rank<P>,
        root: &mut Vec<Candidate<P>>,
    ) -> Option<Worth> {
        self.tick();
        let side = position.to_move();
        if depth <= 1 {
            self.ask_model(position);
            self.looked += self.moves.len() as u64;
            root.clear();
            for (&mv, &value) in self.moves.iter().zip(&self.values) {
                let after = position.play(mv);
                root.push(Candidate { mv, after, rank: self.leaf(&after, side, value) });
            }
            return root.iter().map(|candidate| candidate.rank).max();
        }

        if self.levels.len() < depth as usize {
            self.levels.resize_with(depth as usize, Vec::new);
        }
        let hint = match rank {
            Rank::Best { first } => first,
            Rank::Each => self.table.get(position).map(|entry| entry.best),
        };
        self.candidates(position, depth, hint, root);
        // Stable, so that the order is the same everywhere.
        root.sort_by_key(|candidate| std::cmp::Reverse(candidate.rank));
        let mut best = None;
        if matches!(rank, Rank::Each) {
            for candidate in &mut *root {
                candidate.rank = self.after(&candidate.after, side, depth - 1, -TOP, TOP);
            }
            best = root.iter().map(|candidate| candidate.rank).max();
            return best.filter(|_| !self.halted);
        }
        for candidate in root {
            // The window reaches just below the best so far, so that an equal move is recognised.
            let floor = best.map_or(-TOP, |best| worth::tied_from(best) - 1);
            let test = if best.is_none() { TOP } else { floor + 1 };
            candidate.rank = self.after(&candidate.after, side, depth - 1, floor, test);
            if best.is_some() && candidate.rank > floor {
                candidate.rank = self.after(&candidate.after, side, depth - 1, floor, TOP);
            }
            best = best.max(Some(candidate.rank));
        }
        best.filter(|_| !self.halted)
    }

    /// The worth of a position in which the game goes on, searched with a full window.
    pub fn worth(&mut self, position: &P, depth: u32) -> Worth {
        if self.levels.len() < depth as usize + 1 {
            self.levels.resize_with(depth as usize + 1, Vec::new);
        }
        self.search(position, depth, -TOP, TOP)
    }

    /// Counts a position, and looks up now and then whether it is time to stop.
    #[inline]
    fn tick(&mut self) {
        self.nodes += 1;
        if self.nodes.is_multiple_of(BREATH) {
            self.halted |= self.control.spend(BREATH);
        }
    }

    /// The worth to `side`, who has just moved into `after`, of searching `depth` more plies.
    fn after(&mut self, after: &P, side: Side, depth: u32, alpha: Worth, beta: Worth) -> Worth {
        if let Some(result) = after.result() {
            return worth::of_result(side.sign() * result);
        }
        // The turn may have come back because the opponent must pass.
        if after.to_move() == side {
            self.search(after, depth, alpha, beta)
        } else {
            -self.search(after, depth, -beta, -alpha)
        }
    }

    /// The worth of a position in which the game goes on, to its side to move.
    ///
    /// Strictly between alpha and beta it is exact; outside it is a bound.
    fn search(&mut self, position: &P, depth: u32, mut alpha: Worth, beta: Worth) -> Worth {
        if depth <= 1 {
            return self.last_ply(position, beta);
        }
        self.tick();
        if self.halted {
            return 0;
        }
        let mut hint = None;
        if let Some(entry) = self.table.get(position) {
            // Only the same depth answers the same question; any depth may suggest a move.
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

        if let Some(bound) = self.cut(position, depth, alpha, beta) {
            return bound;
        }

        let side = position.to_move();
        let window = (alpha, beta);
        let level = depth as usize;
        let mut candidates = self.levels.get_mut(level).map(std::mem::take).unwrap_or_default();
        self.candidates(position, depth, hint, &mut candidates);
        let mut best = None;
        for next in 0..candidates.len() {
            let Some(Candidate { mv, after, .. }) = first(&mut candidates, next) else { break };
            let test = if next == 0 { beta } else { alpha + 1 };
            let mut worth = self.after(&after, side, depth - 1, alpha, test);
            if next > 0 && worth > alpha && worth < beta {
                worth = self.after(&after, side, depth - 1, alpha, beta);
            }
            if best.is_none_or(|(best, _)| worth > best) {
                best = Some((worth, mv));
                alpha = alpha.max(worth);
                if worth >= beta {
                    break;
                }
            }
        }
        if let Some(level) = self.levels.get_mut(level) {
            *level = candidates;
        }
        if self.halted {
            return 0;
        }
        let Some((worth, mv)) = best else { return -TOP };
        self.table.put(position, depth, window, worth, mv);
        worth
    }

    /// A bound that a shallow search makes likely enough to do without the deep one.
    fn cut(&mut self, position: &P, depth: u32, alpha: Worth, beta: Worth) -> Option<Worth> {
        let shallow = ProbCut::shallow(depth)?;
        // What is searched for a cut is searched in full.
        let cuts = self.cuts.take()?;
        let margin = cuts.margin(position.stage(), depth);
        let side = position.to_move();
        let mut bound = None;
        // Whoever is to stand well must not be near being wiped out: no deviation foretells that.
        if let Err(value) = worth::read(beta)
            && !position.fragile(side)
        {
            let high = worth::of_value(value + margin);
            if self.search(position, shallow, high - 1, high) >= high {
                bound = Some(beta);
            }
        }
        if bound.is_none()
            && let Err(value) = worth::read(alpha)
            && !position.fragile(side.other())
        {
            let low = worth::of_value(value - margin);
            if self.search(position, shallow, low, low + 1) <= low {
                bound = Some(alpha);
            }
        }
        self.cuts = Some(cuts);
        bound.filter(|_| !self.halted)
    }

    /// The best leaf. It needs no memory, since evaluating costs no more than looking up.
    ///
    /// The moves that leave the opponent the least freedom are evaluated first and often settle
    /// the matter; the others then need no evaluation at all.
    fn last_ply(&mut self, position: &P, beta: Worth) -> Worth {
        self.tick();
        let side = position.to_move();
        let mut leaves = self.levels.get_mut(1).map(std::mem::take).unwrap_or_default();
        self.candidates(position, 1, None, &mut leaves);
        let tried = if leaves.len() > 2 * TRIED { TRIED } else { leaves.len() };
        for next in 0..tried {
            first(&mut leaves, next);
        }
        let (likely, others) = leaves.split_at(tried);
        let mut best = -TOP;
        for part in [likely, others] {
            self.moves.clear();
            self.moves.extend(part.iter().map(|leaf| leaf.mv));
            self.ask(position);
            self.looked += part.len() as u64;
            for (leaf, &value) in part.iter().zip(&self.values) {
                best = best.max(self.leaf(&leaf.after, side, value));
            }
            if best >= beta || others.is_empty() {
                break;
            }
        }
        if let Some(level) = self.levels.get_mut(1) {
            *level = leaves;
        }
        best
    }

    /// The worth to `side`, who has just moved into it, of a position with this evaluation.
    fn leaf(&self, after: &P, side: Side, value: f32) -> Worth {
        match after.result() {
            Some(result) => worth::of_result(side.sign() * result),
            None => worth::of_value(value + self.noise.at(after, side)),
        }
    }

    /// Fills `list` with the moves of a position and their ranks: near the leaves by how little
    /// freedom they leave to the opponent, further up by the model.
    fn candidates(
        &mut self,
        position: &P,
        depth: u32,
        hint: Option<P::Move>,
        list: &mut Vec<Candidate<P>>,
    ) {
        list.clear();
        if depth < BY_MODEL {
            list.extend(position.moves().map(|mv| {
                let after = position.play(mv);
                Candidate { mv, after, rank: -(after.freedom() as Worth) }
            }));
        } else {
            self.ask_model(position);
            list.extend(self.moves.iter().zip(&self.values).map(|(&mv, &value)| Candidate {
                mv,
                after: position.play(mv),
                rank: worth::of_value(value),
            }));
        }
        if depth > 1 {
            self.looked += list.len() as u64;
        }
        if let Some(candidate) = list.iter_mut().find(|candidate| Some(candidate.mv) == hint) {
            candidate.rank = TOP;
        }
    }

    /// Fills `moves` and `values` with the moves of a position and the model's word on each.
    fn ask_model(&mut self, position: &P) {
        self.moves.clear();
        self.moves.extend(position.moves());
        self.ask(position);
    }

    /// Fills `values` with the model's word on each of `moves`.
    fn ask(&mut self, position: &P) {
        self.model.after_moves(position, &self.moves, &mut self.values);
        // A model that left some out would otherwise hide those moves.
        self.values.resize(self.moves.len(), f32::NEG_INFINITY);
    }
}

/// Brings the highest rank from `next` on to the front and returns it; the first of equals wins.
#[inline]
fn first<P: Searchable>(candidates: &mut [Candidate<P>], next: usize) -> Option<Candidate<P>> {
    let rest = candidates.get_mut(next..)?;
    let (mut at, mut most) = (0, Worth::MIN);
    for (index, candidate) in rest.iter().enumerate() {
        if candidate.rank > most {
            (at, most) = (index, candidate.rank);
        }
    }
    rest.swap(0, at);
    rest.first().copied()
}
