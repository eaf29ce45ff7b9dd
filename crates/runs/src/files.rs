//! Files that are written whole or not at all, and read with errors that name them.

use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// What went wrong with a file, and which.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {path}: {source}{}", hint(source))]
pub struct FileError {
    /// What was tried: "read", "write", "create".
    pub doing: &'static str,
    /// The file or folder.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl FileError {
    /// For `map_err` on a system call about `path`.
    pub fn on(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FileError {
        let path = path.to_owned();
        move |source| FileError { doing, path, source }
    }
}

/// What to do about the commonest errors.
fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => "; check the path",
        io::ErrorKind::IsADirectory => "; name a file in it",
        io::ErrorKind::PermissionDenied => "; check its permissions or name another folder",
        io::ErrorKind::StorageFull => "; free some space, then resume",
        io::ErrorKind::AlreadyExists => "; give another name",
        _ => "",
    }
}

/// Reads a file of at most `limit` bytes.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let inner = || -> io::Result<Vec<u8>> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        let mut bytes = Vec::with_capacity(size.min(limit) as usize);
        file.take(limit + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            let text = format!("it is larger than the {limit} bytes that such a file may have");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
        }
        Ok(bytes)
    };
    inner().map_err(FileError::on("read", path))
}

/// What the names of files begin with while they are written.
const PART: &str = ".part-";

/// Writes a file beside its place and moves it there, so that no reader ever sees half of it and
/// a failure leaves the old one.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_with(path, |out| out.write_all(bytes))
}

/// As [`write()`], the content coming from a function that streams it.
pub fn write_with(
    path: &Path,
    fill: impl FnOnce(&mut io::BufWriter<&mut File>) -> io::Result<()>,
) -> Result<(), FileError> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let inner = || -> io::Result<()> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PART);
        #[cfg(unix)]
        {
            // Temporary files are private by default; a result is as readable as any other file.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let mut part = builder.tempfile_in(folder)?;
        let mut out = io::BufWriter::with_capacity(1 << 16, part.as_file_mut());
        fill(&mut out)?;
        out.flush()?;
        drop(out);
        part.as_file().sync_all()?;
        part.persist(path).map_err(|failed| failed.error)?;
        Ok(())
    };
    inner().map_err(bare).map_err(FileError::on("write", path))
}

/// An error without the path of the temporary file, which means nothing to whoever reads it.
fn bare(error: io::Error) -> io::Error {
    match error.to_string().split_once(" at path ") {
        Some((what, _)) => io::Error::new(error.kind(), what),
        None => error,
    }
}

/// Removes what a write that was cut off has left in a folder.
pub fn remove_temp_files(folder: &Path) -> Result<(), FileError> {
    let entries = fs::read_dir(folder).map_err(FileError::on("read", folder))?;
    for entry in entries.flatten() {
        let is_part = entry.file_name().to_string_lossy().starts_with(PART);
        if is_part && entry.path().is_file() {
            fs::remove_file(entry.path()).map_err(FileError::on("remove", &entry.path()))?;
        }
    }
    Ok(())
}

/// A folder of its own that goes with the value.
pub fn temporary_folder() -> Result<tempfile::TempDir, FileError> {
    tempfile::Builder::new()
        .prefix("outflank-")
        .tempdir()
        .map_err(FileError::on("create a folder in", &std::env::temp_dir()))
}

/// Makes a folder and those above it.
pub fn create_folder(path: &Path) -> Result<(), FileError> {
    fs::create_dir_all(path).map_err(FileError::on("create", path))
}

/// The SHA-256 checksum of some bytes, in hexadecimal.
#[must_use]
pub fn checksum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.csv");
        write(&path, b"old").unwrap();
        let failed = write_with(&path, |out| {
            out.write_all(b"new")?;
            Err(io::Error::other("the disk is full"))
        });
        let text = failed.unwrap_err().to_string();
        assert!(text.contains("x.csv") && text.contains("the disk is full"), "{text}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn errors_name_the_file_that_was_wished_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none").join("x.csv");
        let text = write(&path, b"x").unwrap_err().to_string();
        assert!(text.contains("x.csv") && text.ends_with("; check the path"), "{text}");
        assert!(!text.contains(".part-"), "{text}");
    }

    #[test]
    fn reading_stops_at_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("big");
        write(&path, &[0; 100]).unwrap();
        assert_eq!(read(&path, 100).unwrap().len(), 100);
        assert!(read(&path, 99).unwrap_err().to_string().contains("larger than the 99 bytes"));
    }

    #[test]
    fn the_checksum_is_sha_256() {
        assert_eq!(
            checksum(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
