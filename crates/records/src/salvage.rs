//! Reading what can be read, for counting.

use crate::Record;
use crate::fault::ReadError;
use crate::format::Format;
use crate::source::{NameTables, game_files, no_games, parse, read_bytes};
use outflank_games::othello::Othello;
use rayon::prelude::*;
use std::path::PathBuf;

/// The good games of some files, and how many others there are.
#[derive(Clone, Debug, PartialEq)]
pub struct LenientGames {
    /// The games that are legal to the last move.
    pub records: Vec<Record<Othello>>,
    /// How many games are not; [`check`](crate::check::check) says which and why.
    pub illegal: usize,
}

/// Reads every good game of files and folders and counts the bad ones. A file that is damaged as a
/// whole, rather than in one of its games, is an error.
pub fn read_games_lenient(paths: &[PathBuf]) -> Result<LenientGames, ReadError> {
    let files = game_files(paths)?;
    let names = NameTables::read(&files)?;
    let each: Vec<Result<LenientGames, ReadError>> = files
        .par_iter()
        .map(|path| {
            let bytes = read_bytes(path)?;
            let in_file = |fault| ReadError::Fault { path: path.clone(), fault };
            let format = Format::detect(path, &bytes).ok_or_else(|| {
                let reason = crate::Reason::Format;
                in_file(crate::Fault { index: 0, byte: 0, reason })
            })?;
            let parsed = parse(format, &bytes, names.of(path));
            if let Some(fault) = parsed.fault {
                return Err(in_file(fault));
            }
            let games = parsed.games.len();
            let records: Vec<_> = parsed.games.into_iter().flatten().collect();
            Ok(LenientGames { illegal: games - records.len(), records })
        })
        .collect();
    let mut sum = LenientGames { records: Vec::new(), illegal: 0 };
    for part in each {
        let part = part?;
        sum.records.extend(part.records);
        sum.illegal += part.illegal;
    }
    if sum.records.is_empty() && sum.illegal == 0 {
        return Err(no_games(&files));
    }
    Ok(sum)
}
