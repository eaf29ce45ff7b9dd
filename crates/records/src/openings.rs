//! Where games begin: files of openings.

use crate::boards::{boards, boards_at};
use crate::fault::{Fault, ReadError, Reason, decode, snippet};
use crate::format::Format;
use crate::source::{Parsed, parse, read_bytes};
use crate::wthor::{Base, Names};
use crate::{Record, ggf, obf, replay};
use outflank_games::othello::Othello;
use outflank_games::{Game, Line, MoveError, Position, Side};
use std::path::Path;

/// Reads a file of openings, in the order of the file.
///
/// For Othello it may hold boards, OBF positions or games in any format. An opening of moves keeps
/// them, from the usual start, so that a program that must be told the moves can be told; a board
/// is a line without moves that starts there. For other games each line is a position as the game
/// writes it.
///
/// Black moves first from a board that does not say who does. A side in the file is obeyed, unless
/// `first` is given: then that side moves first in every opening, and one whose moves lead to the
/// other side's turn becomes a board. A side that cannot move passes.
pub fn read_openings<P: Position>(
    path: &Path,
    first: Option<Side>,
) -> Result<Vec<Line<P>>, ReadError> {
    let bytes = read_bytes(path)?;
    let lines = parse_openings(path, &bytes, first)
        .map_err(|fault| ReadError::Fault { path: path.to_owned(), fault })?;
    if lines.is_empty() {
        return Err(ReadError::NoOpenings(path.to_owned()));
    }
    Ok(lines)
}

/// Reads the openings in the bytes of a file; the name of the file may tell its format.
pub fn parse_openings<P: Position>(
    path: &Path,
    bytes: &[u8],
    first: Option<Side>,
) -> Result<Vec<Line<P>>, Fault> {
    if P::GAME != Game::Othello {
        return positions(bytes, first);
    }
    let format = Format::detect(path, bytes).ok_or(at(0, 0)(Reason::Format))?;
    let lines = othello(format, bytes, first)?;
    let mut openings = Vec::with_capacity(lines.len());
    for (place, line) in lines.iter().enumerate() {
        let opening = match line.position().is_over() {
            true => Err(Reason::OverAtStart),
            false => in_kind(line),
        };
        let placed = |reason| at(place + 1, byte_of(format, bytes, place))(reason);
        openings.push(opening.map_err(placed)?);
    }
    Ok(openings)
}

/// Where the opening at this place, counted from 0, begins in the file.
fn byte_of(format: Format, bytes: &[u8], place: usize) -> usize {
    let byte = match format {
        Format::Boards => boards_at(bytes).nth(place).map(|(byte, _)| byte),
        Format::Ggf => ggf::pieces(bytes).nth(place).map(|piece| piece.byte()),
        Format::Wthor => Some(Base::fault(place, Reason::OverAtStart).byte),
        Format::Transcript | Format::Obf | Format::Pgn => {
            replay::lines(bytes).nth(place).map(|(byte, _)| byte)
        }
    };
    byte.unwrap_or(0)
}

fn at(index: usize, byte: usize) -> impl Fn(Reason) -> Fault {
    move |reason| Fault { index, byte, reason }
}

/// The openings of an Othello file.
fn othello(format: Format, bytes: &[u8], first: Option<Side>) -> Result<Vec<Line<Othello>>, Fault> {
    match format {
        Format::Boards => boards(bytes)
            .map(|board| {
                let board = board?;
                let side = first.or(board.side).unwrap_or(Side::Black);
                Ok(Line::new(board.position(side)))
            })
            .collect(),
        Format::Obf => obf::entries(bytes)
            .map(|entry| {
                let entry = entry?;
                Ok(Line::new(turned(&entry.position, first.unwrap_or(entry.side))))
            })
            .collect(),
        _ => {
            let Parsed { games, fault } = parse(format, bytes, &Names::default());
            match fault {
                Some(fault) => Err(fault),
                None => games.into_iter().map(|game| Ok(line(&game?, first))).collect(),
            }
        }
    }
}

/// The same discs with this side to move.
fn turned(position: &Othello, side: Side) -> Othello {
    let (black, white) = (position.discs(Side::Black), position.discs(Side::White));
    Othello::from_discs(black, white, side).unwrap_or(*position)
}

/// The moves of a game as an opening.
fn line(record: &Record<Othello>, first: Option<Side>) -> Line<Othello> {
    let wished = first.map_or(*record.end(), |side| turned(record.end(), side));
    if wished != *record.end() {
        return Line::new(wished);
    }
    let mut line = Line::new(*record.start());
    for ply in record.plies() {
        // The record has checked every move, so none is refused.
        if line.push(ply.mv).is_err() {
            return Line::new(wished);
        }
    }
    line
}

/// An Othello line in the type that the caller calls Othello.
fn in_kind<P: Position>(line: &Line<Othello>) -> Result<Line<P>, Reason> {
    let start = match *line.start() == Othello::start() {
        true => P::start(),
        false => position(&line.start().to_string())?,
    };
    let mut same = Line::new(start);
    for (place, mv) in line.moves().iter().enumerate() {
        let played = same.position().parse_move(&mv.to_string()).and_then(|mv| same.push(mv));
        played.map_err(|error: MoveError| Reason::Move { ply: place + 1, error })?;
    }
    Ok(same)
}

fn position<P: Position>(text: &str) -> Result<P, Reason> {
    text.parse().map_err(|error: P::Err| Reason::Position {
        text: snippet(text.as_bytes()),
        error: error.to_string(),
    })
}

/// The positions of a file that has one a line.
fn positions<P: Position>(bytes: &[u8], first: Option<Side>) -> Result<Vec<Line<P>>, Fault> {
    let lines = replay::lines(bytes).enumerate();
    lines
        .map(|(place, (byte, text))| {
            let start: P = position(&decode(text)).map_err(at(place + 1, byte))?;
            let side = start.to_move();
            let reason = match (start.is_over(), first) {
                (true, _) => Reason::OverAtStart,
                (false, Some(first)) if first != side => Reason::FirstSide { side },
                _ => return Ok(Line::new(start)),
            };
            Err(at(place + 1, byte)(reason))
        })
        .collect()
}
