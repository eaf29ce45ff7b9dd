//! WTHOR, the game base of the French Othello federation: `.wtb` files of games, with the names of
//! players in a `.JOU` and those of tournaments in a `.TRN` file beside them.
//!
//! All numbers are little-endian. A header of 16 bytes holds the day of creation, the number of
//! records, the year of the games, the size of the board and the depth of the theoretical score. A
//! game takes 68 bytes: the numbers of its tournament and players, Black's discs at the end (empty
//! squares going to the winner), Black's discs under perfect play, and 60 move bytes. Passes are
//! not stored.
//!
//! [`Base`] is the light way in: it borrows the bytes, copies nothing and knows no names. A pass
//! over every position of the whole base takes a fraction of a second:
//!
//! ```
//! use outflank_records::wthor::Base;
//!
//! // A header that announces one game, and the game: f5 d6, broken off.
//! let mut bytes = vec![20, 15, 6, 23, 1, 0, 0, 0, 0, 0, 0xdf, 7, 8, 0, 24, 0];
//! bytes.extend([0, 0, 1, 0, 2, 0, 40, 36, 56, 64]);
//! bytes.resize(16 + 68, 0);
//!
//! let base = Base::new(&bytes)?;
//! let mut positions = 0;
//! for game in base.games() {
//!     game.replay(|_position, _square| positions += 1)?;
//! }
//! assert_eq!((base.header.year, positions), (2015, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod names;
mod write;

pub use names::{NameFiles, Names};
pub use write::{Created, Encoded, encode};

use crate::fault::{Fault, Reason};
use crate::{About, Ply, Record};
use outflank_games::othello::{Othello, Square};
use outflank_games::{MoveError, Position};
use rayon::prelude::*;

/// The length of every header.
pub(crate) const HEADER: usize = 16;
/// The length of a game.
pub(crate) const GAME: usize = 68;
/// The depth that a 0 in the header stands for.
const USUAL_DEPTH: u8 = 22;

/// The first 16 bytes of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// When the file was made.
    pub created: Created,
    /// How many games follow (0 in files of names).
    pub games: u32,
    /// How many names follow (0 in files of games).
    pub names: u16,
    /// When the games were played; 0 is unknown.
    pub year: u16,
    /// The width of the board; 0 means 8.
    pub board: u8,
    /// What the federation calls the type of the file.
    pub kind: u8,
    /// At how many empty squares the theoretical score was computed; 0 means 22.
    pub depth: u8,
    /// Not used.
    pub reserved: u8,
}

impl Header {
    /// Reads the first 16 bytes of a file.
    pub fn parse(bytes: &[u8]) -> Result<Header, Fault> {
        let short = Fault { index: 0, byte: bytes.len(), reason: Reason::Header(bytes.len()) };
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
        ) = bytes.first_chunk::<HEADER>()
        else {
            return Err(short);
        };
        Ok(Header {
            created: Created { century, year, month, day },
            games: u32::from_le_bytes([g0, g1, g2, g3]),
            names: u16::from_le_bytes([n0, n1]),
            year: u16::from_le_bytes([y0, y1]),
            board,
            kind,
            depth,
            reserved,
        })
    }

    /// The 16 bytes.
    #[must_use]
    pub fn to_bytes(self) -> [u8; HEADER] {
        let Created { century, year, month, day } = self.created;
        let [g0, g1, g2, g3] = self.games.to_le_bytes();
        let [n0, n1] = self.names.to_le_bytes();
        let [y0, y1] = self.year.to_le_bytes();
        let Header { board, kind, depth, reserved, .. } = self;
        [century, year, month, day, g0, g1, g2, g3, n0, n1, y0, y1, board, kind, depth, reserved]
    }
}

/// One game as the file has it, with numbers for names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Game {
    /// The number of the tournament in the `.TRN` file.
    pub tournament: u16,
    /// The number of the player of Black in the `.JOU` file.
    pub black: u16,
    /// The number of the player of White in the `.JOU` file.
    pub white: u16,
    /// Black's discs at the end, the empty squares going to the winner.
    pub score: u8,
    /// Black's discs under perfect play from the depth that the header states.
    pub perfect: u8,
    /// Ten times the row plus the column, from 11 for a1 to 88 for h8; 0 after the last move.
    pub moves: [u8; 60],
}

impl Game {
    /// The game in these bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; GAME]) -> Game {
        let [t0, t1, b0, b1, w0, w1, score, perfect, moves @ ..] = *bytes;
        Game {
            tournament: u16::from_le_bytes([t0, t1]),
            black: u16::from_le_bytes([b0, b1]),
            white: u16::from_le_bytes([w0, w1]),
            score,
            perfect,
            moves,
        }
    }

    /// The bytes of the game.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; GAME] {
        let mut bytes = [0; GAME];
        bytes[0..2].copy_from_slice(&self.tournament.to_le_bytes());
        bytes[2..4].copy_from_slice(&self.black.to_le_bytes());
        bytes[4..6].copy_from_slice(&self.white.to_le_bytes());
        bytes[6] = self.score;
        bytes[7] = self.perfect;
        bytes[8..].copy_from_slice(&self.moves);
        bytes
    }

    /// How many moves the game has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.moves.iter().position(|&byte| byte == 0).unwrap_or(self.moves.len())
    }

    /// Whether the game has no move.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The announced result: Black's discs less White's.
    #[must_use]
    pub fn result(&self) -> i32 {
        2 * i32::from(self.score) - 64
    }

    /// The result under perfect play: Black's discs less White's.
    #[must_use]
    pub fn perfect_result(&self) -> i32 {
        2 * i32::from(self.perfect) - 64
    }

    /// The moves, until the first that is none.
    pub fn squares(&self) -> impl Iterator<Item = Result<Square, Reason>> + '_ {
        let length = self.len();
        let moves = self.moves.iter().enumerate().filter(|&(_, &byte)| byte != 0);
        moves.map(move |(place, &byte)| {
            let ply = place + 1;
            match square(byte) {
                _ if place >= length => Err(Reason::MoveAfterEnd { ply }),
                Some(square) => Ok(square),
                None => Err(Reason::MoveByte { ply, byte }),
            }
        })
    }

    /// Plays the game, showing each position and the move made there; returns where it ends.
    pub fn replay(&self, mut visit: impl FnMut(&Othello, Square)) -> Result<Othello, Reason> {
        let mut position = Othello::start();
        for (place, square) in self.squares().enumerate() {
            let square = square?;
            if !position.is_legal(square) {
                let mv = square.to_string();
                let error = match position.is_over() {
                    true => MoveError::Over(mv),
                    false => MoveError::Illegal { mv, side: position.to_move() },
                };
                return Err(Reason::Move { ply: place + 1, error });
            }
            visit(&position, square);
            position = position.play(square);
        }
        Ok(position)
    }

    /// The game as a record, with its names looked up.
    pub fn record(&self, header: &Header, names: &Names) -> Result<Record<Othello>, Reason> {
        if let Some(&discs) = [self.score, self.perfect].iter().find(|&&discs| discs > 64) {
            return Err(Reason::Discs(discs));
        }
        let about = GameInfo {
            black: names.player(self.black),
            white: names.player(self.white),
            event: names.tournament(self.tournament),
            date: if header.year == 0 { String::new() } else { header.year.to_string() },
            result: Some(self.result()),
            perfect: Some(self.perfect_result()),
            depth: Some(if header.depth == 0 { USUAL_DEPTH } else { header.depth }),
            ..GameInfo::default()
        };
        let mut record = Record::with_capacity(Othello::start(), about, self.len());
        for (place, square) in self.squares().enumerate() {
            let ply = Ply::new(square?);
            record.push(ply).map_err(|error| Reason::Move { ply: place + 1, error })?;
        }
        Ok(record)
    }
}

/// The square that a move byte stands for.
fn square(byte: u8) -> Option<Square> {
    Square::at((byte % 10).checked_sub(1)?, (byte / 10).checked_sub(1)?)
}

/// The move byte of a square.
fn byte(square: Square) -> u8 {
    10 * (square.row() + 1) + square.column() + 1
}

/// A file of games, borrowed from its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Base<'a> {
    /// What the file says of itself.
    pub header: Header,
    games: &'a [[u8; GAME]],
}

impl<'a> Base<'a> {
    /// The games of a file whose header is in order and agrees with the length of the file.
    pub fn new(bytes: &'a [u8]) -> Result<Base<'a>, Fault> {
        match Base::salvage(bytes)? {
            (_, Some(fault)) => Err(fault),
            (base, None) => Ok(base),
        }
    }

    /// The whole games of a file, and the fault of its header where that disagrees with them.
    pub fn salvage(bytes: &'a [u8]) -> Result<(Base<'a>, Option<Fault>), Fault> {
        let header = Header::parse(bytes)?;
        if !matches!(header.board, 0 | 8) {
            return Err(Fault { index: 0, byte: 12, reason: Reason::BoardSize(header.board) });
        }
        let (games, spare) = bytes[HEADER..].as_chunks::<GAME>();
        let fault = count_fault(u64::from(header.games), games.len(), spare.len(), 4);
        Ok((Base { header, games }, fault))
    }

    /// How many games there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.games.len()
    }

    /// Whether there is no game.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.games.is_empty()
    }

    /// The game at this place, counted from 0.
    #[must_use]
    pub fn game(&self, place: usize) -> Option<Game> {
        self.games.get(place).map(Game::from_bytes)
    }

    /// The games in the order of the file.
    pub fn games(&self) -> impl ExactSizeIterator<Item = Game> + use<'a> {
        self.games.iter().map(Game::from_bytes)
    }

    /// The record of the game at this place, counted from 0, or what is wrong with it.
    #[must_use]
    pub fn record(&self, place: usize, names: &Names) -> Option<Result<Record<Othello>, Fault>> {
        let game = self.game(place)?;
        Some(game.record(&self.header, names).map_err(|reason| Base::fault(place, reason)))
    }

    /// The records of all games, or what is wrong with each, in the order of the file.
    #[must_use]
    pub fn par_records(&self, names: &Names) -> Vec<Result<Record<Othello>, Fault>> {
        let read = |(place, bytes): (usize, &[u8; GAME])| {
            let record = Game::from_bytes(bytes).record(&self.header, names);
            record.map_err(|reason| Base::fault(place, reason))
        };
        self.games.par_iter().enumerate().map(read).collect()
    }

    /// Says where the game at this place, counted from 0, lies in the file.
    #[must_use]
    pub fn fault(place: usize, reason: Reason) -> Fault {
        Fault { index: place + 1, byte: HEADER + GAME * place, reason }
    }
}

/// The fault of a file whose header announces another number of records than it holds.
fn count_fault(announced: u64, held: usize, spare: usize, byte: usize) -> Option<Fault> {
    let (held, spare) = (held as u64, spare as u64);
    (announced != held || spare != 0).then_some(Fault {
        index: 0,
        byte,
        reason: Reason::Count { announced, held, spare },
    })
}
