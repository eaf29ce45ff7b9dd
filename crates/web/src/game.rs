//! Games in requests and responses. Every request contains the whole game, so the server stores no
//! state.

use crate::analyze::analyze;
use crate::error::ApiError;
use crate::players;
use crate::runs::Runs;
use crate::work_slots::{LineSender, StopSignal};
use outflank_analysis::{Analyzable, BoardView, GameText, PositionEvaluation, evaluate_moves};
use outflank_games::othello::Othello;
use outflank_games::{Game, Line, Position, Side, with_game};
use outflank_players::SearchControl;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// A game in a request.
#[derive(Clone, Debug, Deserialize)]
pub struct GameRequest {
    /// The name of a built-in game.
    pub game: String,
    /// The starting position, if it is not the standard one.
    #[serde(default)]
    pub start: Option<String>,
    /// The moves: a transcript for Othello, moves separated by spaces for other games.
    #[serde(default)]
    pub moves: String,
}

/// A game in progress of any built-in game, with legal moves only.
pub trait AnyLine: Send + Sync {
    /// Converts the game with all its positions to JSON.
    fn to_json(&self) -> Value;

    /// Chooses a player's move; see [`players::choose`].
    fn choose(
        &self,
        player: &str,
        seed: u64,
        runs: &Runs,
        stop: &StopSignal,
    ) -> Result<String, ApiError>;

    /// Sends the evaluated moves of the last position, one line for each depth.
    fn evaluate(&self, depth: u32, control: &Arc<SearchControl>, out: &mut LineSender);

    /// Sends the analysis of the game; see [`analyze`].
    fn analyze(&self, time: Duration, known_depths: &[u32], threads: usize, out: &mut LineSender);
}

impl<P: BoardView> AnyLine for Line<P> {
    fn to_json(&self) -> Value {
        game_to_json(self)
    }

    fn choose(
        &self,
        player: &str,
        seed: u64,
        runs: &Runs,
        stop: &StopSignal,
    ) -> Result<String, ApiError> {
        Ok(players::choose(self, player, seed, runs, stop)?.to_string())
    }

    fn evaluate(&self, depth: u32, control: &Arc<SearchControl>, out: &mut LineSender) {
        evaluate_moves(self.position(), depth, control, |found| {
            out.send(&evaluation_to_json::<P>(found));
        });
    }

    fn analyze(&self, time: Duration, known_depths: &[u32], threads: usize, out: &mut LineSender) {
        analyze(self, time, known_depths, threads, out);
    }
}

impl GameRequest {
    /// Parses the game; the error names the first invalid move.
    pub fn parse(&self) -> Result<Box<dyn AnyLine>, ApiError> {
        let game = self.game.parse::<Game>().map_err(ApiError::BadRequest)?;
        with_game!(game, P => Ok(Box::new(self.parse_line::<P>()?)))
    }

    /// Parses the game and rejects games other than Othello.
    pub fn parse_othello(&self) -> Result<Line<Othello>, ApiError> {
        match self.game.parse::<Game>().map_err(ApiError::BadRequest)? {
            game if game == Othello::GAME => self.parse_line(),
            _ => Err(ApiError::BadRequest("this request supports Othello only".to_owned())),
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

/// Converts the evaluated moves of a position to JSON.
fn evaluation_to_json<P: BoardView>(found: &PositionEvaluation<P::Move>) -> Value {
    let moves: Vec<Value> = found
        .moves
        .iter()
        .map(|evaluated| {
            json!({
                "move": evaluated.mv.to_string(),
                "path": P::path(evaluated.mv),
                "value": evaluated.value,
                "exact": evaluated.exact,
                "line": evaluated.pv.iter().map(ToString::to_string).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "depth": found.depth,
        "exact": found.exact,
        "selectivity": found.selectivity,
        "nodes": found.nodes,
        "unit": <P as Analyzable>::UNIT,
        "moves": moves,
    })
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
    // Only games from the standard start have openings.
    let is_standard = *line.start() == P::start();
    let mut opening = None;
    for (before, mv) in line.steps() {
        let (after, side) = (before.play(mv), before.to_move());
        opening = after.opening_name().filter(|_| is_standard).or(opening);
        steps.push(json!({
            "move": mv.to_string(),
            "path": P::path(mv),
            "side": side.to_string(),
            "cells": after.cells(),
            "black": after.count(Side::Black),
            "white": after.count(Side::White),
            "passed": !after.is_over() && after.to_move() == side,
            "opening": opening,
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
