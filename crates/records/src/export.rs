//! Export of decisions as CSV and as NumPy arrays.
//!
//! **CSV** is one table with a header. `game` and `ply` count from 0, `side` is `black` or
//! `white`, `board` is 64 of `X` (black), `O` (white) and `-`, row by row from a1, `move` is the
//! chosen square, `legal` the number of legal moves, and `chosen` the index of the chosen move
//! among them in the order of squares.
//!
//! **NPY** is a folder with one array per column, all of the same length: `own` and `other`
//! (`uint64`, the discs of the player to move and of the opponent, bit 0 is a1 and bit 63 is h8),
//! `move` (`uint8`, 0 is a1), `side` (`uint8`, 0 black, 1 white), `game` (`uint32`) and `ply`
//! (`uint8`). Plain arrays are more widely supported than structured ones, and a program can load
//! single columns. From Python:
//!
//! ```text
//! own, other, move = (np.load(f"{folder}/{name}.npy", mmap_mode="r") for name in ("own", "other", "move"))
//! planes = np.unpackbits(own[:512].view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
//! ```
//!
//! CSV files are written atomically. The arrays of a folder are renamed once all of them are
//! complete; if writing one fails, the old arrays stay in place.

mod csv;
mod npy;

pub use csv::write_csv;

use crate::{Decisions, Example};
use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_runs::files::{self, FileError};
use std::path::Path;
use tempfile::TempDir;

/// Writes decisions as a CSV file and replaces an existing file.
pub fn export_csv(decisions: &Decisions<Othello>, path: &Path) -> Result<(), FileError> {
    files::write_with(path, |out| write_csv(decisions, out))
}

/// Writes decisions as NPY arrays in a folder, which is created if needed.
///
/// Existing arrays are replaced.
pub fn export_npy(decisions: &Decisions<Othello>, folder: &Path) -> Result<(), FileError> {
    let temp = temp_folder(folder)?;
    let (items, sources) = (decisions.items(), decisions.sources());
    let boards = items.iter().map(|d| d.position.board());
    let names = [
        write_array(&temp, "own.npy", "<u8", boards.clone().map(|b| b.own.to_le_bytes()))?,
        write_array(&temp, "other.npy", "<u8", boards.map(|b| b.other.to_le_bytes()))?,
        write_array(&temp, "move.npy", "|u1", items.iter().map(|d| [d.chosen.index() as u8]))?,
        write_array(
            &temp,
            "side.npy",
            "|u1",
            items.iter().map(|d| [d.position.to_move().index() as u8]),
        )?,
        write_array(&temp, "game.npy", "<u4", sources.iter().map(|s| s.game.to_le_bytes()))?,
        // A game of Othello has at most 60 moves.
        write_array(&temp, "ply.npy", "|u1", sources.iter().map(|s| [s.ply.min(255) as u8]))?,
    ];
    move_arrays(&temp, &names, folder)
}

/// Writes examples, which have neither color nor source, as the arrays `own`, `other` and `move` in
/// a folder, which is created if needed.
///
/// Existing arrays with these names are replaced; arrays with other names are not removed. Use a
/// separate folder to avoid mixing data.
pub fn export_examples_npy(examples: &[Example], folder: &Path) -> Result<(), FileError> {
    let temp = temp_folder(folder)?;
    let boards = examples.iter().map(|e| e.board());
    let names = [
        write_array(&temp, "own.npy", "<u8", boards.clone().map(|b| b.own.to_le_bytes()))?,
        write_array(&temp, "other.npy", "<u8", boards.map(|b| b.other.to_le_bytes()))?,
        write_array(&temp, "move.npy", "|u1", examples.iter().map(|e| [e.chosen().index() as u8]))?,
    ];
    move_arrays(&temp, &names, folder)
}

/// Creates a temporary folder inside the target folder. It is deleted on drop.
fn temp_folder(folder: &Path) -> Result<TempDir, FileError> {
    files::create_folder(folder)?;
    tempfile::Builder::new()
        .prefix(".part-")
        .tempdir_in(folder)
        .map_err(FileError::on("write", folder))
}

fn write_array<const N: usize>(
    temp: &TempDir,
    name: &'static str,
    dtype: &str,
    values: impl ExactSizeIterator<Item = [u8; N]>,
) -> Result<&'static str, FileError> {
    // An error message has the path of the target, not that of the temporary file.
    let target = temp.path().parent().unwrap_or(temp.path()).join(name);
    files::write_with(&temp.path().join(name), |out| npy::write_array(dtype, values, out))
        .map_err(|error| FileError { path: target, ..error })?;
    Ok(name)
}

fn move_arrays(temp: &TempDir, names: &[&str], folder: &Path) -> Result<(), FileError> {
    for name in names {
        let path = folder.join(name);
        files::rename(&temp.path().join(name), &path)?;
    }
    Ok(())
}
