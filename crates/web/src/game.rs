//! A game as it travels: the page holds it as text, and everything that is asked comes with all of
//! it, so that the server remembers nothing and a reload loses nothing.

use crate::error::ApiError;
use outflank_analysis::{Shown, Written};
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::{Game, Line, Side};
use serde::Deserialize;
use serde_json::{Value, json};

/// A game as the page sends it.
#[derive(Clone, Debug, Deserialize)]
pub struct Sent {
    /// `othello` or `checkers`.
    pub game: String,
    /// Where it began, if not at the usual start, as the game writes a position.
    #[serde(default)]
    pub start: Option<String>,
    /// The moves: a transcript for Othello, moves with spaces between them for checkers.
    #[serde(default)]
    pub moves: String,
}

/// A game in which every move was checked.
#[derive(Clone, Debug)]
pub enum AnyLine {
    /// Of Othello.
    Othello(Line<Othello>),
    /// Of checkers.
    Checkers(Line<Checkers>),
}

impl Sent {
    /// The game, or which move is wrong and why.
    pub fn read(&self) -> Result<AnyLine, ApiError> {
        match self.game.parse::<Game>().map_err(ApiError::Bad)? {
            Game::Othello => self.line().map(AnyLine::Othello),
            Game::Checkers => self.line().map(AnyLine::Checkers),
        }
    }

    /// The game if it is Othello.
    pub fn othello(&self) -> Result<Line<Othello>, ApiError> {
        match self.game.parse::<Game>().map_err(ApiError::Bad)? {
            Game::Othello => self.line(),
            Game::Checkers => Err(ApiError::Bad("this is for games of Othello".to_owned())),
        }
    }

    fn line<P: GameText>(&self) -> Result<Line<P>, ApiError> {
        let text = match &self.start {
            Some(start) => format!("{start}: {}", self.moves),
            None => self.moves.clone(),
        };
        P::parse_game(&text).map_err(ApiError::bad)
    }
}

/// A position for the page: what lies where, who moves, where they may.
pub fn shown<P: BoardView>(position: &P) -> Value {
    let over = position.is_over();
    let legal: Vec<Value> =
        position.moves().map(|mv| json!({ "move": mv.to_string(), "path": P::path(mv) })).collect();
    json!({
        "cells": position.cells(),
        "side": position.to_move().to_string(),
        "black": position.count(Side::Black),
        "white": position.count(Side::White),
        "legal": legal,
        "over": over,
        "result": position.result(),
        "position": position.to_string(),
    })
}

/// A whole game for the page: every position that it went through.
pub fn shown_line<P: BoardView>(line: &Line<P>) -> Value {
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
        "first": shown(line.start()),
        "steps": steps,
        "at": shown(line.position()),
    })
}
