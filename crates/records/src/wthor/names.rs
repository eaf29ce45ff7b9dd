//! Names of players and tournaments.

use super::{HEADER_BYTES, Header, count_error};
use crate::error::{ParseError, ReadError, latin1};
use outflank_runs::files;
use std::path::{Path, PathBuf};

/// The size of a player's name in bytes, including the terminating zero.
pub(super) const PLAYER_BYTES: usize = 20;
/// The size of a tournament's name in bytes, including the terminating zero.
pub(super) const TOURNAMENT_BYTES: usize = 26;
/// The maximum size of a name file in bytes; it has at most 65,535 names.
const MAX_NAME_FILE_BYTES: u64 = 1 << 21;
/// The name of an unknown player or tournament in the files.
pub(super) const UNKNOWN: &str = "???";

/// The names for the numbers in a `.wtb` file.
///
/// An unknown name is the empty string here and `???` in the files. A number that is not in the file
/// becomes a name such as `#123`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Player names by number.
    pub players: Vec<String>,
    /// Tournament names by number.
    pub tournaments: Vec<String>,
}

impl Names {
    /// Parses the content of a `.JOU` file and of a `.TRN` file.
    pub fn parse(players: &[u8], tournaments: &[u8]) -> Result<Names, ParseError> {
        Ok(Names {
            players: Names::parse_players(players)?,
            tournaments: Names::parse_tournaments(tournaments)?,
        })
    }

    /// Parses the content of a `.JOU` file.
    pub fn parse_players(bytes: &[u8]) -> Result<Vec<String>, ParseError> {
        parse_names::<PLAYER_BYTES>(bytes)
    }

    /// Parses the content of a `.TRN` file.
    pub fn parse_tournaments(bytes: &[u8]) -> Result<Vec<String>, ParseError> {
        parse_names::<TOURNAMENT_BYTES>(bytes)
    }

    /// Returns the name of a player, or `#` and the number if there is no name.
    #[must_use]
    pub fn player(&self, number: u16) -> String {
        look_up(&self.players, number)
    }

    /// Returns the name of a tournament, or `#` and the number if there is no name.
    #[must_use]
    pub fn tournament(&self, number: u16) -> String {
        look_up(&self.tournaments, number)
    }
}

fn look_up(names: &[String], number: u16) -> String {
    names.get(usize::from(number)).cloned().unwrap_or_else(|| format!("#{number}"))
}

/// Parses a header and names of `N` bytes each.
fn parse_names<const N: usize>(bytes: &[u8]) -> Result<Vec<String>, ParseError> {
    let header = Header::parse(bytes)?;
    let (names, extra) = bytes[HEADER_BYTES..].as_chunks::<N>();
    match count_error(u64::from(header.names), names.len(), extra.len(), 8) {
        Some(error) => Err(error),
        None => Ok(names.iter().map(|name| decode_name(name)).collect()),
    }
}

fn decode_name(name: &[u8]) -> String {
    let name = latin1(name.split(|&byte| byte == 0).next().unwrap_or_default());
    if name == UNKNOWN { String::new() } else { name }
}

/// The name files for a `.wtb` file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameFiles {
    /// The `.JOU` file, if there is one.
    pub players: Option<PathBuf>,
    /// The `.TRN` file, if there is one.
    pub tournaments: Option<PathBuf>,
}

impl NameFiles {
    /// Finds the name files in the folder of a `.wtb` file: those with the same base name, else
    /// `WTHOR.*`, else the first in the order of file names. Case does not matter.
    #[must_use]
    pub fn find(games: &Path) -> NameFiles {
        let folder = match games.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let stem = games.file_stem().unwrap_or_default();
        let has = |path: &Path, name: &str| {
            path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(name))
        };
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| (has(path, "jou") || has(path, "trn")) && path.is_file())
            .collect();
        files.sort();
        let rank = |path: &&PathBuf| match path.file_stem() {
            Some(name) if name.eq_ignore_ascii_case(stem) => 0,
            Some(name) if name.eq_ignore_ascii_case("WTHOR") => 1,
            _ => 2,
        };
        let find = |name| files.iter().filter(|path| has(path, name)).min_by_key(rank).cloned();
        NameFiles { players: find("jou"), tournaments: find("trn") }
    }

    /// Reads the names. A missing file leaves its names unknown.
    pub fn read(&self) -> Result<Names, ReadError> {
        type Parse = fn(&[u8]) -> Result<Vec<String>, ParseError>;
        let read = |path: &Option<PathBuf>, parse: Parse| match path {
            None => Ok(Vec::new()),
            Some(path) => {
                let bytes = files::read(path, MAX_NAME_FILE_BYTES)?;
                parse(&bytes).map_err(|error| ReadError::Parse { path: path.clone(), error })
            }
        };
        Ok(Names {
            players: read(&self.players, Names::parse_players)?,
            tournaments: read(&self.tournaments, Names::parse_tournaments)?,
        })
    }
}
