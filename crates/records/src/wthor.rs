//! WTHOR, the game database of the French Othello federation: `.wtb` files of games, with the names
//! of players in a `.JOU` file and of tournaments in a `.TRN` file.
//!
//! All numbers are little-endian. The header of 16 bytes contains the creation date, the number of
//! records, the year of the games, the board size and the number of empty squares from which perfect
//! play was computed. A game takes 68 bytes: the numbers of its tournament and players, Black's discs
//! at the end (empty squares counted for the winner), Black's discs under perfect play, and 60 move
//! bytes. Passes are not stored.
//!
//! [`Database`] borrows the bytes of a file without copying. Iterating over all positions of the
//! complete WTHOR database takes a fraction of a second:
//!
//! ```
//! use outflank_records::wthor::Database;
//!
//! // A header that declares one game, and the unfinished game f5 d6.
//! let mut bytes = vec![20, 15, 6, 23, 1, 0, 0, 0, 0, 0, 0xdf, 7, 8, 0, 24, 0];
//! bytes.extend([0, 0, 1, 0, 2, 0, 40, 36, 56, 64]);
//! bytes.resize(16 + 68, 0);
//!
//! let database = Database::new(&bytes)?;
//! let mut positions = 0;
//! for game in database.games() {
//!     game.replay(|_position, _square| positions += 1)?;
//! }
//! assert_eq!((database.header.year, positions), (2015, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod names;
mod write;

pub use names::{NameFiles, Names};
pub use write::{CreationDate, EncodedFiles, encode};

use crate::error::{ParseError, ParseErrorKind};
use crate::{GameInfo, Ply, Record};
use outflank_games::Position;
use outflank_games::othello::{Othello, Square};
use rayon::prelude::*;

/// The size of a header in bytes.
pub(crate) const HEADER_BYTES: usize = 16;
/// The size of a game in bytes.
pub(crate) const GAME_BYTES: usize = 68;
/// The value that a depth of 0 in the header stands for.
const DEFAULT_DEPTH: u8 = 22;

/// The header of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The creation date.
    pub created: CreationDate,
    /// The number of games (0 in name files).
    pub games: u32,
    /// The number of names (0 in game files).
    pub names: u16,
    /// The year of the games; 0 if unknown.
    pub year: u16,
    /// The board size; 0 means 8.
    pub board: u8,
    /// The file type, as defined by the federation.
    pub kind: u8,
    /// The number of empty squares from which perfect results were computed; 0 means 22.
    pub depth: u8,
    /// Unused.
    pub reserved: u8,
}

impl Header {
    /// Parses the first 16 bytes of a file.
    pub fn parse(bytes: &[u8]) -> Result<Header, ParseError> {
        let too_short = ParseError::of_file(bytes.len(), ParseErrorKind::Header(bytes.len()));
        let Some(
            &[
                century,
                year,
                month,
                day,
                g0,
                g1,
                g2,
                g3,
                n0,
                n1,
                y0,
                y1,
                board,
                kind,
                depth,
                reserved,
            ],
        ) = bytes.first_chunk::<HEADER_BYTES>()
        else {
            return Err(too_short);
        };
        Ok(Header {
            created: CreationDate { century, year, month, day },
            games: u32::from_le_bytes([g0, g1, g2, g3]),
            names: u16::from_le_bytes([n0, n1]),
            year: u16::from_le_bytes([y0, y1]),
            board,
            kind,
            depth,
            reserved,
        })
    }

    /// Encodes the header.
    #[must_use]
    pub fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let CreationDate { century, year, month, day } = self.created;
        let [g0, g1, g2, g3] = self.games.to_le_bytes();
        let [n0, n1] = self.names.to_le_bytes();
        let [y0, y1] = self.year.to_le_bytes();
        let Header { board, kind, depth, reserved, .. } = self;
        [century, year, month, day, g0, g1, g2, g3, n0, n1, y0, y1, board, kind, depth, reserved]
    }
}

/// A game as stored in a WTHOR file, with numbers instead of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredGame {
    /// The number of the tournament in the `.TRN` file.
    pub tournament: u16,
    /// The number of Black in the `.JOU` file.
    pub black: u16,
    /// The number of White in the `.JOU` file.
    pub white: u16,
    /// Black's discs at the end, with empty squares counted for the winner.
    pub score: u8,
    /// Black's discs under perfect play from the depth in the header.
    pub perfect: u8,
    /// The moves as 10 * row + column, from 11 (a1) to 88 (h8); 0 after the last move.
    pub moves: [u8; 60],
}

impl StoredGame {
    /// Decodes a game.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; GAME_BYTES]) -> StoredGame {
        let [t0, t1, b0, b1, w0, w1, score, perfect, moves @ ..] = *bytes;
        StoredGame {
            tournament: u16::from_le_bytes([t0, t1]),
            black: u16::from_le_bytes([b0, b1]),
            white: u16::from_le_bytes([w0, w1]),
            score,
            perfect,
            moves,
        }
    }

    /// Encodes the game.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; GAME_BYTES] {
        let mut bytes = [0; GAME_BYTES];
        bytes[0..2].copy_from_slice(&self.tournament.to_le_bytes());
        bytes[2..4].copy_from_slice(&self.black.to_le_bytes());
        bytes[4..6].copy_from_slice(&self.white.to_le_bytes());
        bytes[6] = self.score;
        bytes[7] = self.perfect;
        bytes[8..].copy_from_slice(&self.moves);
        bytes
    }

    /// Returns the number of moves.
    #[must_use]
    pub fn len(&self) -> usize {
        self.moves.iter().position(|&byte| byte == 0).unwrap_or(self.moves.len())
    }

    /// Returns whether the game has no moves.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the recorded result: Black's discs minus White's.
    #[must_use]
    pub fn result(&self) -> i32 {
        2 * i32::from(self.score) - 64
    }

    /// Returns the result of perfect play: Black's discs minus White's.
    #[must_use]
    pub fn perfect_result(&self) -> i32 {
        2 * i32::from(self.perfect) - 64
    }

    /// Iterates over the moves. Bytes that are not moves are errors.
    pub fn squares(&self) -> impl Iterator<Item = Result<Square, ParseErrorKind>> + '_ {
        let length = self.len();
        let moves = self.moves.iter().enumerate().filter(|&(_, &byte)| byte != 0);
        moves.map(move |(index, &byte)| {
            let ply = index + 1;
            match decode_square(byte) {
                _ if index >= length => Err(ParseErrorKind::MoveAfterEnd { ply }),
                Some(square) => Ok(square),
                None => Err(ParseErrorKind::MoveByte { ply, byte }),
            }
        })
    }

    /// Replays the game and passes each position and move to `visit`. Returns the final position.
    pub fn replay(
        &self,
        mut visit: impl FnMut(&Othello, Square),
    ) -> Result<Othello, ParseErrorKind> {
        let mut position = Othello::start();
        for (index, square) in self.squares().enumerate() {
            let square = square?;
            let after = position
                .try_play(square)
                .map_err(|error| ParseErrorKind::Move { ply: index + 1, error })?;
            visit(&position, square);
            position = after;
        }
        Ok(position)
    }

    /// Converts the game to a record with names.
    pub fn record(
        &self,
        header: &Header,
        names: &Names,
    ) -> Result<Record<Othello>, ParseErrorKind> {
        if let Some(&discs) = [self.score, self.perfect].iter().find(|&&discs| discs > 64) {
            return Err(ParseErrorKind::Discs(discs));
        }
        let info = GameInfo {
            black: names.player(self.black),
            white: names.player(self.white),
            event: names.tournament(self.tournament),
            date: if header.year == 0 { String::new() } else { header.year.to_string() },
            result: Some(self.result()),
            perfect_result: Some(self.perfect_result()),
            perfect_depth: Some(if header.depth == 0 { DEFAULT_DEPTH } else { header.depth }),
            ..GameInfo::default()
        };
        let mut record = Record::with_capacity(Othello::start(), info, self.len());
        for (index, square) in self.squares().enumerate() {
            let ply = Ply::new(square?);
            record.push(ply).map_err(|error| ParseErrorKind::Move { ply: index + 1, error })?;
        }
        Ok(record)
    }
}

/// Decodes a move byte.
fn decode_square(byte: u8) -> Option<Square> {
    Square::at((byte % 10).checked_sub(1)?, (byte / 10).checked_sub(1)?)
}

/// Encodes a move byte.
fn encode_square(square: Square) -> u8 {
    10 * (square.row() + 1) + square.column() + 1
}

/// The games of a file, borrowed from its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Database<'a> {
    /// The header of the file.
    pub header: Header,
    games: &'a [[u8; GAME_BYTES]],
}

impl<'a> Database<'a> {
    /// Parses a file.
    ///
    /// # Errors
    ///
    /// Fails if the header is invalid or does not match the size of the file.
    pub fn new(bytes: &'a [u8]) -> Result<Database<'a>, ParseError> {
        match Database::parse_lenient(bytes)? {
            (_, Some(error)) => Err(error),
            (database, None) => Ok(database),
        }
    }

    /// Parses the complete games of a file. Also returns an error if the header declares another
    /// number of games.
    pub fn parse_lenient(
        bytes: &'a [u8],
    ) -> Result<(Database<'a>, Option<ParseError>), ParseError> {
        let header = Header::parse(bytes)?;
        if !matches!(header.board, 0 | 8) {
            return Err(ParseError::of_file(12, ParseErrorKind::BoardSize(header.board)));
        }
        let (games, extra) = bytes[HEADER_BYTES..].as_chunks::<GAME_BYTES>();
        let error = count_error(u64::from(header.games), games.len(), extra.len(), 4);
        Ok((Database { header, games }, error))
    }

    /// Returns the number of games.
    #[must_use]
    pub fn len(&self) -> usize {
        self.games.len()
    }

    /// Returns whether there are no games.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.games.is_empty()
    }

    /// Returns the game with this index.
    #[must_use]
    pub fn game(&self, index: usize) -> Option<StoredGame> {
        self.games.get(index).map(StoredGame::from_bytes)
    }

    /// Iterates over the games.
    pub fn games(&self) -> impl ExactSizeIterator<Item = StoredGame> + use<'a> {
        self.games.iter().map(StoredGame::from_bytes)
    }

    /// Returns the game with this index as a record.
    #[must_use]
    pub fn record(
        &self,
        index: usize,
        names: &Names,
    ) -> Option<Result<Record<Othello>, ParseError>> {
        let game = self.game(index)?;
        Some(game.record(&self.header, names).map_err(|kind| Database::game_error(index, kind)))
    }

    /// Returns all games as records. They are parsed in parallel.
    #[must_use]
    pub fn par_records(&self, names: &Names) -> Vec<Result<Record<Othello>, ParseError>> {
        let read = |(index, bytes): (usize, &[u8; GAME_BYTES])| {
            let record = StoredGame::from_bytes(bytes).record(&self.header, names);
            record.map_err(|kind| Database::game_error(index, kind))
        };
        self.games.par_iter().enumerate().map(read).collect()
    }

    /// Creates an error of the game with this index.
    #[must_use]
    pub(crate) fn game_error(index: usize, kind: ParseErrorKind) -> ParseError {
        ParseError { number: Some(index + 1), byte_offset: HEADER_BYTES + GAME_BYTES * index, kind }
    }
}

/// Returns an error if the header declares another number of records than the file has.
fn count_error(declared: u64, actual: usize, extra: usize, byte: usize) -> Option<ParseError> {
    let (actual, extra_bytes) = (actual as u64, extra as u64);
    let kind = ParseErrorKind::Count { declared, actual, extra_bytes };
    (declared != actual || extra_bytes != 0).then(|| ParseError::of_file(byte, kind))
}
