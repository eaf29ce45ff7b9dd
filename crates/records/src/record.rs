//! A game that was played, with what is known about it.

use outflank_games::othello::Othello;
use outflank_games::{Line, MoveError, Position, Side};

/// One move of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ply<M> {
    /// The move.
    pub mv: M,
    /// Whether it was forced on the player at random rather than chosen.
    pub random: bool,
    /// The player's own valuation, in discs for its side, where the record has one.
    pub value: Option<f32>,
    /// The time it took, where the record has one.
    pub seconds: Option<f32>,
}

impl<M> Ply<M> {
    /// A chosen move of which nothing else is known.
    pub fn new(mv: M) -> Self {
        Ply { mv, random: false, value: None, seconds: None }
    }
}

/// What a record says beside the moves. Empty and `None` mean that it does not say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    /// Who played Black.
    pub black: String,
    /// Who played White.
    pub white: String,
    /// Black's rating.
    pub black_rating: Option<f32>,
    /// White's rating.
    pub white_rating: Option<f32>,
    /// The tournament or place.
    pub event: String,
    /// When it was played, as the record writes it; begins with the year.
    pub date: String,
    /// The time control, as GGF writes it.
    pub clock: String,
    /// White's time control where it is not the same as Black's, otherwise empty.
    pub white_clock: String,
    /// The announced result: Black's discs less White's, empty squares going to the winner.
    pub result: Option<i32>,
    /// How the game ended, unless it was played out or just broke off.
    pub ending: Option<Ending>,
    /// The result that perfect play would have had from the depth that the file states.
    pub perfect: Option<i32>,
    /// That depth: how many squares were empty when perfect play began.
    pub depth: Option<u8>,
}

/// How a game ended that was not played out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ending {
    /// One side gave up.
    Resigned,
    /// One side's time ran out.
    Timeout,
    /// Both sides agreed on the score.
    Agreed,
}

impl About {
    /// The year that the date begins with.
    #[must_use]
    pub fn year(&self) -> Option<u16> {
        self.date.get(..4)?.parse().ok()
    }
}

/// A game, every move of which is legal.
#[derive(Clone, Debug, PartialEq)]
pub struct Record<P: Position> {
    start: P,
    plies: Vec<Ply<P::Move>>,
    end: P,
    /// What is known beside the moves.
    pub about: About,
}

impl<P: Position> Record<P> {
    /// A record with no move yet.
    #[must_use]
    pub fn new(start: P, about: About) -> Self {
        Record::with_capacity(start, about, 0)
    }

    /// A record with no move yet and room for as many as will follow.
    #[must_use]
    pub fn with_capacity(start: P, about: About, plies: usize) -> Self {
        Record { start, plies: Vec::with_capacity(plies), end: start, about }
    }

    /// A record of the moves of a line.
    #[must_use]
    pub fn of_line(line: &Line<P>, about: About) -> Self {
        Record {
            start: *line.start(),
            plies: line.moves().iter().map(|&mv| Ply::new(mv)).collect(),
            end: *line.position(),
            about,
        }
    }

    /// Adds a move, unless the rules forbid it.
    pub fn push(&mut self, ply: Ply<P::Move>) -> Result<(), MoveError> {
        if !self.end.is_legal(ply.mv) {
            let mv = ply.mv.to_string();
            return Err(if self.end.is_over() {
                MoveError::Over(mv)
            } else {
                MoveError::Illegal { mv, side: self.end.to_move() }
            });
        }
        self.end = self.end.play(ply.mv);
        self.plies.push(ply);
        Ok(())
    }

    /// Where the game began.
    pub fn start(&self) -> &P {
        &self.start
    }

    /// The moves.
    pub fn plies(&self) -> &[Ply<P::Move>] {
        &self.plies
    }

    /// Where the record ends: a finished game, or where it was broken off.
    pub fn end(&self) -> &P {
        &self.end
    }

    /// The positions before each move, and the ply.
    pub fn steps(&self) -> impl Iterator<Item = (P, &Ply<P::Move>)> {
        let mut position = self.start;
        self.plies.iter().map(move |ply| {
            let before = position;
            position = position.play(ply.mv);
            (before, ply)
        })
    }
}

impl Record<Othello> {
    /// Black's discs less White's on the last board, the empty squares going to the leader, whether
    /// or not the game is over.
    #[must_use]
    pub fn standing(&self) -> i32 {
        let count = |side| self.end.discs(side).count_ones() as i32;
        let margin = count(Side::Black) - count(Side::White);
        margin + margin.signum() * self.end.empties() as i32
    }
}
