//! Writing games in any format.

use crate::error::ReadError;
use crate::format::Format;
use crate::wthor::{self, CreationDate, NameFiles, Names};
use crate::{Record, boards, ggf, obf, pgn, transcript};
use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_runs::files::{self, FileError};
use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

/// An error while writing games. No partial files are left.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A game does not start from the standard position.
    #[error(
        "game {game} does not start from the standard position, which WTHOR requires; \
        write GGF or transcripts instead"
    )]
    Start {
        /// The number of the game, counted from 1.
        game: usize,
    },
    /// A game has moves, but the format stores only positions.
    #[error(
        "game {game} has moves, but {format} files store only positions; \
        write WTHOR, GGF or transcripts instead"
    )]
    Moves {
        /// The number of the game, counted from 1.
        game: usize,
        /// The format.
        format: Format,
    },
    /// The format is for games of checkers.
    #[error("PDN is for games of checkers; write Othello games as PGN")]
    OtherGame,
    /// The number of games, players or tournaments exceeds the maximum of the format.
    #[error("a WTHOR file stores at most {max} {items}; write fewer games per file")]
    TooMany {
        /// What is stored: games, players or tournaments.
        items: &'static str,
        /// The maximum number.
        max: usize,
    },
    /// The extension is reserved for WTHOR name files.
    #[error("{0}: this extension is reserved for names of players and tournaments; use .wtb")]
    ReservedExtension(PathBuf),
    /// The names of players and tournaments in the target folder cannot be read.
    #[error("cannot read the names of players and tournaments: {0}")]
    Names(#[from] Box<ReadError>),
}

/// The fields that a format cannot store, each with the number of games that lose it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DroppedFields(BTreeMap<&'static str, usize>);

impl DroppedFields {
    pub(crate) fn add(&mut self, field: &'static str) {
        *self.0.entry(field).or_default() += 1;
    }

    pub(crate) fn add_if(&mut self, dropped: bool, field: &'static str) {
        if dropped {
            self.add(field);
        }
    }

    /// Adds the fields of a record that the format does not support.
    pub(crate) fn add_unsupported(&mut self, supported: &[&str], record: &Record<Othello>) {
        for (present, field) in present_fields(record).into_iter().zip(FIELDS) {
            self.add_if(present && !supported.contains(&field), field);
        }
    }

    /// Returns whether no field was dropped.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the dropped fields in alphabetical order, with the number of affected games.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, usize)> + '_ {
        self.0.iter().map(|(&field, &games)| (field, games))
    }
}

impl fmt::Display for DroppedFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields: Vec<String> =
            self.iter().map(|(field, games)| format!("{field} (in {games} games)")).collect();
        f.write_str(&fields.join(", "))
    }
}

/// The fields of a record besides its moves.
const FIELDS: [&str; 11] = [
    "players",
    "tournaments",
    "dates",
    "ratings",
    "time controls",
    "results that differ from the final board",
    "terminations",
    "perfect results",
    "evaluations of moves",
    "times of moves",
    "marks of random moves",
];

/// Returns which of [`FIELDS`] a record has.
fn present_fields(record: &Record<Othello>) -> [bool; 11] {
    let info = &record.info;
    let plies = record.plies();
    let result_differs =
        info.result.is_some_and(|result| !record.end().is_over() || result != record.disc_score());
    [
        !info.black.is_empty() || !info.white.is_empty(),
        !info.event.is_empty(),
        !info.date.is_empty(),
        info.black_rating.is_some() || info.white_rating.is_some(),
        !info.clock.is_empty() || !info.white_clock.is_empty(),
        result_differs,
        info.termination.is_some(),
        info.perfect_result.is_some(),
        plies.iter().any(|ply| ply.value.is_some()),
        plies.iter().any(|ply| ply.seconds.is_some()),
        plies.iter().any(|ply| ply.random),
    ]
}

/// The result of a conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConvertReport {
    /// The written files; the file with the games is the first.
    pub files: Vec<PathBuf>,
    /// The number of games.
    pub games: usize,
    /// The fields that the format cannot store.
    pub dropped: DroppedFields,
}

/// Writes games to a file atomically.
///
/// A WTHOR file gets a `.JOU` and a `.TRN` file with the same base name. If the folder contains the
/// federation's `WTHOR.JOU` and `WTHOR.TRN`, the names in them keep their numbers. `created` only
/// affects WTHOR files.
pub fn convert(
    records: &[Record<Othello>],
    format: Format,
    path: &Path,
    created: CreationDate,
) -> Result<ConvertReport, WriteError> {
    let mut dropped = DroppedFields::default();
    let mut write_lines = |supported: &[&str], line: &dyn Fn(usize, &Record<Othello>) -> String| {
        for record in records {
            dropped.add_unsupported(supported, record);
        }
        files::write_with(path, |out| {
            records.iter().enumerate().try_for_each(|(index, record)| {
                out.write_all(line(index, record).as_bytes())?;
                out.write_all(b"\n")
            })
        })
    };
    let check_no_moves = || match records.iter().position(|record| !record.plies().is_empty()) {
        Some(index) => Err(WriteError::Moves { game: index + 1, format }),
        None => Ok(()),
    };
    match format {
        Format::Wthor => return convert_wthor(records, path, created),
        Format::Pdn => return Err(WriteError::OtherGame),
        Format::Ggf => write_lines(&FIELDS, &|_, record| ggf::write(record))?,
        Format::Transcript => write_lines(&[], &|_, record| transcript::write(record))?,
        Format::Pgn => write_lines(
            &["players", "tournaments", "dates", "results that differ from the final board"],
            // The additional line break after each game leaves a blank line between two games.
            &|index, record| pgn::write(record, &(index + 1).to_string()),
        )?,
        Format::Obf => {
            check_no_moves()?;
            let entry = |record: &Record<Othello>| obf::ObfEntry {
                position: *record.start(),
                side: record.start().to_move(),
                scores: Vec::new(),
            };
            write_lines(&[], &|_, record| obf::write(&entry(record)))?;
        }
        Format::Boards => {
            check_no_moves()?;
            write_lines(&[], &|_, record| boards::write(record.start()))?;
        }
    }
    Ok(ConvertReport { files: vec![path.to_owned()], games: records.len(), dropped })
}

/// Writes the games of any game as PGN, or PDN for checkers.
pub fn write_pgn<P: Position>(records: &[Record<P>], path: &Path) -> Result<(), FileError> {
    files::write_with(path, |out| {
        records.iter().enumerate().try_for_each(|(index, record)| {
            writeln!(out, "{}", pgn::write(record, &(index + 1).to_string()))
        })
    })
}

fn convert_wthor(
    records: &[Record<Othello>],
    path: &Path,
    created: CreationDate,
) -> Result<ConvertReport, WriteError> {
    let (players, tournaments) = (path.with_extension("JOU"), path.with_extension("TRN"));
    if path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("jou") || e.eq_ignore_ascii_case("trn"))
    {
        return Err(WriteError::ReservedExtension(path.to_owned()));
    }
    let names = federation_names(path)?;
    let encoded = wthor::encode(records, &names, created)?;
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    // All three files are written before any is renamed, and the games are renamed last, so that the
    // names exist before the games.
    let temp = tempfile::Builder::new().prefix(".part-").tempdir_in(folder);
    let temp = temp.map_err(FileError::on("write", path))?;
    let contents = [
        ("tournaments", tournaments.as_path(), &encoded.tournaments),
        ("players", players.as_path(), &encoded.players),
        ("games", path, &encoded.games),
    ];
    for (name, target, bytes) in contents {
        // The error message has the path that the user gave, not that of the temporary file.
        files::write(&temp.path().join(name), bytes)
            .map_err(|error| FileError { path: target.to_owned(), ..error })?;
    }
    for (name, target, _) in contents {
        files::rename(&temp.path().join(name), target)?;
    }
    Ok(ConvertReport {
        files: vec![path.to_owned(), players, tournaments],
        games: records.len(),
        dropped: encoded.dropped,
    })
}

/// Reads the federation's names from the folder of the target file.
fn federation_names(path: &Path) -> Result<Names, WriteError> {
    let files = NameFiles::find(&path.with_file_name("WTHOR.wtb"));
    let federation_file = |file: Option<PathBuf>| {
        file.filter(|f| f.file_stem().is_some_and(|stem| stem.eq_ignore_ascii_case("WTHOR")))
    };
    let files = NameFiles {
        players: federation_file(files.players),
        tournaments: federation_file(files.tournaments),
    };
    files.read().map_err(|error| WriteError::Names(Box::new(error)))
}
