//! A file of lines that only grows, so that work already done survives any stop.
//!
//! Lines are appended in blocks. Each line ends in a tab and a short checksum of what stands
//! before it; a last line that a stop cut in half is dropped, any other damage is an error.

use crate::files::{self, FileError};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Why a journal cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line is not as it was written.
    #[error("{path}, line {line}: damaged; delete this line and those below to replay them")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
    },
}

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
}

/// The journal's lines may fill this much.
const LIMIT: u64 = 1 << 34;

fn tag(line: &str) -> String {
    // Fowler, Noll and Vo's hash: enough to tell a torn or edited line from a whole one.
    let hash = line.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{:08x}", (hash ^ (hash >> 32)) as u32)
}

impl Journal {
    /// Opens a journal, or begins one; returns the lines it holds.
    pub fn open(path: &Path) -> Result<(Journal, Vec<String>), JournalError> {
        let mut lines = Vec::new();
        let mut whole = 0;
        if path.exists() {
            let bytes = files::read(path, LIMIT)?;
            for line in bytes.split_inclusive(|&byte| byte == b'\n') {
                let number = lines.len() + 1;
                let damaged = || JournalError::Damaged { path: path.to_owned(), line: number };
                let Some(line_bytes) = line.strip_suffix(b"\n") else { break };
                let text = std::str::from_utf8(line_bytes).map_err(|_| damaged())?;
                match text.rsplit_once('\t') {
                    Some((content, sum)) if sum == tag(content) => lines.push(content.to_owned()),
                    _ => return Err(damaged()),
                }
                whole += line.len() as u64;
            }
        }
        let open = || {
            let file = OpenOptions::new().create(true).append(true).open(path)?;
            file.set_len(whole)?;
            Ok(file)
        };
        let file = open().map_err(FileError::on("open", path))?;
        Ok((Journal { file, path: path.to_owned() }, lines))
    }

    /// Appends lines in one write; none may contain a line break.
    pub fn append<S: AsRef<str>>(&mut self, lines: &[S]) -> Result<(), FileError> {
        let mut block = String::new();
        for line in lines {
            let line = line.as_ref();
            block.push_str(line);
            block.push('\t');
            block.push_str(&tag(line));
            block.push('\n');
        }
        self.file.write_all(block.as_bytes()).map_err(FileError::on("write", &self.path))
    }

    /// Makes sure that what was appended has reached the disk.
    pub fn sync(&mut self) -> Result<(), FileError> {
        self.file.sync_data().map_err(FileError::on("write", &self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_torn_last_line_is_dropped_and_other_damage_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("games.tsv");
        let (mut journal, lines) = Journal::open(&path).unwrap();
        assert!(lines.is_empty());
        journal.append(&["one\t1", "two\t2", "three\t3"]).unwrap();
        journal.sync().unwrap();
        let full = fs::read(&path).unwrap();
        // Whatever byte the writing stopped at, the whole lines before it come back.
        for cut in 0..=full.len() {
            fs::write(&path, &full[..cut]).unwrap();
            let (mut journal, lines) = Journal::open(&path).unwrap();
            let whole = full[..cut].iter().filter(|&&b| b == b'\n').count();
            assert_eq!(lines, ["one\t1", "two\t2", "three\t3"][..whole]);
            journal.append(&["again"]).unwrap();
            assert_eq!(Journal::open(&path).unwrap().1.len(), whole + 1);
        }
        let mut bad = full.clone();
        bad[1] ^= 1;
        fs::write(&path, bad).unwrap();
        assert!(Journal::open(&path).unwrap_err().to_string().contains("line 1: damaged"));
    }
}
