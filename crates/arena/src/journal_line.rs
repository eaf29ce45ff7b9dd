//! The text line of a game in a journal and in the results of remote workers.
//!
//! A line holds all moves since the opening. The parser replays them and rejects illegal games.

use crate::contest::{ContestConfig, ContestError, Game, GameKey};
use crate::game::PlayedGame;
use outflank_games::{Position, Side};
use outflank_players::PlayerFactory;
use std::collections::HashMap;

/// Finished games by their key.
pub(crate) type FinishedGames<P> = HashMap<GameKey, PlayedGame<P>>;

/// Maps the names of players to their indices.
pub(crate) struct PlayerIndex<'a>(HashMap<&'a str, usize>);

impl<'a> PlayerIndex<'a> {
    pub(crate) fn new<P: Position>(factories: &'a [PlayerFactory<P>]) -> PlayerIndex<'a> {
        PlayerIndex(
            factories.iter().enumerate().map(|(i, factory)| (factory.name.as_str(), i)).collect(),
        )
    }
}

impl<P: Position> ContestConfig<P> {
    /// Parses the lines of a journal up to the first suspect game. Games of players that are not in
    /// `factories` are skipped. Returns the games and the number of lines that remain valid.
    ///
    /// `kept` receives the other games after the first suspect one. Its own suspect games are removed.
    pub(crate) fn parse_valid_games(
        &self,
        factories: &[PlayerFactory<P>],
        lines: &[String],
        kept: &mut FinishedGames<P>,
        is_suspect: &dyn Fn(GameKey) -> bool,
    ) -> Result<(FinishedGames<P>, usize), ContestError> {
        let index = PlayerIndex::new(factories);
        let mut games = HashMap::with_capacity(lines.len());
        let mut valid_lines = lines.len();
        kept.retain(|key, _| !is_suspect(*key));
        for (number, line) in lines.iter().enumerate() {
            let game = Game::from_line(line, &index, self)
                .map_err(|reason| ContestError::ForeignGame { line: number + 1, reason })?;
            let Some(game) = game else { continue };
            if is_suspect(game.key()) {
                valid_lines = valid_lines.min(number);
            } else if number < valid_lines {
                games.insert(game.key(), game.played);
            } else {
                kept.insert(game.key(), game.played);
            }
        }
        Ok((games, valid_lines))
    }
}

impl<P: Position> Game<P> {
    /// Formats the game as six tab-separated fields: black, white, round, result, the moves since
    /// the opening (a random move is followed by `?`), and the forfeit.
    pub(crate) fn to_line(
        &self,
        factories: &[PlayerFactory<P>],
        config: &ContestConfig<P>,
    ) -> String {
        let played = &self.played;
        let opening = config.opening(self.round).moves().len();
        let mut moves = String::new();
        for (mv, random) in played.line.moves().iter().zip(&played.random).skip(opening) {
            if !moves.is_empty() {
                moves.push(' ');
            }
            moves.push_str(&mv.to_string());
            if *random {
                moves.push('?');
            }
        }
        let forfeit = played.forfeit.as_ref().map_or(String::new(), |(side, error)| {
            format!("{side}: {}", error.replace(['\t', '\n', '\r'], " "))
        });
        let (black, white) = (&factories[self.black].name, &factories[self.white].name);
        format!("{black}\t{white}\t{}\t{}\t{moves}\t{forfeit}", self.round, played.result)
    }

    /// Parses a line, or returns `None` if a player of the game is not in `index`.
    pub(crate) fn from_line(
        line: &str,
        index: &PlayerIndex<'_>,
        config: &ContestConfig<P>,
    ) -> Result<Option<Game<P>>, String> {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[black, white, round, result, moves, forfeit] = fields.as_slice() else {
            return Err(format!("expected 6 fields, found {}", fields.len()));
        };
        let (Some(&black), Some(&white)) = (index.0.get(black), index.0.get(white)) else {
            return Ok(None);
        };
        let round: u32 = round.parse().map_err(|_| format!("invalid round '{round}'"))?;
        let result: i32 = result.parse().map_err(|_| format!("invalid result '{result}'"))?;
        let mut played = PlayedGame { result, ..PlayedGame::from_opening(config.opening(round)) };
        for text in moves.split(' ').filter(|text| !text.is_empty()) {
            let random = text.ends_with('?');
            let position = played.line.position();
            let mv = position
                .parse_move(text.trim_end_matches('?'))
                .map_err(|error| format!("different openings: {error}"))?;
            played.line.push(mv).map_err(|error| format!("different openings: {error}"))?;
            played.random.push(random);
        }
        if let Some((side, error)) = forfeit.split_once(": ") {
            let side = if side == "black" { Side::Black } else { Side::White };
            if result != -side.sign() * P::MAX_RESULT {
                return Err("the result of a forfeited game is not the largest loss".to_owned());
            }
            played.forfeit = Some((side, error.to_owned()));
        } else {
            match played.line.position().result() {
                None => return Err("different openings: the moves do not end the game".to_owned()),
                Some(actual) if actual != result => {
                    return Err(format!("the result is {result}, but the moves lead to {actual}"));
                }
                Some(_) => {}
            }
        }
        Ok(Some(Game { black, white, round, played }))
    }
}
