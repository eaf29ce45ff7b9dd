//! Which worker played the games of a journal, in a file beside it.
//!
//! The journal itself is the same for local and remote games. The record lets a run find all games of
//! a worker that returned forged results, also after it was resumed. A line is either
//! `games FIRST SECOND ROUND WORKER` (tab-separated: the batch of two players that starts with this
//! round) or `quarantined WORKER`; later lines replace earlier ones.

use crate::contest::RoundBatch;
use outflank_games::Position;
use outflank_players::PlayerFactory;
use outflank_runs::files::FileError;
use outflank_runs::{Journal, JournalError};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// The name of the file.
const FILE: &str = "game-workers.tsv";

/// The worker of games that were played by the program of the contest itself.
pub(crate) const LOCAL: &str = "(local)";

/// The workers of the games of a contest.
#[derive(Debug, Default)]
pub(crate) struct WorkerRecord {
    /// `None` without a journal, or if no game was played remotely.
    file: Option<Journal>,
    workers: HashMap<(String, String, u32), String>,
    quarantined: BTreeSet<String>,
}

impl WorkerRecord {
    /// Opens the record beside a journal. Creates it if `is_remote`.
    pub(crate) fn open(journal: &Path, is_remote: bool) -> Result<WorkerRecord, JournalError> {
        let path = journal.with_file_name(FILE);
        let mut record = WorkerRecord::default();
        if !is_remote && !path.exists() {
            return Ok(record);
        }
        let (file, lines) = Journal::open(&path)?;
        for line in lines {
            match line.split('\t').collect::<Vec<_>>()[..] {
                ["games", first, second, round, worker] => {
                    let round = round.parse().unwrap_or_default();
                    let key = (first.to_owned(), second.to_owned(), round);
                    record.workers.insert(key, worker.to_owned());
                }
                ["quarantined", worker] => {
                    record.quarantined.insert(worker.to_owned());
                }
                // Written by a later version.
                _ => {}
            }
        }
        record.file = Some(file);
        Ok(record)
    }

    /// Returns the quarantined workers.
    pub(crate) fn quarantined(&self) -> impl Iterator<Item = &str> {
        self.quarantined.iter().map(String::as_str)
    }

    /// Records the worker of a batch.
    pub(crate) fn add<P: Position>(
        &mut self,
        factories: &[PlayerFactory<P>],
        batch: RoundBatch,
        worker: &str,
    ) -> Result<(), FileError> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let (first, second) = (&factories[batch.first].name, &factories[batch.second].name);
        let round = batch.rounds.0;
        file.append(&[format!("games\t{first}\t{second}\t{round}\t{worker}")])?;
        self.workers.insert((first.clone(), second.clone(), round), worker.to_owned());
        Ok(())
    }

    /// Records that workers are quarantined, and writes it to the disk.
    pub(crate) fn quarantine(&mut self, workers: &[String]) -> Result<(), FileError> {
        self.quarantined.extend(workers.iter().cloned());
        let Some(file) = &mut self.file else { return Ok(()) };
        let lines: Vec<String> =
            workers.iter().map(|worker| format!("quarantined\t{worker}")).collect();
        file.append(&lines)?;
        file.sync()
    }

    /// Returns whether a quarantined worker played this batch.
    pub(crate) fn is_suspect<P: Position>(
        &self,
        factories: &[PlayerFactory<P>],
        batch: RoundBatch,
    ) -> bool {
        if self.quarantined.is_empty() {
            return false;
        }
        let name = |player: usize| factories[player].name.clone();
        let (first, second, round) = (name(batch.first), name(batch.second), batch.rounds.0);
        // The order of the players of a league can change.
        let keys = [(first.clone(), second.clone(), round), (second, first, round)];
        keys.iter()
            .filter_map(|key| self.workers.get(key))
            .any(|worker| self.quarantined.contains(worker))
    }
}
