//! Validation of game files.

use crate::error::{ParseError, ParseErrorKind, ReadError};
use crate::format::Format;
use crate::source::{NameTables, ParsedFile, game_files, parse, read_bytes};
use crate::wthor::{Database, Names};
use crate::{Record, Termination, pgn};
use outflank_games::Position;
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_runs::files::FileError;
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// An invalid game or file.
#[derive(Clone, Debug, PartialEq)]
pub struct BadEntry {
    /// The file.
    pub file: PathBuf,
    /// The location and kind of the error.
    pub error: ParseError,
}

/// A warning about a valid game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The file.
    pub file: PathBuf,
    /// The number of the game, counted from 1.
    pub index: usize,
    /// The kind of warning.
    pub kind: WarningKind,
}

/// The kind of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WarningKind {
    /// The recorded result of a finished game differs from the final board.
    #[error("the recorded result is {recorded:+}, but the final board gives {board:+}")]
    Result {
        /// The recorded result.
        recorded: i32,
        /// The result on the final board, with empty squares counted for the winner.
        board: i32,
    },
    /// The player number is not in the `.JOU` file.
    #[error("the .JOU file has no player number {0}")]
    Player(u16),
    /// The tournament number is not in the `.TRN` file.
    #[error("the .TRN file has no tournament number {0}")]
    Tournament(u16),
}

/// The result of [`check`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckReport {
    /// Number of files.
    pub files: usize,
    /// Number of games, valid and invalid.
    pub games: usize,
    /// Number of moves in the valid games.
    pub moves: usize,
    /// Number of valid games that are unfinished. Files of positions have no unfinished games.
    pub unfinished: usize,
    /// All invalid games and files, in the order of the files.
    pub bad: Vec<BadEntry>,
    /// Warnings about valid games, in the order of the files.
    pub warnings: Vec<Warning>,
}

/// Checks all games in files and folders and lists the invalid ones.
pub fn check(paths: &[PathBuf]) -> Result<CheckReport, ReadError> {
    let files = game_files(paths)?;
    let (names, errors) = NameTables::read_lenient(&files);
    let reports: Vec<CheckReport> =
        files.par_iter().map(|path| check_file(path, names.of(path))).collect();
    let mut sum = CheckReport::default();
    for error in errors {
        sum.bad.push(bad_file(error));
    }
    for report in reports {
        sum.files += report.files;
        sum.games += report.games;
        sum.moves += report.moves;
        sum.unfinished += report.unfinished;
        sum.bad.extend(report.bad);
        sum.warnings.extend(report.warnings);
    }
    Ok(sum)
}

/// Converts the error of an unreadable file or of a name file.
fn bad_file(error: ReadError) -> BadEntry {
    match error {
        ReadError::Parse { path, error } => BadEntry { file: path, error },
        ReadError::File(FileError { path, source, .. }) => {
            let kind = ParseErrorKind::Unreadable(source.to_string());
            BadEntry { file: path, error: ParseError::of_file(0, kind) }
        }
        other => {
            let kind = ParseErrorKind::Unreadable(other.to_string());
            BadEntry { file: PathBuf::new(), error: ParseError::of_file(0, kind) }
        }
    }
}

fn check_file(path: &Path, names: &Names) -> CheckReport {
    let bytes = match read_bytes(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            return CheckReport { files: 1, bad: vec![bad_file(error)], ..CheckReport::default() };
        }
    };
    let bad = |error| BadEntry { file: path.to_owned(), error };
    let Some(format) = Format::detect(path, &bytes) else {
        let error = ParseError::of_file(0, ParseErrorKind::Format);
        return CheckReport { files: 1, bad: vec![bad(error)], ..CheckReport::default() };
    };
    if format == Format::Pdn {
        return check_checkers(path, &bytes);
    }
    let ParsedFile { games, file_error } = parse(format, &bytes, names);
    let mut report = CheckReport { files: 1, ..CheckReport::default() };
    report.bad.extend(file_error.map(bad));
    for game in games {
        report.games += usize::from(!matches!(game, Err(ParseError { number: None, .. })));
        let record = match game {
            Ok(record) => record,
            Err(error) => {
                report.bad.push(bad(error));
                continue;
            }
        };
        report.moves += record.plies().len();
        let is_game = !matches!(format, Format::Obf | Format::Boards);
        report.unfinished += usize::from(is_game && !record.end().is_over());
        let warn = |kind| Warning { file: path.to_owned(), index: report.games, kind };
        report.warnings.extend(result_warning(&record).map(warn));
    }
    if format == Format::Wthor {
        report.warnings.extend(name_warnings(path, &bytes, names));
        report.warnings.sort_by_key(|warning| warning.index);
    }
    report
}

/// Checks a file of games of checkers.
fn check_checkers(path: &Path, bytes: &[u8]) -> CheckReport {
    let mut report = CheckReport { files: 1, ..CheckReport::default() };
    for game in pgn::games::<Checkers>(bytes) {
        report.games += 1;
        match game {
            Ok(record) => {
                report.moves += record.plies().len();
                report.unfinished += usize::from(!record.end().is_over());
            }
            Err(error) => report.bad.push(BadEntry { file: path.to_owned(), error }),
        }
    }
    report
}

/// Returns a warning if the recorded result of a finished game is not that of the final board,
/// whether empty squares are counted for the winner or not. Games that ended by resignation or
/// timeout may have any result.
fn result_warning(record: &Record<Othello>) -> Option<WarningKind> {
    let recorded = record.info.result?;
    let margin = record.end().result()?;
    let board = record.disc_score();
    let ended_early =
        matches!(record.info.termination, Some(Termination::Resigned | Termination::Timeout));
    let is_wrong = recorded != board && recorded != margin && !ended_early;
    is_wrong.then_some(WarningKind::Result { recorded, board })
}

/// Returns warnings for player and tournament numbers without a name, if there are name files.
fn name_warnings(path: &Path, bytes: &[u8], names: &Names) -> Vec<Warning> {
    let Ok((database, _)) = Database::parse_lenient(bytes) else { return Vec::new() };
    let missing =
        |table: &[String], number| !table.is_empty() && usize::from(number) >= table.len();
    let mut warnings = Vec::new();
    for (index, game) in database.games().enumerate() {
        let mut warn = |kind| {
            warnings.push(Warning { file: path.to_owned(), index: index + 1, kind });
        };
        for number in [game.black, game.white] {
            if missing(&names.players, number) {
                warn(WarningKind::Player(number));
            }
        }
        if missing(&names.tournaments, game.tournament) {
            warn(WarningKind::Tournament(game.tournament));
        }
    }
    warnings
}
