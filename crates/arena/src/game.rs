//! One game between two players.

use crate::lockstep::{GameSetup, play_lockstep};
use outflank_games::{Line, Position, Side};
use outflank_players::Player;
use outflank_runs::Rng;

/// The text in [`PlayedGame::forfeit`] of a player that resigned.
pub(crate) const RESIGNED: &str = "resigned";

/// A finished game: played to its end, resigned, or forfeited by a player that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayedGame<P: Position> {
    /// The opening and the moves.
    pub line: Line<P>,
    /// For each move of the line, whether it was a random move; `false` in the opening.
    pub random: Vec<bool>,
    /// The result for Black ([`Position::result`]); a resignation or forfeit is the largest possible
    /// loss.
    pub result: i32,
    /// The side that resigned or forfeited, and `resigned` or the error of its player.
    pub forfeit: Option<(Side, String)>,
}

impl<P: Position> PlayedGame<P> {
    /// Creates a game that has not left its opening.
    pub(crate) fn from_opening(opening: &Line<P>) -> PlayedGame<P> {
        PlayedGame {
            line: opening.clone(),
            random: vec![false; opening.moves().len()],
            result: 0,
            forfeit: None,
        }
    }

    /// Whether a player resigned.
    #[must_use]
    pub fn is_resigned(&self) -> bool {
        self.forfeit.as_ref().is_some_and(|(_, error)| error == RESIGNED)
    }

    /// Black's score in half points: 2, 1 or 0.
    #[must_use]
    pub fn half_points(&self) -> u32 {
        (1 + self.result.signum()) as u32
    }
}

/// Plays a game from an opening. A player that fails forfeits the game.
pub fn play<'a, P: Position>(
    black: &'a mut dyn Player<P>,
    white: &'a mut dyn Player<P>,
    opening: &Line<P>,
    rng: &mut Rng,
) -> PlayedGame<P> {
    let setup = GameSetup { players: [black, white], line: opening.clone(), rng };
    let mut played = play_lockstep(vec![setup]);
    played.swap_remove(0).1
}
