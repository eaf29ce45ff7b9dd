//! A player that follows a policy greedily.

use crate::random::game_over;
use crate::tie_break::best_index;
use crate::{Player, PlayerError, Turn};
use outflank_games::{Line, Position};
use outflank_models::Policy;
use outflank_runs::Rng;
use std::sync::Arc;

/// Plays the move with the highest policy score; scores within 1e-6 of the best are ties, broken at
/// random.
///
/// A move that ends the game gets the model's score, not the result of the game, as in Runarsson &
/// Lucas (2014). [`AlphaBeta`](crate::AlphaBeta) of depth 1 uses the result.
pub struct Greedy<P: Position> {
    policy: Arc<dyn Policy<P>>,
    moves: Vec<P::Move>,
    scores: Vec<f32>,
}

impl<P: Position> Greedy<P> {
    /// Creates a player that follows this policy.
    #[must_use]
    pub fn new(policy: Arc<dyn Policy<P>>) -> Greedy<P> {
        Greedy { policy, moves: Vec::new(), scores: Vec::new() }
    }

    /// Chooses a move. Returns `None` if the game is over.
    pub(crate) fn pick(&mut self, position: &P, rng: &mut Rng) -> Option<P::Move> {
        self.moves.clear();
        self.moves.extend(position.moves());
        if let &[only] = self.moves.as_slice() {
            return Some(only);
        }
        self.policy.score(position, &self.moves, &mut self.scores);
        self.moves.get(best_index(&self.scores, rng)?).copied()
    }
}

impl<P: Position> Player<P> for Greedy<P> {
    fn choose(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<P::Move, PlayerError> {
        self.pick(game.position(), rng).ok_or_else(|| game_over("greedy"))
    }

    fn start_turn(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<Turn<P>, PlayerError> {
        let moves: Vec<P::Move> = game.position().moves().collect();
        match self.policy.batch_size() > 1 && moves.len() > 1 {
            true => Ok(Turn::NeedsScores(self.policy.clone(), moves)),
            false => self.choose(game, rng).map(Turn::Move),
        }
    }
}
