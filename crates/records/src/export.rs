//! Export of decisions as CSV and as NumPy arrays.
//!
//! **CSV** is one table with a header. `game` and `ply` count from 0, `side` is `black` or
//! `white`, `board` is 64 of `X` (black), `O` (white) and `-`, row by row from a1, `move` is the
//! chosen square, `legal` the number of legal moves, and `chosen` the index of the chosen move
//! among them in the order of squares.
//!
//! **NPZ** is one file with one array per column, all of the same length:
//!
//! | array | type | content |
//! |---|---|---|
//! | `own`, `other` | `uint64` | the discs of the player to move, and of the opponent; the least significant bit is a1, then b1, and the most significant bit is h8 |
//! | `legal` | `uint64` | the legal moves, as bits in the same order |
//! | `move` | `uint8` | the move that was played: 0 is a1, 1 is b1, 63 is h8 |
//! | `side` | `uint8` | the player to move: 0 is Black, 1 is White |
//! | `outcome` | `int8` | the result of the game for the player to move: 1, 0 or -1; -128 if unknown |
//! | `score` | `int8` | its final disc difference for the player to move, with empty squares counted for the winner; -128 if unknown |
//! | `game` | `uint32` | the index of the game |
//! | `ply` | `uint8` | the number of moves before this one in its game |
//!
//! Files are written atomically. An NPZ file is an uncompressed ZIP archive of NPY files, and the same
//! decisions give the same bytes.

mod csv;
mod npy;

pub use csv::write_csv;

use crate::{Decisions, Example, Record};
use npy::Archive;
use outflank_games::othello::Othello;
use outflank_games::{Position, Side};
use outflank_runs::files::{self, FileError};
use std::path::Path;

/// The value of `outcome` and `score` if the result is unknown.
const UNKNOWN: i8 = i8::MIN;

/// Writes decisions as a CSV file and replaces an existing file.
pub fn export_csv(decisions: &Decisions<Othello>, path: &Path) -> Result<(), FileError> {
    files::write_with(path, |out| write_csv(decisions, out))
}

/// Writes decisions as an NPZ file and replaces an existing file.
///
/// `records` are the games of the decisions, in the order of their game indices. Without them the
/// file has no `outcome` and `score`.
pub fn export_npz(
    decisions: &Decisions<Othello>,
    records: Option<&[Record<Othello>]>,
    path: &Path,
) -> Result<(), FileError> {
    let (items, sources) = (decisions.items(), decisions.sources());
    let boards = items.iter().map(|d| d.position.board());
    let sides = items.iter().map(|d| d.position.to_move());
    files::write_with(path, |out| {
        let mut archive = Archive::new(out);
        archive.add("own", "<u8", boards.clone().map(|b| b.own.to_le_bytes()))?;
        archive.add("other", "<u8", boards.map(|b| b.other.to_le_bytes()))?;
        let legal = items.iter().map(|d| d.position.move_bits().to_le_bytes());
        archive.add("legal", "<u8", legal)?;
        archive.add("move", "|u1", items.iter().map(|d| [d.chosen.index() as u8]))?;
        archive.add("side", "|u1", sides.clone().map(|side| [side.index() as u8]))?;
        if let Some(records) = records {
            let results: Vec<Option<i8>> = records.iter().map(result).collect();
            let scores = sources.iter().zip(sides).map(|(source, side)| {
                let black = results.get(source.game as usize).copied().flatten()?;
                Some(if side == Side::Black { black } else { -black })
            });
            let outcome = |score: Option<i8>| score.map_or(UNKNOWN, i8::signum);
            archive.add("outcome", "|i1", scores.clone().map(|s| outcome(s).to_le_bytes()))?;
            archive.add("score", "|i1", scores.map(|s| s.unwrap_or(UNKNOWN).to_le_bytes()))?;
        }
        archive.add("game", "<u4", sources.iter().map(|s| s.game.to_le_bytes()))?;
        // A game of Othello has at most 60 moves.
        archive.add("ply", "|u1", sources.iter().map(|s| [s.ply.min(255) as u8]))?;
        archive.finish()
    })
}

/// The recorded disc difference for Black or, if there is none, that of the final board; `None` if the
/// game is unfinished.
fn result(record: &Record<Othello>) -> Option<i8> {
    let board = || record.end().is_over().then(|| record.disc_score());
    record.info.result.or_else(board).map(|discs| discs.clamp(-64, 64) as i8)
}

/// Writes examples, which have neither color nor source, as the arrays `own`, `other`, `legal` and
/// `move` of an NPZ file, and replaces an existing file.
pub fn export_examples_npz(examples: &[Example], path: &Path) -> Result<(), FileError> {
    let boards = examples.iter().map(|e| e.board());
    files::write_with(path, |out| {
        let mut archive = Archive::new(out);
        archive.add("own", "<u8", boards.clone().map(|b| b.own.to_le_bytes()))?;
        archive.add("other", "<u8", boards.clone().map(|b| b.other.to_le_bytes()))?;
        archive.add("legal", "<u8", boards.map(|b| b.moves().to_le_bytes()))?;
        archive.add("move", "|u1", examples.iter().map(|e| [e.chosen().index() as u8]))?;
        archive.finish()
    })
}
