//! What can be wrong with game files, and where.

use outflank_games::othello::BoardError;
use outflank_games::{MoveError, Side};
use outflank_runs::files::FileError;
use std::fmt;
use std::path::PathBuf;

/// Where a file is wrong and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Which game, opening or board of the file, counted from 1; 0 means the file as a whole.
    pub index: usize,
    /// Where that game begins, in bytes from the start of the file; of a fault of the file as a
    /// whole, where the fault lies.
    pub byte: usize,
    /// What is wrong.
    pub reason: Reason,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            0 => write!(f, "byte {}: {}", self.byte, self.reason),
            index => write!(f, "game {index} at byte {}: {}", self.byte, self.reason),
        }
    }
}

impl std::error::Error for Fault {}

impl Fault {
    /// What shows more, where one game is wrong and others may be; of a file as a whole all is said.
    fn advice(&self) -> &'static str {
        match self.index {
            0 => "",
            _ => "; `outflank data check` lists every bad game",
        }
    }
}

/// Why a game, a board or a whole file cannot be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Reason {
    /// A move that the rules forbid or that is not a move at all.
    #[error("move {ply}: {error}")]
    Move {
        /// Which move, counted from 1, passes not counted.
        ply: usize,
        /// What is wrong with it.
        error: MoveError,
    },
    /// A pass by a side that can move or is not to move.
    #[error("a pass before move {ply}, where {side} is to move and can")]
    Pass {
        /// The move that comes next, counted from 1, passes not counted.
        ply: usize,
        /// Who is to move.
        side: Side,
    },
    /// A move written for the side that is not to move.
    #[error("move {ply} is written for {}, but {side} is to move", .side.other())]
    Turn {
        /// Which move, counted from 1, passes not counted.
        ply: usize,
        /// Who is to move.
        side: Side,
    },
    /// A byte that stands for no square.
    #[error("move {ply}: the byte {byte} is not a square (10 x row + column, 11 to 88)")]
    MoveByte {
        /// Which move, counted from 1.
        ply: usize,
        /// The byte.
        byte: u8,
    },
    /// A move after the zero that ends the moves.
    #[error("move {ply} follows an empty move")]
    MoveAfterEnd {
        /// Which move, counted from 1.
        ply: usize,
    },
    /// A count of discs above 64.
    #[error("{0} discs do not fit a board of 64")]
    Discs(u8),
    /// A board that cannot be read.
    #[error("{0}")]
    Board(#[from] BoardError),
    /// A text that should be a number.
    #[error("'{text}' is not {what}")]
    Number {
        /// What it should have been.
        what: &'static str,
        /// What it is.
        text: String,
    },
    /// A position as the game's own notation does not write it.
    #[error("'{text}' is not a position: {error}")]
    Position {
        /// What was read.
        text: String,
        /// What the game says about it.
        error: String,
    },
    /// An opening from which nobody can move.
    #[error("the game is over at this opening, so nobody can play from it")]
    OverAtStart,
    /// The wished first side does not fit a position that says who moves.
    #[error("{side} moves first here, and only Othello positions can be given another first side")]
    FirstSide {
        /// Who moves first.
        side: Side,
    },
    /// A score for a move that cannot be made.
    #[error("a score for {text}, which is not a legal move here")]
    ScoredMove {
        /// What was read.
        text: String,
    },
    /// The game is not Othello.
    #[error("the game is '{0}', not Othello")]
    OtherGame(String),
    /// The game is a variant of Othello that has other rules.
    #[error("the type '{0}' is not plain Othello on eight by eight squares")]
    Variant(String),
    /// The game is played with komi.
    #[error("a komi game, in which the result is not the difference in discs")]
    Komi,
    /// GGF text that does not follow the form `NAME[value]`.
    #[error("'{0}' where a property such as B[f5] or the end ';)' should stand")]
    Property(String),
    /// A GGF game that does not end.
    #[error("the game does not end with ';)'")]
    Open,
    /// A GGF file in which no game begins.
    #[error("no game in it begins with '(;'")]
    NoGame,
    /// A GGF game that ends without having begun.
    #[error("the end ';)' of a game that does not begin with '(;'")]
    NotOpened,
    /// A file that is shorter than its header.
    #[error("the file has {0} bytes, a header takes 16")]
    Header(usize),
    /// A header that announces another number of records than the file holds.
    #[error("the header announces {announced} records, the file has room for {held}{}",
        if *.spare == 0 { String::new() } else { format!(" and {} bytes more", .spare) })]
    Count {
        /// What the header says.
        announced: u64,
        /// Whole records in the file.
        held: u64,
        /// Bytes after the last whole record.
        spare: u64,
    },
    /// A board that is not eight by eight.
    #[error("games on a board of size {0}; only 8 is Othello")]
    BoardSize(u8),
    /// The file could not be read.
    #[error("{0}")]
    Unreadable(String),
    /// Neither the name nor the content of the file tells its format.
    #[error(
        "neither its name nor its content tells the format; \
        name it .wtb, .ggf, .transcript, .obf or .boards"
    )]
    Format,
    /// A kind of file that can be written but not read.
    #[error("{0} files can be written but not read")]
    WriteOnly(&'static str),
}

/// Why games could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file, or a game in it, is faulty.
    #[error("{path}: {fault}{}", .fault.advice())]
    Fault {
        /// The file.
        path: PathBuf,
        /// Where and why.
        #[source]
        fault: Fault,
    },
    /// A folder without games.
    #[error("{0} holds no game files (.wtb, .ggf, .transcript, .txt, .obf, .boards)")]
    EmptyFolder(PathBuf),
    /// Neither a file nor a folder.
    #[error("{0} is neither a file nor a folder")]
    NotAFile(PathBuf),
    /// Nothing to read was named.
    #[error("no file or folder to read games from was given")]
    NoPath,
    /// The files hold no game at all.
    #[error("there is no game in {path}{}",
        if *.files == 1 { String::new() } else { format!(" and the other files, {} in all", .files) })]
    NoGames {
        /// The first of the files.
        path: PathBuf,
        /// How many files were read.
        files: usize,
    },
    /// No game is as wished.
    #[error("none of the {total} games was {wished}")]
    NothingSelected {
        /// How many games there were.
        total: usize,
        /// The selection in words.
        wished: String,
    },
    /// A file of openings without an opening.
    #[error("{0} holds no opening")]
    NoOpenings(PathBuf),
}

/// Foreign text for an error message: short, on one line, without control characters.
pub(crate) fn snippet(text: &[u8]) -> String {
    const LONGEST: usize = 24;
    let shown = String::from_utf8_lossy(&text[..text.len().min(4 * LONGEST)]);
    let mut short: String =
        shown.trim().chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if shown.trim().chars().nth(LONGEST).is_some() {
        short.push_str("...");
    }
    short
}

/// Foreign text as characters: UTF-8 where it is that, otherwise Latin-1.
pub(crate) fn decode(text: &[u8]) -> String {
    match std::str::from_utf8(text) {
        Ok(text) => text.to_owned(),
        Err(_) => latin1(text),
    }
}

/// Latin-1 as characters; every byte is one.
pub(crate) fn latin1(text: &[u8]) -> String {
    text.iter().map(|&byte| char::from(byte)).collect()
}
