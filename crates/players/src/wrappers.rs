//! Players that wrap other players.

use crate::random::{game_over, random_move};
use crate::{Player, PlayerError, SearchControl, Turn};
use outflank_games::{Line, Position};
use outflank_runs::{Rng, RngExt};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Adds random moves to a player: on each turn, with probability `epsilon`, a uniformly random legal
/// move replaces the player's choice.
///
/// Passes are not turns. [`Player::last_was_random`] reports the random moves.
pub struct RandomMoves<T> {
    inner: T,
    epsilon: f64,
    last_was_random: bool,
}

impl<T> RandomMoves<T> {
    /// Wraps `inner` with random moves of probability `epsilon`.
    #[must_use]
    pub fn new(inner: T, epsilon: f64) -> RandomMoves<T> {
        RandomMoves { inner, epsilon, last_was_random: false }
    }
}

impl<P: Position, T: Player<P>> Player<P> for RandomMoves<T> {
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

/// A player that lets another player choose the moves of a range of plies.
///
/// Plies are numbered from 1 by [`Line::next_ply`]. In Othello the number follows from the discs on
/// the board, so openings count and passes do not: ply 1 places the fifth disc, ply 60 the last. In
/// checkers plies are counted from the start of the [`Line`].
pub struct PlySwitch<T, U> {
    inner: T,
    other: U,
    /// The plies of the other player.
    plies: RangeInclusive<u32>,
    /// Whether the other player chose the last move.
    other_moved: bool,
}

impl<T, U> PlySwitch<T, U> {
    /// Creates a player in which `other` chooses the moves of `plies` and `inner` all others.
    #[must_use]
    pub fn new(inner: T, other: U, plies: RangeInclusive<u32>) -> PlySwitch<T, U> {
        PlySwitch { inner, other, plies, other_moved: false }
    }
}

impl<P: Position, T: Player<P>, U: Player<P>> Player<P> for PlySwitch<T, U> {
    fn new_game(&mut self) -> Result<(), PlayerError> {
        self.other_moved = false;
        self.inner.new_game()?;
        self.other.new_game()
    }

    fn choose(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<P::Move, PlayerError> {
        self.other_moved = self.plies.contains(&game.next_ply());
        if self.other_moved { self.other.choose(game, rng) } else { self.inner.choose(game, rng) }
    }

    fn start_turn(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<Turn<P>, PlayerError> {
        self.other_moved = self.plies.contains(&game.next_ply());
        if self.other_moved {
            self.other.start_turn(game, rng)
        } else {
            self.inner.start_turn(game, rng)
        }
    }

    fn finish_turn(&mut self, moves: &[P::Move], scores: &[f32], rng: &mut Rng) -> Option<P::Move> {
        match self.other_moved {
            true => self.other.finish_turn(moves, scores, rng),
            false => self.inner.finish_turn(moves, scores, rng),
        }
    }

    fn last_was_random(&self) -> bool {
        if self.other_moved { self.other.last_was_random() } else { self.inner.last_was_random() }
    }

    fn set_control(&mut self, control: &Arc<SearchControl>) {
        self.inner.set_control(control);
        self.other.set_control(control);
    }
}
