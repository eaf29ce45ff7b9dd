//! Games as lines of text: the format of a journal and of results from remote workers.
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
    /// Parses the lines of a journal. Games of players that are not in `factories` are skipped.
    pub(crate) fn parse_journal(
        &self,
        factories: &[PlayerFactory<P>],
        lines: &[String],
    ) -> Result<FinishedGames<P>, ContestError> {
        let index = PlayerIndex::new(factories);
        let mut games = HashMap::with_capacity(lines.len());
        for (number, line) in lines.iter().enumerate() {
            let game = Game::from_line(line, &index, self)
                .map_err(|reason| ContestError::ForeignGame { line: number + 1, reason })?;
            if let Some(game) = game {
                games.insert(game.key(), game.played);
            }
        }
        Ok(games)
    }
}

impl<P: Position> Game<P> {
    /// Formats the game as six tab-separated fields: black, white, round, margin, the moves since
    /// the opening (a forced random move is followed by `?`), and the forfeit.
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
        format!("{black}\t{white}\t{}\t{}\t{moves}\t{forfeit}", self.round, played.margin)
    }

    /// Parses a line, or returns `None` if a player of the game is not in `index`.
    pub(crate) fn from_line(
        line: &str,
        index: &PlayerIndex<'_>,
        config: &ContestConfig<P>,
    ) -> Result<Option<Game<P>>, String> {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[black, white, round, margin, moves, forfeit] = fields.as_slice() else {
            return Err(format!("expected 6 fields, found {}", fields.len()));
        };
        let (Some(&black), Some(&white)) = (index.0.get(black), index.0.get(white)) else {
            return Ok(None);
        };
        let round: u32 = round.parse().map_err(|_| format!("invalid round '{round}'"))?;
        let margin: i32 = margin.parse().map_err(|_| format!("invalid margin '{margin}'"))?;
        let mut played = PlayedGame { margin, ..PlayedGame::from_opening(config.opening(round)) };
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
            if margin != -side.sign() * P::MAX_MARGIN {
                return Err("the margin of a forfeited game is not the largest loss".to_owned());
            }
            played.forfeit = Some((side, error.to_owned()));
        } else if played.line.position().margin() != Some(margin) {
            return Err("different openings: the moves do not lead to the result".to_owned());
        }
        Ok(Some(Game { black, white, round, played }))
    }
}
