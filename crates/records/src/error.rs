//! Errors in game files.

use outflank_games::othello::BoardError;
use outflank_games::{MoveError, Side};
use outflank_runs::files::FileError;
use std::fmt;
use std::path::PathBuf;

/// A parse error with its location in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct ParseError {
    /// The number of the game, opening or position, counted from 1; `None` for an error of the whole
    /// file.
    pub number: Option<usize>,
    /// The byte offset of the start of that entry, or of an error of the whole file.
    pub byte_offset: usize,
    /// The kind of error.
    pub kind: ParseErrorKind,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(number) = self.number {
            write!(f, "{} {number} at ", self.kind.entry_name())?;
        }
        write!(f, "byte {}: {}", self.byte_offset, self.kind)
    }
}

impl std::error::Error for ParseError {}

impl ParseError {
    /// Creates an error of the whole file.
    pub(crate) fn of_file(byte_offset: usize, kind: ParseErrorKind) -> ParseError {
        ParseError { number: None, byte_offset, kind }
    }

    /// Returns advice for an error of a single game, since other games may be invalid too.
    fn advice(&self) -> &'static str {
        match self.number {
            None => "",
            Some(_) => "; `outflank data check` lists every invalid game",
        }
    }
}

/// The kind of a parse error.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParseErrorKind {
    /// A move is illegal or invalid.
    #[error("move {ply}: {error}")]
    Move {
        /// The number of the move, counted from 1 without passes.
        ply: usize,
        /// The error.
        error: MoveError,
    },
    /// A pass is written although the side to move has a legal move.
    #[error("pass before move {ply}, but {side} has a legal move")]
    Pass {
        /// The number of the next move, counted from 1 without passes.
        ply: usize,
        /// The side to move.
        side: Side,
    },
    /// A move is assigned to the wrong side.
    #[error("move {ply} is a move of {}, but {side} is to move", .side.other())]
    WrongSide {
        /// The number of the move, counted from 1 without passes.
        ply: usize,
        /// The side to move.
        side: Side,
    },
    /// A byte does not encode a square.
    #[error("move {ply}: the byte {byte} is not a square (10 x row + column, 11 to 88)")]
    MoveByte {
        /// The number of the move, counted from 1.
        ply: usize,
        /// The byte.
        byte: u8,
    },
    /// A move follows the zero byte that ends the list of moves.
    #[error("move {ply} follows the end of the moves (a zero byte)")]
    MoveAfterEnd {
        /// The number of the move, counted from 1.
        ply: usize,
    },
    /// A number of discs is above 64.
    #[error("{0} discs are more than the 64 squares")]
    Discs(u8),
    /// A board is invalid.
    #[error("{0}")]
    Board(#[from] BoardError),
    /// A number is invalid.
    #[error("'{text}' is not {expected}")]
    Number {
        /// The expected value.
        expected: &'static str,
        /// The text.
        text: String,
    },
    /// A position is invalid in the game's notation.
    #[error("'{text}' is not a position: {error}")]
    Position {
        /// The text.
        text: String,
        /// The error of the game's parser.
        error: String,
    },
    /// The game is over at an opening.
    #[error("the game is over in this opening; remove it from the file")]
    OverAtStart,
    /// The requested first side differs from the side to move of a position.
    #[error("{side} moves first in this opening; only Othello openings accept another first side")]
    FirstSide {
        /// The side to move in the opening.
        side: Side,
    },
    /// A score belongs to an illegal move.
    #[error("score for {text}, which is not a legal move")]
    ScoredMove {
        /// The text.
        text: String,
    },
    /// The game is not Othello.
    #[error("the game is '{0}', not Othello")]
    OtherGame(String),
    /// The game is a variant of Othello.
    #[error("the type '{0}' is not standard Othello on 8x8 squares")]
    Variant(String),
    /// The game is played with komi.
    #[error("komi games are not supported")]
    Komi,
    /// GGF text is not a property `NAME[value]`.
    #[error("'{0}': expected a property such as B[f5] or the end ';)'")]
    Property(String),
    /// A line is incomplete.
    #[error("the line does not end with ';' and a line break; the file may be truncated")]
    TruncatedLine,
    /// A GGF game has no end.
    #[error("the game does not end with ';)'")]
    Unterminated,
    /// A GGF file has no game.
    #[error("the file contains no game, which would start with '(;'")]
    NoGame,
    /// A PGN file has no game.
    #[error("the file contains no game with tags such as [Event \"name\"] or with moves")]
    NoPgnGame,
    /// A GGF game has an end but no start.
    #[error("';)' ends a game that does not start with '(;'")]
    NotOpened,
    /// A file is shorter than its header.
    #[error("the file has {0} bytes, but the header needs 16")]
    Header(usize),
    /// The number of records in the header does not match the file.
    #[error("the header declares {declared} records, but the file has {actual}{}",
        if *.extra_bytes == 0 { String::new() } else { format!(" and {} extra bytes", .extra_bytes) })]
    Count {
        /// The number in the header.
        declared: u64,
        /// The number of complete records in the file.
        actual: u64,
        /// The number of bytes after the last complete record.
        extra_bytes: u64,
    },
    /// The board is not 8x8.
    #[error("board size {0} is not supported, only 8")]
    BoardSize(u8),
    /// The file could not be read.
    #[error("{0}")]
    Unreadable(String),
    /// The format cannot be detected from the name or the content of the file.
    #[error(
        "unknown format; use one of the extensions .wtb, .ggf, .transcript, .pgn, .obf and .boards"
    )]
    Format,
    /// A game of draughts has other rules than checkers.
    #[error("GameType {0} is not English draughts (21)")]
    GameType(String),
    /// A tag of PGN is invalid.
    #[error("'{0}': expected a tag such as [White \"name\"]")]
    Tag(String),
    /// A comment or variation of PGN has no end.
    #[error("the text after '{0}' does not end")]
    UnterminatedText(String),
}

impl ParseErrorKind {
    /// Returns the name of the entry with such an error: a game, an opening or a position; `entry`
    /// if it may be any of them.
    fn entry_name(&self) -> &'static str {
        use ParseErrorKind as Kind;
        match self {
            Kind::Move { .. }
            | Kind::Pass { .. }
            | Kind::WrongSide { .. }
            | Kind::MoveByte { .. }
            | Kind::MoveAfterEnd { .. }
            | Kind::Discs(_)
            | Kind::OtherGame(_)
            | Kind::Variant(_)
            | Kind::Komi
            | Kind::Property(_)
            | Kind::Unterminated
            | Kind::NotOpened => "game",
            Kind::OverAtStart | Kind::FirstSide { .. } | Kind::Position { .. } => "opening",
            Kind::ScoredMove { .. } => "position",
            _ => "entry",
        }
    }
}

/// An error while reading games.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A file cannot be accessed.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file or a game in it is invalid.
    #[error("{path}: {error}{}", .error.advice())]
    Parse {
        /// The file.
        path: PathBuf,
        /// The location and kind of the error.
        #[source]
        error: ParseError,
    },
    /// A folder contains no game files.
    #[error(
        "{0}: no game files in this folder (.wtb, .ggf, .transcript, .txt, .pgn, .obf, .boards)"
    )]
    EmptyFolder(PathBuf),
    /// A run folder contains no games.
    #[error(
        "{0}: this run has no games to read; name a finished run of match, league or data generate"
    )]
    RunWithoutGames(PathBuf),
    /// The path is neither a file nor a folder.
    #[error("{0}: neither a file nor a folder")]
    NotAFile(PathBuf),
    /// No path is given.
    #[error("no file or folder with games was given; name at least one")]
    NoPath,
    /// The files contain no game.
    #[error("{path}: no games in this file{}",
        if *.files == 1 { String::new() } else { format!(" and {} others", .files - 1) })]
    NoGames {
        /// The first file.
        path: PathBuf,
        /// The number of files.
        files: usize,
    },
    /// No game matches the selection.
    #[error("none of the {total} games was {selection}")]
    NothingSelected {
        /// The number of games.
        total: usize,
        /// The description of the selection.
        selection: String,
    },
    /// A file of openings is empty.
    #[error("{0}: no openings in this file")]
    NoOpenings(PathBuf),
}

/// Shortens untrusted text for an error message: one line, without control characters.
pub(crate) fn snippet(text: &[u8]) -> String {
    const MAX_CHARS: usize = 24;
    let text = String::from_utf8_lossy(&text[..text.len().min(4 * MAX_CHARS)]);
    let mut short: String =
        text.trim().chars().take(MAX_CHARS).flat_map(char::escape_debug).collect();
    if text.trim().chars().nth(MAX_CHARS).is_some() {
        short.push_str("...");
    }
    short
}

/// Decodes text as UTF-8 or, if it is not valid UTF-8, as Latin-1.
pub(crate) fn decode(text: &[u8]) -> String {
    match std::str::from_utf8(text) {
        Ok(text) => text.to_owned(),
        Err(_) => latin1(text),
    }
}

/// Decodes Latin-1.
pub(crate) fn latin1(text: &[u8]) -> String {
    text.iter().map(|&byte| char::from(byte)).collect()
}
