//! Contests whose games are played by remote workers.
//!
//! A JSON document describes the contest (players, openings, seed). The document and the files that
//! it refers to are stored as blobs under their checksums. A task is a list of jobs; a job is a
//! range of rounds of one pair of the contest. The result of a task is a list of games in the format
//! of the journal. The moves of every game are replayed to check that they are legal and lead to the
//! stated result.

mod file_cache;
mod job_handler;

pub use job_handler::GameJobHandler;

use self::file_cache::MAX_FILE_BYTES;
use crate::contest::{ContestConfig, ContestGame, GameKey, JobGame, RoundJob, play_games};
use crate::game::{EarlyEndReason, PlayedGame};
use crate::journal_line::{FinishedGames, PlayerIndex};
use crate::player_pool::PlayerPool;
use outflank_games::{Position, Side};
use outflank_players::registry::{RegisteredGame, run_model_path};
use outflank_players::{PlayerFactory, PlayerSpec};
use outflank_runs::files::{FileError, read};
use outflank_runs::{JobBatch, Verifier, WorkQueue, WorkQueueError, run_in_order};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The job kind in messages.
const KIND: &str = "games";

/// A published contest and the queue of workers that play it.
#[derive(Clone, Debug)]
pub struct RemoteWorkers {
    queue: Arc<dyn WorkQueue>,
    /// The checksum of the [`RemoteContest`] document.
    contest: String,
    /// Whether the games do not depend on the machine, so that they can be verified.
    is_deterministic: bool,
}

impl RemoteWorkers {
    /// Ignores the results of a worker that was quarantined before this run was resumed.
    pub(crate) fn quarantine(&self, worker: &str) {
        self.queue.quarantine(worker, "it returned wrong results to this run before");
    }
}

/// The games of a contest that need not be played.
pub(crate) struct KnownGames<P: Position> {
    /// Games of the journal.
    pub(crate) finished: FinishedGames<P>,
    /// Valid games that were cut from the journal together with wrong games before them; they are
    /// appended again in order.
    pub(crate) to_rewrite: FinishedGames<P>,
}

impl<P: Position> KnownGames<P> {
    /// Returns a game; it is new if it must be appended to the journal.
    fn get(&self, key: GameKey) -> Option<JobGame<P>> {
        let job_game = |played: &PlayedGame<P>, is_new| {
            let (black, white, round) = key;
            JobGame { game: ContestGame { black, white, round, played: played.clone() }, is_new }
        };
        let finished = self.finished.get(&key).map(|played| job_game(played, false));
        finished.or_else(|| self.to_rewrite.get(&key).map(|played| job_game(played, true)))
    }
}

/// Receives a job, its games, and the name of the worker if one played games of the job now.
/// Returns whether to continue.
type AcceptJobFn<'a, P> = dyn FnMut(RoundJob, Vec<JobGame<P>>, Option<&str>) -> bool + 'a;

/// The outcome of [`play_remotely`].
pub(crate) struct RemoteOutcome {
    /// Whether all jobs were accepted.
    pub(crate) all_accepted: bool,
    /// Workers that returned wrong games.
    pub(crate) quarantined: Vec<String>,
}

/// Everything that the games of a contest depend on.
#[derive(Debug, Serialize, Deserialize)]
struct RemoteContest {
    game: String,
    seed: u64,
    /// The probability of a random move on each turn, for all players.
    random: f64,
    /// The file of openings; `None` for the start position.
    openings: Option<RemoteFile>,
    /// The side to move in openings that do not state it.
    #[serde(rename = "first")]
    first_side: Option<String>,
    players: Vec<RemotePlayer>,
}

/// A player of a contest.
#[derive(Debug, Serialize, Deserialize)]
struct RemotePlayer {
    /// The player specification as the user wrote it.
    spec: String,
    /// The name in tables and journals.
    name: String,
    /// The model files that the specification refers to.
    files: Vec<RemoteFile>,
}

/// A reference to a file that is stored as a blob.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct RemoteFile {
    /// The path in the player specification or the option, as the user wrote it.
    given_path: String,
    /// The last component of the path; the name of a player and the format of a file depend on it.
    name: String,
    /// If the path is a run folder, the name of the model file in it.
    model_file_name: Option<String>,
    sha256: String,
    /// The size of the file; workers fetch no more than that.
    bytes: u64,
}

/// The payload of a task: jobs of one contest.
#[derive(Debug, Serialize, Deserialize)]
struct GameTask {
    /// The checksum of the [`RemoteContest`] document.
    contest: String,
    /// For each job: the two players, the first round, and the round after the last.
    #[serde(rename = "batches")]
    jobs: Vec<(usize, usize, u32, u32)>,
}

/// An error that prevents a contest from being played remotely.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The queue cannot be reached or is full.
    #[error(transparent)]
    Queue(#[from] WorkQueueError),
    /// A model or the openings cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The text is not a valid player specification.
    #[error(transparent)]
    PlayerSpec(#[from] outflank_players::spec::PlayerSpecError),
    /// The player is an external engine.
    #[error(
        "{0} is an external engine, which remote workers do not run. Leave out --on, or leave out \
         this player."
    )]
    Engine(String),
    /// A path such as `..` has no last component.
    #[error("'{0}' does not end with the name of a file or folder. Give a path that does.")]
    NoFileName(String),
}

/// The source of the openings of a contest.
#[derive(Clone, Copy, Debug)]
pub struct OpeningSource<'a> {
    /// A file of openings; `None` for the start position.
    pub file: Option<&'a Path>,
    /// The side to move in openings that do not state it.
    pub first_side: Option<Side>,
}

/// Stores everything that remote workers need to play a contest. `players` are the specifications
/// of `factories`, in the same order.
pub fn publish_contest<P: RegisteredGame>(
    queue: &Arc<dyn WorkQueue>,
    players: &[String],
    factories: &[PlayerFactory<P>],
    random: f64,
    openings: OpeningSource<'_>,
    seed: u64,
) -> Result<RemoteWorkers, PublishError> {
    let mut contest = RemoteContest {
        game: P::GAME.name().to_owned(),
        seed,
        random,
        openings: None,
        first_side: openings.first_side.map(|side| side.to_string()),
        players: Vec::with_capacity(players.len()),
    };
    if let Some(path) = openings.file {
        contest.openings = Some(store_file(queue, &path.display().to_string(), path, None)?);
    }
    for (text, factory) in players.iter().zip(factories) {
        let mut files = Vec::new();
        store_models::<P>(queue, &text.parse()?, &mut files)?;
        contest.players.push(RemotePlayer {
            spec: text.clone(),
            name: factory.name.clone(),
            files,
        });
    }
    let document =
        serde_json::to_vec(&contest).map_err(|error| WorkQueueError(error.to_string()))?;
    let is_deterministic =
        players.iter().all(|text| text.parse().is_ok_and(|spec| has_no_time_limit(&spec)));
    Ok(RemoteWorkers { queue: queue.clone(), contest: queue.put(&document)?, is_deterministic })
}

/// Returns whether no search of a player is limited by time.
fn has_no_time_limit(spec: &PlayerSpec) -> bool {
    let other = spec.ply_switch.as_ref().map(|switch| &switch.player);
    spec.seconds.is_none() && other.is_none_or(|other| has_no_time_limit(other))
}

/// Stores the model files of a player, and of the players that it switches to.
fn store_models<P: RegisteredGame>(
    queue: &Arc<dyn WorkQueue>,
    spec: &PlayerSpec,
    files: &mut Vec<RemoteFile>,
) -> Result<(), PublishError> {
    if spec.is_engine() {
        return Err(PublishError::Engine(spec.model.clone()));
    }
    let stored = files.iter().any(|file| file.given_path == spec.model);
    if P::embedded(&spec.model).is_none() && !stored {
        let path = Path::new(&spec.model);
        let model_path = path.is_dir().then(|| run_model_path(path));
        files.push(store_file(queue, &spec.model, path, model_path.as_deref())?);
    }
    let other = spec.ply_switch.as_ref().map(|switch| &switch.player);
    other.map_or(Ok(()), |other| store_models::<P>(queue, other, files))
}

/// Stores a file, or the model file of a run folder, and returns the reference to it.
fn store_file(
    queue: &Arc<dyn WorkQueue>,
    given_path: &str,
    path: &Path,
    model_path: Option<&Path>,
) -> Result<RemoteFile, PublishError> {
    let last = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = last(path).ok_or_else(|| PublishError::NoFileName(given_path.to_owned()))?;
    let content = read(model_path.unwrap_or(path), MAX_FILE_BYTES)?;
    let (sha256, bytes) = (queue.put(&content)?, content.len() as u64);
    Ok(RemoteFile {
        given_path: given_path.to_owned(),
        name,
        model_file_name: model_path.and_then(last),
        sha256,
        bytes,
    })
}

/// Runs all unfinished jobs on the workers and passes every job to `accept` in order, with the
/// name of its worker. A random sample of the workers' games is played again here.
pub(crate) fn play_remotely<P: Position>(
    workers: &RemoteWorkers,
    factories: &[PlayerFactory<P>],
    config: &ContestConfig<P>,
    known: &KnownGames<P>,
    jobs: &[RoundJob],
    accept: &mut AcceptJobFn<'_, P>,
) -> Result<RemoteOutcome, WorkQueueError> {
    let missing: Vec<usize> = (0..jobs.len())
        .filter(|&number| jobs[number].games().any(|key| known.get(key).is_none()))
        .collect();
    let unfinished = |range: Range<usize>| missing[range].iter().map(|&number| jobs[number]);
    let encode = |range: Range<usize>| {
        let jobs = unfinished(range).map(|job| {
            let ((a, b), (from, to)) = (job.pair, job.rounds);
            (a, b, from, to)
        });
        let task = GameTask { contest: workers.contest.clone(), jobs: jobs.collect() };
        serde_json::to_vec(&task).unwrap_or_default()
    };
    let index = PlayerIndex::new(factories);
    let decode = |range: Range<usize>, result: &[u8]| {
        let text = std::str::from_utf8(result).map_err(|_| "the result is not UTF-8".to_owned())?;
        if text.chars().any(|c| c.is_control() && !matches!(c, '\t' | '\n')) {
            return Err("the result has control characters".to_owned());
        }
        let mut lines = text.lines();
        let games = unfinished(range).map(|job| decode_job(&index, config, job, &mut lines));
        let games = games.collect::<Result<Vec<_>, String>>()?;
        match lines.next() {
            Some(_) => Err("the result has more games than the task".to_owned()),
            None => Ok(games),
        }
    };
    let check = |number: usize, games: &Vec<ContestGame<P>>, units: &[usize]| {
        let games: Vec<&ContestGame<P>> = units.iter().map(|&unit| &games[unit]).collect();
        verify_games(factories, config, jobs[missing[number]], &games)
    };
    let unit_count =
        |games: &Vec<ContestGame<P>>| if workers.is_deterministic { games.len() } else { 0 };
    let mut next = 0;
    let mut proceed = true;
    let batch = JobBatch { kind: KIND, run: &workers.contest, jobs: missing.len() };
    let verifier = Verifier { unit_count: &unit_count, check: &check, check_first: true };
    let known_games = |job: RoundJob| job.games().map(|key| known.get(key));
    let pass_on = |number: usize, played: Vec<ContestGame<P>>, worker: &str| {
        while proceed && next < missing[number] {
            let job = jobs[next];
            proceed = accept(job, known_games(job).flatten().collect(), None);
            next += 1;
        }
        if proceed {
            // Known games take precedence over those of the worker.
            let job = jobs[next];
            let games = known_games(job).zip(played);
            let games = games.map(|(known, game)| known.unwrap_or(JobGame { game, is_new: true }));
            proceed = accept(job, games.collect(), Some(worker));
            next += 1;
        }
        proceed
    };
    let quarantined = run_in_order(&*workers.queue, batch, &encode, decode, verifier, pass_on)?;
    // The known jobs after the last missing one are passed on only if that one has arrived.
    let all_arrived = missing.last().is_none_or(|&last| next > last);
    while proceed && all_arrived && quarantined.is_empty() && next < jobs.len() {
        proceed = accept(jobs[next], known_games(jobs[next]).flatten().collect(), None);
        next += 1;
    }
    Ok(RemoteOutcome { all_accepted: next == jobs.len(), quarantined })
}

/// Plays games again and compares them with those of a worker.
fn verify_games<P: Position>(
    factories: &[PlayerFactory<P>],
    config: &ContestConfig<P>,
    job: RoundJob,
    games: &[&ContestGame<P>],
) -> Result<(), String> {
    let mut pool = PlayerPool::new(factories);
    for games in games.chunks(job.lockstep.max(1)) {
        let keys: Vec<GameKey> = games.iter().map(|game| game.key()).collect();
        let mut replayed: FinishedGames<P> =
            play_games(&mut pool, factories, config, &keys).into_iter().collect();
        for game in games {
            let Some(played) = replayed.remove(&game.key()) else { continue };
            let loser = |played: &PlayedGame<P>| played.early_end.as_ref().map(|end| end.loser);
            let is_equal = played.line == game.played.line
                && played.random == game.played.random
                && played.result == game.played.result
                && loser(&played) == loser(&game.played);
            if !is_equal {
                return Err(format!(
                    "its game of {} (black) and {} (white) in round {} has the result {}, the same \
                     game here has {}",
                    factories[game.black].name,
                    factories[game.white].name,
                    game.round + 1,
                    describe_end(&game.played),
                    describe_end(&played)
                ));
            }
        }
    }
    Ok(())
}

/// Describes the result and the last moves of a game.
fn describe_end<P: Position>(played: &PlayedGame<P>) -> String {
    let moves = played.line.moves();
    let last: Vec<String> =
        moves.iter().skip(moves.len().saturating_sub(4)).map(ToString::to_string).collect();
    let manner = match played.early_end.as_ref().map(|end| &end.reason) {
        Some(EarlyEndReason::Resigned) => " by resignation",
        Some(EarlyEndReason::Failed(_)) => " by forfeit",
        None => "",
    };
    format!("{}{manner} after {} moves, ending with {}", played.result, moves.len(), last.join(" "))
}

/// Decodes the games of one job from the next lines.
fn decode_job<'a, P: Position>(
    index: &PlayerIndex<'_>,
    config: &ContestConfig<P>,
    job: RoundJob,
    lines: &mut impl Iterator<Item = &'a str>,
) -> Result<Vec<ContestGame<P>>, String> {
    job.games()
        .map(|key| {
            let line = lines.next().ok_or("the result has fewer games than the task")?;
            let game = ContestGame::from_line(line, index, config)?
                .ok_or("the result names players that are not in this contest")?;
            match game.key() == key {
                true => Ok(game),
                false => Err("the result has other games than the task".to_owned()),
            }
        })
        .collect()
}
