//! Tasks that a worker receives, and results that a coordinator receives.

use outflank_arena::remote::{GameJobHandler, OpeningSource, publish_contest};
use outflank_arena::{ContestConfig, play_contest};
use outflank_games::Line;
use outflank_games::othello::Othello;
use outflank_players::PlayerFactory;
use outflank_players::registry::factories;
use outflank_runs::files::checksum;
use outflank_runs::{
    AcceptFn, BlobStore, JobBatch, JobHandler, Verification, WorkQueue, WorkQueueError,
};
use serde_json::Value;
use std::cell::LazyCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

const PLAYERS: [&str; 2] = ["random", "random?name=other"];

/// A queue in memory that returns the same bytes as the result of every task.
#[derive(Debug)]
pub(super) struct FakeQueue {
    verification: Verification,
    blobs: Mutex<HashMap<String, Vec<u8>>>,
    result: Mutex<Vec<u8>>,
}

impl FakeQueue {
    /// Sets the result of all tasks.
    pub(super) fn set_result(&self, result: &[u8]) {
        *self.result.lock().expect("no panic") = result.to_vec();
    }

    /// Removes a blob.
    pub(super) fn remove(&self, sha256: &str) {
        self.blobs.lock().expect("no panic").remove(sha256);
    }
}

impl Default for FakeQueue {
    fn default() -> FakeQueue {
        // No game is played again: a fuzzer needs speed.
        let verification = Verification::new(0.0, 1);
        FakeQueue { verification, blobs: Mutex::default(), result: Mutex::default() }
    }
}

impl BlobStore for FakeQueue {
    fn put(&self, bytes: &[u8]) -> Result<String, WorkQueueError> {
        let sha256 = checksum(bytes);
        self.blobs.lock().expect("no panic").insert(sha256.clone(), bytes.to_vec());
        Ok(sha256)
    }

    fn get(&self, sha256: &str, _: u64) -> Result<Vec<u8>, WorkQueueError> {
        let found = self.blobs.lock().expect("no panic").get(sha256).cloned();
        found.ok_or_else(|| WorkQueueError(format!("no blob {sha256}")))
    }
}

impl WorkQueue for FakeQueue {
    fn run(
        &self,
        batch: JobBatch<'_>,
        _: &dyn Fn(Range<usize>) -> Vec<u8>,
        accept: &mut AcceptFn<'_>,
    ) -> Result<(), WorkQueueError> {
        let result = self.result.lock().expect("no panic").clone();
        accept(0..batch.jobs.min(1), "worker", &result);
        Err(WorkQueueError("no further results".to_owned()))
    }

    fn verification(&self) -> &Verification {
        &self.verification
    }

    fn quarantine(&self, _: &str, _: &str) {}

    fn delete(&self, _: &str) {}

    fn status(&self) -> String {
        String::new()
    }
}

struct Worker {
    queue: Arc<FakeQueue>,
    players: Vec<PlayerFactory<Othello>>,
    handler: GameJobHandler,
    _folder: TempDir,
}

thread_local! {
    static WORKER: LazyCell<Worker> = LazyCell::new(|| {
        let folder = tempfile::tempdir().expect("a folder");
        Worker {
            queue: Arc::default(),
            players: factories::<Othello>(&PLAYERS.map(str::to_owned), 0.0).expect("players"),
            handler: GameJobHandler::new(folder.path(), 1 << 30),
            _folder: folder,
        }
    });
}

/// The first byte selects what the others are: a task, the document of a contest, or a result.
pub fn tasks(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    WORKER.with(|worker| match first % 3 {
        0 if rounds(rest) < 8 => drop(worker.handler.execute(rest, &*worker.queue)),
        0 => {}
        1 => contest_document(worker, rest),
        _ => result(worker, rest),
    });
}

/// The number of rounds in a task. A task with many rounds is valid and takes long.
fn rounds(task: &[u8]) -> u64 {
    let Ok(task) = serde_json::from_slice::<Value>(task) else { return 0 };
    let Some(jobs) = task["batches"].as_array() else { return 0 };
    let length = |job: &Value| job[3].as_u64()?.checked_sub(job[2].as_u64()?);
    jobs.iter().filter_map(length).fold(0, u64::saturating_add)
}

/// A task without games loads the contest of this document.
fn contest_document(worker: &Worker, document: &[u8]) {
    let sha256 = worker.queue.put(document).expect("memory");
    let task = format!(r#"{{"contest": "{sha256}", "batches": []}}"#);
    let _ = worker.handler.execute(task.as_bytes(), &*worker.queue);
    worker.queue.remove(&sha256);
}

fn result(worker: &Worker, result: &[u8]) {
    worker.queue.set_result(result);
    let queue: Arc<dyn WorkQueue> = worker.queue.clone();
    let openings = OpeningSource { file: None, first_side: None };
    let players = PLAYERS.map(str::to_owned);
    let remote =
        publish_contest(&queue, &players, &worker.players, 0.0, openings, 1).expect("a contest");
    let config = ContestConfig {
        openings: vec![Line::default()],
        rounds: 1,
        seed: 1,
        threads: 1,
        remote: Some(remote),
    };
    let _ = play_contest(&worker.players, &[(0, 1)], &config, None, |_| true);
}
