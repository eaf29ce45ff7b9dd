//! Files of openings.

use crate::boards::{boards, boards_at};
use crate::error::{ParseError, ParseErrorKind, ReadError, decode, snippet};
use crate::format::Format;
use crate::source::{ParsedFile, parse, read_bytes};
use crate::wthor::{Database, Names};
use crate::{Record, ggf, obf, pgn, replay};
use outflank_games::othello::Othello;
use outflank_games::{Line, MoveError, Position, Side};
use std::path::Path;

/// Reads a file of openings.
///
/// Othello files contain boards, OBF positions or games in any format. A game becomes a line with
/// its moves, since GTP engines need them; a board becomes a line without moves. Files of checkers
/// contain games (PDN), or one position per line in the game's notation.
///
/// The side to move is `first_side` if given, else the side in the file, else Black. If `first_side`
/// differs from the side to move after the moves of an opening, the opening becomes a board. A side
/// that cannot move passes.
pub fn read_openings<P: Position>(
    path: &Path,
    first_side: Option<Side>,
) -> Result<Vec<Line<P>>, ReadError> {
    let bytes = read_bytes(path)?;
    let lines = parse_openings(path, &bytes, first_side)
        .map_err(|error| ReadError::Parse { path: path.to_owned(), error })?;
    if lines.is_empty() {
        return Err(ReadError::NoOpenings(path.to_owned()));
    }
    Ok(lines)
}

/// Parses openings from the content of a file. The format is detected from the name or the content.
pub fn parse_openings<P: Position>(
    path: &Path,
    bytes: &[u8],
    first_side: Option<Side>,
) -> Result<Vec<Line<P>>, ParseError> {
    if P::GAME != Othello::GAME {
        return match Format::detect(path, bytes) {
            Some(Format::Pdn | Format::Pgn) => parse_pdn(bytes, first_side),
            _ => parse_positions(bytes, first_side),
        };
    }
    let format = Format::detect(path, bytes).ok_or(located(0, 0)(ParseErrorKind::Format))?;
    let lines = parse_othello(format, bytes, first_side)?;
    let mut openings = Vec::with_capacity(lines.len());
    for (index, line) in lines.iter().enumerate() {
        let opening = match line.position().is_over() {
            true => Err(ParseErrorKind::OverAtStart),
            false => convert_line(line),
        };
        openings.push(opening.map_err(located(index + 1, byte_offset(format, bytes, index)))?);
    }
    Ok(openings)
}

/// Returns the byte offset of the opening with this index.
fn byte_offset(format: Format, bytes: &[u8], index: usize) -> usize {
    let byte = match format {
        Format::Boards => boards_at(bytes).nth(index).map(|(byte, _)| byte),
        Format::Ggf => ggf::game_texts(bytes).nth(index).map(|text| text.byte()),
        Format::Wthor => Some(Database::game_error(index, ParseErrorKind::OverAtStart).byte_offset),
        Format::Transcript | Format::Obf | Format::Pgn | Format::Pdn => {
            replay::lines(bytes).nth(index).map(|(byte, _)| byte)
        }
    };
    byte.unwrap_or(0)
}

/// Returns a function that adds the location to an error.
fn located(number: usize, byte_offset: usize) -> impl Fn(ParseErrorKind) -> ParseError {
    move |kind| ParseError { number: Some(number), byte_offset, kind }
}

/// Parses the openings of an Othello file.
fn parse_othello(
    format: Format,
    bytes: &[u8],
    first_side: Option<Side>,
) -> Result<Vec<Line<Othello>>, ParseError> {
    match format {
        Format::Boards => boards(bytes)
            .map(|board| {
                let board = board?;
                let side = first_side.or(board.side).unwrap_or(Side::Black);
                Ok(Line::new(board.position(side)))
            })
            .collect(),
        Format::Obf => obf::entries(bytes)
            .map(|entry| {
                let entry = entry?;
                Ok(Line::new(with_side_to_move(&entry.position, first_side.unwrap_or(entry.side))))
            })
            .collect(),
        _ => {
            let ParsedFile { games, file_error } = parse(format, bytes, &Names::default());
            match file_error {
                Some(error) => Err(error),
                None => games.into_iter().map(|game| Ok(to_opening(&game?, first_side))).collect(),
            }
        }
    }
}

/// Returns the position with another side to move.
fn with_side_to_move(position: &Othello, side: Side) -> Othello {
    let (black, white) = (position.discs(Side::Black), position.discs(Side::White));
    Othello::from_discs(black, white, side).unwrap_or(*position)
}

/// Converts a game to an opening.
fn to_opening(record: &Record<Othello>, first_side: Option<Side>) -> Line<Othello> {
    let end = first_side.map_or(*record.end(), |side| with_side_to_move(record.end(), side));
    if end == *record.end() { record.to_line() } else { Line::new(end) }
}

/// Converts an Othello line to the caller's position type.
fn convert_line<P: Position>(line: &Line<Othello>) -> Result<Line<P>, ParseErrorKind> {
    let start = match *line.start() == Othello::start() {
        true => P::start(),
        false => parse_position(&line.start().to_string())?,
    };
    let mut converted = Line::new(start);
    for (index, mv) in line.moves().iter().enumerate() {
        let mv = converted.position().parse_move(&mv.to_string());
        mv.and_then(|mv| converted.push(mv))
            .map_err(|error: MoveError| ParseErrorKind::Move { ply: index + 1, error })?;
    }
    Ok(converted)
}

fn parse_position<P: Position>(text: &str) -> Result<P, ParseErrorKind> {
    text.parse().map_err(|error: P::Err| ParseErrorKind::Position {
        text: snippet(text.as_bytes()),
        error: error.to_string(),
    })
}

/// Parses a file of games in PDN.
fn parse_pdn<P: Position>(
    bytes: &[u8],
    first_side: Option<Side>,
) -> Result<Vec<Line<P>>, ParseError> {
    let games = pgn::games::<P>(bytes).into_iter().enumerate();
    games
        .map(|(index, game)| {
            let record = game?;
            let side = record.end().to_move();
            match (record.end().is_over(), first_side) {
                (true, _) => Err(located(index + 1, 0)(ParseErrorKind::OverAtStart)),
                (false, Some(first)) if first != side => {
                    Err(located(index + 1, 0)(ParseErrorKind::FirstSide { side }))
                }
                _ => Ok(record.to_line()),
            }
        })
        .collect()
}

/// Parses a file with one position per line.
fn parse_positions<P: Position>(
    bytes: &[u8],
    first_side: Option<Side>,
) -> Result<Vec<Line<P>>, ParseError> {
    let lines = replay::lines(bytes).enumerate();
    lines
        .map(|(index, (byte, text))| {
            let start: P = parse_position(&decode(text)).map_err(located(index + 1, byte))?;
            let side = start.to_move();
            let kind = match (start.is_over(), first_side) {
                (true, _) => ParseErrorKind::OverAtStart,
                (false, Some(first_side)) if first_side != side => {
                    ParseErrorKind::FirstSide { side }
                }
                _ => return Ok(Line::new(start)),
            };
            Err(located(index + 1, byte)(kind))
        })
        .collect()
}
