//! A game in progress: where it began, what was played, where it stands.

use crate::{MoveError, Position};

/// A start and the moves played since, each checked as it was added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<P: Position> {
    start: P,
    moves: Vec<P::Move>,
    position: P,
}

impl<P: Position> Line<P> {
    /// A line with no move yet.
    #[must_use]
    pub fn new(start: P) -> Self {
        Line { start, moves: Vec::new(), position: start }
    }

    /// Where the line began.
    #[must_use]
    pub fn start(&self) -> &P {
        &self.start
    }

    /// The moves since the start.
    #[must_use]
    pub fn moves(&self) -> &[P::Move] {
        &self.moves
    }

    /// Where the line stands now.
    #[must_use]
    pub fn position(&self) -> &P {
        &self.position
    }

    /// Adds a move, unless the rules forbid it.
    pub fn push(&mut self, mv: P::Move) -> Result<(), MoveError> {
        if !self.position.is_legal(mv) {
            let mv = mv.to_string();
            return Err(if self.position.is_over() {
                MoveError::Over(mv)
            } else {
                MoveError::Illegal { mv, side: self.position.to_move() }
            });
        }
        self.position = self.position.play(mv);
        self.moves.push(mv);
        Ok(())
    }

    /// The positions before each move, and the move.
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
    fn default() -> Self {
        Line::new(P::start())
    }
}
