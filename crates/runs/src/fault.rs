//! Injected failures of file operations, for tests.
//!
//! All operations that change files are counted: `open`, `create`, `write`, `sync`, `rename` and
//! `remove`. The environment variable `OUTFLANK_FAIL_FILE_OPERATION` makes the operation with this
//! number fail, counted from 1; with a `+` behind the number, all later ones fail too, as on a full
//! disk. A failing write first writes half of its bytes. Each failure is reported on standard error.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The operations that fail.
struct Faults {
    first: u64,
    /// Whether all operations after the first fail too.
    persistent: bool,
    count: AtomicU64,
}

static FAULTS: LazyLock<Option<Faults>> = LazyLock::new(|| {
    let text = std::env::var("OUTFLANK_FAIL_FILE_OPERATION").ok()?;
    let number = text.strip_suffix('+');
    let first = number.unwrap_or(&text).parse().ok()?;
    Some(Faults { first, persistent: number.is_some(), count: AtomicU64::new(0) })
});

/// Counts an operation and fails if its number is the chosen one.
pub(crate) fn check(operation: &str, path: &Path) -> io::Result<()> {
    let Some(faults) = &*FAULTS else { return Ok(()) };
    let number = 1 + faults.count.fetch_add(1, Relaxed);
    if number == faults.first || (faults.persistent && number > faults.first) {
        let path = path.display();
        eprintln!("injected failure of file operation {number}: {operation} {path}");
        return Err(io::Error::other("this failure was injected for a test"));
    }
    Ok(())
}

/// Writes a whole buffer to a file as one operation.
pub(crate) fn write_all(file: &mut File, path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Err(error) = check("write", path) {
        file.write_all(&bytes[..bytes.len() / 2])?;
        return Err(error);
    }
    file.write_all(bytes)
}

/// A file being written.
#[derive(Debug)]
pub struct CheckedFile<'a> {
    pub(crate) file: &'a mut File,
    pub(crate) path: &'a Path,
}

impl Write for CheckedFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write_all(self.file, self.path, bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
