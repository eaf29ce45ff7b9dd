//! The [`Player`] trait and its errors.

use crate::SearchControl;
use crate::tie_break::best_index;
use outflank_games::{Line, Position};
use outflank_models::Policy;
use outflank_runs::Rng;
use std::sync::Arc;

/// Reasons why a player did not return a move. The arena scores the game as a resignation
/// or a forfeit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlayerError {
    /// The player could not be started.
    #[error("{player} does not start: {reason}")]
    Start {
        /// Name of the player.
        player: String,
        /// Error of the operating system or of the engine.
        reason: String,
    },
    /// The player did not answer within its time limit.
    #[error("{player} gave no answer within {seconds} s")]
    Timeout {
        /// Name of the player.
        player: String,
        /// The time limit.
        seconds: u64,
    },
    /// The player's process exited during a game.
    #[error("{player} exited during a game{detail}")]
    Exited {
        /// Name of the player.
        player: String,
        /// Exit status and last lines of standard error.
        detail: String,
    },
    /// The player answered with a text that is not a legal move.
    #[error("{player} answered '{answer}', which is not a legal move in this position")]
    IllegalMove {
        /// Name of the player.
        player: String,
        /// The answer.
        answer: String,
    },
    /// The player resigned the game.
    #[error("{player} resigned")]
    Resigned {
        /// Name of the player.
        player: String,
    },
    /// The caller stopped the search; see [`Player::set_control`].
    #[error("{player} was stopped before it chose a move")]
    Stopped {
        /// Name of the player.
        player: String,
    },
    /// The player rejected the position, or cannot play it.
    #[error("{player} cannot play this game: {reason}")]
    Refused {
        /// Name of the player.
        player: String,
        /// The reason.
        reason: String,
    },
}

/// The result of [`Player::start_turn`]: a move, or a request for policy scores.
pub enum Turn<P: Position> {
    /// The chosen move.
    Move(P::Move),
    /// The player needs the scores of these moves under this policy. The caller computes them, in
    /// one batch with those of other games, and passes them to [`Player::finish_turn`].
    NeedsScores(Arc<dyn Policy<P>>, Vec<P::Move>),
}

/// Chooses moves in games of `P`.
pub trait Player<P: Position>: Send {
    /// Prepares for a new game. Moves must not depend on earlier games.
    fn new_game(&mut self) -> Result<(), PlayerError> {
        Ok(())
    }

    /// Chooses a move in a game that is not over.
    fn choose(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<P::Move, PlayerError>;

    /// Chooses a move like [`choose`](Player::choose), or returns the policy evaluation it needs.
    ///
    /// Callers that play many games in lockstep use this to evaluate the policy in batches.
    fn start_turn(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<Turn<P>, PlayerError> {
        self.choose(game, rng).map(Turn::Move)
    }

    /// Chooses a move from the scores that [`start_turn`](Player::start_turn) requested.
    fn finish_turn(&mut self, moves: &[P::Move], scores: &[f32], rng: &mut Rng) -> Option<P::Move> {
        best_index(scores, rng).and_then(|best| moves.get(best).copied())
    }

    /// Returns whether [`RandomMoves`](crate::RandomMoves) replaced the last move by a random one.
    fn last_was_random(&self) -> bool {
        false
    }

    /// Sets the control that can stop this player.
    ///
    /// Once the control is stopped, [`choose`](Player::choose) returns [`PlayerError::Stopped`]
    /// soon after. Players that answer immediately ignore it, and so do external engines, which
    /// have a timeout.
    fn set_control(&mut self, control: &Arc<SearchControl>) {
        let _ = control;
    }
}

/// Forwards all methods to the wrapped player.
macro_rules! forward_player {
    ($($kind:ty),*) => {$(
        impl<P: Position> Player<P> for $kind {
            fn new_game(&mut self) -> Result<(), PlayerError> {
                (**self).new_game()
            }

            fn choose(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<P::Move, PlayerError> {
                (**self).choose(game, rng)
            }

            fn start_turn(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<Turn<P>, PlayerError> {
                (**self).start_turn(game, rng)
            }

            fn finish_turn(&mut self, moves: &[P::Move], scores: &[f32], rng: &mut Rng) -> Option<P::Move> {
                (**self).finish_turn(moves, scores, rng)
            }

            fn last_was_random(&self) -> bool {
                (**self).last_was_random()
            }

            fn set_control(&mut self, control: &Arc<SearchControl>) {
                (**self).set_control(control);
            }
        }
    )*};
}

forward_player!(Box<dyn Player<P>>, &mut dyn Player<P>);
