//! A player who does not think.

use crate::{PlayerError, Player};
use outflank_games::{Line, Position};
use outflank_runs::{RngExt, Rng};

/// Plays every legal move equally often.
#[derive(Clone, Copy, Debug, Default)]
pub struct Random;

impl<P: Position> Player<P> for Random {
    fn choose(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<P::Move, PlayerError> {
        random_move(game.position(), rng).ok_or_else(|| game_over("random"))
    }
}

/// A legal move, all equally likely; `None` when the game is over. Draws exactly one number.
pub(crate) fn random_move<P: Position>(position: &P, rng: &mut Rng) -> Option<P::Move> {
    let count = position.moves().count() as u32;
    position.moves().nth(rng.below(count) as usize)
}

/// What a player says who is asked for a move after the end.
pub(crate) fn game_over(player: &str) -> PlayerError {
    PlayerError::Refused { player: player.to_owned(), reason: "the game is over".to_owned() }
}
