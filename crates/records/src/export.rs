//! Decisions as files for other programs: CSV for people and spreadsheets, NPY for NumPy.
//!
//! **CSV** is one table with a heading. `game` and `ply` count from 0, `side` is `black` or
//! `white`, `board` is 64 of `X` (black), `O` (white) and `-`, row by row from a1, `move` is the
//! chosen square, `legal` the number of legal moves, and `chosen` the place of the chosen move
//! among them in the order of their squares, counted from 0.
//!
//! **NPY** is a folder with one array per column, all of the same length: `own` and `other`
//! (`uint64`, the discs of the player to move and of the opponent, bit 0 is a1 and bit 63 is h8),
//! `move` (`uint8`, 0 is a1), `side` (`uint8`, 0 black, 1 white), `game` (`uint32`) and `ply`
//! (`uint8`). Plain arrays rather than one of structures: every reader of the format knows them,
//! and a program that wants two columns reads two. From Python:
//!
//! ```text
//! own, other, move = (np.load(f"{folder}/{name}.npy", mmap_mode="r") for name in ("own", "other", "move"))
//! planes = np.unpackbits(own[:512].view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
//! ```
//!
//! A table is written beside its place and then renamed, so that no half of one is ever seen. The
//! arrays of a folder are renamed together when all of them are complete: a failure on the way
//! leaves those that were there before.

mod csv;
mod npy;

pub use csv::write_csv;

use crate::{Decisions, Example};
use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_runs::files::{self, FileError};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Writes the decisions as a CSV file; one that was there before is replaced.
pub fn export_csv(decisions: &Decisions<Othello>, path: &Path) -> Result<(), FileError> {
    files::write_with(path, |out| write_csv(decisions, out))
}

/// Writes the decisions as NPY arrays in a folder, which is made when it is not there.
///
/// Arrays that were there before are replaced.
pub fn export_npy(decisions: &Decisions<Othello>, folder: &Path) -> Result<(), FileError> {
    let made_in = workshop(folder)?;
    let (items, sources) = (decisions.items(), decisions.sources());
    let boards = items.iter().map(|d| d.position.board());
    let names = [
        array(&made_in, "own.npy", "<u8", boards.clone().map(|b| b.own.to_le_bytes()))?,
        array(&made_in, "other.npy", "<u8", boards.map(|b| b.other.to_le_bytes()))?,
        array(&made_in, "move.npy", "|u1", items.iter().map(|d| [d.chosen.index() as u8]))?,
        array(
            &made_in,
            "side.npy",
            "|u1",
            items.iter().map(|d| [d.position.to_move().index() as u8]),
        )?,
        array(&made_in, "game.npy", "<u4", sources.iter().map(|s| s.game.to_le_bytes()))?,
        // No game of Othello has more moves than there are squares.
        array(&made_in, "ply.npy", "|u1", sources.iter().map(|s| [s.ply.min(255) as u8]))?,
    ];
    put_in_place(&made_in, &names, folder)
}

/// Writes examples, which have neither colour nor source, as the arrays `own`, `other` and `move`
/// in a folder, which is made when it is not there.
///
/// Arrays that were there before are replaced, and those with other names are left alone: use a
/// folder of its own, lest it also hold the `game` of other decisions.
pub fn export_examples_npy(examples: &[Example], folder: &Path) -> Result<(), FileError> {
    let made_in = workshop(folder)?;
    let boards = examples.iter().map(|e| e.board());
    let names = [
        array(&made_in, "own.npy", "<u8", boards.clone().map(|b| b.own.to_le_bytes()))?,
        array(&made_in, "other.npy", "<u8", boards.map(|b| b.other.to_le_bytes()))?,
        array(&made_in, "move.npy", "|u1", examples.iter().map(|e| [e.chosen().index() as u8]))?,
    ];
    put_in_place(&made_in, &names, folder)
}

/// A folder inside the one that the arrays are for, in which they are made; it vanishes when
/// dropped.
fn workshop(folder: &Path) -> Result<TempDir, FileError> {
    files::create_folder(folder)?;
    tempfile::Builder::new()
        .prefix(".part-")
        .tempdir_in(folder)
        .map_err(FileError::on("write", folder))
}

fn array<const N: usize>(
    made_in: &TempDir,
    name: &'static str,
    kind: &str,
    values: impl ExactSizeIterator<Item = [u8; N]>,
) -> Result<&'static str, FileError> {
    files::write_with(&made_in.path().join(name), |out| npy::write_array(kind, values, out))?;
    Ok(name)
}

fn put_in_place(made_in: &TempDir, names: &[&str], folder: &Path) -> Result<(), FileError> {
    for name in names {
        let path = folder.join(name);
        fs::rename(made_in.path().join(name), &path).map_err(FileError::on("write", &path))?;
    }
    Ok(())
}
