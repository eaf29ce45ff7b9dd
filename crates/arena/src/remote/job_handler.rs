//! The worker's side: plays the games of a task and returns them as journal lines.

use super::file_cache::FileCache;
use super::{GameTask, KIND, RemoteContest, RemoteFile};
use crate::contest::{ContestConfig, RoundJob, play_job};
use crate::journal_line::FinishedGames;
use crate::player_pool::PlayerPool;
use outflank_games::{Game, Line, Side, with_game};
use outflank_players::registry::{self, RegisteredGame};
use outflank_players::{PlayerFactory, PlayerSpec};
use outflank_records::read_openings;
use outflank_runs::{BlobStore, JobHandler};
use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of contests that are kept in memory; large models take much memory.
const CACHED_CONTESTS: usize = 4;

/// Upper limit for the rounds of a job; a task with more is rejected.
const MAX_ROUNDS: u32 = 1 << 16;

/// Upper limit for the jobs of a task; a task with more is rejected.
const MAX_JOBS: usize = 1000;

/// Maximum size of a contest document, in bytes.
const MAX_DOCUMENT_BYTES: u64 = 1 << 22;

/// Plays games of published contests.
pub struct GameJobHandler {
    cache: FileCache,
    /// The last contests, the most recent at the end.
    contests: Mutex<Vec<CachedContest>>,
    /// Held while a contest is loaded, so that the threads of a worker load it once.
    loading: Mutex<()>,
}

/// A contest in memory.
struct CachedContest {
    /// The checksum of its document.
    sha256: String,
    contest: Arc<dyn AnyContest>,
    /// The checksums of its files.
    files: Vec<String>,
}

/// The players and settings of one contest.
struct LoadedContest<P: RegisteredGame> {
    factories: Vec<PlayerFactory<P>>,
    config: ContestConfig<P>,
}

/// A contest of any game.
trait AnyContest: Send + Sync {
    /// Plays jobs and returns their games, one per line.
    fn play(&self, jobs: &[(usize, usize, u32, u32)]) -> Result<Vec<u8>, String>;
}

impl GameJobHandler {
    /// Creates a handler that stores received files in `folder`, of at most `max_bytes` in total.
    #[must_use]
    pub fn new(folder: &Path, max_bytes: u64) -> GameJobHandler {
        GameJobHandler {
            cache: FileCache::new(folder, max_bytes),
            contests: Mutex::default(),
            loading: Mutex::default(),
        }
    }

    /// Returns the contest with this checksum, from the cache or from the blob store.
    fn contest(&self, sha256: &str, blobs: &dyn BlobStore) -> Result<Arc<dyn AnyContest>, String> {
        let lock = || self.contests.lock().unwrap_or_else(PoisonError::into_inner);
        let cached = || {
            let contests = lock();
            let found = contests.iter().find(|cached| cached.sha256 == sha256);
            found.map(|cached| cached.contest.clone())
        };
        if let Some(contest) = cached() {
            return Ok(contest);
        }
        let _loading = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(contest) = cached() {
            return Ok(contest);
        }
        let document = blobs.get(sha256, MAX_DOCUMENT_BYTES).map_err(|error| error.to_string())?;
        let remote: RemoteContest = serde_json::from_slice(&document)
            .map_err(|error| format!("invalid contest document {sha256}: {error}"))?;
        let files = || remote.openings.iter().chain(remote.players.iter().flat_map(|p| &p.files));
        self.cache.check(files())?;
        let mut added = Vec::new();
        let game: Game = remote.game.parse()?;
        let loaded = with_game!(game, P => {
            let loaded = self.load::<P>(&remote, blobs, &mut added);
            loaded.map(|contest| Arc::new(contest) as Arc<dyn AnyContest>)
        });
        // Removes the new files if one is not a valid model or openings file.
        let contest = loaded.inspect_err(|_| self.cache.remove(&added))?;
        let mut contests = lock();
        if contests.len() >= CACHED_CONTESTS {
            contests.remove(0);
        }
        contests.push(CachedContest {
            sha256: sha256.to_owned(),
            contest: contest.clone(),
            files: files().map(|file| file.sha256.clone()).collect(),
        });
        let needed: HashSet<String> =
            contests.iter().flat_map(|cached| cached.files.iter().cloned()).collect();
        self.cache.evict(&needed);
        Ok(contest)
    }

    /// Fetches the files of a contest and creates its players and openings.
    fn load<P: RegisteredGame>(
        &self,
        remote: &RemoteContest,
        blobs: &dyn BlobStore,
        added: &mut Vec<String>,
    ) -> Result<LoadedContest<P>, String> {
        let mut specs = Vec::with_capacity(remote.players.len());
        for player in &remote.players {
            let mut spec: PlayerSpec = player.spec.parse().map_err(|error| format!("{error}"))?;
            self.use_local_files::<P>(&mut spec, &player.files, blobs, added)?;
            specs.push(spec);
        }
        let factories = registry::factories_from_specs::<P>(&specs, remote.random)
            .map_err(|error| error.to_string())?;
        for (factory, player) in factories.iter().zip(&remote.players) {
            // RNG streams are seeded by player names, so another name would be another game.
            if factory.name != player.name {
                return Err(format!(
                    "player '{}' is named '{}' on this worker; use the same version of outflank \
                     on all machines",
                    player.name, factory.name
                ));
            }
        }
        let openings = match &remote.openings {
            None => vec![Line::default()],
            Some(file) => {
                let path = self.cache.path(file, blobs, added)?;
                let first_side = remote.first_side.as_deref().map(parse_side).transpose()?;
                read_openings::<P>(&path, first_side).map_err(|error| error.to_string())?
            }
        };
        let config =
            ContestConfig { openings, rounds: 1, seed: remote.seed, threads: 1, remote: None };
        Ok(LoadedContest { factories, config })
    }

    /// Replaces the model paths of a player, and of the players that it switches to, by paths of
    /// local copies.
    ///
    /// A model must be embedded or sent, so that a task can neither open other files nor start a
    /// process.
    fn use_local_files<P: RegisteredGame>(
        &self,
        spec: &mut PlayerSpec,
        files: &[RemoteFile],
        blobs: &dyn BlobStore,
        added: &mut Vec<String>,
    ) -> Result<(), String> {
        if spec.is_engine() {
            return Err(format!("{} is an external engine, which workers do not run", spec.model));
        }
        if P::embedded(&spec.model).is_none() {
            let file = files
                .iter()
                .find(|file| file.given_path == spec.model)
                .ok_or_else(|| format!("the model {} was not sent", spec.model))?;
            spec.model = self.cache.path(file, blobs, added)?.display().to_string();
        }
        match &mut spec.ply_switch {
            Some(switch) => self.use_local_files::<P>(&mut switch.player, files, blobs, added),
            None => Ok(()),
        }
    }
}

fn parse_side(text: &str) -> Result<Side, String> {
    match text {
        "black" => Ok(Side::Black),
        "white" => Ok(Side::White),
        _ => Err(format!("invalid side '{text}'")),
    }
}

impl JobHandler for GameJobHandler {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn execute(&self, task: &[u8], blobs: &dyn BlobStore) -> Result<Vec<u8>, String> {
        let task: GameTask =
            serde_json::from_slice(task).map_err(|error| format!("invalid task: {error}"))?;
        self.contest(&task.contest, blobs)?.play(&task.jobs)
    }
}

impl<P: RegisteredGame> AnyContest for LoadedContest<P> {
    fn play(&self, jobs: &[(usize, usize, u32, u32)]) -> Result<Vec<u8>, String> {
        let LoadedContest { factories, config } = self;
        let mut pool = PlayerPool::new(factories);
        let finished = FinishedGames::new();
        let mut lines = String::new();
        if jobs.len() > MAX_JOBS {
            return Err("invalid task: too many jobs".to_owned());
        }
        for &(a, b, from, to) in jobs {
            if a.max(b) >= factories.len() || to.saturating_sub(from) > MAX_ROUNDS {
                return Err("invalid task: player or number of rounds out of range".to_owned());
            }
            let lockstep = factories[a].concurrent_games(&factories[b]);
            let job = RoundJob { pair: (a, b), rounds: (from, to), lockstep };
            for job_game in play_job(&mut pool, factories, config, &finished, job) {
                lines.push_str(&job_game.game.to_line(factories, config));
                lines.push('\n');
            }
        }
        Ok(lines.into_bytes())
    }
}
