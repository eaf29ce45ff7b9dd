//! Atomic file writes, size-limited reads, and errors that name the file.

use crate::fault::{self, CheckedFile};
use sha2::{Digest, Sha256};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// An I/O error with the operation and the path.
#[derive(Debug, thiserror::Error)]
#[error("cannot {operation} {path}: {source}{}", hint(source))]
pub struct FileError {
    /// The failed operation, a verb such as "read", "write" or "create".
    pub operation: &'static str,
    /// The path of the file or folder.
    pub path: PathBuf,
    /// The error of the operating system.
    pub source: io::Error,
}

impl FileError {
    /// Returns a function that converts an [`io::Error`], for use with `map_err`.
    pub fn on(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FileError {
        let path = path.to_owned();
        move |source| FileError { operation, path, source }
    }
}

/// Returns advice for common errors.
fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => "; check the path",
        io::ErrorKind::IsADirectory => "; name a file in this folder",
        io::ErrorKind::PermissionDenied => "; check the permissions or use another folder",
        io::ErrorKind::StorageFull => "; free some disk space, then resume",
        io::ErrorKind::AlreadyExists => "; choose another name",
        _ => "",
    }
}

/// Reads a file, or fails if it is larger than `limit` bytes.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let inner = || -> io::Result<Vec<u8>> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        let mut bytes = Vec::with_capacity(size.min(limit) as usize);
        file.take(limit + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            let text = format!("the file is larger than the limit of {limit} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
        }
        Ok(bytes)
    };
    inner().map_err(FileError::on("read", path))
}

/// The name prefix of temporary files.
const TEMP_PREFIX: &str = ".part-";

/// Writes a file atomically: to a temporary file in the same folder, which is then renamed.
///
/// Readers never see a partial file, and a failure leaves the old file in place.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_with(path, |out| out.write_all(bytes))
}

/// Writes a file atomically, as [`write()`] does, with content streamed by `fill`.
pub fn write_with(
    path: &Path,
    fill: impl FnOnce(&mut io::BufWriter<CheckedFile<'_>>) -> io::Result<()>,
) -> Result<(), FileError> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let inner = || -> io::Result<()> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(TEMP_PREFIX);
        #[cfg(unix)]
        {
            // Temporary files are private by default; the result has the usual permissions.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        fault::check("create", path)?;
        let mut temp = builder.tempfile_in(folder)?;
        let file = CheckedFile { file: temp.as_file_mut(), path };
        let mut out = io::BufWriter::with_capacity(1 << 16, file);
        fill(&mut out)?;
        out.flush()?;
        drop(out);
        fault::check("sync", path)?;
        temp.as_file().sync_all()?;
        fault::check("rename", path)?;
        temp.persist(path).map_err(|failed| failed.error)?;
        Ok(())
    };
    inner().map_err(without_temp_path).map_err(FileError::on("write", path))
}

/// Removes the path of the temporary file from an error message.
fn without_temp_path(error: io::Error) -> io::Error {
    match error.to_string().split_once(" at path ") {
        Some((message, _)) => io::Error::new(error.kind(), message),
        None => error,
    }
}

/// Removes the temporary files that interrupted writes left in a folder.
pub fn remove_temp_files(folder: &Path) -> Result<(), FileError> {
    let entries = fs::read_dir(folder).map_err(FileError::on("read", folder))?;
    for entry in entries.flatten() {
        if is_temp_file(&entry.path()) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

/// Returns whether a path is a temporary file of an interrupted write.
pub(crate) fn is_temp_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(TEMP_PREFIX) && path.is_file()
}

/// Creates a temporary folder that is deleted on drop.
pub fn temporary_folder() -> Result<tempfile::TempDir, FileError> {
    tempfile::Builder::new()
        .prefix("outflank-")
        .tempdir()
        .map_err(FileError::on("create a folder in", &std::env::temp_dir()))
}

/// Creates a folder and its missing parents.
pub fn create_folder(path: &Path) -> Result<(), FileError> {
    let create = || {
        // An existing folder is no operation.
        if !path.is_dir() {
            fault::check("create", path)?;
        }
        fs::create_dir_all(path)
    };
    create().map_err(FileError::on("create", path))
}

/// Removes a file.
pub fn remove(path: &Path) -> Result<(), FileError> {
    let remove = || fault::check("remove", path).and_then(|()| fs::remove_file(path));
    remove().map_err(FileError::on("remove", path))
}

/// Removes a file, if it exists.
pub fn remove_if_exists(path: &Path) -> Result<(), FileError> {
    match path.symlink_metadata() {
        Ok(_) => remove(path),
        Err(_) => Ok(()),
    }
}

/// Removes a folder and everything in it.
pub fn remove_folder(path: &Path) -> Result<(), FileError> {
    let remove = || fault::check("remove", path).and_then(|()| fs::remove_dir_all(path));
    remove().map_err(FileError::on("remove", path))
}

/// Renames a file, replacing an existing one of the new name.
pub fn rename(from: &Path, to: &Path) -> Result<(), FileError> {
    let rename = || fault::check("rename", to).and_then(|()| fs::rename(from, to));
    rename().map_err(FileError::on("write", to))
}

/// Opens a file to append to it, and cuts it to a length; creates it if it does not exist.
pub(crate) fn open_append(path: &Path, length: u64) -> Result<File, FileError> {
    let open = || {
        fault::check("open", path)?;
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        fault::check("write", path)?;
        file.set_len(length)?;
        Ok(file)
    };
    open().map_err(FileError::on("open", path))
}

/// Returns the SHA-256 checksum in hexadecimal digits.
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
    fn errors_name_the_requested_file() {
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
        assert!(read(&path, 99).unwrap_err().to_string().contains("limit of 99 bytes"));
    }

    #[test]
    fn the_checksum_is_sha_256() {
        assert_eq!(
            checksum(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
