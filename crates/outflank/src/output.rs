//! Writing to standard output, where a reader may go away at any moment.

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;

/// Prints text; a closed pipe ends the program quietly, as it would any filter.
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

/// How many characters a line of the terminal has; nothing where standard output is not one, since
/// what reads it then may count on whole lines.
pub fn room() -> Option<usize> {
    let mut out = std::io::stdout();
    if !out.is_terminal() {
        return None;
    }
    terminal_size::terminal_size_of(&mut out).map(|(width, _)| usize::from(width.0))
}

/// Makes sure that a file can be put there, before hours of work go into its content.
pub fn place_for_file(path: &Path) -> Result<()> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let (name, parent) = (path.display(), folder.display());
    ensure!(folder.is_dir(), "cannot write {name}: there is no folder {parent}; make it first");
    ensure!(!path.is_dir(), "cannot write {name}: it is a folder; name a file in it");
    Ok(())
}

/// A number of things, such as `1 file` or `2,000 files`.
pub fn counted(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(number as u64))
}

pub use outflank_report::text::count as grouped;
