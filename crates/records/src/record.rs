//! Game records.

use outflank_games::othello::Othello;
use outflank_games::{Line, MoveError, Position, Side};

/// One move of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ply<M> {
    /// The move.
    pub mv: M,
    /// Whether the move is a random move and not chosen by the player.
    pub random: bool,
    /// The player's evaluation, in discs for its side, if recorded.
    pub value: Option<f32>,
    /// The time used, if recorded.
    pub seconds: Option<f32>,
}

impl<M> Ply<M> {
    /// Creates a chosen move without evaluation and time.
    pub fn new(mv: M) -> Self {
        Ply { mv, random: false, value: None, seconds: None }
    }
}

/// The metadata of a game. Empty strings and `None` stand for unknown values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GameInfo {
    /// The name of Black.
    pub black: String,
    /// The name of White.
    pub white: String,
    /// Black's rating.
    pub black_rating: Option<f32>,
    /// White's rating.
    pub white_rating: Option<f32>,
    /// The tournament or site.
    pub event: String,
    /// The date as written in the record, starting with the year.
    pub date: String,
    /// The time control of both sides, or of Black, in GGF notation.
    pub clock: String,
    /// White's time control if it differs from Black's, otherwise empty.
    pub white_clock: String,
    /// The recorded result: Black's discs minus White's, with empty squares counted for the winner.
    pub result: Option<i32>,
    /// The reason for an early end of the game.
    pub termination: Option<Termination>,
    /// The result of perfect play from the position with [`perfect_depth`](GameInfo::perfect_depth)
    /// empty squares.
    pub perfect_result: Option<i32>,
    /// The number of empty squares from which perfect play was computed.
    pub perfect_depth: Option<u8>,
}

/// The reason for an early end of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Termination {
    /// One side resigned.
    Resigned,
    /// One side exceeded its time.
    Timeout,
    /// The players agreed on the score.
    Agreed,
}

impl GameInfo {
    /// Returns the year of the date.
    #[must_use]
    pub fn year(&self) -> Option<u16> {
        self.date.get(..4)?.parse().ok()
    }

    /// Returns whether the name of the player of `side` matches `name`.
    ///
    /// `name` is a case-insensitive substring, or the full name after a `=`. An unknown player
    /// matches nothing, not even the empty string.
    #[must_use]
    pub fn is_played_by(&self, side: Side, name: &str) -> bool {
        let player = match side {
            Side::Black => &self.black,
            Side::White => &self.white,
        };
        !player.is_empty() && name_matches(player, name)
    }
}

/// Returns whether a name contains `pattern` or, if `pattern` starts with `=`, equals the rest of
/// it. Case is ignored.
pub(crate) fn name_matches(name: &str, pattern: &str) -> bool {
    let name = name.to_lowercase();
    match pattern.strip_prefix('=') {
        Some(full) => name == full.to_lowercase(),
        None => name.contains(&pattern.to_lowercase()),
    }
}

/// A recorded game. All its moves are legal.
#[derive(Clone, Debug, PartialEq)]
pub struct Record<P: Position> {
    start: P,
    plies: Vec<Ply<P::Move>>,
    end: P,
    /// The metadata.
    pub info: GameInfo,
}

impl<P: Position> Record<P> {
    /// Creates a record without moves.
    #[must_use]
    pub fn new(start: P, info: GameInfo) -> Self {
        Record::with_capacity(start, info, 0)
    }

    /// Creates a record without moves and reserves memory for `plies` moves.
    #[must_use]
    pub fn with_capacity(start: P, info: GameInfo, plies: usize) -> Self {
        Record { start, plies: Vec::with_capacity(plies), end: start, info }
    }

    /// Creates a record from the moves of a line.
    #[must_use]
    pub fn from_line(line: &Line<P>, info: GameInfo) -> Self {
        Record {
            start: *line.start(),
            plies: line.moves().iter().map(|&mv| Ply::new(mv)).collect(),
            end: *line.position(),
            info,
        }
    }

    /// Returns the start and the moves of the game as a line.
    #[must_use]
    pub fn to_line(&self) -> Line<P> {
        let mut line = Line::new(self.start);
        for ply in &self.plies {
            line.push(ply.mv).expect("the moves of a record are legal");
        }
        line
    }

    /// Appends a move.
    ///
    /// # Errors
    ///
    /// Fails if the move is illegal or the game is over; the record is unchanged.
    pub fn push(&mut self, ply: Ply<P::Move>) -> Result<(), MoveError> {
        self.end = self.end.try_play(ply.mv)?;
        self.plies.push(ply);
        Ok(())
    }

    /// Returns the starting position.
    pub fn start(&self) -> &P {
        &self.start
    }

    /// Returns the moves.
    pub fn plies(&self) -> &[Ply<P::Move>] {
        &self.plies
    }

    /// Returns the position after the last move. The game may be unfinished.
    pub fn end(&self) -> &P {
        &self.end
    }

    /// Iterates over the moves, each with the position before it.
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
    /// Returns Black's discs minus White's on the last board, with empty squares counted for the
    /// side with more discs, even if the game is unfinished.
    #[must_use]
    pub fn disc_score(&self) -> i32 {
        let count = |side| self.end.discs(side).count_ones() as i32;
        let margin = count(Side::Black) - count(Side::White);
        margin + margin.signum() * self.end.empties() as i32
    }
}
