//! The worker side: plays the games of a job and returns them as journal lines.

use super::{GameJob, KIND, MAX_FILE_BYTES, RemoteContest, RemoteFile};
use crate::contest::{ContestConfig, RoundBatch, play_batch};
use crate::journal_line::FinishedGames;
use crate::player_pool::PlayerPool;
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::{Game, Line, Side};
use outflank_players::registry::{self, RegisteredGame};
use outflank_players::{PlayerFactory, PlayerSpec};
use outflank_records::read_openings;
use outflank_runs::files::{checksum, create_folder, read, write};
use outflank_runs::{BlobStore, JobHandler};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Number of contests in the cache; players with large models take much memory.
const CACHED_CONTESTS: usize = 4;

/// Maximum number of rounds in one batch.
const MAX_ROUNDS: u32 = 1 << 16;

/// Plays games of published contests.
pub struct GameJobHandler {
    /// The folder of received files, each in a subfolder named by its checksum.
    folder: PathBuf,
    /// The last contests by checksum, the most recent at the end.
    contests: Mutex<Vec<(String, Arc<AnyContest>)>>,
}

/// The players and settings of one contest.
struct LoadedContest<P: RegisteredGame> {
    factories: Vec<PlayerFactory<P>>,
    config: ContestConfig<P>,
}

enum AnyContest {
    Othello(LoadedContest<Othello>),
    Checkers(LoadedContest<Checkers>),
}

impl GameJobHandler {
    /// Creates a handler that stores received files in `folder`.
    #[must_use]
    pub fn new(folder: &Path) -> GameJobHandler {
        GameJobHandler { folder: folder.to_owned(), contests: Mutex::new(Vec::new()) }
    }

    /// Returns the contest with this checksum, from the cache or from the blob store.
    ///
    /// The lock is not held while files are fetched, so several threads may load the same contest
    /// the first time.
    fn contest(&self, sha256: &str, blobs: &dyn BlobStore) -> Result<Arc<AnyContest>, String> {
        let lock = || self.contests.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, contest)) = lock().iter().find(|(key, _)| key == sha256) {
            return Ok(contest.clone());
        }
        let document = blobs.get(sha256).map_err(|error| error.to_string())?;
        let remote: RemoteContest = serde_json::from_slice(&document)
            .map_err(|error| format!("invalid contest document {sha256}: {error}"))?;
        let contest = Arc::new(match remote.game.parse()? {
            Game::Othello => AnyContest::Othello(self.load(&remote, blobs)?),
            Game::Checkers => AnyContest::Checkers(self.load(&remote, blobs)?),
        });
        let mut contests = lock();
        if contests.len() >= CACHED_CONTESTS {
            contests.remove(0);
        }
        contests.push((sha256.to_owned(), contest.clone()));
        Ok(contest)
    }

    fn load<P: RegisteredGame>(
        &self,
        remote: &RemoteContest,
        blobs: &dyn BlobStore,
    ) -> Result<LoadedContest<P>, String> {
        let mut specs = Vec::with_capacity(remote.players.len());
        for player in &remote.players {
            let mut spec: PlayerSpec = player.spec.parse().map_err(|error| format!("{error}"))?;
            self.use_local_files::<P>(&mut spec, &player.files, blobs)?;
            specs.push(spec);
        }
        let factories = registry::factories_from_specs::<P>(&specs, remote.random)
            .map_err(|error| error.to_string())?;
        for (factory, player) in factories.iter().zip(&remote.players) {
            // RNG streams are seeded by player names, so another name would be another game.
            if factory.name != player.name {
                return Err(format!(
                    "player '{}' is named '{}' on this worker; use the same version of outflank on all machines",
                    player.name, factory.name
                ));
            }
        }
        let openings = match &remote.openings {
            None => vec![Line::default()],
            Some(file) => {
                let path = self.local_file(file, blobs)?;
                let first = remote.first.as_deref().map(parse_side).transpose()?;
                read_openings::<P>(&path, first).map_err(|error| error.to_string())?
            }
        };
        let config =
            ContestConfig { openings, rounds: 1, seed: remote.seed, threads: 1, remote: None };
        Ok(LoadedContest { factories, config })
    }

    /// Replaces the model paths of a player and of its stages by paths of local copies.
    ///
    /// A model must be embedded or sent, so that a job can neither open other files nor start a
    /// process.
    fn use_local_files<P: RegisteredGame>(
        &self,
        spec: &mut PlayerSpec,
        files: &[RemoteFile],
        blobs: &dyn BlobStore,
    ) -> Result<(), String> {
        if spec.is_engine() {
            return Err(format!("{} is an external engine, which workers do not run", spec.model));
        }
        if P::embedded(&spec.model).is_none() {
            let file = files
                .iter()
                .find(|file| file.given == spec.model)
                .ok_or_else(|| format!("the model {} was not sent", spec.model))?;
            spec.model = self.local_file(file, blobs)?.display().to_string();
        }
        match &mut spec.stage {
            Some(stage) => self.use_local_files::<P>(&mut stage.with, files, blobs),
            None => Ok(()),
        }
    }

    /// Returns the path of the local copy of a file; for a model in a run folder, of the folder.
    fn local_file(&self, file: &RemoteFile, blobs: &dyn BlobStore) -> Result<PathBuf, String> {
        let is_plain = |name: &str| {
            let mut parts = Path::new(name).components();
            matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
        };
        let names = [Some(&file.name), file.inner.as_ref(), Some(&file.sha256)];
        if let Some(invalid) = names.into_iter().flatten().find(|name| !is_plain(name)) {
            return Err(format!("invalid file name '{invalid}'"));
        }
        let given = self.folder.join(&file.sha256).join(&file.name);
        let path = file.inner.as_ref().map_or_else(|| given.clone(), |inner| given.join(inner));
        // A local copy from an earlier job is reused if its checksum matches.
        if !read(&path, MAX_FILE_BYTES).is_ok_and(|bytes| checksum(&bytes) == file.sha256) {
            let bytes = blobs.get(&file.sha256).map_err(|error| error.to_string())?;
            path.parent().map_or(Ok(()), create_folder).map_err(|error| error.to_string())?;
            write(&path, &bytes).map_err(|error| error.to_string())?;
        }
        Ok(given)
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

    fn handle(&self, job: &[u8], blobs: &dyn BlobStore) -> Result<Vec<u8>, String> {
        let job: GameJob =
            serde_json::from_slice(job).map_err(|error| format!("invalid job: {error}"))?;
        match &*self.contest(&job.contest, blobs)? {
            AnyContest::Othello(contest) => contest.play(&job.batches),
            AnyContest::Checkers(contest) => contest.play(&job.batches),
        }
    }
}

impl<P: RegisteredGame> LoadedContest<P> {
    /// Plays batches and returns their games as lines.
    fn play(&self, batches: &[(usize, usize, u32, u32)]) -> Result<Vec<u8>, String> {
        let LoadedContest { factories, config } = self;
        let mut pool = PlayerPool::new(factories);
        let finished = FinishedGames::new();
        let mut lines = String::new();
        for &(first, second, from, to) in batches {
            if first.max(second) >= factories.len() || to.saturating_sub(from) > MAX_ROUNDS {
                return Err("invalid job: player or number of rounds out of range".to_owned());
            }
            let lockstep = factories[first].concurrent_games(&factories[second]);
            let batch = RoundBatch { first, second, rounds: (from, to), lockstep };
            for (game, _) in play_batch(&mut pool, factories, config, &finished, batch) {
                lines.push_str(&game.to_line(factories, config));
                lines.push('\n');
            }
        }
        Ok(lines.into_bytes())
    }
}
