//! One game between two players.

use crate::lockstep::{GameSetup, play_lockstep};
use outflank_games::{Line, Position, Side};
use outflank_players::Player;
use outflank_runs::Rng;
use std::fmt;

/// The reason of a loss before the end of the game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EarlyEndReason {
    /// The player resigned.
    Resigned,
    /// The player failed and forfeited the game; the text is its error.
    Failed(String),
}

/// Formats as `resigned` or as the error.
impl fmt::Display for EarlyEndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EarlyEndReason::Resigned => f.write_str("resigned"),
            EarlyEndReason::Failed(error) => f.write_str(error),
        }
    }
}

/// The loss of a game before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlyEnd {
    /// The side that lost.
    pub loser: Side,
    /// The reason.
    pub reason: EarlyEndReason,
}

/// A finished game: played to its end, resigned, or forfeited by a player that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayedGame<P: Position> {
    /// The opening and the moves.
    pub line: Line<P>,
    /// For each move of the line, whether it was a random move; `false` in the opening.
    pub random: Vec<bool>,
    /// The result for Black ([`Position::result`]); a resignation or forfeit is the largest
    /// possible loss.
    pub result: i32,
    /// The resignation or forfeit, if the game was not played to its end.
    pub early_end: Option<EarlyEnd>,
}

impl<P: Position> PlayedGame<P> {
    /// Creates a game with the moves of its opening and no result.
    pub(crate) fn from_opening(opening: &Line<P>) -> PlayedGame<P> {
        PlayedGame {
            line: opening.clone(),
            random: vec![false; opening.moves().len()],
            result: 0,
            early_end: None,
        }
    }

    /// Whether a player resigned.
    #[must_use]
    pub fn is_resigned(&self) -> bool {
        self.early_end.as_ref().is_some_and(|end| end.reason == EarlyEndReason::Resigned)
    }

    /// Black's score in half points: 2, 1 or 0.
    #[must_use]
    pub fn half_points(&self) -> u32 {
        (1 + self.result.signum()) as u32
    }
}

/// Plays a game from an opening. A player that fails forfeits the game.
pub fn play_game<'a, P: Position>(
    black: &'a mut dyn Player<P>,
    white: &'a mut dyn Player<P>,
    opening: &Line<P>,
    rng: &mut Rng,
) -> PlayedGame<P> {
    let setup = GameSetup { players: [black, white], line: opening.clone(), rng };
    let mut played = play_lockstep(vec![setup]);
    played.swap_remove(0).1
}
