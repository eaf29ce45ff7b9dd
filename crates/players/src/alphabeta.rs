//! Alpha-beta search to a fixed depth.

mod iterative_deepening;
mod leaf_noise;
mod probcut;
mod score;
mod search;
mod transposition_table;

pub use iterative_deepening::{IterativeDeepening, ScoredMove, SearchResult};
pub use probcut::ProbCut;

use crate::random::game_over;
use crate::searchable::{EndgameSolver, Searchable};
use crate::tie_break::pick;
use crate::{Player, PlayerError, SearchControl};
use leaf_noise::LeafNoise;
use outflank_games::Line;
use outflank_models::Evaluate;
use outflank_runs::Rng;
use search::{Candidate, RootMode, TreeSearch};
use std::sync::Arc;
use transposition_table::TranspositionTable;

/// Maximum search depth in plies; a game of Othello has 60 moves.
const MAX_DEPTH: u32 = 60;

/// The score of a position for its side to move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SearchScore {
    /// The model's value of the last position of the principal variation. A draw that the search reaches
    /// is also `Estimate(0.0)`; only the endgame solver returns `Proven(0)`.
    Estimate(f32),
    /// The final score of the game under best play, negative for a loss. In Othello it is the disc
    /// difference with the empty squares counted for the winner.
    Proven(i32),
}

impl SearchScore {
    fn from_ordered(score: score::OrderedScore) -> SearchScore {
        match score::decode(score) {
            Ok(result) => SearchScore::Proven(result),
            Err(value) => SearchScore::Estimate(value),
        }
    }
}

/// A player that searches by alpha-beta to a fixed depth.
///
/// **Scores.** The score of a position is its minimax value. A leaf has the value that
/// [`Evaluate::move_values`] returns for the side that moves into it. A finished game has
/// its final score: any win is above all evaluations, higher wins above lower ones, and a draw
/// equals an evaluation of zero. A pass does not count as a ply. Depth 1 plays like
/// [`Greedy`](crate::Greedy), except that it knows the result of a game that its move ends.
///
/// **Ties.** A root move is searched with a window whose lower bound is just below the best score so far.
/// This finds all moves within 1e-6 of the best score (or equal to it, if it is proven), and one of them
/// is chosen uniformly at random. The choice depends only on the position, the model and the random numbers, not
/// on the move order or on earlier searches. The transposition table is cleared before each move.
///
/// **Endgame.** With [`AlphaBeta::with_endgame`] positions that the solver can handle are played
/// perfectly; ties are broken in the same way.
///
/// **Noise.** [`AlphaBeta::with_noise`] adds normal noise to the value of each leaf. The noise is a
/// function of the leaf and of one random key per search.
pub struct AlphaBeta<P: Searchable> {
    depth: u32,
    search: TreeSearch<P>,
    endgame: Option<Box<dyn EndgameSolver<P>>>,
    root: Vec<Candidate<P>>,
    best: Vec<P::Move>,
}

impl<P: Searchable> AlphaBeta<P> {
    /// Creates a player with this search depth, clamped to 1..=60 plies.
    #[must_use]
    pub fn new(model: Arc<dyn Evaluate<P>>, depth: u32) -> AlphaBeta<P> {
        let depth = depth.clamp(1, MAX_DEPTH);
        // The table grows by a factor of four per ply, up to about ten megabytes.
        let table = Arc::new(TranspositionTable::new((6 + 2 * depth).min(18)));
        let search = TreeSearch::new(model, table);
        AlphaBeta { depth, search, endgame: None, root: Vec::new(), best: Vec::new() }
    }

    /// Uses a solver for the endgame; see [`Searchable::endgame_solver`].
    #[must_use]
    pub fn with_endgame(mut self, endgame: Box<dyn EndgameSolver<P>>) -> AlphaBeta<P> {
        self.endgame = Some(endgame);
        self
    }

    /// Adds normal noise of this standard deviation to each leaf.
    #[must_use]
    pub fn with_noise(mut self, deviation: f32) -> AlphaBeta<P> {
        self.search.noise = LeafNoise::new(deviation);
        self
    }

    /// Returns the score of a position and all its best moves, sorted. Returns `None` if the game
    /// is over or the search was stopped.
    pub fn search(&mut self, position: &P, rng: &mut Rng) -> Option<(SearchScore, &[P::Move])> {
        if position.is_over() {
            return None;
        }
        if let Some(endgame) = self.endgame.as_mut().filter(|endgame| endgame.can_solve(position)) {
            let result = endgame.best_moves(position, &mut self.best, &self.search.control)?;
            return Some((SearchScore::Proven(result), &self.best));
        }
        self.search.halted = false;
        self.search.noise.draw_key(rng);
        self.search.table.clear();
        let mode = RootMode::Best { first: None };
        let score = self.search.search_root(position, self.depth, mode, &mut self.root)?;
        let floor = score::tie_floor(score);
        self.best.clear();
        self.best.extend(self.root.iter().filter(|c| c.score >= floor).map(|c| c.mv));
        self.best.sort_unstable();
        Some((SearchScore::from_ordered(score), &self.best))
    }
}

impl<P: Searchable> Player<P> for AlphaBeta<P> {
    fn choose(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<P::Move, PlayerError> {
        let position = game.position();
        if position.moves().nth(1).is_none() {
            return position.moves().next().ok_or_else(|| game_over("alpha-beta"));
        }
        let best = self.search(position, rng).and_then(|(_, best)| pick(best, rng));
        if self.search.control.stopped() {
            return Err(PlayerError::Stopped { player: "alpha-beta".to_owned() });
        }
        best.ok_or_else(|| game_over("alpha-beta"))
    }

    fn set_control(&mut self, control: &Arc<SearchControl>) {
        self.search.control = Arc::clone(control);
    }
}
