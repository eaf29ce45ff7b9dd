//! A game in progress as text, in either game: a person types it, a page sends it, a file keeps it.
//!
//! Othello is written as a transcript (`f5d6c3`), checkers as moves with spaces between them
//! (`11-15 23-19`). A game that began elsewhere has its first position and a colon before the moves.

use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::{Line, MoveError, Position};
use outflank_records::wthor::Names;
use outflank_records::{GameInfo, ParseError, ParseErrorKind, Ply, Record, ggf, parse_games, transcript};
use std::path::Path;

/// No game that a person plays is longer.
const LONGEST: usize = 2000;

/// Why a text is not a game.
#[derive(Debug, thiserror::Error)]
pub enum WrittenError {
    /// A transcript that is none, or breaks a rule.
    #[error(transparent)]
    Transcript(#[from] ParseErrorKind),
    /// A file of games.
    #[error(transparent)]
    File(#[from] ParseError),
    /// A file without a game.
    #[error("there is no game in it")]
    Nothing,
    /// The position before the colon.
    #[error("the game does not start from a position: {0}")]
    Start(String),
    /// A move of checkers.
    #[error("move {place}: {error}")]
    Move {
        /// Which, from 1.
        place: usize,
        /// What is wrong with it.
        error: MoveError,
    },
    /// Too long for a person's game.
    #[error("a game has at most {LONGEST} moves")]
    Long,
}

/// A game whose course is written in one line of text.
pub trait Written: Position {
    /// Reads a game; every move is checked.
    fn read_line(text: &str) -> Result<Line<Self>, WrittenError>;

    /// The first game of a file's bytes; its name may tell the format.
    fn read_file(name: &Path, bytes: &[u8]) -> Result<Line<Self>, WrittenError> {
        let _ = name;
        let text = String::from_utf8_lossy(bytes);
        let line = text.lines().find(|line| !line.trim().is_empty());
        Self::read_line(line.ok_or(WrittenError::Nothing)?)
    }

    /// The text of a file with the game; its name tells the format, where there is a choice.
    fn write_file(name: &Path, line: &Line<Self>, players: [&str; 2]) -> String {
        let _ = (name, players);
        Self::write_line(line) + "\n"
    }

    /// Writes the moves of a game alone.
    fn write_moves(line: &Line<Self>) -> String;

    /// Writes a game as [`Written::read_line`] reads it.
    fn write_line(line: &Line<Self>) -> String {
        let moves = Self::write_moves(line);
        match *line.start() == Self::start() {
            true => moves,
            false => format!("{}: {moves}", line.start()).trim_end().to_owned(),
        }
    }
}

impl Written for Othello {
    fn read_line(text: &str) -> Result<Line<Othello>, WrittenError> {
        Ok(transcript::game(text.as_bytes())?.to_line())
    }

    fn read_file(name: &Path, bytes: &[u8]) -> Result<Line<Othello>, WrittenError> {
        let games = parse_games(name, bytes, &Names::default())?;
        Ok(games.into_iter().next().ok_or(WrittenError::Nothing)??.to_line())
    }

    /// GGF tells who played; everything else is a transcript.
    fn write_file(name: &Path, line: &Line<Othello>, [black, white]: [&str; 2]) -> String {
        if !name.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("ggf")) {
            return Self::write_line(line) + "\n";
        }
        let about = GameInfo { black: black.to_owned(), white: white.to_owned(), ..GameInfo::default() };
        let mut record = Record::new(*line.start(), about);
        for &mv in line.moves() {
            // The line is legal from its start, so no move is refused here.
            let _ = record.push(Ply::new(mv));
        }
        ggf::write(&record) + "\n"
    }

    fn write_moves(line: &Line<Othello>) -> String {
        line.moves().iter().map(ToString::to_string).collect()
    }
}

impl Written for Checkers {
    fn read_line(text: &str) -> Result<Line<Checkers>, WrittenError> {
        // A position has colons of its own; the last one is before the moves, which have none.
        let text = text.trim();
        let split = text.rsplit_once(": ").or_else(|| Some((text.strip_suffix(':')?, "")));
        let (start, moves) = match split {
            Some((start, moves)) => {
                let start = start.trim().parse();
                (start.map_err(|error| WrittenError::Start(format!("{error}")))?, moves)
            }
            None => (Checkers::start(), text),
        };
        let mut line = Line::new(start);
        // Numbers of moves, as in `1. 11-15 23-19`, are for readers only.
        let words = moves.split_whitespace().filter(|word| !word.ends_with('.'));
        for (place, word) in words.enumerate() {
            let wrong = |error| WrittenError::Move { place: place + 1, error };
            if place == LONGEST {
                return Err(WrittenError::Long);
            }
            let mv = line.position().parse_move(word).map_err(wrong)?;
            line.push(mv).map_err(wrong)?;
        }
        Ok(line)
    }

    fn write_moves(line: &Line<Checkers>) -> String {
        line.moves().iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }
}

/// The moves of a record as a line.
#[must_use]
pub fn line_of(record: &Record<Othello>) -> Line<Othello> {
    let mut line = Line::new(*record.start());
    for ply in record.plies() {
        // A record is legal from its start, so no move is refused here.
        let _ = line.push(ply.mv);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A game of so many moves, each chosen by a number.
    fn some_game<P: GameText>(start: P, choices: &[usize]) -> Line<P> {
        let mut line = Line::new(start);
        for choice in choices {
            let moves: Vec<P::Move> = line.position().moves().collect();
            let Some(&mv) = moves.get(choice % moves.len().max(1)) else { break };
            line.push(mv).unwrap();
        }
        line
    }

    fn comes_back<P: GameText>(choices: &[usize], before: usize) {
        let line = some_game(P::start(), choices);
        assert_eq!(P::parse_game(&P::format_game(&line)).unwrap(), line);
        let middle = some_game(P::start(), &choices[..before.min(choices.len())]);
        let later = some_game(*middle.position(), choices);
        assert_eq!(P::parse_game(&P::format_game(&later)).unwrap(), later);
    }

    proptest! {
        #[test]
        fn games_come_back(choices in prop::collection::vec(0usize..40, 0..70), before in 0usize..40) {
            comes_back::<Othello>(&choices, before);
            comes_back::<Checkers>(&choices, before);
        }

        #[test]
        fn any_text_gets_an_answer(text in ".{0,60}") {
            let _ = Othello::parse_game(&text);
            let _ = Checkers::read_line(&text);
        }
    }
}
