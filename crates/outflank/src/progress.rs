//! Progress of a run: a line on the terminal and, with remote workers, the file `workers.txt` in
//! the run folder, which `outflank serve` shows. The file is removed when the run ends.

use crate::remote::Workers;
use outflank_runs::{Progress, RunFolder, WorkQueue, files};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Name of the file in the run folder.
const FILE: &str = "workers.txt";

/// Interval at which the file is written, even without new games: workers may join or leave.
const INTERVAL: Duration = Duration::from_secs(2);

/// Number of intervals over which games per second are averaged.
const WINDOW: usize = 15;

/// Reports the progress of a run until it is dropped.
pub struct RunProgress {
    shared: Arc<Shared>,
    ticker: Option<(Sender<()>, JoinHandle<()>)>,
}

struct Shared {
    bar: Progress,
    queue: Option<Arc<dyn WorkQueue>>,
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    message: String,
    games: u64,
    /// Number of games and time of earlier intervals.
    history: VecDeque<(u64, Instant)>,
}

impl RunProgress {
    /// Starts reporting. Removes the file that a killed run may have left.
    pub fn new(folder: &RunFolder, workers: Option<&Workers>, bar: Progress) -> RunProgress {
        let path = folder.join(FILE);
        let _ = std::fs::remove_file(&path);
        let mut state = State::default();
        state.history.push_back((0, Instant::now()));
        if let Some((_, log)) = workers {
            log.attach(&bar);
        }
        let queue = workers.map(|(queue, _)| queue.clone());
        let shared = Arc::new(Shared { bar, queue, path, state: Mutex::new(state) });
        let ticker = shared.queue.is_some().then(|| {
            let (stop, stopped) = channel::<()>();
            let shared = shared.clone();
            let tick = move || {
                while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                    shared.write_file();
                    shared.show();
                }
            };
            (stop, std::thread::spawn(tick))
        });
        shared.show();
        RunProgress { shared, ticker }
    }

    /// Sets the number of games finished before this process started.
    pub fn set_position(&self, games: u64) {
        self.shared.bar.set_position(games);
    }

    /// Adds finished games.
    pub fn add(&self, games: u64) {
        self.shared.bar.add(games);
        self.shared.state().games += games;
    }

    /// Sets the message of the run.
    pub fn set_message(&self, message: String) {
        self.shared.state().message = message;
        self.shared.show();
    }

    /// The last message and the state of the workers.
    pub fn status(&self) -> String {
        self.shared.status()
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn status(&self) -> String {
        let mut status = self.state().message.clone();
        if let Some(queue) = &self.queue {
            if !status.is_empty() {
                status.push_str(", ");
            }
            status.push_str(&queue.status());
        }
        status
    }

    fn show(&self) {
        self.bar.set_message(self.status());
    }

    /// Writes the file, with the speed once there are games.
    fn write_file(&self) {
        let mut line = self.status();
        let mut state = self.state();
        let (games, now) = (state.games, Instant::now());
        if let Some(&(before, since)) = state.history.front().filter(|_| games > 0) {
            let rate = (games - before) as f64 / now.duration_since(since).as_secs_f64();
            line.push_str(&format!(", {rate:.0} games/s"));
        }
        state.history.push_back((games, now));
        if state.history.len() > WINDOW {
            state.history.pop_front();
        }
        drop(state);
        // The run does not depend on the file, so errors are ignored.
        let _ = files::write(&self.path, line.as_bytes());
    }
}

impl Drop for RunProgress {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.ticker.take() {
            drop(stop);
            let _ = thread.join();
        }
        let _ = std::fs::remove_file(&self.shared.path);
    }
}
