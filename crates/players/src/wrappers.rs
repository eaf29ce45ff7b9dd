//! Players made of other players.

use crate::random::{game_over, random_move};
use crate::{SearchControl, PlayerError, Player, Turn};
use outflank_games::{Game, Line, Position};
use outflank_runs::{RngExt, Rng};
use std::sync::Arc;

/// Another player, made to play a random move now and then.
///
/// On each of its turns (a turn has a move: a side that cannot move passes without a turn) it
/// plays, with a fixed probability, a legal move chosen uniformly. [`Player::last_was_random`]
/// tells which moves those were.
pub struct ForcedRandom<T> {
    inner: T,
    epsilon: f64,
    last: bool,
}

impl<T> ForcedRandom<T> {
    /// `inner` with random moves of probability `epsilon`.
    #[must_use]
    pub fn new(inner: T, epsilon: f64) -> ForcedRandom<T> {
        ForcedRandom { inner, epsilon, last: false }
    }
}

impl<P: Position, T: Player<P>> Player<P> for ForcedRandom<T> {
    fn begin(&mut self) -> Result<(), PlayerError> {
        self.last = false;
        self.inner.new_game()
    }

    fn choose(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<P::Move, PlayerError> {
        self.last = false;
        if rng.chance(self.epsilon) {
            let mv = random_move(game.position(), rng).ok_or_else(|| game_over("random"))?;
            self.last = true;
            return Ok(mv);
        }
        let mv = self.inner.choose(game, rng)?;
        self.last = self.inner.last_was_random();
        Ok(mv)
    }

    fn turn(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<Turn<P>, PlayerError> {
        self.last = false;
        if rng.chance(self.epsilon) {
            let mv = random_move(game.position(), rng).ok_or_else(|| game_over("random"))?;
            self.last = true;
            return Ok(Turn::Move(mv));
        }
        let turn = self.inner.turn(game, rng)?;
        self.last = self.inner.last_was_random();
        Ok(turn)
    }

    fn settle(&mut self, moves: &[P::Move], scores: &[f32], rng: &mut Rng) -> Option<P::Move> {
        self.inner.settle(moves, scores, rng)
    }

    fn last_was_random(&self) -> bool {
        self.last
    }

    fn obey(&mut self, control: &Arc<SearchControl>) {
        self.inner.obey(control);
    }
}

/// A player who leaves some moves of the game to another.
///
/// In Othello a move has the number that its disc has: the first move of a game puts the fifth
/// disc on the board and is move 1, the last is move 60, whoever passed in between and whatever
/// the opening. In checkers moves are counted from where the line began.
pub struct Staged<T, U> {
    inner: T,
    other: U,
    from_ply: u32,
    to_ply: u32,
    /// Whether the last move was the other's.
    handed: bool,
}

impl<T, U> Staged<T, U> {
    /// `inner`, with `other` playing the moves `from_ply` to `to_ply`, both included.
    #[must_use]
    pub fn new(inner: T, other: U, from_ply: u32, to_ply: u32) -> Staged<T, U> {
        Staged { inner, other, from_ply, to_ply, handed: false }
    }
}

/// The number of the move about to be played, the first being 1.
fn ply<P: Position>(game: &Line<P>) -> u32 {
    match P::GAME {
        Game::Othello => game.position().pieces().saturating_sub(3),
        Game::Checkers => game.moves().len() as u32 + 1,
    }
}

impl<P: Position, T: Player<P>, U: Player<P>> Player<P> for Staged<T, U> {
    fn begin(&mut self) -> Result<(), PlayerError> {
        self.handed = false;
        self.inner.new_game()?;
        self.other.begin()
    }

    fn choose(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<P::Move, PlayerError> {
        self.handed = (self.from_ply..=self.to_ply).contains(&game.next_ply());
        if self.handed { self.other.choose(game, rng) } else { self.inner.choose(game, rng) }
    }

    fn turn(&mut self, game: &Line<P>, rng: &mut Rng) -> Result<Turn<P>, PlayerError> {
        self.handed = (self.from_ply..=self.to_ply).contains(&game.next_ply());
        if self.handed { self.other.turn(game, rng) } else { self.inner.turn(game, rng) }
    }

    fn settle(&mut self, moves: &[P::Move], scores: &[f32], rng: &mut Rng) -> Option<P::Move> {
        match self.handed {
            true => self.other.settle(moves, scores, rng),
            false => self.inner.settle(moves, scores, rng),
        }
    }

    fn last_was_random(&self) -> bool {
        if self.handed { self.other.last_was_random() } else { self.inner.last_was_random() }
    }

    fn obey(&mut self, control: &Arc<SearchControl>) {
        self.inner.obey(control);
        self.other.obey(control);
    }
}
