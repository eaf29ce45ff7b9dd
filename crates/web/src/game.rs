//! Games in requests and responses. Every request contains the whole game, so the server stores no
//! state.

use crate::error::ApiError;
use outflank_analysis::{BoardView, GameText};
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::{Game, Line, Side};
use serde::Deserialize;
use serde_json::{Value, json};

/// A game in a request.
#[derive(Clone, Debug, Deserialize)]
pub struct GameRequest {
    /// `othello` or `checkers`.
    pub game: String,
    /// The starting position, if it is not the standard one.
    #[serde(default)]
    pub start: Option<String>,
    /// The moves: a transcript for Othello, moves separated by spaces for checkers.
    #[serde(default)]
    pub moves: String,
}

/// A game of Othello or checkers with legal moves only.
#[derive(Clone, Debug)]
pub enum AnyLine {
    /// A game of Othello.
    Othello(Line<Othello>),
    /// A game of checkers.
    Checkers(Line<Checkers>),
}

impl GameRequest {
    /// Parses the game; the error names the first invalid move.
    pub fn parse(&self) -> Result<AnyLine, ApiError> {
        match self.game.parse::<Game>().map_err(ApiError::BadRequest)? {
            Game::Othello => self.parse_line().map(AnyLine::Othello),
            Game::Checkers => self.parse_line().map(AnyLine::Checkers),
        }
    }

    /// Parses the game and rejects games other than Othello.
    pub fn parse_othello(&self) -> Result<Line<Othello>, ApiError> {
        match self.game.parse::<Game>().map_err(ApiError::BadRequest)? {
            Game::Othello => self.parse_line(),
            Game::Checkers => {
                Err(ApiError::BadRequest("this request supports Othello only".to_owned()))
            }
        }
    }

    fn parse_line<P: GameText>(&self) -> Result<Line<P>, ApiError> {
        let text = match &self.start {
            Some(start) => format!("{start}: {}", self.moves),
            None => self.moves.clone(),
        };
        P::parse_game(&text).map_err(ApiError::bad_request)
    }
}

/// Converts a position with its legal moves to JSON.
fn position_to_json<P: BoardView>(position: &P) -> Value {
    let legal: Vec<Value> =
        position.moves().map(|mv| json!({ "move": mv.to_string(), "path": P::path(mv) })).collect();
    json!({
        "cells": position.cells(),
        "side": position.to_move().to_string(),
        "black": position.count(Side::Black),
        "white": position.count(Side::White),
        "legal": legal,
        "over": position.is_over(),
        "result": position.result(),
        "position": position.to_string(),
    })
}

/// Converts a game with all its positions to JSON.
pub fn game_to_json<P: BoardView>(line: &Line<P>) -> Value {
    let mut steps = Vec::with_capacity(line.moves().len());
    for (before, mv) in line.steps() {
        let (after, side) = (before.play(mv), before.to_move());
        steps.push(json!({
            "move": mv.to_string(),
            "path": P::path(mv),
            "side": side.to_string(),
            "cells": after.cells(),
            "black": after.count(Side::Black),
            "white": after.count(Side::White),
            "passed": !after.is_over() && after.to_move() == side,
        }));
    }
    json!({
        "game": P::GAME.name(),
        "start": (*line.start() != P::start()).then(|| line.start().to_string()),
        "initial": position_to_json(line.start()),
        "steps": steps,
        "current": position_to_json(line.position()),
    })
}
