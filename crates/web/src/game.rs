//! A game as it travels: the page holds it as text, and everything that is asked comes with all of
//! it, so that the server remembers nothing and a reload loses nothing.

use crate::error::ApiError;
use crate::think::Thinks;
use outflank_games::checkers::Checkers;
use outflank_games::othello::{Othello, Square};
use outflank_games::{Game, Line, Position, Side};
use outflank_records::transcript;
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

/// No game that a person plays is longer.
const LONGEST: usize = 2000;

impl Sent {
    /// The game, or which move is wrong and why.
    pub fn read(&self) -> Result<AnyLine, ApiError> {
        match self.game.parse::<Game>().map_err(ApiError::Bad)? {
            Game::Othello => self.othello().map(AnyLine::Othello),
            Game::Checkers => self.checkers().map(AnyLine::Checkers),
        }
    }

    /// The game if it is Othello.
    pub fn othello(&self) -> Result<Line<Othello>, ApiError> {
        if self.game.parse::<Game>().map_err(ApiError::Bad)? != Game::Othello {
            return Err(ApiError::Bad("this is for games of Othello".to_owned()));
        }
        let text = match &self.start {
            Some(start) => format!("{start}: {}", self.moves),
            None => self.moves.clone(),
        };
        let record = transcript::game(text.as_bytes()).map_err(ApiError::bad)?;
        let mut line = Line::new(*record.start());
        for ply in record.plies() {
            line.push(ply.mv).map_err(ApiError::bad)?;
        }
        Ok(line)
    }

    fn checkers(&self) -> Result<Line<Checkers>, ApiError> {
        let start = match &self.start {
            Some(start) => start.parse().map_err(ApiError::bad)?,
            None => Checkers::start(),
        };
        let mut line = Line::new(start);
        // Numbers of moves, as in `1. 11-15 23-19`, are for readers only.
        let words = self.moves.split_whitespace().filter(|word| !word.ends_with('.'));
        for (place, word) in words.enumerate() {
            let wrong = |error| ApiError::Bad(format!("move {}: {error}", place + 1));
            if place == LONGEST {
                return Err(ApiError::Bad(format!("a game has at most {LONGEST} moves")));
            }
            let mv = line.position().parse_move(word).map_err(wrong)?;
            line.push(mv).map_err(wrong)?;
        }
        Ok(line)
    }
}

/// What a page needs to draw a game and let a person move in it.
pub trait Shown: Thinks {
    /// 64 characters from the top left, rows from the top: `X` and `O` for discs or men, `B` and
    /// `W` for kings, `-` for an empty square.
    fn cells(&self) -> String;

    /// The cells that a person points at to make a move, one after the other.
    fn path(mv: Self::Move) -> Vec<u8>;

    /// How many pieces a side has.
    fn count(&self, side: Side) -> u32;

    /// The result when the game is over, as players count it: Black's discs less White's.
    fn result(&self) -> Option<i32>;
}

impl Shown for Othello {
    fn cells(&self) -> String {
        self.to_string().chars().take(64).collect()
    }

    fn path(mv: Square) -> Vec<u8> {
        vec![mv.index() as u8]
    }

    fn count(&self, side: Side) -> u32 {
        self.discs(side).count_ones()
    }

    fn result(&self) -> Option<i32> {
        self.score()
    }
}

impl Shown for Checkers {
    fn cells(&self) -> String {
        let mut cells = ['-'; 64];
        for square in (1..=32).filter_map(outflank_games::checkers::Square::new) {
            let has = |pieces: u32| pieces & square.bit() != 0;
            cells[cell(square)] = match () {
                () if has(self.men(Side::Black)) => 'X',
                () if has(self.men(Side::White)) => 'O',
                () if has(self.kings(Side::Black)) => 'B',
                () if has(self.kings(Side::White)) => 'W',
                () => '-',
            };
        }
        cells.iter().collect()
    }

    fn path(mv: outflank_games::checkers::Move) -> Vec<u8> {
        std::iter::once(mv.from()).chain(mv.landings()).map(|square| cell(square) as u8).collect()
    }

    fn count(&self, side: Side) -> u32 {
        (self.men(side) | self.kings(side)).count_ones()
    }

    fn result(&self) -> Option<i32> {
        self.margin()
    }
}

/// Which of the 64 cells a dark square is.
fn cell(square: outflank_games::checkers::Square) -> usize {
    usize::from(square.row()) * 8 + usize::from(square.column())
}

/// A position for the page: what lies where, who moves, where they may.
pub fn shown<P: Shown>(position: &P) -> Value {
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
pub fn shown_line<P: Shown>(line: &Line<P>) -> Value {
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
