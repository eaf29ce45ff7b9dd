//! The formats of game files and how to tell them apart.

use crate::replay::lines;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// A format of game files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// The French federation's base; see [`wthor`](crate::wthor).
    Wthor,
    /// The Generic Game Format; see [`ggf`](crate::ggf).
    Ggf,
    /// Moves, a game a line; see [`transcript`](crate::transcript).
    Transcript,
    /// Positions with scores of moves; see [`obf`](crate::obf).
    Obf,
    /// Bare boards; see [`boards`](crate::boards).
    Boards,
    /// For rating programs, written but not read; see [`pgn`](crate::pgn).
    Pgn,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 6] =
        [Format::Wthor, Format::Ggf, Format::Transcript, Format::Obf, Format::Boards, Format::Pgn];

    /// The name used on the command line, which is also the usual extension (but `wtb`).
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Format::Wthor => "wthor",
            Format::Ggf => "ggf",
            Format::Transcript => "transcript",
            Format::Obf => "obf",
            Format::Boards => "boards",
            Format::Pgn => "pgn",
        }
    }

    /// The format that the name of a file promises; nothing for `.txt`, which may be many things.
    #[must_use]
    pub fn of_name(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "wtb" => Some(Format::Wthor),
            "ggf" => Some(Format::Ggf),
            "transcript" => Some(Format::Transcript),
            "obf" => Some(Format::Obf),
            "boards" | "edax" => Some(Format::Boards),
            "pgn" => Some(Format::Pgn),
            _ => None,
        }
    }

    /// The format that the content of a file of text shows. An empty text is a transcript.
    #[must_use]
    pub fn of_content(bytes: &[u8]) -> Option<Format> {
        let Some((_, line)) = lines(bytes).next() else { return Some(Format::Transcript) };
        let count = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if line[count..].trim_ascii_start().starts_with(b"(;") {
            return Some(Format::Ggf);
        }
        let in_cells = |byte: &u8| {
            matches!(byte, b'X' | b'x' | b'*' | b'O' | b'o' | b'0' | b'-' | b'.' | b'_')
                || matches!(byte, b'b' | b'B' | b'w' | b'W' | b'1' | b'2')
                || byte.is_ascii_whitespace()
        };
        let board = line.split(|&byte| byte == b';' || byte == b':').next().unwrap_or_default();
        let cells = board.iter().filter(|byte| !byte.is_ascii_whitespace()).count();
        let is_board = board.iter().all(in_cells) && (cells >= 64 || is_digits(board));
        match (is_board, line.get(board.len())) {
            (true, Some(b';')) => Some(Format::Obf),
            (true, Some(_)) => Some(Format::Transcript),
            (true, None) => Some(Format::Boards),
            (false, _) => match line {
                [b'a'..=b'h' | b'A'..=b'H', b'1'..=b'8', ..] => Some(Format::Transcript),
                _ => None,
            },
        }
    }

    /// The format of a file by its name, or by its content where the name does not say.
    #[must_use]
    pub fn detect(path: &Path, bytes: &[u8]) -> Option<Format> {
        Format::of_name(path).or_else(|| Format::of_content(bytes))
    }
}

/// Whether this is a row of the digits that a board of digits has.
fn is_digits(line: &[u8]) -> bool {
    let digit = |byte: &u8| matches!(byte, b'0'..=b'2') || byte.is_ascii_whitespace();
    line.iter().filter(|byte| byte.is_ascii_digit()).count() >= 8 && line.iter().all(digit)
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Format, String> {
        match text.to_ascii_lowercase().as_str() {
            "wtb" => Ok(Format::Wthor),
            "txt" | "transcripts" => Ok(Format::Transcript),
            lower => {
                Format::ALL.into_iter().find(|format| format.name() == lower).ok_or_else(|| {
                    let names = Format::ALL.map(Format::name).join(", ");
                    format!("no format is called '{text}'; there are {names}")
                })
            }
        }
    }
}
