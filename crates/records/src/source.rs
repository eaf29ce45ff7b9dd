//! Reading games from files and folders.

use crate::fault::{Fault, ReadError, Reason};
use crate::format::Format;
use crate::selection::Selection;
use crate::wthor::{Base, NameFiles, Names};
use crate::{About, Record, boards, ggf, obf, replay, transcript};
use outflank_games::Side;
use outflank_games::othello::Othello;
use outflank_runs::files::{self, FileError};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// No game file is read that is larger than this.
const LARGEST: u64 = 16 << 30;

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its format; nothing for the files of names beside WTHOR games.
    pub format: Option<Format>,
    /// How many games it holds.
    pub games: usize,
    /// Its length in bytes.
    pub bytes: u64,
    /// The SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
}

/// Games that were read.
#[derive(Clone, Debug, PartialEq)]
pub struct Games {
    /// The games that were wished for, in the order of the files.
    pub records: Vec<Record<Othello>>,
    /// How many games the files hold.
    pub total: usize,
    /// The files, in the order in which they were read.
    pub files: Vec<SourceFile>,
}

/// Reads the games that are wished for from files and folders.
///
/// The files are read in parallel and the result is the same on any number of threads. The seed
/// matters to a sample alone. A single bad game is an error, since figures over games that were
/// silently left out mislead; [`check`](crate::check()) lists them all. Files of bare
/// positions (OBF and boards) give games without moves, Black to move where they do not say.
pub fn read_games(paths: &[PathBuf], selection: &Selection, seed: u64) -> Result<Games, ReadError> {
    let files = game_files(paths)?;
    let names = NameTables::read(&files)?;
    let read = |path: &PathBuf| -> Result<(SourceFile, Vec<Record<Othello>>), ReadError> {
        let bytes = read_bytes(path)?;
        let in_file = |fault| ReadError::Fault { path: path.clone(), fault };
        let unknown = Fault { index: 0, byte: 0, reason: Reason::Format };
        let format = Format::detect(path, &bytes).ok_or(unknown).map_err(in_file)?;
        let parsed = parse(format, &bytes, names.of(path));
        if let Some(fault) = parsed.fault {
            return Err(in_file(fault));
        }
        let file = SourceFile { games: parsed.games.len(), ..describe(path, Some(format), &bytes) };
        let mut records = Vec::new();
        for game in parsed.games {
            let record = game.map_err(in_file)?;
            if selection.matches(&record.info) {
                records.push(record);
            }
        }
        Ok((file, records))
    };
    let each: Vec<_> = files.par_iter().map(read).collect();
    let mut games = Games { records: Vec::new(), total: 0, files: names.files };
    for part in each {
        let (file, records) = part?;
        games.total += file.games;
        games.records.extend(records);
        games.files.push(file);
    }
    if games.total == 0 {
        return Err(no_games(&files));
    }
    if games.records.is_empty() {
        let wished = selection.describe();
        return Err(ReadError::NothingSelected { total: games.total, wished });
    }
    games.records = selection.draw(games.records, seed);
    Ok(games)
}

/// The game files among these paths: files as they are, folders with everything below them that
/// has the name of a game file, sorted by name; each file once.
pub fn game_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, ReadError> {
    if paths.is_empty() {
        return Err(ReadError::NoPath);
    }
    let mut files = Vec::new();
    for path in paths {
        let about = std::fs::metadata(path).map_err(FileError::on("read", path))?;
        if about.is_dir() {
            let before = files.len();
            walk(path, &mut files)?;
            if files.len() == before {
                return Err(ReadError::EmptyFolder(path.clone()));
            }
        } else if about.is_file() {
            files.push(path.clone());
        } else {
            return Err(ReadError::NotAFile(path.clone()));
        }
    }
    let mut seen = BTreeSet::new();
    files.retain(|path| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())));
    Ok(files)
}

/// Adds the game files of a folder and of those in it. Links to folders are not followed, since
/// they may lead round in circles.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), ReadError> {
    let mut entries = std::fs::read_dir(folder)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(FileError::on("read", folder))?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let kind = entry.file_type().map_err(FileError::on("read", &path))?;
        if kind.is_dir() {
            walk(&path, files)?;
        } else if has_game_name(&path) && path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

/// Whether a file in a folder is taken for a game file. PGN can be written but not read.
fn has_game_name(path: &Path) -> bool {
    let text = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("txt"));
    text || Format::of_name(path).is_some_and(|format| format != Format::Pgn)
}

/// Reads the games in bytes that came without a file; a name may tell their format. Each game is
/// there or has its fault; a fault of the whole is an error. `names` are those of WTHOR's players and
/// tournaments, as far as they are known.
pub fn parse_games(
    name: &Path,
    bytes: &[u8],
    names: &Names,
) -> Result<Vec<Result<Record<Othello>, Fault>>, Fault> {
    let unknown = Fault { index: 0, byte: 0, reason: Reason::Format };
    let parsed = parse(Format::detect(name, bytes).ok_or(unknown)?, bytes, names);
    match parsed.fault {
        Some(fault) => Err(fault),
        None => Ok(parsed.games),
    }
}

/// What a file holds: its games, good and bad, and what is wrong with the file as a whole.
pub(crate) struct Parsed {
    pub(crate) games: Vec<Result<Record<Othello>, Fault>>,
    pub(crate) fault: Option<Fault>,
}

/// Reads everything that can be read from a file.
pub(crate) fn parse(format: Format, bytes: &[u8], names: &Names) -> Parsed {
    let whole = |games| Parsed { games, fault: None };
    let bare = |position| Record::new(position, GameInfo::default());
    match format {
        Format::Wthor => match Base::salvage(bytes) {
            Ok((base, fault)) => Parsed { games: base.par_records(names), fault },
            Err(fault) => Parsed { games: Vec::new(), fault: Some(fault) },
        },
        Format::Ggf => {
            let pieces: Vec<_> = ggf::pieces(bytes).collect();
            if pieces.is_empty() && !bytes.trim_ascii().is_empty() {
                let fault = Fault { index: 0, byte: 0, reason: Reason::NoGame };
                return Parsed { games: Vec::new(), fault: Some(fault) };
            }
            whole(pieces.par_iter().map(ggf::Piece::read).collect())
        }
        Format::Transcript => {
            let lines: Vec<_> = replay::lines(bytes).enumerate().collect();
            let read = |&(place, (byte, line)): &(usize, (usize, &[u8]))| {
                transcript::game(line).map_err(|reason| Fault { index: place + 1, byte, reason })
            };
            whole(lines.par_iter().map(read).collect())
        }
        Format::Obf => whole(obf::entries(bytes).map(|entry| Ok(bare(entry?.position))).collect()),
        Format::Boards => {
            let position = |board: boards::Board| board.position(board.side.unwrap_or(Side::Black));
            whole(boards::boards(bytes).map(|board| Ok(bare(position(board?)))).collect())
        }
        Format::Pgn => {
            let reason = Reason::WriteOnly("PGN");
            Parsed { games: Vec::new(), fault: Some(Fault { index: 0, byte: 0, reason }) }
        }
    }
}

/// The error for files that hold nothing at all.
pub(crate) fn no_games(files: &[PathBuf]) -> ReadError {
    let path = files.first().cloned().unwrap_or_default();
    ReadError::NoGames { path, files: files.len() }
}

/// The names for WTHOR files, each file of names read once.
pub(crate) struct NameTables {
    places: BTreeMap<PathBuf, NameFiles>,
    tables: BTreeMap<NameFiles, Names>,
    none: Names,
    /// The files of names.
    pub(crate) files: Vec<SourceFile>,
}

impl NameTables {
    pub(crate) fn read(games: &[PathBuf]) -> Result<NameTables, ReadError> {
        let mut tables = NameTables::find(games);
        let wanted: BTreeSet<NameFiles> = tables.places.values().cloned().collect();
        for place in wanted {
            let names = place.read()?;
            tables.tables.insert(place, names);
        }
        let paths: BTreeSet<&PathBuf> = tables
            .tables
            .keys()
            .flat_map(|place| [place.players.as_ref(), place.tournaments.as_ref()])
            .flatten()
            .collect();
        for path in paths {
            tables.files.push(describe(path, None, &read_bytes(path)?));
        }
        Ok(tables)
    }

    /// As [`NameTables::read`], but names that cannot be read are left unknown and their faults
    /// are returned.
    pub(crate) fn salvage(games: &[PathBuf]) -> (NameTables, Vec<ReadError>) {
        let mut tables = NameTables::find(games);
        let wanted: BTreeSet<NameFiles> = tables.places.values().cloned().collect();
        let mut faults = Vec::new();
        for place in wanted {
            match place.read() {
                Ok(names) => drop(tables.tables.insert(place, names)),
                Err(fault) => faults.push(fault),
            }
        }
        (tables, faults)
    }

    fn find(games: &[PathBuf]) -> NameTables {
        let is_wthor = |path: &&PathBuf| Format::of_name(path) == Some(Format::Wthor);
        let places = games.iter().filter(is_wthor).map(|p| (p.clone(), NameFiles::find(p)));
        NameTables {
            places: places.collect(),
            tables: BTreeMap::new(),
            none: Names::default(),
            files: Vec::new(),
        }
    }

    /// The names for this file of games.
    pub(crate) fn of(&self, games: &Path) -> &Names {
        self.places.get(games).and_then(|place| self.tables.get(place)).unwrap_or(&self.none)
    }
}

pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, ReadError> {
    Ok(files::read(path, LARGEST)?)
}

fn describe(path: &Path, format: Option<Format>, bytes: &[u8]) -> SourceFile {
    SourceFile {
        path: path.to_owned(),
        format,
        games: 0,
        bytes: bytes.len() as u64,
        sha256: files::checksum(bytes),
    }
}
