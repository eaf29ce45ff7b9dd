//! Going through game files for faults, all of them.

use crate::fault::{Fault, ReadError, Reason};
use crate::format::Format;
use crate::source::{NameTables, Parsed, game_files, parse, read_bytes};
use crate::wthor::{Base, Names};
use crate::{Ending, Record};
use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_runs::files::FileError;
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// A game, or a whole file, that cannot be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Bad {
    /// The file.
    pub file: PathBuf,
    /// Where in the file, and why.
    pub fault: Fault,
}

/// Something odd about a game that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The file.
    pub file: PathBuf,
    /// Which game, counted from 1.
    pub index: usize,
    /// What is odd.
    pub oddity: Oddity,
}

/// What may be odd about a game that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Oddity {
    /// The result of a finished game is not the board's.
    #[error("the result is given as {announced:+}, the last board says {board:+}")]
    Result {
        /// What the file says.
        announced: i32,
        /// What the board says, empty squares going to the winner.
        board: i32,
    },
    /// A number that the file of players does not have.
    #[error("there is no player number {0} in the file of names")]
    Player(u16),
    /// A number that the file of tournaments does not have.
    #[error("there is no tournament number {0} in the file of names")]
    Tournament(u16),
}

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checked {
    /// How many files were looked through.
    pub files: usize,
    /// How many games they hold, good or bad.
    pub games: usize,
    /// How many moves the good games have.
    pub moves: usize,
    /// How many of the good games break off before the end. Bare positions are not games that
    /// break off.
    pub unfinished: usize,
    /// Every bad game and every bad file, in the order of the files.
    pub bad: Vec<Bad>,
    /// What is odd about good games, in the order of the files.
    pub warnings: Vec<Warning>,
}

/// Looks through files and folders and lists every bad game; one bad game hides no other.
pub fn check(paths: &[PathBuf]) -> Result<Checked, ReadError> {
    let files = game_files(paths)?;
    let (names, faults) = NameTables::salvage(&files);
    let parts: Vec<Checked> =
        files.par_iter().map(|path| check_file(path, names.of(path))).collect();
    let mut sum = Checked::default();
    for fault in faults {
        sum.bad.push(bad_file(fault));
    }
    for part in parts {
        sum.files += part.files;
        sum.games += part.games;
        sum.moves += part.moves;
        sum.unfinished += part.unfinished;
        sum.bad.extend(part.bad);
        sum.warnings.extend(part.warnings);
    }
    Ok(sum)
}

/// The fault of a file that could not even be opened, or of a file of names.
fn bad_file(error: ReadError) -> Bad {
    match error {
        ReadError::Fault { path, fault } => Bad { file: path, fault },
        ReadError::File(FileError { path, source, .. }) => {
            let reason = Reason::Unreadable(source.to_string());
            Bad { file: path, fault: Fault { index: 0, byte: 0, reason } }
        }
        other => {
            let reason = Reason::Unreadable(other.to_string());
            Bad { file: PathBuf::new(), fault: Fault { index: 0, byte: 0, reason } }
        }
    }
}

fn check_file(path: &Path, names: &Names) -> Checked {
    let bytes = match read_bytes(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            return Checked { files: 1, bad: vec![bad_file(error)], ..Checked::default() };
        }
    };
    let bad = |fault| Bad { file: path.to_owned(), fault };
    let Some(format) = Format::detect(path, &bytes) else {
        let fault = Fault { index: 0, byte: 0, reason: Reason::Format };
        return Checked { files: 1, bad: vec![bad(fault)], ..Checked::default() };
    };
    let Parsed { games, fault } = parse(format, &bytes, names);
    let mut found = Checked { files: 1, ..Checked::default() };
    found.bad.extend(fault.map(bad));
    for game in games {
        found.games += usize::from(!matches!(game, Err(Fault { index: 0, .. })));
        let record = match game {
            Ok(record) => record,
            Err(fault) => {
                found.bad.push(bad(fault));
                continue;
            }
        };
        found.moves += record.plies().len();
        let is_game = !matches!(format, Format::Obf | Format::Boards);
        found.unfinished += usize::from(is_game && !record.end().is_over());
        let warn = |oddity| Warning { file: path.to_owned(), index: found.games, oddity };
        found.warnings.extend(odd_result(&record).map(warn));
    }
    if format == Format::Wthor {
        found.warnings.extend(odd_numbers(path, &bytes, names));
        found.warnings.sort_by_key(|warning| warning.index);
    }
    found
}

/// A finished game is odd if its announced result is the board's neither with nor without the empty
/// squares. One that ended early by a resignation or the clock has a result of its own.
fn odd_result(record: &Record<Othello>) -> Option<Oddity> {
    let announced = record.info.result?;
    let margin = record.end().margin()?;
    let board = record.disc_score();
    let early = matches!(record.info.ending, Some(Ending::Resigned | Ending::Timeout));
    let odd = announced != board && announced != margin && !early;
    odd.then_some(Oddity::Result { announced, board })
}

/// Numbers for which there is no name, once there are names at all.
fn odd_numbers(path: &Path, bytes: &[u8], names: &Names) -> Vec<Warning> {
    let Ok((base, _)) = Base::salvage(bytes) else { return Vec::new() };
    let missing =
        |table: &[String], number| !table.is_empty() && usize::from(number) >= table.len();
    let mut warnings = Vec::new();
    for (place, game) in base.games().enumerate() {
        let mut warn = |oddity| {
            warnings.push(Warning { file: path.to_owned(), index: place + 1, oddity });
        };
        for number in [game.black, game.white] {
            if missing(&names.players, number) {
                warn(Oddity::Player(number));
            }
        }
        if missing(&names.tournaments, game.tournament) {
            warn(Oddity::Tournament(game.tournament));
        }
    }
    warnings
}
