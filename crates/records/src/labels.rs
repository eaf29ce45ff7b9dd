//! Labeled games: games with the score of a deep search for each position, to train evaluation
//! functions.
//!
//! A line is a transcript from the standard starting position, the number of
//! plies before the first labeled position, and one score per position from there on, in discs for
//! the side to move:
//!
//! ```text
//! f5d6c3d3c4f4 3 0.5 -1.25 2
//! ```

use crate::error::ParseErrorKind;
use crate::{Record, transcript};
use outflank_games::othello::Othello;
use std::fmt::Write;

/// A game with labeled positions.
#[derive(Clone, Debug, PartialEq)]
pub struct LabeledGame {
    /// The game.
    pub game: Record<Othello>,
    /// Number of plies before the first labeled position.
    pub first: usize,
    /// The score of each position before a move from `first` on, in discs for the side to move.
    pub scores: Vec<f32>,
}

/// An error in a line of labels.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct LabelError {
    /// Number of the line, from 1.
    pub line: usize,
    /// What is wrong, and what is expected.
    pub reason: String,
}

impl LabeledGame {
    /// Iterates over the labeled positions and their scores.
    pub fn positions(&self) -> impl Iterator<Item = (Othello, f32)> {
        let positions = self.game.steps().map(|(position, _)| position).skip(self.first);
        positions.zip(self.scores.iter().copied())
    }

    /// Writes the game as a line, without the line break. Scores have two decimals.
    #[must_use]
    pub fn to_line(&self) -> String {
        let mut line = format!("{} {}", transcript::write(&self.game), self.first);
        for score in &self.scores {
            let text = format!("{score:.2}");
            let text = text.trim_end_matches('0').trim_end_matches('.');
            let _ = write!(line, " {}", if text == "-0" { "0" } else { text });
        }
        line
    }

    /// Parses a line. An error is a sentence without the number of the line.
    pub fn from_line(line: &str) -> Result<LabeledGame, String> {
        let mut words = line.split_ascii_whitespace();
        let moves = words.next().unwrap_or_default();
        let game = transcript::game(moves.as_bytes()).map_err(|error: ParseErrorKind| {
            format!("{error}; a line is a transcript, a number of plies and scores")
        })?;
        let first = words
            .next()
            .and_then(|word| word.parse().ok())
            .ok_or("the number of plies before the first score is missing after the transcript")?;
        let scores: Vec<f32> = words
            .map(|word| match word.parse() {
                Ok(score) if (-64.0..=64.0).contains(&score) => Ok(score),
                _ => Err(format!("'{word}' is not a score from -64 to 64 discs")),
            })
            .collect::<Result<_, _>>()?;
        let expected = game.plies().len().saturating_sub(first);
        if scores.len() != expected {
            let count = scores.len();
            return Err(format!("there are {count} scores for {expected} positions"));
        }
        Ok(LabeledGame { game, first, scores })
    }
}

/// Parses a file of labeled games; blank lines and lines that start with `#` are skipped.
pub fn parse(text: &str) -> Result<Vec<LabeledGame>, LabelError> {
    let lines = text.lines().enumerate();
    let used = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    used.map(|(index, line)| {
        LabeledGame::from_line(line).map_err(|reason| LabelError { line: index + 1, reason })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_round_trip() {
        let line = "f5d6c3d3c4f4 3 0.5 -1.25 64";
        let games = parse(&format!("# comment\n\n{line}\n")).unwrap();
        assert_eq!(games[0].to_line(), line);
        let plies: Vec<u32> =
            games[0].positions().map(|(position, _)| 60 - position.empties()).collect();
        assert_eq!(plies, [3, 4, 5]);
        let tiny = LabeledGame { scores: vec![-0.001, 10.0, 0.0], ..games[0].clone() };
        assert_eq!(tiny.to_line(), "f5d6c3d3c4f4 3 0 10 0");
    }

    #[test]
    fn errors_name_the_line_and_the_mistake() {
        for (line, expected) in [
            ("f5d6", "number of plies"),
            ("f5d6 0 1", "1 scores for 2 positions"),
            ("f5d6 0 1 65", "65"),
            ("f5d6 0 1 x", "'x'"),
            ("f5d6 0 1 NaN", "NaN"),
            ("f5f5 0 1 2", "transcript"),
        ] {
            let error = parse(&format!("f5d6 2\n{line}\n")).unwrap_err();
            assert_eq!(error.line, 2);
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
