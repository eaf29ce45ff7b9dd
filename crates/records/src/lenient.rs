//! Reading games while skipping the invalid ones, for statistics.

use crate::Record;
use crate::error::{ParseError, ParseErrorKind, ReadError};
use crate::format::Format;
use crate::source::{NameTables, game_files, no_games, parse, read_bytes};
use outflank_games::othello::Othello;
use rayon::prelude::*;
use std::path::PathBuf;

/// The valid games of some files, and the number of invalid ones.
#[derive(Clone, Debug, PartialEq)]
pub struct LenientGames {
    /// The games with legal moves only.
    pub records: Vec<Record<Othello>>,
    /// The number of invalid games; [`check`](crate::check()) lists them.
    pub illegal: usize,
}

/// Reads all valid games of files and folders and counts the invalid ones.
///
/// # Errors
///
/// Fails if a file as a whole is damaged, not only one of its games.
pub fn read_games_lenient(paths: &[PathBuf]) -> Result<LenientGames, ReadError> {
    let files = game_files(paths)?;
    let names = NameTables::read(&files)?;
    let by_file: Vec<Result<LenientGames, ReadError>> = files
        .par_iter()
        .map(|path| {
            let bytes = read_bytes(path)?;
            let in_file = |error| ReadError::Parse { path: path.clone(), error };
            let format = Format::detect(path, &bytes)
                .ok_or_else(|| in_file(ParseError::of_file(0, ParseErrorKind::Format)))?;
            let parsed = parse(format, &bytes, names.of(path));
            if let Some(error) = parsed.file_error {
                return Err(in_file(error));
            }
            let games = parsed.games.len();
            let records: Vec<_> = parsed.games.into_iter().flatten().collect();
            Ok(LenientGames { illegal: games - records.len(), records })
        })
        .collect();
    let mut sum = LenientGames { records: Vec::new(), illegal: 0 };
    for games in by_file {
        let games = games?;
        sum.records.extend(games.records);
        sum.illegal += games.illegal;
    }
    if sum.records.is_empty() && sum.illegal == 0 {
        return Err(no_games(&files));
    }
    Ok(sum)
}
