//! Players that wrap other players.

use crate::random::{game_over, random_move};
use crate::{Player, PlayerError, SearchControl, Turn};
use outflank_games::{Line, Position};
use outflank_runs::{Rng, RngExt};
use std::sync::Arc;

/// A player with forced random moves.
///
/// On each turn it plays a uniformly random legal move with probability `epsilon`. Passes are not
/// turns. [`Player::last_was_random`] reports the random moves.
pub struct ForcedRandom<T> {
    inner: T,
    epsilon: f64,
    last_was_random: bool,
}

impl<T> ForcedRandom<T> {
    /// Wraps `inner` with random moves of probability `epsilon`.
    #[must_use]
    pub fn new(inner: T, epsilon: f64) -> ForcedRandom<T> {
        ForcedRandom { inner, epsilon, last_was_random: false }
    }
}

impl<P: Position, T: Player<P>> Player<P> for ForcedRandom<T> {
    fn new_game(&mut self) -> Result<(), PlayerError> {
        self.last_was_random = false;
        self.inner.new_game()
    }

    fn choose(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<P::Move, PlayerError> {
        self.last_was_random = false;
        if rng.chance(self.epsilon) {
            let mv = random_move(game.position(), rng).ok_or_else(|| game_over("random"))?;
            self.last_was_random = true;
            return Ok(mv);
        }
        let mv = self.inner.choose(game, rng)?;
        self.last_was_random = self.inner.last_was_random();
        Ok(mv)
    }

    fn start_turn(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<Turn<P>, PlayerError> {
        self.last_was_random = false;
        if rng.chance(self.epsilon) {
            let mv = random_move(game.position(), rng).ok_or_else(|| game_over("random"))?;
            self.last_was_random = true;
            return Ok(Turn::Move(mv));
        }
        let turn = self.inner.start_turn(game, rng)?;
        self.last_was_random = self.inner.last_was_random();
        Ok(turn)
    }

    fn finish_turn(&mut self, moves: &[P::Move], scores: &[f32], rng: &mut Rng) -> Option<P::Move> {
        self.inner.finish_turn(moves, scores, rng)
    }

    fn last_was_random(&self) -> bool {
        self.last_was_random
    }

    fn set_control(&mut self, control: &Arc<SearchControl>) {
        self.inner.set_control(control);
    }
}

/// A player that delegates a range of moves to another player.
///
/// In Othello moves are numbered by discs: the move that places the fifth disc is move 1, and the
/// last is move 60, regardless of passes and openings. In checkers moves are counted from the start
/// of the line.
pub struct Staged<T, U> {
    inner: T,
    other: U,
    from_ply: u32,
    to_ply: u32,
    /// Whether the other player made the last move.
    delegated: bool,
}

impl<T, U> Staged<T, U> {
    /// Creates a player in which `other` plays the moves `from_ply` to `to_ply`, inclusive.
    #[must_use]
    pub fn new(inner: T, other: U, from_ply: u32, to_ply: u32) -> Staged<T, U> {
        Staged { inner, other, from_ply, to_ply, delegated: false }
    }
}

impl<P: Position, T: Player<P>, U: Player<P>> Player<P> for Staged<T, U> {
    fn new_game(&mut self) -> Result<(), PlayerError> {
        self.delegated = false;
        self.inner.new_game()?;
        self.other.new_game()
    }

    fn choose(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<P::Move, PlayerError> {
        self.delegated = (self.from_ply..=self.to_ply).contains(&game.next_ply());
        if self.delegated { self.other.choose(game, rng) } else { self.inner.choose(game, rng) }
    }

    fn start_turn(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<Turn<P>, PlayerError> {
        self.delegated = (self.from_ply..=self.to_ply).contains(&game.next_ply());
        if self.delegated {
            self.other.start_turn(game, rng)
        } else {
            self.inner.start_turn(game, rng)
        }
    }

    fn finish_turn(&mut self, moves: &[P::Move], scores: &[f32], rng: &mut Rng) -> Option<P::Move> {
        match self.delegated {
            true => self.other.finish_turn(moves, scores, rng),
            false => self.inner.finish_turn(moves, scores, rng),
        }
    }

    fn last_was_random(&self) -> bool {
        if self.delegated { self.other.last_was_random() } else { self.inner.last_was_random() }
    }

    fn set_control(&mut self, control: &Arc<SearchControl>) {
        self.inner.set_control(control);
        self.other.set_control(control);
    }
}
