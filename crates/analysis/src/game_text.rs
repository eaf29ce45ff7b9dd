//! Games in progress as text.
//!
//! Othello games are transcripts (`f5d6c3`), records of other games are moves separated by spaces
//! (`11-15 23-19`). A game that does not begin at the standard start has its first position and a colon
//! before the moves.

use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::othello6::Othello6;
use outflank_games::{Line, MoveError, Position};
use outflank_records::wthor::Names;
use outflank_records::{
    Format, GameInfo, ParseError, ParseErrorKind, Record, ggf, parse_games, pgn, transcript,
};
use std::path::Path;

/// The maximum number of moves of a game other than Othello.
const MAX_MOVES: usize = 2000;

/// Reasons why a text is not a valid game.
#[derive(Debug, thiserror::Error)]
pub enum GameTextError {
    /// An invalid transcript or an illegal move in it.
    #[error(transparent)]
    Transcript(#[from] ParseErrorKind),
    /// An invalid game file.
    #[error(transparent)]
    File(#[from] ParseError),
    /// A file without a game.
    #[error("the file contains no game")]
    Empty,
    /// An invalid position before the colon.
    #[error("invalid starting position: {0}")]
    Start(String),
    /// An unreadable or illegal move of another game than Othello.
    #[error("move {number}: {error}")]
    Move {
        /// The number of the move, from 1.
        number: usize,
        /// The reason.
        error: MoveError,
    },
    /// More than `MAX_MOVES` moves.
    #[error("the game is too long: at most {MAX_MOVES} moves are accepted")]
    TooLong,
}

/// A game that can be parsed from and formatted as one line of text.
pub trait GameText: Position {
    /// Parses a game and checks that every move is legal. The default reads moves separated by
    /// spaces.
    fn parse_game(text: &str) -> Result<Line<Self>, GameTextError> {
        // A position may contain colons, moves contain none, so the moves follow the last `: `.
        let text = text.trim();
        let split = text.rsplit_once(": ").or_else(|| Some((text.strip_suffix(':')?, "")));
        let (start, moves) = match split {
            Some((start, moves)) => {
                let start = start.trim().parse();
                let invalid = |error: Self::Err| GameTextError::Start(error.to_string());
                (start.map_err(invalid)?, moves)
            }
            None => (Self::start(), text),
        };
        let mut line = Line::new(start);
        // Move numbers, as in `1. 11-15 23-19`, are skipped.
        let words = moves.split_whitespace().filter(|word| !word.ends_with('.'));
        for (index, word) in words.enumerate() {
            let at_move = |error| GameTextError::Move { number: index + 1, error };
            if index == MAX_MOVES {
                return Err(GameTextError::TooLong);
            }
            let mv = line.position().parse_move(word).map_err(at_move)?;
            line.push(mv).map_err(at_move)?;
        }
        Ok(line)
    }

    /// Parses the first game of a file; the file name may determine the format.
    /// The default parses the first line that is not empty.
    fn parse_file(name: &Path, bytes: &[u8]) -> Result<Line<Self>, GameTextError> {
        let _ = name;
        parse_first_line(bytes)
    }

    /// Formats a game as the content of a file; the file name may determine the format.
    /// The default writes one line.
    fn format_file(name: &Path, line: &Line<Self>, players: [&str; 2]) -> String {
        let _ = (name, players);
        Self::format_game(line) + "\n"
    }

    /// Formats the moves of a game without the starting position; the default separates them by
    /// spaces.
    fn format_moves(line: &Line<Self>) -> String {
        line.moves().iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    /// Formats a game so that [`GameText::parse_game`] returns it.
    fn format_game(line: &Line<Self>) -> String {
        let moves = Self::format_moves(line);
        match *line.start() == Self::start() {
            true => moves,
            false => format!("{}: {moves}", line.start()).trim_end().to_owned(),
        }
    }
}

impl GameText for Othello {
    fn parse_game(text: &str) -> Result<Line<Othello>, GameTextError> {
        Ok(transcript::game(text.as_bytes())?.to_line())
    }

    fn parse_file(name: &Path, bytes: &[u8]) -> Result<Line<Othello>, GameTextError> {
        let games = parse_games(name, bytes, &Names::default())?;
        Ok(games.into_iter().next().ok_or(GameTextError::Empty)??.to_line())
    }

    /// Formats a `.ggf` or `.pgn` file with the players' names, and a transcript for any other file
    /// name.
    fn format_file(name: &Path, line: &Line<Othello>, players: [&str; 2]) -> String {
        match Format::from_extension(name) {
            Some(Format::Ggf) => ggf::write(&record(line, players)) + "\n",
            Some(Format::Pgn) => pgn::write(&record(line, players), "1"),
            _ => Self::format_game(line) + "\n",
        }
    }

    fn format_moves(line: &Line<Othello>) -> String {
        line.moves().iter().map(ToString::to_string).collect()
    }
}

/// Parses the game on the first line that is not empty.
fn parse_first_line<P: GameText>(bytes: &[u8]) -> Result<Line<P>, GameTextError> {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().find(|line| !line.trim().is_empty());
    P::parse_game(line.ok_or(GameTextError::Empty)?)
}

/// Converts a line to a record.
fn record<P: Position>(line: &Line<P>, [black, white]: [&str; 2]) -> Record<P> {
    let info = GameInfo { black: black.to_owned(), white: white.to_owned(), ..GameInfo::default() };
    Record::from_line(line, info)
}

impl GameText for Checkers {
    /// Parses the first game of a PDN or PGN file, or the moves on the first line of a file of any
    /// other format.
    fn parse_file(name: &Path, bytes: &[u8]) -> Result<Line<Checkers>, GameTextError> {
        if let Some(Format::Pdn | Format::Pgn) = Format::detect(name, bytes) {
            let games = pgn::games::<Checkers>(bytes);
            return Ok(games.into_iter().next().ok_or(GameTextError::Empty)??.to_line());
        }
        parse_first_line(bytes)
    }

    /// Formats a `.pdn` file with the players' names, and a line of moves for any other file name.
    fn format_file(name: &Path, line: &Line<Checkers>, players: [&str; 2]) -> String {
        match Format::from_extension(name) {
            Some(Format::Pdn) => pgn::write(&record(line, players), "1"),
            _ => Self::format_game(line) + "\n",
        }
    }
}

impl GameText for Othello6 {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Plays a game in which each number selects a legal move.
    fn play_choices<P: GameText>(start: P, choices: &[usize]) -> Line<P> {
        let mut line = Line::new(start);
        for choice in choices {
            let moves: Vec<P::Move> = line.position().moves().collect();
            let Some(&mv) = moves.get(choice % moves.len().max(1)) else { break };
            line.push(mv).unwrap();
        }
        line
    }

    fn round_trip<P: GameText>(choices: &[usize], prefix: usize) {
        let line = play_choices(P::start(), choices);
        assert_eq!(P::parse_game(&P::format_game(&line)).unwrap(), line);
        let middle = play_choices(P::start(), &choices[..prefix.min(choices.len())]);
        let later = play_choices(*middle.position(), choices);
        assert_eq!(P::parse_game(&P::format_game(&later)).unwrap(), later);
    }

    proptest! {
        #[test]
        fn formatted_games_parse_to_the_same_game(
            choices in prop::collection::vec(0usize..40, 0..70),
            prefix in 0usize..40,
        ) {
            round_trip::<Othello>(&choices, prefix);
            round_trip::<Checkers>(&choices, prefix);
            round_trip::<Othello6>(&choices, prefix);
        }

        #[test]
        fn arbitrary_text_does_not_panic(text in ".{0,60}") {
            let _ = Othello::parse_game(&text);
            let _ = Checkers::parse_game(&text);
            let _ = Othello6::parse_game(&text);
        }
    }
}
