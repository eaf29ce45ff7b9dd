//! Records which worker played each job of games, in a file next to the journal.
//!
//! The journal itself is the same for local and remote games. With this file a run finds all games
//! of a worker that returned wrong results, even if the run was resumed since. A line is either
//! `games FIRST SECOND ROUND WORKER` (tab-separated: the job of two players that starts with this
//! round) or `quarantined WORKER`; later lines replace earlier ones.

use crate::contest::RoundJob;
use outflank_games::Position;
use outflank_players::PlayerFactory;
use outflank_runs::files::FileError;
use outflank_runs::{Journal, JournalError};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// The name of the file.
const FILE: &str = "game-workers.tsv";

/// The worker name of games that were played by local threads.
pub(crate) const LOCAL: &str = "(local)";

/// The worker that played each job of a contest, and the quarantined workers.
#[derive(Debug, Default)]
pub(crate) struct JobWorkers {
    /// `None` without a journal, or if no game was played remotely.
    file: Option<Journal>,
    /// The workers by the names of the two players and the first round of the job.
    workers: HashMap<(String, String, u32), String>,
    quarantined: BTreeSet<String>,
}

impl JobWorkers {
    /// Opens the file next to a journal. Creates it if `is_remote`.
    pub(crate) fn open(journal: &Path, is_remote: bool) -> Result<JobWorkers, JournalError> {
        let path = journal.with_file_name(FILE);
        let mut job_workers = JobWorkers::default();
        if !is_remote && !path.exists() {
            return Ok(job_workers);
        }
        let (file, lines) = Journal::open(&path)?;
        for line in lines {
            match line.split('\t').collect::<Vec<_>>()[..] {
                ["games", first, second, round, worker] => {
                    let round = round.parse().unwrap_or_default();
                    let key = (first.to_owned(), second.to_owned(), round);
                    job_workers.workers.insert(key, worker.to_owned());
                }
                ["quarantined", worker] => {
                    job_workers.quarantined.insert(worker.to_owned());
                }
                // Written by a later version.
                _ => {}
            }
        }
        job_workers.file = Some(file);
        Ok(job_workers)
    }

    /// Returns the quarantined workers.
    pub(crate) fn quarantined(&self) -> impl Iterator<Item = &str> {
        self.quarantined.iter().map(String::as_str)
    }

    /// Records the worker of a job.
    pub(crate) fn add<P: Position>(
        &mut self,
        factories: &[PlayerFactory<P>],
        job: RoundJob,
        worker: &str,
    ) -> Result<(), FileError> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let (a, b) = job.pair;
        let (first, second) = (&factories[a].name, &factories[b].name);
        let round = job.rounds.0;
        file.append(&[format!("games\t{first}\t{second}\t{round}\t{worker}")])?;
        self.workers.insert((first.clone(), second.clone(), round), worker.to_owned());
        Ok(())
    }

    /// Quarantines workers and syncs the file.
    pub(crate) fn quarantine(&mut self, workers: &[String]) -> Result<(), FileError> {
        self.quarantined.extend(workers.iter().cloned());
        let Some(file) = &mut self.file else { return Ok(()) };
        let lines: Vec<String> =
            workers.iter().map(|worker| format!("quarantined\t{worker}")).collect();
        file.append(&lines)?;
        file.sync()
    }

    /// Returns whether a quarantined worker played this job.
    pub(crate) fn was_played_by_quarantined<P: Position>(
        &self,
        factories: &[PlayerFactory<P>],
        job: RoundJob,
    ) -> bool {
        if self.quarantined.is_empty() {
            return false;
        }
        let name = |player: usize| factories[player].name.clone();
        let (first, second, round) = (name(job.pair.0), name(job.pair.1), job.rounds.0);
        // The order of the players of a league can change.
        let keys = [(first.clone(), second.clone(), round), (second, first, round)];
        keys.iter()
            .filter_map(|key| self.workers.get(key))
            .any(|worker| self.quarantined.contains(worker))
    }
}
