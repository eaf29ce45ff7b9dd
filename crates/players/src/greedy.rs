//! One ply of looking ahead, the way the papers' players choose.

use crate::choice::best_index;
use crate::random::game_over;
use crate::{PlayerError, Player, Turn};
use outflank_games::{Line, Position};
use outflank_models::Policy;
use outflank_runs::Rng;
use std::sync::Arc;

/// Plays the move its model scores highest, at random among those within 1e-6 of the best.
///
/// It believes the model about finished games too, as the papers' players do: a won final position
/// is no better than its score. [`AlphaBeta`](crate::AlphaBeta) of depth 1 knows better.
pub struct Greedy<P: Position> {
    policy: Arc<dyn Policy<P>>,
    moves: Vec<P::Move>,
    scores: Vec<f32>,
}

impl<P: Position> Greedy<P> {
    /// A player who trusts this model.
    #[must_use]
    pub fn new(policy: Arc<dyn Policy<P>>) -> Greedy<P> {
        Greedy { policy, moves: Vec::new(), scores: Vec::new() }
    }

    /// The move to play, `None` when the game is over.
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

    fn turn(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<Turn<P>, PlayerError> {
        let moves: Vec<P::Move> = game.position().moves().collect();
        match self.policy.batch_size() > 1 && moves.len() > 1 {
            true => Ok(Turn::NeedsScores(self.policy.clone(), moves)),
            false => self.choose(game, rng).map(Turn::Move),
        }
    }
}
