//! Alpha-beta search to a fixed depth.

mod cuts;
mod deepening;
mod noise;
mod table;
mod tree;
mod worth;

pub use cuts::ProbCut;
pub use deepening::{IterativeDeepening, ScoredMove, SearchResult};

use crate::choice::pick;
use crate::random::game_over;
use crate::searchable::{Endgame, Searchable};
use crate::{SearchControl, PlayerError, Player};
use noise::Noise;
use outflank_games::Line;
use outflank_models::Evaluate;
use outflank_runs::Rng;
use std::sync::Arc;
use table::Table;
use tree::{Candidate, Rank, Tree};

/// No search goes deeper; a game of Othello has 60 moves.
const DEEPEST: u32 = 60;

/// What a search found a position to be worth to its side to move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SearchScore {
    /// The model's value of the position that best play leads to; also 0 for a sure draw.
    Estimate(f32),
    /// The game is decided within the search: won by this much as players of the game count it, lost
    /// when it is negative. In Othello the empty squares go to the winner.
    Decided(i32),
}

impl SearchScore {
    fn of(worth: worth::Worth) -> SearchScore {
        match worth::read(worth) {
            Ok(result) => SearchScore::Proven(result),
            Err(value) => SearchScore::Estimate(value),
        }
    }
}

/// Looks a fixed number of plies ahead.
///
/// **Worth.** A position is worth exactly what plain minimax says. Leaves are worth what
/// [`Evaluate::after_moves`] says to the side that moves into them. A game that ends before counts
/// by its result, a win for more than any evaluation, and a higher win for more; a draw counts as
/// an evaluation of 0. A pass takes no ply, and after one the same side moves again. Depth 1 is
/// [`Greedy`](crate::Greedy) play that knows the true results of finished games.
///
/// **Ties.** Root moves are searched with a window that reaches just below the best so far, so
/// that all moves within 1e-6 of the best are known to be (exact ties, where the game is decided),
/// and one of them is drawn uniformly. The choice is therefore a function of the position, the
/// model and the random numbers alone: neither the order in which moves are tried nor anything
/// remembered from earlier moves or games can change it. The table of positions is forgotten
/// before each move; it only saves time within one.
///
/// **Endgame.** With [`AlphaBeta::with_endgame`] the positions that a solver reaches are played
/// without error, and again uniformly among the best moves.
///
/// **Noise.** With [`AlphaBeta::with_noise`] each leaf has a normal error of its own, drawn once
/// for each leaf and search: it follows from one random key for each move and from the leaf.
pub struct AlphaBeta<P: Searchable> {
    depth: u32,
    tree: Tree<P>,
    endgame: Option<Box<dyn Endgame<P>>>,
    root: Vec<Candidate<P>>,
    best: Vec<P::Move>,
}

impl<P: Searchable> AlphaBeta<P> {
    /// A player who looks `depth` plies ahead, at least 1 and at most 60.
    #[must_use]
    pub fn new(model: Arc<dyn Evaluate<P>>, depth: u32) -> AlphaBeta<P> {
        let depth = depth.clamp(1, DEEPEST);
        // A table four times as large for each ply, up to some ten megabytes.
        let tree = Tree::new(model, Arc::new(Table::new((6 + 2 * depth).min(18))));
        AlphaBeta { depth, tree, endgame: None, root: Vec::new(), best: Vec::new() }
    }

    /// The same player, leaving the end of the game to a solver; see [`Searchable::endgame`].
    #[must_use]
    pub fn with_endgame(mut self, endgame: Box<dyn Endgame<P>>) -> AlphaBeta<P> {
        self.endgame = Some(endgame);
        self
    }

    /// The same player with normal noise of this standard deviation on every leaf.
    #[must_use]
    pub fn with_noise(mut self, deviation: f32) -> AlphaBeta<P> {
        self.tree.noise = Noise::new(deviation);
        self
    }

    /// All best moves of a position, sorted, and what they are worth to the side to move; `None`
    /// when the game is over or the search was stopped.
    pub fn analyse(&mut self, position: &P, rng: &mut Rng) -> Option<(SearchScore, &[P::Move])> {
        if position.is_over() {
            return None;
        }
        if let Some(endgame) = self.endgame.as_mut().filter(|endgame| endgame.reaches(position)) {
            let result = endgame.best_moves(position, &mut self.best, &self.tree.control)?;
            return Some((SearchScore::Proven(result), &self.best));
        }
        self.tree.halted = false;
        self.tree.noise.draw(rng);
        self.tree.table.clear();
        let rank = Rank::Best { first: None };
        let worth = self.tree.rank_root(position, self.depth, rank, &mut self.root)?;
        let floor = worth::tied_from(worth);
        self.best.clear();
        self.best.extend(self.root.iter().filter(|c| c.rank >= floor).map(|c| c.mv));
        self.best.sort_unstable();
        Some((SearchScore::of(worth), &self.best))
    }

    /// How many positions were searched so far, leaves not counted.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.tree.nodes
    }
}

impl<P: Searchable> Player<P> for AlphaBeta<P> {
    fn choose(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<P::Move, PlayerError> {
        let position = game.position();
        if position.moves().nth(1).is_none() {
            return position.moves().next().ok_or_else(|| game_over("alpha-beta"));
        }
        let best = self.analyse(position, rng).and_then(|(_, best)| pick(best, rng));
        if self.tree.control.stopped() {
            return Err(PlayerError::Stopped { player: "alpha-beta".to_owned() });
        }
        best.ok_or_else(|| game_over("alpha-beta"))
    }

    fn obey(&mut self, control: &Arc<SearchControl>) {
        self.tree.control = Arc::clone(control);
    }
}
