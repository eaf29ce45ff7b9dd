//! An append-only log of lines, from which an interrupted run resumes.
//!
//! Lines are appended in blocks. Each line ends with a tab and a 32-bit checksum. An incomplete
//! last line, left by an interrupted write, is dropped; any other damage is an error.

use crate::fault;
use crate::files::{self, FileError};
use std::fs::File;
use std::path::{Path, PathBuf};

/// An error while reading a journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line does not match its checksum.
    #[error(
        "{path}:{line}: the line is damaged (wrong checksum). Delete it and all lines below it, then \
        resume: the deleted part is computed again."
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line number, from 1.
        line: usize,
    },
}

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
}

/// The maximum size of a journal in bytes.
const MAX_BYTES: u64 = 1 << 34;

/// Returns the checksum of a line: the 64-bit FNV-1a hash, folded to 32 bits.
fn line_checksum(line: &str) -> String {
    let hash = line.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{:08x}", (hash ^ (hash >> 32)) as u32)
}

impl Journal {
    /// Opens or creates a journal and returns its lines without their checksums.
    pub fn open(path: &Path) -> Result<(Journal, Vec<String>), JournalError> {
        let bytes = if path.exists() { files::read(path, MAX_BYTES)? } else { Vec::new() };
        let damaged = |line| JournalError::Damaged { path: path.to_owned(), line };
        let (lines, length) = Journal::parse(&bytes).map_err(damaged)?;
        let file = files::open_append(path, length as u64)?;
        Ok((Journal { file, path: path.to_owned() }, lines))
    }

    /// Parses the content of a journal. Returns its complete lines without their checksums, and
    /// their length in the file; the error is the number of the first damaged line, from 1.
    pub fn parse(bytes: &[u8]) -> Result<(Vec<String>, usize), usize> {
        let (mut lines, mut length) = (Vec::new(), 0);
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            let number = lines.len() + 1;
            let Some(line_bytes) = line.strip_suffix(b"\n") else { break };
            let text = std::str::from_utf8(line_bytes).map_err(|_| number)?;
            match text.rsplit_once('\t') {
                Some((content, sum)) if sum == line_checksum(content) => {
                    lines.push(content.to_owned())
                }
                _ => return Err(number),
            }
            length += line.len();
        }
        Ok((lines, length))
    }

    /// Formats lines with their checksums. No line may contain a line break.
    #[must_use]
    pub fn encode<S: AsRef<str>>(lines: &[S]) -> String {
        let mut block = String::new();
        for line in lines {
            let line = line.as_ref();
            block.push_str(line);
            block.push('\t');
            block.push_str(&line_checksum(line));
            block.push('\n');
        }
        block
    }

    /// Appends lines in one write. No line may contain a line break.
    pub fn append<S: AsRef<str>>(&mut self, lines: &[S]) -> Result<(), FileError> {
        let block = Journal::encode(lines);
        fault::write_all(&mut self.file, &self.path, block.as_bytes())
            .map_err(FileError::on("write", &self.path))
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Cuts the journal after its first lines, which are `lines`, and flushes it to the disk.
    pub fn truncate<S: AsRef<str>>(&mut self, lines: &[S]) -> Result<(), FileError> {
        // Each line has a tab, a checksum of eight digits and a line break.
        let bytes: usize = lines.iter().map(|line| line.as_ref().len() + 10).sum();
        let cut = self.file.set_len(bytes as u64).and_then(|()| self.file.sync_data());
        cut.map_err(FileError::on("write", &self.path))
    }

    /// Flushes appended lines to the disk.
    pub fn sync(&mut self) -> Result<(), FileError> {
        let sync = fault::check("sync", &self.path).and_then(|()| self.file.sync_data());
        sync.map_err(FileError::on("write", &self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn an_incomplete_last_line_is_dropped_and_other_damage_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("games.tsv");
        let (mut journal, lines) = Journal::open(&path).unwrap();
        assert!(lines.is_empty());
        journal.append(&["one\t1", "two\t2", "three\t3"]).unwrap();
        journal.sync().unwrap();
        let full = fs::read(&path).unwrap();
        // After an interruption at any byte, the complete lines are read back.
        for cut in 0..=full.len() {
            fs::write(&path, &full[..cut]).unwrap();
            let (mut journal, lines) = Journal::open(&path).unwrap();
            let complete = full[..cut].iter().filter(|&&b| b == b'\n').count();
            assert_eq!(lines, ["one\t1", "two\t2", "three\t3"][..complete]);
            journal.append(&["again"]).unwrap();
            assert_eq!(Journal::open(&path).unwrap().1.len(), complete + 1);
        }
        // Truncation keeps the first lines.
        fs::write(&path, &full).unwrap();
        let (mut journal, lines) = Journal::open(&path).unwrap();
        journal.truncate(&lines[..1]).unwrap();
        journal.append(&["two\t2", "three\t3"]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), full);
        let mut bad = full.clone();
        bad[1] ^= 1;
        fs::write(&path, bad).unwrap();
        assert!(
            Journal::open(&path)
                .unwrap_err()
                .to_string()
                .contains("games.tsv:1: the line is damaged")
        );
    }
}
