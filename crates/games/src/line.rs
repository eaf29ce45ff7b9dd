//! A game in progress: starting position, moves, current position.

use crate::{MoveError, Position};

/// A starting position and a sequence of legal moves from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<P: Position> {
    start: P,
    moves: Vec<P::Move>,
    position: P,
}

impl<P: Position> Line<P> {
    /// Creates a line without moves.
    #[must_use]
    pub fn new(start: P) -> Self {
        Line { start, moves: Vec::new(), position: start }
    }

    /// Returns the starting position.
    #[must_use]
    pub fn start(&self) -> &P {
        &self.start
    }

    /// Returns the moves from the starting position.
    #[must_use]
    pub fn moves(&self) -> &[P::Move] {
        &self.moves
    }

    /// Returns the position after the last move.
    #[must_use]
    pub fn position(&self) -> &P {
        &self.position
    }

    /// Returns the number of the next move, counted from 1.
    ///
    /// If the position determines its ply (see [`Position::next_ply`]), moves are counted from the
    /// start of the game, otherwise from the start of this line.
    #[must_use]
    pub fn next_ply(&self) -> u32 {
        self.position.next_ply().unwrap_or(self.moves.len() as u32 + 1)
    }

    /// Appends a move.
    ///
    /// # Errors
    ///
    /// Fails if the move is illegal or the game is over; the line is unchanged.
    pub fn push(&mut self, mv: P::Move) -> Result<(), MoveError> {
        self.position = self.position.try_play(mv)?;
        self.moves.push(mv);
        Ok(())
    }

    /// Iterates over the moves, each with the position before it.
    pub fn steps(&self) -> impl Iterator<Item = (P, P::Move)> + '_ {
        let mut position = self.start;
        self.moves.iter().map(move |&mv| {
            let before = position;
            position = position.play(mv);
            (before, mv)
        })
    }
}

impl<P: Position> Default for Line<P> {
    /// Creates a line without moves from the start of the game.
    fn default() -> Self {
        Line::new(P::start())
    }
}
