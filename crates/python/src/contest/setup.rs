//! Players, openings, journal and workers of a contest.

use crate::errors::{OrRaise, error};
use crate::executor::ExecutorQueue;
use crate::game::Game as PyGame;
use crate::player::{Player, factories};
use crate::position::Position;
use crate::python_policy::Failure;
use crate::records::Games;
use crate::work::{self, Task, thread_count};
use outflank_arena::remote::{OpeningSource, publish_contest};
use outflank_arena::{ContestConfig, ContestError, ContestGame};
use outflank_cluster::{ClusterOptions, NatsQueue};
use outflank_games::othello::Othello;
use outflank_games::{Line, Position as GamePosition, Side};
use outflank_players::PlayerFactory;
use outflank_players::registry::RegisteredGame;
use outflank_records::{GameInfo, Ply, Record, read_openings, write_pgn};
use outflank_runs::{Journal, WorkQueue};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde::Serialize;
use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Default games per pair from the starting position.
const GAMES_FROM_START: u64 = 1000;

/// Upper limit for games per pair, to catch typos.
const MAX_GAMES: u64 = 100_000_000;

/// The keyword arguments of matches and leagues.
pub(crate) struct ContestOptions<'py> {
    pub(crate) games: Option<u64>,
    pub(crate) openings: Option<Bound<'py, PyAny>>,
    pub(crate) first: Option<Side>,
    pub(crate) random: f64,
    pub(crate) seed: u64,
    pub(crate) threads: Option<usize>,
    pub(crate) journal: Option<PathBuf>,
    pub(crate) executor: Option<Bound<'py, PyAny>>,
    pub(crate) on: Option<String>,
    pub(crate) queue: Option<String>,
}

/// A contest that is ready to be played.
pub(crate) struct Session<P: RegisteredGame> {
    pub(crate) factories: Vec<PlayerFactory<P>>,
    config: ContestConfig<P>,
    journal: Option<(Journal, Vec<String>)>,
    /// The exception of a Python function that plays.
    pub(crate) failure: Failure,
    /// Set when the workers must stop.
    stop: Arc<AtomicBool>,
}

/// The openings, and the file that holds them.
struct Openings<P: GamePosition> {
    lines: Vec<Line<P>>,
    file: Option<PathBuf>,
    /// Deletes the file of openings that were given as a list.
    _folder: Option<tempfile::TempDir>,
}

impl<P: RegisteredGame> Session<P> {
    pub(crate) fn new(
        py: Python<'_>,
        players: &[Player],
        options: ContestOptions<'_>,
    ) -> PyResult<Session<P>> {
        let failure = Failure::default();
        let factories = py.detach(|| factories::<P>(players, options.random, &failure))?;
        let is_remote = options.executor.is_some() || options.on.is_some();
        let openings = openings::<P>(&options, is_remote)?;
        let games = match options.games {
            Some(games) => games,
            None if options.openings.is_none() => GAMES_FROM_START,
            None => 2 * openings.lines.len() as u64,
        };
        if games < 2 || games % 2 != 0 {
            return Err(error(format!(
                "games must be an even number, at least 2, not {games}; every opening is played \
                 twice, with colors swapped"
            )));
        }
        if games > MAX_GAMES {
            return Err(error(format!("games is at most {MAX_GAMES} per pair, not {games}")));
        }
        let stop = Arc::new(AtomicBool::new(false));
        let (on, queue) = (options.on.as_deref(), options.queue.as_deref());
        let remote = match work_queue(py, options.executor.as_ref(), on, queue, &stop)? {
            None => None,
            Some(queue) => {
                // Models in memory are saved for the workers.
                let folder = tempfile::tempdir().or_raise()?;
                let text = |(number, player): (usize, &Player)| {
                    player.spec_text(&folder.path().join(format!("{number}.safetensors")))
                };
                let texts =
                    players.iter().enumerate().map(text).collect::<PyResult<Vec<String>>>()?;
                let source =
                    OpeningSource { file: openings.file.as_deref(), first_side: options.first };
                let (random, seed) = (options.random, options.seed);
                let published = py.detach(|| {
                    publish_contest::<P>(&queue, &texts, &factories, random, source, seed)
                });
                Some(published.or_raise()?)
            }
        };
        let journal = options.journal.as_deref().map(Journal::open).transpose().or_raise()?;
        let config = ContestConfig {
            openings: openings.lines,
            rounds: (games / 2) as u32,
            seed: options.seed,
            threads: thread_count(options.threads),
            remote,
        };
        Ok(Session { factories, config, journal, failure, stop })
    }

    /// Returns the number of games of each pair.
    pub(crate) fn games_per_pair(&self) -> u64 {
        2 * u64::from(self.config.rounds)
    }

    /// Returns the names of the players.
    pub(crate) fn names(&self) -> Vec<String> {
        self.factories.iter().map(|factory| factory.name.clone()).collect()
    }

    /// Runs `play` on another thread. Raises the exception of a Python function or callback.
    pub(crate) fn play<T: Send>(
        self,
        py: Python<'_>,
        progress: Option<Py<PyAny>>,
        play: impl FnOnce(
            &[PlayerFactory<P>],
            &ContestConfig<P>,
            Option<(Journal, Vec<String>)>,
            &Task,
        ) -> Result<T, ContestError>
        + Send,
    ) -> PyResult<T> {
        let Session { factories, config, journal, failure, stop } = self;
        let played = work::run(py, progress, |task| {
            let played = play(&factories, &config, journal, task);
            stop.store(true, Ordering::Relaxed);
            played
        });
        failure.raise()?;
        played?.or_raise()
    }
}

/// Returns the queue of an executor or of the workers of a NATS server.
pub(crate) fn work_queue(
    py: Python<'_>,
    executor: Option<&Bound<'_, PyAny>>,
    on: Option<&str>,
    queue: Option<&str>,
    stop: &Arc<AtomicBool>,
) -> PyResult<Option<Arc<dyn WorkQueue>>> {
    match (executor, on) {
        (Some(_), Some(_)) => Err(error("give executor or on, not both")),
        (Some(executor), None) => {
            let stop = Arc::clone(stop);
            let is_stopped = Arc::new(move || stop.load(Ordering::Relaxed));
            Ok(Some(Arc::new(ExecutorQueue::new(executor, is_stopped)?)))
        }
        (None, Some(address)) => {
            let mut cluster = ClusterOptions::new(address, env!("CARGO_PKG_VERSION"));
            cluster.queue = queue.map_or(cluster.queue, str::to_owned);
            // The messages of the queue are about workers that join and leave.
            let connected = py.detach(|| NatsQueue::connect(&cluster, Arc::new(|_| ())));
            Ok(Some(Arc::new(connected.or_raise()?)))
        }
        (None, None) => Ok(None),
    }
}

/// Reads the openings: a file, or a list of positions, games and texts.
fn openings<P: RegisteredGame>(
    options: &ContestOptions<'_>,
    is_remote: bool,
) -> PyResult<Openings<P>> {
    let start = || Openings { lines: vec![Line::default()], file: None, _folder: None };
    let Some(given) = &options.openings else { return Ok(start()) };
    if let Ok(path) = given.extract::<PathBuf>() {
        if path == Path::new("start") {
            return Ok(start());
        }
        let lines = read_openings::<P>(&path, options.first).or_raise()?;
        return Ok(Openings { lines, file: Some(path), _folder: None });
    }
    let mut lines = Vec::new();
    for item in given.try_iter()? {
        let item = item?;
        let line = match item.cast::<PyGame>() {
            Ok(game) => game.borrow().to_line::<P>()?,
            Err(_) => match item.extract::<Position>() {
                Ok(position) => Line::new(crate::position::downcast::<P>(&position)?),
                Err(_) => {
                    let text: String = item.extract()?;
                    Line::new(text.parse::<P>().or_raise()?)
                }
            },
        };
        if line.position().is_over() {
            return Err(error(format!("the game is over in opening {}", lines.len() + 1)));
        }
        lines.push(line);
    }
    if lines.is_empty() {
        return Err(error("there are no openings; give at least one"));
    }
    if !is_remote {
        return Ok(Openings { lines, file: None, _folder: None });
    }
    // Workers read openings from a file of positions.
    if lines.iter().any(|line| !line.moves().is_empty()) {
        lines = lines.iter().map(|line| Line::new(*line.position())).collect();
    }
    let folder = tempfile::tempdir().or_raise()?;
    let file = folder.path().join("openings.boards");
    let texts: Vec<String> = lines.iter().map(|line| format!("{}\n", line.start())).collect();
    std::fs::write(&file, texts.concat()).or_raise()?;
    Ok(Openings { lines, file: Some(file), _folder: Some(folder) })
}

/// The games of a contest.
pub(crate) trait Played: Send + Sync {
    /// Returns Games for Othello, otherwise a list of Game.
    fn games<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;

    /// Writes the games as PGN.
    fn save_pgn(&self, path: &Path) -> Result<(), String>;
}

/// The games of a contest and the names of its players.
pub(crate) struct PlayedGames<P: GamePosition> {
    pub(crate) names: Vec<String>,
    pub(crate) games: Arc<Vec<ContestGame<P>>>,
}

impl<P: GamePosition> PlayedGames<P> {
    fn records(&self) -> Vec<Record<P>> {
        let record = |game: &ContestGame<P>| {
            let info = GameInfo {
                black: self.names[game.black].clone(),
                white: self.names[game.white].clone(),
                event: "Outflank".to_owned(),
                result: Some(game.played.result),
                ..GameInfo::default()
            };
            let mut record = Record::new(*game.played.line.start(), info);
            for (&mv, &random) in game.played.line.moves().iter().zip(&game.played.random) {
                // The line is legal from its start, so no move is rejected.
                let _ = record.push(Ply { random, ..Ply::new(mv) });
            }
            record
        };
        self.games.iter().map(record).collect()
    }
}

impl<P: GamePosition> Played for PlayedGames<P> {
    fn games<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let records: Box<dyn Any> = Box::new(self.records());
        match records.downcast::<Vec<Record<Othello>>>() {
            Ok(records) => Ok(Bound::new(py, Games { records: Arc::new(*records) })?.into_any()),
            Err(_) => {
                let games = self.games.iter().map(|game| PyGame::from_line(&game.played.line));
                Ok(PyList::new(py, games.collect::<Vec<_>>())?.into_any())
            }
        }
    }

    fn save_pgn(&self, path: &Path) -> Result<(), String> {
        write_pgn(&self.records(), path).map_err(|error| error.to_string())
    }
}

/// Converts a report to a dictionary.
pub(crate) fn to_dict<'py>(
    py: Python<'py>,
    value: &impl Serialize,
) -> PyResult<Bound<'py, PyDict>> {
    let text = serde_json::to_string(value).or_raise()?;
    Ok(py.import("json")?.call_method1("loads", (text,))?.cast_into()?)
}
