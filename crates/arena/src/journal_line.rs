//! The format of a game as one line of text, in journals and in the results of remote workers.
//!
//! A line holds all moves since the opening. The parser replays them and rejects illegal games.

use crate::contest::{ContestConfig, ContestError, ContestGame, GameKey};
use crate::game::{EarlyEnd, EarlyEndReason, PlayedGame};
use outflank_games::{Position, Side};
use outflank_players::PlayerFactory;
use std::collections::HashMap;
use std::path::Path;

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
    /// Parses a journal, given by its path and lines. Returns the games before the first suspect
    /// game and the number of lines before it. A game is suspect if its job was played by a
    /// quarantined worker. Games of players that are not in `factories` are skipped.
    ///
    /// The games after the first suspect game are added to `to_rewrite`. Suspect games are left out
    /// and removed from `to_rewrite`.
    pub(crate) fn parse_valid_games(
        &self,
        factories: &[PlayerFactory<P>],
        (path, lines): (&Path, &[String]),
        to_rewrite: &mut FinishedGames<P>,
        is_suspect: &dyn Fn(GameKey) -> bool,
    ) -> Result<(FinishedGames<P>, usize), ContestError> {
        let index = PlayerIndex::new(factories);
        let mut games = HashMap::with_capacity(lines.len());
        let mut valid_lines = lines.len();
        to_rewrite.retain(|key, _| !is_suspect(*key));
        for (number, line) in lines.iter().enumerate() {
            let game = ContestGame::from_line(line, &index, self).map_err(|reason| {
                ContestError::ForeignGame { path: path.to_owned(), line: number + 1, reason }
            })?;
            let Some(game) = game else { continue };
            if is_suspect(game.key()) {
                valid_lines = valid_lines.min(number);
            } else if number < valid_lines {
                games.insert(game.key(), game.played);
            } else {
                to_rewrite.insert(game.key(), game.played);
            }
        }
        Ok((games, valid_lines))
    }
}

impl<P: Position> ContestGame<P> {
    /// Formats the game as six tab-separated fields: black, white, round, result, the moves since
    /// the opening (a random move is followed by `?`), and `SIDE: REASON` if this side resigned or
    /// forfeited.
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
        let early_end = played.early_end.as_ref().map_or(String::new(), |end| {
            let reason = end.reason.to_string().replace(['\t', '\n', '\r'], " ");
            format!("{}: {reason}", end.loser)
        });
        let (black, white) = (&factories[self.black].name, &factories[self.white].name);
        format!("{black}\t{white}\t{}\t{}\t{moves}\t{early_end}", self.round, played.result)
    }

    /// Parses a line, or returns `None` if a player of the game is not in `index`.
    pub(crate) fn from_line(
        line: &str,
        index: &PlayerIndex<'_>,
        config: &ContestConfig<P>,
    ) -> Result<Option<ContestGame<P>>, String> {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[black, white, round, result, moves, early_end] = fields.as_slice() else {
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
                .map_err(|error| format!("illegal move: {error}"))?;
            played.line.push(mv).map_err(|error| format!("illegal move: {error}"))?;
            played.random.push(random);
        }
        if let Some((side, reason)) = early_end.split_once(": ") {
            let loser = if side == "black" { Side::Black } else { Side::White };
            if result != -loser.sign() * P::MAX_RESULT {
                return Err(
                    "the result of a resigned or forfeited game is not the largest loss".to_owned()
                );
            }
            let reason = if reason == EarlyEndReason::Resigned.to_string() {
                EarlyEndReason::Resigned
            } else {
                EarlyEndReason::Failed(reason.to_owned())
            };
            played.early_end = Some(EarlyEnd { loser, reason });
        } else {
            match played.line.position().result() {
                None => return Err("the moves do not end the game".to_owned()),
                Some(actual) if actual != result => {
                    return Err(format!("the result is {result}, but the moves lead to {actual}"));
                }
                Some(_) => {}
            }
        }
        Ok(Some(ContestGame { black, white, round, played }))
    }
}
