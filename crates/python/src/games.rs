//! The games by name.

use crate::errors::{OrRaise, error};
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::{Game, Position};
use pyo3::prelude::*;

/// Evaluates an expression with the type `$P` of the positions of a game.
macro_rules! with_game {
    ($game:expr, $P:ident => $body:expr) => {
        if $game == <outflank_games::checkers::Checkers as outflank_games::Position>::GAME {
            type $P = outflank_games::checkers::Checkers;
            $body
        } else {
            type $P = outflank_games::othello::Othello;
            $body
        }
    };
}

pub(crate) use with_game;

/// Parses the name of a game: othello or checkers.
pub(crate) fn parse_game(name: &str) -> PyResult<Game> {
    let game: Game = name.parse().or_raise()?;
    match [Othello::GAME, Checkers::GAME].contains(&game) {
        true => Ok(game),
        false => Err(error(format!("the package has no {game}; use othello or checkers"))),
    }
}
