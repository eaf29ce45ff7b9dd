//! What a player is, and how one can fail.

use crate::SearchControl;
use crate::choice::best_index;
use outflank_games::{Line, Position};
use outflank_models::Policy;
use outflank_runs::Rng;
use std::sync::Arc;

/// Why a player did not move. The arena scores the game as its loss and goes on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlayerError {
    /// It could not be started at all.
    #[error("{player} does not start: {reason}")]
    Start {
        /// Who.
        player: String,
        /// Why, in the system's words or the engine's.
        reason: String,
    },
    /// It gave no answer in its time.
    #[error("{player} gave no answer within {seconds} s")]
    Hung {
        /// Who.
        player: String,
        /// The time it had.
        seconds: u64,
    },
    /// Its process ended.
    #[error("{player} ended in the middle of a game{detail}")]
    Died {
        /// Who.
        player: String,
        /// What it left behind, such as its exit status.
        detail: String,
    },
    /// It answered with a move that the rules forbid, or with none.
    #[error("{player} answered '{answer}', which is not a legal move here")]
    Illegal {
        /// Who.
        player: String,
        /// What it said.
        answer: String,
    },
    /// Whoever waited for it has stopped it; see [`Player::obey`].
    #[error("{player} was stopped before it had chosen")]
    Stopped {
        /// Who.
        player: String,
    },
    /// It refused, or cannot be asked, this position.
    #[error("{player} cannot play this game: {reason}")]
    Refused {
        /// Who.
        player: String,
        /// Why.
        reason: String,
    },
}

/// What a player says who may want to ask a model about several games at a time.
pub enum Turn<P: Position> {
    /// This is the move.
    Move(P::Move),
    /// Tell me first what this model thinks of these moves; then I [`settle`](Player::settle).
    Ask(Arc<dyn Policy<P>>, Vec<P::Move>),
}

/// Someone who chooses moves.
pub trait Player<P: Position>: Send {
    /// A new game begins: whatever was remembered of the last one must not matter any more.
    fn begin(&mut self) -> Result<(), PlayerError> {
        Ok(())
    }

    /// The move to play in a game that is not over.
    fn choose(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<P::Move, PlayerError>;

    /// The move to play, or what the player has to know for it. Whoever plays many games side by side
    /// gathers the questions to one model and asks them together; the moves are those of `choose`.
    fn turn(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<Turn<P>, PlayerError> {
        self.choose(game, rng).map(Turn::Move)
    }

    /// The move to play, given the scores of the moves that [`turn`](Player::turn) asked about.
    fn settle(&mut self, moves: &[P::Move], scores: &[f32], rng: &mut Rng) -> Option<P::Move> {
        best_index(scores, rng).and_then(|best| moves.get(best).copied())
    }

    /// Whether the last move was forced upon the player by chance rather than chosen.
    fn last_was_random(&self) -> bool {
        false
    }

    /// From now on a choice ends with [`PlayerError::Stopped`] soon after this control is stopped. A player
    /// who answers at once has no need to listen; another program is not stopped either, its time
    /// is limited as it is.
    fn obey(&mut self, control: &Arc<SearchControl>) {
        let _ = control;
    }
}

/// Whoever stands for a player plays as it does.
macro_rules! stands_for_a_player {
    ($($kind:ty),*) => {$(
        impl<P: Position> Player<P> for $kind {
            fn begin(&mut self) -> Result<(), PlayerError> {
                (**self).begin()
            }

            fn choose(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<P::Move, PlayerError> {
                (**self).choose(game, rng)
            }

            fn turn(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<Turn<P>, PlayerError> {
                (**self).turn(game, rng)
            }

            fn settle(&mut self, moves: &[P::Move], scores: &[f32], rng: &mut Rng) -> Option<P::Move> {
                (**self).settle(moves, scores, rng)
            }

            fn last_was_random(&self) -> bool {
                (**self).last_was_random()
            }

            fn obey(&mut self, control: &Arc<SearchControl>) {
                (**self).obey(control);
            }
        }
    )*};
}

stands_for_a_player!(Box<dyn Player<P>>, &mut dyn Player<P>);
