//! A player that chooses uniformly at random.

use crate::{Player, PlayerError};
use outflank_games::{Line, Position};
use outflank_runs::{Rng, RngExt};

/// Plays uniformly random legal moves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Random;

impl<P: Position> Player<P> for Random {
    fn choose(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<P::Move, PlayerError> {
        random_move(game.position(), rng).ok_or_else(|| game_over("random"))
    }
}

/// Returns a uniformly random legal move, or `None` if the game is over. Uses one random number.
pub(crate) fn random_move<P: Position>(position: &P, rng: &mut Rng) -> Option<P::Move> {
    let count = position.moves().count() as u32;
    position.moves().nth(rng.below(count) as usize)
}

/// Returns the error for a request to move in a finished game.
pub(crate) fn game_over(player: &str) -> PlayerError {
    PlayerError::Refused { player: player.to_owned(), reason: "the game is over".to_owned() }
}
