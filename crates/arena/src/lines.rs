//! Games as lines of text: what a journal keeps, and what a worker elsewhere sends back.
//!
//! A line replays: its moves are legal from its opening and lead to its result, so a game that was
//! read is as good as one that was just played.

use crate::contest::{ContestError, Game, ContestConfig};
use crate::game::PlayedGame;
use outflank_games::{Line, Position, Side};
use outflank_players::PlayerFactory;
use std::collections::HashMap;

/// Games that were played before, by black, white and round.
pub(crate) type Done<P> = HashMap<(usize, usize, u32), PlayedGame<P>>;

/// A game as a line: black, white, round, margin, moves since the opening (a `?` behind one that
/// was forced at random), and what went wrong.
pub(crate) fn journal_line<P: Position>(
    entries: &[PlayerFactory<P>],
    terms: &ContestConfig<P>,
    game: &Game<P>,
) -> String {
    let played = &game.played;
    let opening = terms.openings[game.round as usize % terms.openings.len()].moves().len();
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
    let fault = played.forfeit.as_ref().map_or(String::new(), |(side, text)| {
        format!("{side}: {}", text.replace(['\t', '\n', '\r'], " "))
    });
    let (black, white) = (&entries[game.black].name, &entries[game.white].name);
    format!("{black}\t{white}\t{}\t{}\t{moves}\t{fault}", game.round, played.margin)
}

/// The games of a journal that belong to this contest; games of players who are no longer listed
/// are left alone.
pub(crate) fn parse_journal<P: Position>(
    entries: &[PlayerFactory<P>],
    terms: &ContestConfig<P>,
    lines: &[String],
) -> Result<Done<P>, ContestError> {
    let names = Names::of(entries);
    let mut done = HashMap::with_capacity(lines.len());
    for (number, line) in lines.iter().enumerate() {
        let game = parse_line(&names, terms, line)
            .map_err(|reason| ContestError::Foreign { line: number + 1, reason })?;
        if let Some(game) = game {
            done.insert((game.black, game.white, game.round), game.played);
        }
    }
    Ok(done)
}

/// Players by their names.
pub(crate) struct Names<'a>(HashMap<&'a str, usize>);

impl<'a> Names<'a> {
    pub(crate) fn of<P: Position>(entries: &'a [PlayerFactory<P>]) -> Names<'a> {
        Names(entries.iter().enumerate().map(|(i, entry)| (entry.name.as_str(), i)).collect())
    }
}

/// The game of a line, or nothing when one of its players is not listed.
pub(crate) fn parse_line<P: Position>(
    names: &Names<'_>,
    terms: &ContestConfig<P>,
    line: &str,
) -> Result<Option<Game<P>>, String> {
    let fields: Vec<&str> = line.split('\t').collect();
    let &[black, white, round, margin, moves, fault] = fields.as_slice() else {
        return Err("it does not have six fields".to_owned());
    };
    let (Some(&black), Some(&white)) = (names.0.get(black), names.0.get(white)) else {
        return Ok(None);
    };
    let round: u32 = round.parse().map_err(|_| "its round is no number")?;
    let margin: i32 = margin.parse().map_err(|_| "its margin is no number")?;
    let opening = &terms.openings[round as usize % terms.openings.len()];
    let mut played = PlayedGame { margin, ..line_of(opening) };
    for text in moves.split(' ').filter(|text| !text.is_empty()) {
        let random = text.ends_with('?');
        let position = played.line.position();
        let mv =
            position.parse_move(text.trim_end_matches('?')).map_err(|error| error.to_string())?;
        played.line.push(mv).map_err(|error| error.to_string())?;
        played.random.push(random);
    }
    if let Some((side, text)) = fault.split_once(": ") {
        let side = if side == "black" { Side::Black } else { Side::White };
        if margin != -side.sign() * P::MAX_MARGIN {
            return Err("a player who failed did not lose by the most there is".to_owned());
        }
        played.forfeit = Some((side, text.to_owned()));
    } else if played.line.position().margin() != Some(margin) {
        return Err("its moves do not lead to its result".to_owned());
    }
    Ok(Some(Game { black, white, round, played }))
}

/// A game that has not gone beyond its opening.
pub(crate) fn line_of<P: Position>(opening: &Line<P>) -> PlayedGame<P> {
    PlayedGame {
        line: opening.clone(),
        random: vec![false; opening.moves().len()],
        margin: 0,
        fault: None,
    }
}
