//! One game between two players.

use crate::together::{Table, play_together};
use outflank_games::{Game, Line, Position, Side};
use outflank_players::Player;
use outflank_runs::Rng;

/// A game that was played to its end, or to the move at which a player failed.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayedGame<P: Position> {
    /// The opening and the moves.
    pub line: Line<P>,
    /// For each move of the line, whether it was forced at random; opening moves are not.
    pub random: Vec<bool>,
    /// By how much Black won; a player who failed loses by the most there is.
    pub margin: i32,
    /// Who failed, and how.
    pub fault: Option<(Side, String)>,
}

impl<P: Position> PlayedGame<P> {
    /// Black's score in half points: 2, 1 or 0.
    #[must_use]
    pub fn half_points(&self) -> u32 {
        (1 + self.margin.signum()) as u32
    }
}

/// The margin of a game that a player lost by failing.
pub(crate) fn forfeit_margin(game: Game) -> i32 {
    match game {
        Game::Othello => 64,
        Game::Checkers => 1,
    }
}

/// Plays a game from an opening. A player who fails loses it.
pub fn play<'a, P: Position>(
    black: &'a mut dyn Player<P>,
    white: &'a mut dyn Player<P>,
    opening: &Line<P>,
    rng: &mut Rng,
) -> PlayedGame<P> {
    let table = Table { players: [black, white], line: opening.clone(), rng };
    let mut played = play_together(vec![table]);
    played.swap_remove(0).1
}
