//! Encoding of games as `.wtb`, `.JOU` and `.TRN` files.

use super::names::{PLAYER_BYTES, TOURNAMENT_BYTES, UNKNOWN};
use super::{Header, Names, StoredGame, encode_square};
use crate::Record;
use crate::convert::{DroppedFields, WriteError};
use outflank_games::Position;
use outflank_games::othello::Othello;
use std::collections::HashMap;

/// The fields that the format stores, at least in part.
const SUPPORTED: [&str; 5] = [
    "players",
    "tournaments",
    "dates",
    "results that differ from the final board",
    "perfect results",
];

/// The creation date of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CreationDate {
    /// The first two digits of the year, such as 20.
    pub century: u8,
    /// The last two digits of the year.
    pub year: u8,
    /// The month, 1 to 12.
    pub month: u8,
    /// The day, 1 to 31.
    pub day: u8,
}

/// The contents of the three files that store games.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodedFiles {
    /// The content of the `.wtb` file.
    pub games: Vec<u8>,
    /// The content of the `.JOU` file.
    pub players: Vec<u8>,
    /// The content of the `.TRN` file.
    pub tournaments: Vec<u8>,
    /// The fields that the format cannot store.
    pub dropped: DroppedFields,
}

/// Encodes games as WTHOR files.
///
/// Names that are in `names` keep their numbers; new names are appended. The header stores the year
/// and the depth of perfect play if they are the same for all games. The format requires a result and
/// a perfect result: a game without a recorded result gets that of its final board, and a game without
/// a perfect result gets its result.
pub fn encode(
    records: &[Record<Othello>],
    names: &Names,
    created: CreationDate,
) -> Result<EncodedFiles, WriteError> {
    let mut dropped = DroppedFields::default();
    let mut players = NumberedNames::new("players", PLAYER_BYTES, &names.players);
    let mut tournaments = NumberedNames::new("tournaments", TOURNAMENT_BYTES, &names.tournaments);
    let mut bytes = vec![0; super::HEADER_BYTES];
    for (index, record) in records.iter().enumerate() {
        let info = &record.info;
        if *record.start() != Othello::start() || record.plies().len() > 60 {
            return Err(WriteError::Start { game: index + 1 });
        }
        let mut moves = [0; 60];
        for (slot, ply) in moves.iter_mut().zip(record.plies()) {
            *slot = encode_square(ply.mv);
        }
        let score = black_discs(info.result, record, &mut dropped);
        let perfect = match info.perfect_result {
            Some(perfect) => black_discs(Some(perfect), record, &mut dropped),
            None => {
                dropped.add("missing perfect results");
                score
            }
        };
        let game = StoredGame {
            tournament: tournaments.number(&info.event, &mut dropped)?,
            black: players.number(&info.black, &mut dropped)?,
            white: players.number(&info.white, &mut dropped)?,
            score,
            perfect,
            moves,
        };
        dropped.add_unsupported(&SUPPORTED, record);
        dropped.add_if(info.date.chars().count() > 4, "dates beyond the year");
        bytes.extend(game.to_bytes());
    }
    let games = u32::try_from(records.len())
        .map_err(|_| WriteError::TooMany { items: "games", max: u32::MAX as usize })?;
    let header = Header {
        created,
        games,
        year: common_value(records, |record| record.info.year(), "years", &mut dropped),
        board: 8,
        depth: common_value(
            records,
            |record| record.info.perfect_depth,
            "depths of perfect play",
            &mut dropped,
        ),
        ..Header::default()
    };
    bytes[..super::HEADER_BYTES].copy_from_slice(&header.to_bytes());
    Ok(EncodedFiles {
        games: bytes,
        players: players.to_bytes(created)?,
        tournaments: tournaments.to_bytes(created)?,
        dropped,
    })
}

/// Returns the value of `value_of` if it is the same for all games, otherwise the default.
fn common_value<T: Default + PartialEq>(
    records: &[Record<Othello>],
    value_of: impl Fn(&Record<Othello>) -> Option<T>,
    field: &'static str,
    dropped: &mut DroppedFields,
) -> T {
    let first = records.first().and_then(&value_of);
    if records.iter().all(|record| value_of(record) == first) {
        return first.unwrap_or_default();
    }
    for _ in records.iter().filter(|record| value_of(record).is_some()) {
        dropped.add(field);
    }
    T::default()
}

/// Returns Black's discs for a result or, without one, on the final board.
fn black_discs(result: Option<i32>, record: &Record<Othello>, dropped: &mut DroppedFields) -> u8 {
    let board = record.disc_score();
    let result = match result {
        Some(result) if result % 2 == 0 && result.abs() <= 64 => result,
        // A result that does not give the empty squares to the winner is replaced by the one that
        // does.
        Some(result) if record.end().result() == Some(result) => board,
        other => {
            dropped.add_if(other.is_some(), "results that are not an even disc difference");
            let unknown = other.is_none() && !record.end().is_over();
            dropped.add_if(unknown, "missing results");
            board
        }
    };
    ((result.clamp(-64, 64) + 64) / 2) as u8
}

/// The names of one file and their numbers.
struct NumberedNames {
    kind: &'static str,
    length: usize,
    names: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl NumberedNames {
    fn new(kind: &'static str, length: usize, names: &[String]) -> NumberedNames {
        let mut numbered =
            NumberedNames { kind, length, names: Vec::new(), numbers: HashMap::new() };
        for name in names {
            numbered.add(name);
        }
        if names.is_empty() {
            // In the federation's files number 0 is the unknown name.
            numbered.add("");
        }
        numbered
    }

    fn add(&mut self, name: &str) -> usize {
        let number = self.names.len();
        self.names.push(name.to_owned());
        self.numbers.entry(name.to_owned()).or_insert(number);
        number
    }

    fn number(&mut self, name: &str, dropped: &mut DroppedFields) -> Result<u16, WriteError> {
        let fits = name.chars().all(is_latin1) && name.chars().count() < self.length;
        dropped.add_if(!fits, "parts of names (too long, or not Latin-1)");
        let number = match self.numbers.get(name) {
            Some(&number) => number,
            None => self.add(name),
        };
        u16::try_from(number).map_err(|_| self.too_many())
    }

    fn too_many(&self) -> WriteError {
        WriteError::TooMany { items: self.kind, max: usize::from(u16::MAX) }
    }

    fn to_bytes(&self, created: CreationDate) -> Result<Vec<u8>, WriteError> {
        let names = u16::try_from(self.names.len()).map_err(|_| self.too_many())?;
        let header = Header { created, names, ..Header::default() };
        let mut bytes = header.to_bytes().to_vec();
        for name in &self.names {
            let name = if name.is_empty() { UNKNOWN } else { name };
            let from = bytes.len();
            bytes.extend(name.chars().take(self.length - 1).map(latin1_byte));
            bytes.resize(from + self.length, 0);
        }
        Ok(bytes)
    }
}

fn is_latin1(letter: char) -> bool {
    letter != '\0' && u32::from(letter) < 256
}

fn latin1_byte(letter: char) -> u8 {
    if is_latin1(letter) { u32::from(letter) as u8 } else { b'?' }
}
