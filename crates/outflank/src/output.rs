//! Output to the terminal, files and pipes.

use crate::errors::ensure_usage;
use anyhow::{Context, Result};
use serde::Serialize;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;

/// Prints text; a closed pipe ends the program quietly, as usual for a filter.
pub fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        written => written.context("cannot write to standard output"),
    }
}

/// Prints one JSON document.
pub fn print_json<T: Serialize>(value: &T) -> Result<()> {
    print(&format!("{}\n", serde_json::to_string_pretty(value)?))
}

/// Width of tables if standard output is not a terminal.
const REDIRECTED_WIDTH: usize = 100;

/// The width for tables: that of the terminal, or 100 characters.
pub fn table_width() -> Option<usize> {
    let mut out = std::io::stdout();
    let terminal = out.is_terminal().then(|| terminal_size::terminal_size_of(&mut out)).flatten();
    Some(terminal.map_or(REDIRECTED_WIDTH, |(width, _)| usize::from(width.0)))
}

/// Checks that a file can be created at a path, before its content is computed.
pub fn check_writable(path: &Path) -> Result<()> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let (name, parent) = (path.display(), folder.display());
    ensure_usage!(
        folder.is_dir(),
        "cannot write {name}: there is no folder {parent}; create it first"
    );
    ensure_usage!(!path.is_dir(), "cannot write {name}: it is a folder; name a file in it");
    Ok(())
}

/// A count with its noun, such as `1 file` or `2,000 files`.
pub fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", format_count(number as u64))
}

/// Sets the number of threads of parallel iterators.
pub fn set_threads(threads: usize) -> Result<()> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .context("cannot start the threads")
}

pub use outflank_report::text::format_count;
