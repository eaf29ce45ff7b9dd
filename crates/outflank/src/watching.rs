//! Work on other machines as others may see it: a line in the run's folder while it goes on, which
//! `outflank serve` shows, and which is gone when the run is over.

use outflank_arena::elsewhere::Elsewhere;
use outflank_runs::{RunFolder, files};
use std::cell::Cell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The file in a run's folder.
const FILE: &str = "workers.txt";

/// How often it is written.
const EVERY: Duration = Duration::from_secs(2);

/// Who works and how fast.
pub struct Watching<'a> {
    others: Option<&'a Elsewhere>,
    path: PathBuf,
    /// Games since it was written last, and when that was.
    games: Cell<u64>,
    since: Cell<Instant>,
}

impl<'a> Watching<'a> {
    /// Watches a run; one that was killed may have left a line behind.
    pub fn new(folder: &RunFolder, others: Option<&'a Elsewhere>) -> Watching<'a> {
        let path = folder.join(FILE);
        let _ = std::fs::remove_file(&path);
        Watching { others, path, games: Cell::new(0), since: Cell::new(Instant::now()) }
    }

    /// Notes games that came in; says who is at work, or nothing when this process is.
    pub fn words(&self, new: u64) -> String {
        let Some(others) = self.others else { return String::new() };
        self.games.set(self.games.get() + new);
        let passed = self.since.get().elapsed();
        let words = others.words();
        if passed >= EVERY {
            let rate = self.games.replace(0) as f64 / passed.as_secs_f64();
            self.since.set(Instant::now());
            // A line that cannot be written is missed by nobody but who watches.
            let _ =
                files::write(&self.path, format!("{words}, {rate:.0} games a second").as_bytes());
        }
        words
    }
}

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
