//! The names of players and tournaments.

use super::{HEADER, Header, count_fault};
use crate::fault::{Fault, ReadError, latin1};
use outflank_runs::files;
use std::path::{Path, PathBuf};

/// The length of a player's name, its closing zero included.
pub(super) const PLAYER: usize = 20;
/// The length of a tournament's name, its closing zero included.
pub(super) const TOURNAMENT: usize = 26;
/// A file of names holds at most 65,535 of them.
const LARGEST: u64 = 1 << 21;
/// How the federation writes a name that is not known.
pub(super) const UNKNOWN: &str = "???";

/// The names that the numbers in a `.wtb` file stand for.
///
/// A name that is not known is empty here and `???` in the files. A number for which there is no
/// name is written as `#123`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The players by number.
    pub players: Vec<String>,
    /// The tournaments by number.
    pub tournaments: Vec<String>,
}

impl Names {
    /// The names in the bytes of a `.JOU` file and of a `.TRN` file.
    pub fn parse(players: &[u8], tournaments: &[u8]) -> Result<Names, Fault> {
        Ok(Names {
            players: Names::parse_players(players)?,
            tournaments: Names::parse_tournaments(tournaments)?,
        })
    }

    /// The names in the bytes of a `.JOU` file.
    pub fn parse_players(bytes: &[u8]) -> Result<Vec<String>, Fault> {
        table::<PLAYER>(bytes)
    }

    /// The names in the bytes of a `.TRN` file.
    pub fn parse_tournaments(bytes: &[u8]) -> Result<Vec<String>, Fault> {
        table::<TOURNAMENT>(bytes)
    }

    /// The name of a player, or its number where there is no name for it.
    #[must_use]
    pub fn player(&self, number: u16) -> String {
        look_up(&self.players, number)
    }

    /// The name of a tournament, or its number where there is no name for it.
    #[must_use]
    pub fn tournament(&self, number: u16) -> String {
        look_up(&self.tournaments, number)
    }
}

fn look_up(names: &[String], number: u16) -> String {
    names.get(usize::from(number)).cloned().unwrap_or_else(|| format!("#{number}"))
}

/// Reads a header and the names of `N` bytes each that follow it.
fn table<const N: usize>(bytes: &[u8]) -> Result<Vec<String>, Fault> {
    let header = Header::parse(bytes)?;
    let (names, spare) = bytes[HEADER..].as_chunks::<N>();
    match count_fault(u64::from(header.names), names.len(), spare.len(), 8) {
        Some(fault) => Err(fault),
        None => Ok(names.iter().map(|name| text(name)).collect()),
    }
}

fn text(name: &[u8]) -> String {
    let name = latin1(name.split(|&byte| byte == 0).next().unwrap_or_default());
    if name == UNKNOWN { String::new() } else { name }
}

/// Where the names for a `.wtb` file are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameFiles {
    /// The `.JOU` file, if there is one.
    pub players: Option<PathBuf>,
    /// The `.TRN` file, if there is one.
    pub tournaments: Option<PathBuf>,
}

impl NameFiles {
    /// Looks in the folder of a `.wtb` file, whatever the case of the extension: for files with the
    /// same base name, then for `WTHOR.*`, then for the first by name.
    #[must_use]
    pub fn beside(games: &Path) -> NameFiles {
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
            Some(own) if own.eq_ignore_ascii_case(stem) => 0,
            Some(own) if own.eq_ignore_ascii_case("WTHOR") => 1,
            _ => 2,
        };
        let find = |name| files.iter().filter(|path| has(path, name)).min_by_key(rank).cloned();
        NameFiles { players: find("jou"), tournaments: find("trn") }
    }

    /// Reads the names; a file that is not there leaves its names unknown.
    pub fn read(&self) -> Result<Names, ReadError> {
        type Parse = fn(&[u8]) -> Result<Vec<String>, Fault>;
        let read = |path: &Option<PathBuf>, parse: Parse| match path {
            None => Ok(Vec::new()),
            Some(path) => {
                let bytes = files::read(path, LARGEST)?;
                parse(&bytes).map_err(|fault| ReadError::Fault { path: path.clone(), fault })
            }
        };
        Ok(Names {
            players: read(&self.players, Names::parse_players)?,
            tournaments: read(&self.tournaments, Names::parse_tournaments)?,
        })
    }
}
