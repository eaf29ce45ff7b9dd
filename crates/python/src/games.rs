//! The games by name.

use crate::errors::OrRaise;
use outflank_games::Game;
use pyo3::prelude::*;

/// Evaluates an expression with the type `$P` of the positions of a game.
macro_rules! with_game {
    ($game:expr, $P:ident => $body:expr) => {
        match $game {
            outflank_games::Game::Othello => {
                type $P = outflank_games::othello::Othello;
                $body
            }
            outflank_games::Game::Checkers => {
                type $P = outflank_games::checkers::Checkers;
                $body
            }
        }
    };
}

pub(crate) use with_game;

/// Parses the name of a game.
pub(crate) fn parse_game(name: &str) -> PyResult<Game> {
    name.parse().or_raise()
}
