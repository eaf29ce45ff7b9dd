//! Writing games in any format, whole files or none.

use crate::fault::ReadError;
use crate::format::Format;
use crate::wthor::{self, Created, NameFiles, Names};
use crate::{Record, boards, ggf, obf, pgn, transcript};
use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_runs::files::{self, FileError};
use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Why games could not be written. Nothing is left behind.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// A game that the format cannot hold because of where it starts.
    #[error(
        "game {game} does not start from the usual position, and WTHOR has no other start; \
        write GGF or transcripts instead"
    )]
    Start {
        /// Which game, counted from 1.
        game: usize,
    },
    /// A game with moves for a format of bare positions.
    #[error(
        "game {game} has moves, and {format} files hold bare positions; \
        write WTHOR, GGF or transcripts instead"
    )]
    Moves {
        /// Which game, counted from 1.
        game: usize,
        /// The format.
        format: Format,
    },
    /// More than the format can count.
    #[error("a WTHOR file holds at most {most} {what}; write fewer games to a file")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many there may be.
        most: usize,
    },
    /// A name for the games that the file of names needs.
    #[error("{0} is the name of a file of names; end the name of the games with .wtb")]
    Name(PathBuf),
    /// The names that lie beside the file to be written cannot be read.
    #[error("the names beside the file to be written: {0}")]
    Names(#[from] Box<ReadError>),
}

/// What a format could not hold, and in how many games.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses(BTreeMap<&'static str, usize>);

impl Losses {
    pub(crate) fn add(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }

    pub(crate) fn add_if(&mut self, lost: bool, what: &'static str) {
        if lost {
            self.add(what);
        }
    }

    /// Adds what the record says and the format does not keep.
    pub(crate) fn add_all_but(&mut self, kept: &[&str], record: &Record<Othello>) {
        for (stated, what) in facts(record).into_iter().zip(FACTS) {
            self.add_if(stated && !kept.contains(&what), what);
        }
    }

    /// Whether everything was kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What was lost and in how many games, in the order of the alphabet.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, usize)> + '_ {
        self.0.iter().map(|(&what, &games)| (what, games))
    }
}

impl fmt::Display for Losses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> =
            self.iter().map(|(what, games)| format!("{what} (in {games} games)")).collect();
        f.write_str(&parts.join(", "))
    }
}

/// Everything that a record can say beside its moves.
const FACTS: [&str; 11] = [
    "players",
    "tournaments",
    "dates",
    "ratings",
    "time controls",
    "results that are not the board's",
    "how games ended early",
    "perfect results",
    "values of moves",
    "times of moves",
    "marks of random moves",
];

/// Which of the facts this record states.
fn facts(record: &Record<Othello>) -> [bool; 11] {
    let about = &record.info;
    let plies = record.plies();
    let announced =
        about.result.is_some_and(|result| !record.end().is_over() || result != record.disc_score());
    [
        !about.black.is_empty() || !about.white.is_empty(),
        !about.event.is_empty(),
        !about.date.is_empty(),
        about.black_rating.is_some() || about.white_rating.is_some(),
        !about.clock.is_empty() || !about.white_clock.is_empty(),
        announced,
        about.ending.is_some(),
        about.perfect.is_some(),
        plies.iter().any(|ply| ply.value.is_some()),
        plies.iter().any(|ply| ply.seconds.is_some()),
        plies.iter().any(|ply| ply.random),
    ]
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The files, that of the games first.
    pub files: Vec<PathBuf>,
    /// How many games.
    pub games: usize,
    /// What the format could not hold.
    pub losses: Losses,
}

/// Writes games in a format to a file, which appears whole or not at all.
///
/// A WTHOR file gets a `.JOU` and a `.TRN` file of the same base name beside it. If the folder has
/// the federation's own `WTHOR.JOU` and `WTHOR.TRN`, their names keep their numbers. The day of
/// creation only matters to WTHOR files.
pub fn convert(
    records: &[Record<Othello>],
    format: Format,
    path: &Path,
    created: Created,
) -> Result<Written, WriteError> {
    let mut losses = Losses::default();
    let mut lines = |kept: &[&str], line: &dyn Fn(usize, &Record<Othello>) -> String| {
        for record in records {
            losses.add_all_but(kept, record);
        }
        files::write_with(path, |out| {
            records.iter().enumerate().try_for_each(|(place, record)| {
                out.write_all(line(place, record).as_bytes())?;
                out.write_all(b"\n")
            })
        })
    };
    let moved = || match records.iter().position(|record| !record.plies().is_empty()) {
        Some(place) => Err(WriteError::Moves { game: place + 1, format }),
        None => Ok(()),
    };
    match format {
        Format::Wthor => return convert_wthor(records, path, created),
        Format::Ggf => lines(&FACTS, &|_, record| ggf::write(record))?,
        Format::Transcript => lines(&[], &|_, record| transcript::write(record))?,
        Format::Pgn => lines(
            &["players", "tournaments", "dates", "results that are not the board's"],
            // The end of line that follows each game makes the blank line between two.
            &|place, record| pgn::write(record, &(place + 1).to_string()),
        )?,
        Format::Obf => {
            moved()?;
            let entry = |record: &Record<Othello>| obf::Entry {
                position: *record.start(),
                side: record.start().to_move(),
                scores: Vec::new(),
            };
            lines(&[], &|_, record| obf::write(&entry(record)))?;
        }
        Format::Boards => {
            moved()?;
            lines(&[], &|_, record| boards::write(record.start()))?;
        }
    }
    Ok(Written { files: vec![path.to_owned()], games: records.len(), losses })
}

/// Writes games of any kind as PGN, which is all that rating programs need.
pub fn write_pgn<P: Position>(records: &[Record<P>], path: &Path) -> Result<(), FileError> {
    files::write_with(path, |out| {
        records.iter().enumerate().try_for_each(|(place, record)| {
            writeln!(out, "{}", pgn::write(record, &(place + 1).to_string()))
        })
    })
}

fn convert_wthor(
    records: &[Record<Othello>],
    path: &Path,
    created: Created,
) -> Result<Written, WriteError> {
    let (players, tournaments) = (path.with_extension("JOU"), path.with_extension("TRN"));
    if path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("jou") || e.eq_ignore_ascii_case("trn"))
    {
        return Err(WriteError::Name(path.to_owned()));
    }
    let names = federation_names(path)?;
    let encoded = wthor::encode(records, &names, created)?;
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    // All three files are on the disk before the first is put in place, and the games come last, so
    // that whoever sees them sees their names.
    let parts = tempfile::Builder::new().prefix(".part-").tempdir_in(folder);
    let parts = parts.map_err(FileError::on("write", path))?;
    let contents = [
        ("tournaments", tournaments.as_path(), &encoded.tournaments),
        ("players", players.as_path(), &encoded.players),
        ("games", path, &encoded.games),
    ];
    for (part, _, bytes) in contents {
        files::write(&parts.path().join(part), bytes)?;
    }
    for (part, target, _) in contents {
        std::fs::rename(parts.path().join(part), target).map_err(FileError::on("write", target))?;
    }
    Ok(Written {
        files: vec![path.to_owned(), players, tournaments],
        games: records.len(),
        losses: encoded.losses,
    })
}

/// The names of the federation's own files in the folder of this one.
fn federation_names(path: &Path) -> Result<Names, WriteError> {
    let files = NameFiles::find(&path.with_file_name("WTHOR.wtb"));
    let own = |file: Option<PathBuf>| {
        file.filter(|f| f.file_stem().is_some_and(|stem| stem.eq_ignore_ascii_case("WTHOR")))
    };
    let files = NameFiles { players: own(files.players), tournaments: own(files.tournaments) };
    files.read().map_err(|error| WriteError::Names(Box::new(error)))
}
