//! Remote contests with workers that return right and wrong games, on a queue in this process.

use outflank_arena::league::play_league;
use outflank_arena::remote::{GameJobHandler, OpeningSource, publish_contest};
use outflank_arena::{ContestConfig, ContestGame};
use outflank_games::Line;
use outflank_games::othello::Othello;
use outflank_players::PlayerFactory;
use outflank_players::registry;
use outflank_runs::files::checksum;
use outflank_runs::{
    AcceptFn, Ack, BlobStore, JobBatch, JobHandler, Journal, Verification, WorkQueue,
    WorkQueueError,
};
use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Executes tasks in this process, in turns for the workers "honest" and "other-seed". Before
/// each task, the worker "wrong-result" returns an illegal result for it.
struct LocalQueue {
    verification: Verification,
    handler: GameJobHandler,
    blobs: Mutex<BTreeMap<String, Vec<u8>>>,
    /// Number of tasks after which "other-seed" plays other games than those of its tasks.
    right_tasks: usize,
    /// Reasons for which results were rejected, and workers quarantined.
    reasons: Mutex<Vec<String>>,
}

impl std::fmt::Debug for LocalQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LocalQueue")
    }
}

impl BlobStore for LocalQueue {
    fn put(&self, bytes: &[u8]) -> Result<String, WorkQueueError> {
        self.blobs.lock().unwrap().insert(checksum(bytes), bytes.to_vec());
        Ok(checksum(bytes))
    }

    fn get(&self, sha256: &str, _: u64) -> Result<Vec<u8>, WorkQueueError> {
        let found = self.blobs.lock().unwrap().get(sha256).cloned();
        found.ok_or_else(|| WorkQueueError(format!("there is no {sha256}")))
    }
}

impl LocalQueue {
    /// Plays legal games of the same players, but with another seed.
    fn play_with_other_seed(&self, contest: &str, task: &[u8]) -> Vec<u8> {
        let document = String::from_utf8(self.get(contest, 1 << 20).unwrap()).unwrap();
        let other = self.put(document.replace("\"seed\":1,", "\"seed\":2,").as_bytes()).unwrap();
        let task = String::from_utf8(task.to_vec()).unwrap().replace(contest, &other);
        self.handler.execute(task.as_bytes(), self).unwrap()
    }
}

impl WorkQueue for LocalQueue {
    fn run(
        &self,
        batch: JobBatch<'_>,
        encode: &dyn Fn(Range<usize>) -> Vec<u8>,
        accept: &mut AcceptFn<'_>,
    ) -> Result<(), WorkQueueError> {
        let mut tasks = 0;
        for job in 0..batch.jobs {
            let range = job..job + 1;
            let task = encode(range.clone());
            let result = self.handler.execute(&task, self).map_err(WorkQueueError)?;
            // The moves of the first game are right, its result is not.
            let text = String::from_utf8(result.clone()).unwrap();
            let mut fields: Vec<&str> = text.split('\t').collect();
            fields[3] = if fields[3] == "64" { "-64" } else { "64" };
            match accept(range.clone(), "wrong-result", fields.join("\t").as_bytes()) {
                Ack::Rejected(reason) => self.reasons.lock().unwrap().push(reason),
                Ack::Stop => return Ok(()),
                Ack::Accepted => panic!("a wrong result was accepted"),
            }
            let is_other_seed = job % 2 == 1 && !self.verification.is_quarantined("other-seed");
            tasks += usize::from(is_other_seed);
            let result = if is_other_seed && tasks > self.right_tasks {
                self.play_with_other_seed(batch.run, &task)
            } else {
                result
            };
            let worker = if is_other_seed { "other-seed" } else { "honest" };
            if accept(range, worker, &result) == Ack::Stop {
                return Ok(());
            }
        }
        Ok(())
    }

    fn verification(&self) -> &Verification {
        &self.verification
    }

    fn quarantine(&self, worker: &str, reason: &str) {
        if self.verification.quarantine(worker) {
            self.reasons.lock().unwrap().push(format!("quarantined {worker}: {reason}"));
        }
    }

    fn delete(&self, _: &str) {}

    fn status(&self) -> String {
        String::new()
    }
}

fn players() -> (Vec<String>, Vec<PlayerFactory<Othello>>) {
    let texts: Vec<String> = ["heuristic", "yoshioka", "random"].map(str::to_owned).to_vec();
    let factories = registry::factories(&texts, 0.1).unwrap();
    (texts, factories)
}

fn config() -> ContestConfig<Othello> {
    ContestConfig { openings: vec![Line::default()], rounds: 60, seed: 1, threads: 2, remote: None }
}

/// The games of a league and the bytes of its journal.
type GamesAndJournal = (Vec<ContestGame<Othello>>, Vec<u8>);

/// Plays a league with a journal in `folder`; returns its games and the bytes of the journal.
fn play(folder: &Path, config: &ContestConfig<Othello>) -> GamesAndJournal {
    let path = folder.join("games.tsv");
    let journal = Journal::open(&path).unwrap();
    let league = play_league(&players().1, config, Some(journal), |_, _| true).unwrap();
    assert!(league.complete);
    (league.games, fs::read(path).unwrap())
}

/// Plays the league on a queue that verifies this share of the games. Also returns the reasons of
/// [`LocalQueue`].
fn play_on_queue(
    folder: &Path,
    verified_share: f64,
    right_tasks: usize,
) -> (GamesAndJournal, Vec<String>) {
    let cache = tempfile::tempdir().unwrap();
    let local = Arc::new(LocalQueue {
        verification: Verification::new(verified_share, 2),
        handler: GameJobHandler::new(cache.path(), 1 << 30),
        blobs: Mutex::default(),
        right_tasks,
        reasons: Mutex::default(),
    });
    let queue: Arc<dyn WorkQueue> = local.clone();
    let (texts, factories) = players();
    let openings = OpeningSource { file: None, first_side: None };
    let remote = publish_contest(&queue, &texts, &factories, 0.1, openings, 1).unwrap();
    let played = play(folder, &ContestConfig { remote: Some(remote), ..config() });
    let reasons = local.reasons.lock().unwrap().clone();
    (played, reasons)
}

#[test]
fn wrong_games_are_found_and_played_again() {
    let folders: Vec<_> = (0..4).map(|_| tempfile::tempdir().unwrap()).collect();
    let expected = play(folders[0].path(), &config());
    // The first game of a worker is always verified, later ones at random.
    for (folder, share, right_tasks) in [(1, 1e-9, 0), (2, 0.3, 3), (3, 0.02, 3)] {
        let folder = folders[folder].path();
        let (played, reasons) = play_on_queue(folder, share, right_tasks);
        let found =
            reasons.iter().any(|reason| reason.starts_with("quarantined other-seed: its game of"));
        let must_find = share != 0.02;
        assert!(found || !must_find, "share {share}: {reasons:?}");
        assert_eq!(played == expected, found, "share {share}");
        let workers = fs::read_to_string(folder.join("game-workers.tsv")).unwrap();
        assert_eq!(workers.contains("quarantined\tother-seed\t"), found);
        assert!(workers.contains("games\theuristic\tyoshioka\t0\thonest\t"), "{workers}");
    }
}

#[test]
fn a_resumed_run_plays_the_games_of_quarantined_workers_again() {
    let folders: Vec<_> = (0..3).map(|_| tempfile::tempdir().unwrap()).collect();
    let expected = play(folders[0].path(), &config());
    for (folder, is_remote) in [(1, true), (2, false)] {
        let folder = folders[folder].path();
        let (wrong, reasons) = play_on_queue(folder, 0.0, 0);
        assert!(reasons.iter().all(|reason| !reason.starts_with("quarantined")));
        assert_ne!(wrong, expected, "nothing is verified with share 0");
        // The process is killed after it has recorded the quarantine.
        let (mut workers, _) = Journal::open(&folder.join("game-workers.tsv")).unwrap();
        workers.append(&["quarantined\tother-seed"]).unwrap();
        let played = match is_remote {
            true => play_on_queue(folder, 0.0, 0).0,
            false => play(folder, &config()),
        };
        assert_eq!(played, expected);
        // A further run has nothing left to play.
        assert_eq!(play(folder, &config()), expected);
    }
}

#[test]
fn the_rejection_of_a_wrong_result_names_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let (_, reasons) = play_on_queue(folder.path(), 0.0, 100);
    assert!(!reasons.is_empty());
    for reason in reasons {
        assert!(reason.contains("but the moves lead to"), "{reason}");
    }
}
