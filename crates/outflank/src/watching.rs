//! How far a run has come, for whoever watches: a line on the terminal and, when others do the work,
//! one in the run's folder, which `outflank serve` shows and which is gone when the run is over.

use crate::grid::Others;
use outflank_runs::{WorkQueue, Progress, RunFolder, files};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The file in a run's folder.
const FILE: &str = "workers.txt";

/// How often it is written, whether or not anything came in: workers may be lost meanwhile.
const EVERY: Duration = Duration::from_secs(2);

/// Games a second are those of so many such times.
const TIMES: usize = 15;

/// Watches a run until it is dropped.
pub struct Watching {
    seen: Arc<Seen>,
    ticking: Option<(Sender<()>, JoinHandle<()>)>,
}

/// What is to be seen.
struct Seen {
    progress: Progress,
    others: Option<Arc<dyn WorkQueue>>,
    path: PathBuf,
    told: Mutex<Told>,
}

/// What the run has told.
#[derive(Default)]
struct Told {
    words: String,
    games: u64,
    /// How many games there were, and when.
    before: VecDeque<(u64, Instant)>,
}

impl Watching {
    /// Watches a run; one that was killed may have left a line behind.
    pub fn new(folder: &RunFolder, others: Option<&Others>, progress: Progress) -> Watching {
        let path = folder.join(FILE);
        let _ = std::fs::remove_file(&path);
        let mut told = Told::default();
        told.before.push_back((0, Instant::now()));
        if let Some((_, notes)) = others {
            notes.attach(&progress);
        }
        let others = others.map(|(crew, _)| crew.clone());
        let seen = Arc::new(Seen { progress, others, path, told: Mutex::new(told) });
        let ticking = seen.others.is_some().then(|| {
            let (stop, stopped) = channel::<()>();
            let seen = seen.clone();
            let tick = move || {
                while stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                    seen.write();
                    seen.show();
                }
            };
            (stop, std::thread::spawn(tick))
        });
        seen.show();
        Watching { seen, ticking }
    }

    /// Games that were played before this start.
    pub fn skip(&self, games: u64) {
        self.seen.progress.set_position(games);
    }

    /// Games that came in.
    pub fn add(&self, games: u64) {
        self.seen.progress.add(games);
        self.seen.told().games += games;
    }

    /// What the run has to say for itself.
    pub fn say(&self, words: String) {
        self.seen.told().words = words;
        self.seen.show();
    }

    /// What it said last, and who is at work.
    pub fn words(&self) -> String {
        self.seen.words()
    }
}

impl Seen {
    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the run says, and who is at work.
    fn words(&self) -> String {
        let mut words = self.told().words.clone();
        if let Some(others) = &self.others {
            if !words.is_empty() {
                words.push_str(", ");
            }
            words.push_str(&others.status());
        }
        words
    }

    fn show(&self) {
        self.progress.set_message(self.words());
    }

    /// Writes the line, with the speed where games are counted.
    fn write(&self) {
        let mut line = self.words();
        let mut told = self.told();
        let (games, now) = (told.games, Instant::now());
        if let Some(&(before, since)) = told.before.front().filter(|_| games > 0) {
            let rate = (games - before) as f64 / now.duration_since(since).as_secs_f64();
            line.push_str(&format!(", {rate:.0} games a second"));
        }
        told.before.push_back((games, now));
        if told.before.len() > TIMES {
            told.before.pop_front();
        }
        drop(told);
        // A line that cannot be written is missed by nobody but who watches.
        let _ = files::write(&self.path, line.as_bytes());
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.ticking.take() {
            drop(stop);
            let _ = thread.join();
        }
        let _ = std::fs::remove_file(&self.seen.path);
    }
}
