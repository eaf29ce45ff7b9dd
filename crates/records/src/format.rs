//! Formats of game files and their detection.

use crate::replay::lines;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// A format of game files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// The database format of the French federation; see [`wthor`](crate::wthor).
    Wthor,
    /// The Generic Game Format; see [`ggf`](crate::ggf).
    Ggf,
    /// Moves, one game per line; see [`transcript`](crate::transcript).
    Transcript,
    /// Positions with scores of moves; see [`obf`](crate::obf).
    Obf,
    /// Positions; see [`boards`](crate::boards).
    Boards,
    /// The format of rating programs; see [`pgn`](crate::pgn).
    Pgn,
    /// Games of checkers; see [`pgn`](crate::pgn).
    Pdn,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 7] = [
        Format::Wthor,
        Format::Ggf,
        Format::Transcript,
        Format::Obf,
        Format::Boards,
        Format::Pgn,
        Format::Pdn,
    ];

    /// Returns the name on the command line, which is also the file extension except for `wtb`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Format::Wthor => "wthor",
            Format::Ggf => "ggf",
            Format::Transcript => "transcript",
            Format::Obf => "obf",
            Format::Boards => "boards",
            Format::Pgn => "pgn",
            Format::Pdn => "pdn",
        }
    }

    /// Returns the format of a file extension; `None` for `.txt`, which several formats use.
    #[must_use]
    pub fn from_extension(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "wtb" => Some(Format::Wthor),
            "ggf" => Some(Format::Ggf),
            "transcript" => Some(Format::Transcript),
            "obf" => Some(Format::Obf),
            "boards" | "edax" => Some(Format::Boards),
            "pgn" => Some(Format::Pgn),
            "pdn" => Some(Format::Pdn),
            _ => None,
        }
    }

    /// Detects the format of the content of a text file. An empty text is a transcript.
    #[must_use]
    pub fn from_content(bytes: &[u8]) -> Option<Format> {
        let Some((_, line)) = lines(bytes).next() else { return Some(Format::Transcript) };
        let count = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if line[count..].trim_ascii_start().starts_with(b"(;") {
            return Some(Format::Ggf);
        }
        if line.starts_with(b"[") {
            let is_pdn = bytes.windows(9).any(|text| text == b"[GameType");
            return Some(if is_pdn { Format::Pdn } else { Format::Pgn });
        }
        // Numbered moves, such as `1. f5 d6`, may continue on other lines.
        let after_number = line[count..].strip_prefix(b".").map(<[u8]>::trim_ascii_start);
        if count > 0 && matches!(after_number, Some([b'a'..=b'h' | b'A'..=b'H', ..])) {
            return Some(Format::Pgn);
        }
        let is_cell = |byte: &u8| {
            matches!(byte, b'X' | b'x' | b'*' | b'O' | b'o' | b'0' | b'-' | b'.' | b'_')
                || matches!(byte, b'b' | b'B' | b'w' | b'W' | b'1' | b'2')
                || byte.is_ascii_whitespace()
        };
        let board = line.split(|&byte| byte == b';' || byte == b':').next().unwrap_or_default();
        let cells = board.iter().filter(|byte| !byte.is_ascii_whitespace()).count();
        let is_board = board.iter().all(is_cell) && (cells >= 64 || is_digit_row(board));
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

    /// Detects the format of a file by its extension or, failing that, by its content.
    #[must_use]
    pub fn detect(path: &Path, bytes: &[u8]) -> Option<Format> {
        Format::from_extension(path).or_else(|| Format::from_content(bytes))
    }
}

/// Returns whether a line is a row of a board written in digits.
fn is_digit_row(line: &[u8]) -> bool {
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
                    format!("unknown format '{text}'; use one of {names}")
                })
            }
        }
    }
}
