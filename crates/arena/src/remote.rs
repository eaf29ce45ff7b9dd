//! Contests whose games are played by remote workers.
//!
//! The settings of a contest (players, openings, seed) are one small document, stored as a blob
//! under its checksum; the files it refers to are blobs as well. A job names rounds of pairs only.
//! The result of a job has the format of the journal. Its games are replayed on arrival, so the
//! journal does not depend on where a game was played.

mod job_handler;

pub use job_handler::GameJobHandler;

use crate::contest::{ContestConfig, Game, GameAndIsNew, RoundBatch};
use crate::journal_line::{FinishedGames, PlayerIndex};
use outflank_games::{Position, Side};
use outflank_players::registry::{RegisteredGame, run_model_path};
use outflank_players::{PlayerFactory, PlayerSpec};
use outflank_runs::files::{FileError, read};
use outflank_runs::{JobBatch, WorkQueue, WorkQueueError, run_in_order};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The job kind in messages.
const KIND: &str = "games";

/// Maximum size of a file that is sent, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// A published contest and the queue of workers that play it.
#[derive(Clone, Debug)]
pub struct RemoteWorkers {
    queue: Arc<dyn WorkQueue>,
    /// The checksum of the [`RemoteContest`] document.
    contest: String,
}

/// Everything that the games of a contest depend on.
#[derive(Debug, Serialize, Deserialize)]
struct RemoteContest {
    game: String,
    seed: u64,
    /// The probability of a forced random move, for all players.
    random: f64,
    /// The file of openings; `None` for the start position.
    openings: Option<RemoteFile>,
    /// The side to move in openings that do not state it.
    first: Option<String>,
    players: Vec<RemotePlayer>,
}

/// A player: its specification, its name in tables, and its files.
#[derive(Debug, Serialize, Deserialize)]
struct RemotePlayer {
    #[serde(rename = "text")]
    spec: String,
    name: String,
    files: Vec<RemoteFile>,
}

/// A reference to a file that is stored as a blob.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct RemoteFile {
    /// The path as the user wrote it.
    given: String,
    /// The last component of the path; the name of a player and the format of a file depend on it.
    name: String,
    /// For a run folder, the name of the model file in it.
    inner: Option<String>,
    sha256: String,
}

/// The payload of a job: rounds of pairs of one contest.
#[derive(Debug, Serialize, Deserialize)]
struct GameJob {
    /// The checksum of the [`RemoteContest`] document.
    #[serde(rename = "setting")]
    contest: String,
    /// First player, second player, first round, end of the rounds.
    #[serde(rename = "pieces")]
    batches: Vec<(usize, usize, u32, u32)>,
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
        "{0} is an external engine, which remote workers do not run. Leave out --on, or leave out this player."
    )]
    Engine(String),
    /// A path such as `..` has no file name.
    #[error("'{0}' has no file name to send. Give the folder's path with its name.")]
    Nameless(String),
}

/// The openings of a contest.
#[derive(Clone, Copy, Debug)]
pub struct OpeningSource<'a> {
    /// A file of openings; `None` for the start position.
    pub file: Option<&'a Path>,
    /// The side to move in openings that do not state it.
    pub first: Option<Side>,
}

/// Stores everything that remote workers need to play a contest. `players` are the specifications
/// of `factories`, in the same order.
pub fn publish<P: RegisteredGame>(
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
        first: openings.first.map(|side| side.to_string()),
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
    Ok(RemoteWorkers { queue: queue.clone(), contest: queue.put(&document)? })
}

/// Stores the model files of a player and of the players of its stages.
fn store_models<P: RegisteredGame>(
    queue: &Arc<dyn WorkQueue>,
    spec: &PlayerSpec,
    files: &mut Vec<RemoteFile>,
) -> Result<(), PublishError> {
    if spec.is_engine() {
        return Err(PublishError::Engine(spec.model.clone()));
    }
    let stored = files.iter().any(|file| file.given == spec.model);
    if P::embedded(&spec.model).is_none() && !stored {
        let path = Path::new(&spec.model);
        let inner = path.is_dir().then(|| run_model_path(path));
        files.push(store_file(queue, &spec.model, path, inner.as_deref())?);
    }
    spec.stage.as_ref().map_or(Ok(()), |stage| store_models::<P>(queue, &stage.with, files))
}

fn store_file(
    queue: &Arc<dyn WorkQueue>,
    given: &str,
    path: &Path,
    inner: Option<&Path>,
) -> Result<RemoteFile, PublishError> {
    let last = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = last(path).ok_or_else(|| PublishError::Nameless(given.to_owned()))?;
    let sha256 = queue.put(&read(inner.unwrap_or(path), MAX_FILE_BYTES)?)?;
    Ok(RemoteFile { given: given.to_owned(), name, inner: inner.and_then(last), sha256 })
}

/// Runs all unfinished batches on the workers and passes every batch to `accept` in order.
/// Returns whether all batches were accepted.
pub(crate) fn play<P: Position>(
    workers: &RemoteWorkers,
    factories: &[PlayerFactory<P>],
    config: &ContestConfig<P>,
    finished: &FinishedGames<P>,
    batches: &[RoundBatch],
    accept: &mut dyn FnMut(Vec<GameAndIsNew<P>>) -> bool,
) -> Result<bool, WorkQueueError> {
    let missing: Vec<usize> = (0..batches.len())
        .filter(|&number| batches[number].games().any(|key| !finished.contains_key(&key)))
        .collect();
    let requested = |range: Range<usize>| missing[range].iter().map(|&number| batches[number]);
    let encode = |range: Range<usize>| {
        let batches = requested(range).map(|b| (b.first, b.second, b.rounds.0, b.rounds.1));
        let job = GameJob { contest: workers.contest.clone(), batches: batches.collect() };
        serde_json::to_vec(&job).unwrap_or_default()
    };
    let index = PlayerIndex::new(factories);
    let decode = |range: Range<usize>, result: &[u8]| {
        let text = std::str::from_utf8(result).map_err(|_| "the result is not UTF-8".to_owned())?;
        let mut lines = text.lines();
        let games =
            requested(range).map(|batch| decode_batch(&index, config, batch, &mut lines)).collect();
        if lines.next().is_some() {
            return Err("the result has more games than the job".to_owned());
        }
        games
    };
    // Games of the journal are passed on unchanged and take precedence over the workers' results.
    let journaled = |batch: RoundBatch| {
        batch.games().map(|key @ (black, white, round)| {
            let played = finished.get(&key).cloned();
            played.map(|played| Game { black, white, round, played })
        })
    };
    let mut next = 0;
    let mut proceed = true;
    let batch = JobBatch { kind: KIND, run: &workers.contest, jobs: missing.len() };
    run_in_order(&*workers.queue, batch, &encode, decode, |number, played: Vec<Game<P>>| {
        while proceed && next < missing[number] {
            proceed =
                accept(journaled(batches[next]).flatten().map(|game| (game, false)).collect());
            next += 1;
        }
        if proceed {
            let games = journaled(batches[next]).zip(played);
            let merge = |(old, new): (Option<Game<P>>, Game<P>)| match old {
                Some(old) => (old, false),
                None => (new, true),
            };
            proceed = accept(games.map(merge).collect());
            next += 1;
        }
        proceed
    })?;
    // The finished batches after the last missing one are passed on only if that one has arrived.
    let all_arrived = missing.last().is_none_or(|&last| next > last);
    while proceed && all_arrived && next < batches.len() {
        proceed = accept(journaled(batches[next]).flatten().map(|game| (game, false)).collect());
        next += 1;
    }
    Ok(next == batches.len())
}

/// Decodes the games of one batch from the next lines.
fn decode_batch<'a, P: Position>(
    index: &PlayerIndex<'_>,
    config: &ContestConfig<P>,
    batch: RoundBatch,
    lines: &mut impl Iterator<Item = &'a str>,
) -> Result<Vec<Game<P>>, String> {
    batch
        .games()
        .map(|key| {
            let line = lines.next().ok_or("the result has fewer games than the job")?;
            let game = Game::from_line(line, index, config)?
                .ok_or("the result names players that are not in this contest")?;
            match game.key() == key {
                true => Ok(game),
                false => Err("the result has other games than the job".to_owned()),
            }
        })
        .collect()
}
