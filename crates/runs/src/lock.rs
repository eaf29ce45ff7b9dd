//! The lock of a run folder: only one process at a time may write a run.
//!
//! The lock is an advisory lock of the operating system on the file `.lock`, which holds the process
//! ID of its owner. The system releases it when the process ends, however it ends, so a file left
//! behind by a killed process locks nothing.

use crate::fault;
use crate::files::FileError;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

/// File name of the lock in a run folder.
pub const LOCK: &str = ".lock";

/// An error of locking a run folder.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process works on the run.
    #[error(
        "{folder}: {} is writing this run. Wait until it ends or stop it, or use another folder with \
         --out.",
        describe(*.process)
    )]
    Locked {
        /// The folder.
        folder: String,
        /// The ID of the process, if it can be read.
        process: Option<u32>,
    },
    /// The lock file cannot be created.
    #[error(transparent)]
    File(#[from] FileError),
}

fn describe(process: Option<u32>) -> String {
    process.map_or_else(|| "another process".to_owned(), |id| format!("process {id}"))
}

/// The lock of a run folder, held until it is dropped.
#[derive(Debug)]
pub struct RunLock {
    path: PathBuf,
    file: File,
}

impl RunLock {
    /// Locks a folder, which must exist.
    pub fn acquire(folder: &Path) -> Result<RunLock, LockError> {
        let path = folder.join(LOCK);
        loop {
            let mut options = OpenOptions::new();
            let opened = fault::check("open", &path).and_then(|()| {
                options.read(true).write(true).create(true).truncate(false).open(&path)
            });
            let mut file = opened.map_err(FileError::on("open", &path))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let folder = folder.display().to_string();
                    return Err(LockError::Locked { folder, process: owner(&mut file) });
                }
                // A file system without locks: the run continues without one.
                Err(TryLockError::Error(_)) => {}
            }
            // The previous owner may have removed the file between opening and locking it.
            if !is_same_file(&file, &path) {
                continue;
            }
            let mut write = || {
                fault::check("write", &path)?;
                file.set_len(0)?;
                write!(file, "{}", std::process::id())?;
                file.flush()
            };
            write().map_err(FileError::on("write", &path))?;
            return Ok(RunLock { path, file });
        }
    }

    /// Returns whether a process works on the run in a folder.
    #[must_use]
    pub fn is_held(folder: &Path) -> bool {
        let Ok(file) = File::open(folder.join(LOCK)) else { return false };
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // The file is removed before it is unlocked, so that no other process has locked it.
        let _ = fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}

/// Reads the process ID of the owner.
fn owner(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

/// Returns whether an open file is still the file at its path.
fn is_same_file(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let id = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        match (file.metadata().map(id), fs::metadata(path).map(id)) {
            (Ok(open), Ok(named)) => open == named,
            _ => false,
        }
    }
    #[cfg(not(unix))]
    {
        // An open file cannot be removed there.
        let _ = file;
        path.exists()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_lock_is_refused_with_the_process_of_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let first = RunLock::acquire(folder.path()).unwrap();
        assert!(RunLock::is_held(folder.path()));
        let message = RunLock::acquire(folder.path()).unwrap_err().to_string();
        assert!(message.contains(&format!("process {} is", std::process::id())), "{message}");
        drop(first);
        assert!(!RunLock::is_held(folder.path()));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        drop(RunLock::acquire(folder.path()).unwrap());
        // The file of a killed process locks nothing.
        fs::write(folder.path().join(LOCK), "1").unwrap();
        assert!(!RunLock::is_held(folder.path()));
        drop(RunLock::acquire(folder.path()).unwrap());
    }

    /// Of many threads that lock and unlock, at most one holds the lock at any time.
    #[test]
    fn the_lock_is_exclusive() {
        use std::sync::atomic::{AtomicU32, Ordering};
        let folder = tempfile::tempdir().unwrap();
        let (holders, acquired) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        if let Ok(lock) = RunLock::acquire(folder.path()) {
                            assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                            acquired.fetch_add(1, Ordering::SeqCst);
                            holders.fetch_sub(1, Ordering::SeqCst);
                            drop(lock);
                        }
                    }
                });
            }
        });
        assert!(acquired.into_inner() > 0);
    }
}
