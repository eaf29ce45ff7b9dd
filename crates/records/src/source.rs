//! Reading games from files and folders.

use crate::error::{ParseError, ParseErrorKind, ReadError};
use crate::format::Format;
use crate::selection::Selection;
use crate::wthor::{Database, NameFiles, Names};
use crate::{GameInfo, Record, boards, ggf, obf, pgn, replay, transcript};
use outflank_games::Side;
use outflank_games::othello::Othello;
use outflank_runs::RunFolder;
use outflank_runs::files::{self, FileError};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The maximum size of a game file in bytes.
const MAX_FILE_BYTES: u64 = 16 << 30;

/// An input file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The path.
    pub path: PathBuf,
    /// The format; `None` for WTHOR name files (.JOU, .TRN).
    pub format: Option<Format>,
    /// The number of games.
    pub games: usize,
    /// The size in bytes.
    pub bytes: u64,
    /// The SHA-256 checksum in hexadecimal digits.
    pub sha256: String,
}

/// The games that [`read_games`] selected, and their files.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedGames {
    /// The selected games, in the order of the files.
    pub records: Vec<Record<Othello>>,
    /// The number of games in the files.
    pub total: usize,
    /// The files, in the order of reading.
    pub files: Vec<SourceFile>,
}

/// Reads the selected games of files and folders.
///
/// Files are read in parallel; the result does not depend on the number of threads. The seed only
/// affects [`Selection::sample`]. Positions (OBF and boards) become games without moves. If a board
/// has no side to move, Black is to move.
///
/// # Errors
///
/// Fails if any game is invalid, since statistics without the invalid games would be misleading.
/// [`check`](crate::check()) lists all invalid games.
pub fn read_games(
    paths: &[PathBuf],
    selection: &Selection,
    seed: u64,
) -> Result<LoadedGames, ReadError> {
    let files = game_files(paths)?;
    let names = NameTables::read(&files)?;
    let read = |path: &PathBuf| -> Result<(SourceFile, Vec<Record<Othello>>), ReadError> {
        let bytes = read_bytes(path)?;
        let in_file = |error| ReadError::Parse { path: path.clone(), error };
        let unknown = ParseError::of_file(0, ParseErrorKind::Format);
        let format = Format::detect(path, &bytes).ok_or(unknown).map_err(in_file)?;
        let parsed = parse(format, &bytes, names.of(path));
        if let Some(error) = parsed.file_error {
            return Err(in_file(error));
        }
        let file =
            SourceFile { games: parsed.games.len(), ..source_file(path, Some(format), &bytes) };
        let mut records = Vec::new();
        for game in parsed.games {
            let record = game.map_err(in_file)?;
            if selection.matches(&record.info) {
                records.push(record);
            }
        }
        Ok((file, records))
    };
    let by_file: Vec<_> = files.par_iter().map(read).collect();
    let mut games = LoadedGames { records: Vec::new(), total: 0, files: names.files };
    for result in by_file {
        let (file, records) = result?;
        games.total += file.games;
        games.records.extend(records);
        games.files.push(file);
    }
    if games.total == 0 {
        return Err(no_games(&files));
    }
    if games.records.is_empty() {
        let selection = selection.describe();
        return Err(ReadError::NothingSelected { total: games.total, selection });
    }
    games.records = selection.sample_from(games.records, seed);
    Ok(games)
}

/// Lists the game files of paths, without duplicates.
///
/// A folder is searched recursively for files with the extension of a game file; they are sorted by
/// name. Of a run folder, only the games of the run are read.
pub fn game_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, ReadError> {
    if paths.is_empty() {
        return Err(ReadError::NoPath);
    }
    let mut files = Vec::new();
    for path in paths {
        let metadata = std::fs::metadata(path).map_err(FileError::on("read", path))?;
        if metadata.is_dir() {
            let before = files.len();
            walk(path, &mut files)?;
            if files.len() == before && is_run_folder(path) {
                return Err(ReadError::RunWithoutGames(path.clone()));
            }
            if files.len() == before {
                return Err(ReadError::EmptyFolder(path.clone()));
            }
        } else if metadata.is_file() {
            files.push(path.clone());
        } else {
            return Err(ReadError::NotAFile(path.clone()));
        }
    }
    let mut seen = BTreeSet::new();
    files.retain(|path| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())));
    Ok(files)
}

/// Adds the game files of a folder, recursively. Symbolic links to folders are not followed, since
/// they may form cycles.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), ReadError> {
    if is_run_folder(folder) {
        // GGF marks random moves, PGN does not.
        let games = ["games.ggf", "games.pgn"].map(|name| folder.join(name));
        files.extend(games.into_iter().find(|path| path.is_file()));
        return Ok(());
    }
    let mut entries = std::fs::read_dir(folder)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(FileError::on("read", folder))?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let kind = entry.file_type().map_err(FileError::on("read", &path))?;
        if kind.is_dir() {
            walk(&path, files)?;
        } else if has_game_extension(&path) && path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns whether a folder is that of a run.
fn is_run_folder(folder: &Path) -> bool {
    RunFolder::read_config(folder).is_ok()
}

/// Returns whether a file has the extension of a readable game file.
fn has_game_extension(path: &Path) -> bool {
    let is_text = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("txt"));
    is_text || Format::from_extension(path).is_some_and(|format| format != Format::Pdn)
}

/// Parses games from bytes. The format is detected from a file name or from the content.
///
/// Returns each game or its error. `names` are the names of players and tournaments for WTHOR
/// files.
///
/// # Errors
///
/// Fails if the file as a whole is invalid.
pub fn parse_games(
    name: &Path,
    bytes: &[u8],
    names: &Names,
) -> Result<Vec<Result<Record<Othello>, ParseError>>, ParseError> {
    let unknown = ParseError::of_file(0, ParseErrorKind::Format);
    let parsed = parse(Format::detect(name, bytes).ok_or(unknown)?, bytes, names);
    match parsed.file_error {
        Some(error) => Err(error),
        None => Ok(parsed.games),
    }
}

/// The content of a file: each game or its error, and the error of the file as a whole.
pub(crate) struct ParsedFile {
    pub(crate) games: Vec<Result<Record<Othello>, ParseError>>,
    pub(crate) file_error: Option<ParseError>,
}

/// Parses all games of a file.
pub(crate) fn parse(format: Format, bytes: &[u8], names: &Names) -> ParsedFile {
    let complete = |games| ParsedFile { games, file_error: None };
    let failed = |error| ParsedFile { games: Vec::new(), file_error: Some(error) };
    let without_moves = |position| Record::new(position, GameInfo::default());
    match format {
        Format::Wthor => match Database::parse_lenient(bytes) {
            Ok((database, file_error)) => {
                ParsedFile { games: database.par_records(names), file_error }
            }
            Err(error) => failed(error),
        },
        Format::Ggf => {
            let texts: Vec<_> = ggf::game_texts(bytes).collect();
            if texts.is_empty() && !bytes.trim_ascii().is_empty() {
                return failed(ParseError::of_file(0, ParseErrorKind::NoGame));
            }
            complete(texts.par_iter().map(ggf::GameText::parse).collect())
        }
        Format::Transcript => {
            let lines: Vec<_> = replay::lines(bytes).enumerate().collect();
            let read = |&(index, (byte, line)): &(usize, (usize, &[u8]))| {
                transcript::game(line).map_err(|kind| ParseError {
                    number: Some(index + 1),
                    byte_offset: byte,
                    kind,
                })
            };
            complete(lines.par_iter().map(read).collect())
        }
        Format::Obf => {
            complete(obf::entries(bytes).map(|entry| Ok(without_moves(entry?.position))).collect())
        }
        Format::Boards => {
            let position =
                |board: boards::ParsedBoard| board.position(board.side.unwrap_or(Side::Black));
            complete(
                boards::boards(bytes).map(|board| Ok(without_moves(position(board?)))).collect(),
            )
        }
        Format::Pgn => match pgn::games(bytes) {
            games if games.is_empty() && !bytes.trim_ascii().is_empty() => {
                failed(ParseError::of_file(0, ParseErrorKind::NoPgnGame))
            }
            games => complete(games),
        },
        Format::Pdn => {
            failed(ParseError::of_file(0, ParseErrorKind::OtherGame("checkers".to_owned())))
        }
    }
}

/// Returns the error for files without games.
pub(crate) fn no_games(files: &[PathBuf]) -> ReadError {
    let path = files.first().cloned().unwrap_or_default();
    ReadError::NoGames { path, files: files.len() }
}

/// The names of players and tournaments of WTHOR games. Each name file is read once.
pub(crate) struct NameTables {
    /// The name files of each WTHOR file.
    name_files: BTreeMap<PathBuf, NameFiles>,
    names: BTreeMap<NameFiles, Names>,
    no_names: Names,
    /// The name files that were read.
    pub(crate) files: Vec<SourceFile>,
}

impl NameTables {
    pub(crate) fn read(games: &[PathBuf]) -> Result<NameTables, ReadError> {
        let mut tables = NameTables::find(games);
        let name_files: BTreeSet<NameFiles> = tables.name_files.values().cloned().collect();
        for files in name_files {
            let names = files.read()?;
            tables.names.insert(files, names);
        }
        let paths: BTreeSet<&PathBuf> = tables
            .names
            .keys()
            .flat_map(|files| [files.players.as_ref(), files.tournaments.as_ref()])
            .flatten()
            .collect();
        for path in paths {
            tables.files.push(source_file(path, None, &read_bytes(path)?));
        }
        Ok(tables)
    }

    /// Reads the names as [`NameTables::read`] does, but skips invalid name files and returns their
    /// errors.
    pub(crate) fn read_lenient(games: &[PathBuf]) -> (NameTables, Vec<ReadError>) {
        let mut tables = NameTables::find(games);
        let name_files: BTreeSet<NameFiles> = tables.name_files.values().cloned().collect();
        let mut errors = Vec::new();
        for files in name_files {
            match files.read() {
                Ok(names) => drop(tables.names.insert(files, names)),
                Err(error) => errors.push(error),
            }
        }
        (tables, errors)
    }

    fn find(games: &[PathBuf]) -> NameTables {
        let is_wthor = |path: &&PathBuf| Format::from_extension(path) == Some(Format::Wthor);
        let name_files = games.iter().filter(is_wthor).map(|p| (p.clone(), NameFiles::find(p)));
        NameTables {
            name_files: name_files.collect(),
            names: BTreeMap::new(),
            no_names: Names::default(),
            files: Vec::new(),
        }
    }

    /// Returns the names for a WTHOR file.
    pub(crate) fn of(&self, games: &Path) -> &Names {
        self.name_files.get(games).and_then(|files| self.names.get(files)).unwrap_or(&self.no_names)
    }
}

pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, ReadError> {
    Ok(files::read(path, MAX_FILE_BYTES)?)
}

fn source_file(path: &Path, format: Option<Format>, bytes: &[u8]) -> SourceFile {
    SourceFile {
        path: path.to_owned(),
        format,
        games: 0,
        bytes: bytes.len() as u64,
        sha256: files::checksum(bytes),
    }
}
