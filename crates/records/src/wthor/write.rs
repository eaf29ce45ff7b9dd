//! Games as the bytes of a `.wtb`, a `.JOU` and a `.TRN` file.

use super::names::{PLAYER, TOURNAMENT, UNKNOWN};
use super::{Game, Header, Names, byte};
use crate::Record;
use crate::convert::{Losses, WriteError};
use outflank_games::Position;
use outflank_games::othello::Othello;
use std::collections::HashMap;

/// What the format keeps, whole or in part.
const KEPT: [&str; 5] =
    ["players", "tournaments", "dates", "results that are not the board's", "perfect results"];

/// The day that a file was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Created {
    /// The first two digits of the year, such as 20.
    pub century: u8,
    /// The last two digits of the year.
    pub year: u8,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
}

/// The three files that hold a list of games.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoded {
    /// The bytes of the `.wtb` file.
    pub games: Vec<u8>,
    /// The bytes of the `.JOU` file.
    pub players: Vec<u8>,
    /// The bytes of the `.TRN` file.
    pub tournaments: Vec<u8>,
    /// What the format could not hold.
    pub losses: Losses,
}

/// Writes games as WTHOR files.
///
/// The names keep the numbers that they have in `names`, and new ones follow. The header takes the
/// year and the depth of perfect play where all games agree on them. A game without an announced
/// result gets the count of its last board, and one without a perfect result gets its own result,
/// since the format has no way to leave them out; what it cannot hold is counted in the losses.
pub fn encode(
    records: &[Record<Othello>],
    names: &Names,
    created: Created,
) -> Result<Encoded, WriteError> {
    let mut losses = Losses::default();
    let mut players = Table::new("players", PLAYER, &names.players);
    let mut tournaments = Table::new("tournaments", TOURNAMENT, &names.tournaments);
    let mut bytes = vec![0; super::HEADER];
    for (place, record) in records.iter().enumerate() {
        let about = &record.info;
        if *record.start() != Othello::start() || record.plies().len() > 60 {
            return Err(WriteError::Start { game: place + 1 });
        }
        let mut moves = [0; 60];
        for (slot, ply) in moves.iter_mut().zip(record.plies()) {
            *slot = byte(ply.mv);
        }
        let score = discs(about.result, record, &mut losses);
        let perfect = match about.perfect {
            Some(perfect) => discs(Some(perfect), record, &mut losses),
            None => {
                losses.add("that the perfect result is unknown");
                score
            }
        };
        let game = Game {
            tournament: tournaments.number(&about.event, &mut losses)?,
            black: players.number(&about.black, &mut losses)?,
            white: players.number(&about.white, &mut losses)?,
            score,
            perfect,
            moves,
        };
        losses.add_all_but(&KEPT, record);
        losses.add_if(about.date.chars().count() > 4, "dates beyond the year");
        bytes.extend(game.to_bytes());
    }
    let games = u32::try_from(records.len())
        .map_err(|_| WriteError::TooMany { what: "games", most: u32::MAX as usize })?;
    let header = Header {
        created,
        games,
        year: common(records, |record| record.info.year(), "years", &mut losses),
        board: 8,
        depth: common(records, |record| record.info.depth, "depths of play", &mut losses),
        ..Header::default()
    };
    bytes[..super::HEADER].copy_from_slice(&header.to_bytes());
    Ok(Encoded {
        games: bytes,
        players: players.to_bytes(created)?,
        tournaments: tournaments.to_bytes(created)?,
        losses,
    })
}

/// What all games agree on, or nothing.
fn common<T: Default + PartialEq>(
    records: &[Record<Othello>],
    of: impl Fn(&Record<Othello>) -> Option<T>,
    what: &'static str,
    losses: &mut Losses,
) -> T {
    let first = records.first().and_then(&of);
    if records.iter().all(|record| of(record) == first) {
        return first.unwrap_or_default();
    }
    for _ in records.iter().filter(|record| of(record).is_some()) {
        losses.add(what);
    }
    T::default()
}

/// Black's discs for a result, or for the last board where there is none.
fn discs(result: Option<i32>, record: &Record<Othello>, losses: &mut Losses) -> u8 {
    let board = record.disc_score();
    let result = match result {
        Some(result) if result % 2 == 0 && result.abs() <= 64 => result,
        // A result that leaves the empty squares to nobody means the same as the board's.
        Some(result) if record.end().margin() == Some(result) => board,
        other => {
            losses.add_if(other.is_some(), "results that are no even difference of discs");
            let open = other.is_none() && !record.end().is_over();
            losses.add_if(open, "that the result is unknown");
            board
        }
    };
    ((result.clamp(-64, 64) + 64) / 2) as u8
}

/// Names and their numbers.
struct Table {
    what: &'static str,
    length: usize,
    names: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Table {
    fn new(what: &'static str, length: usize, names: &[String]) -> Table {
        let mut table = Table { what, length, names: Vec::new(), numbers: HashMap::new() };
        for name in names {
            table.add(name);
        }
        if names.is_empty() {
            // The federation's files begin with the name that is not known, and programs that read
            // them take number 0 for it.
            table.add("");
        }
        table
    }

    fn add(&mut self, name: &str) -> usize {
        let number = self.names.len();
        self.names.push(name.to_owned());
        self.numbers.entry(name.to_owned()).or_insert(number);
        number
    }

    fn number(&mut self, name: &str, losses: &mut Losses) -> Result<u16, WriteError> {
        let kept = name.chars().all(is_kept) && name.chars().count() < self.length;
        losses.add_if(!kept, "parts of names (too long, or not Latin-1)");
        let number = match self.numbers.get(name) {
            Some(&number) => number,
            None => self.add(name),
        };
        u16::try_from(number).map_err(|_| self.full())
    }

    fn full(&self) -> WriteError {
        WriteError::TooMany { what: self.what, most: usize::from(u16::MAX) }
    }

    fn to_bytes(&self, created: Created) -> Result<Vec<u8>, WriteError> {
        let names = u16::try_from(self.names.len()).map_err(|_| self.full())?;
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

fn is_kept(letter: char) -> bool {
    letter != '\0' && u32::from(letter) < 256
}

fn latin1_byte(letter: char) -> u8 {
    if is_kept(letter) { u32::from(letter) as u8 } else { b'?' }
}
