//! Plays each game of a match or league exactly once, even if the run is interrupted and resumed.
//!
//! A game is identified by (black, white, round), and its RNG stream is seeded by the same key.
//! The result therefore does not depend on the order of players, the number of threads, an
//! interruption, or players added later.

use crate::game::{EarlyEnd, EarlyEndReason, PlayedGame};
use crate::job_workers::{JobWorkers, LOCAL};
use crate::journal_line::FinishedGames;
use crate::lockstep::{GameSetup, play_lockstep};
use crate::player_pool::PlayerPool;
use crate::remote::{self, KnownGames, RemoteWorkers};
use outflank_games::{Line, Position, Side};
use outflank_players::PlayerFactory;
use outflank_runs::files::FileError;
use outflank_runs::{Journal, WorkQueueError, parallel_in_order, rng, stop_requested};
use std::path::{Path, PathBuf};

/// Settings shared by all games of a contest.
#[derive(Clone, Debug)]
pub struct ContestConfig<P: Position> {
    /// Starting positions, used cyclically, one per round.
    pub openings: Vec<Line<P>>,
    /// Rounds per pair; a round is one opening played twice with colors swapped.
    pub rounds: u32,
    /// Seed of all RNG streams.
    pub seed: u64,
    /// Number of threads.
    pub threads: usize,
    /// Remote workers that play the games; `None` for local threads.
    pub remote: Option<RemoteWorkers>,
}

impl<P: Position> Default for ContestConfig<P> {
    /// Fifty rounds from the start of the game with seed 1, on as many threads as the machine has.
    fn default() -> ContestConfig<P> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        ContestConfig {
            openings: vec![Line::default()],
            rounds: 50,
            seed: 1,
            threads,
            remote: None,
        }
    }
}

impl<P: Position> ContestConfig<P> {
    /// Returns the opening of a round.
    pub(crate) fn opening(&self, round: u32) -> &Line<P> {
        &self.openings[round as usize % self.openings.len()]
    }
}

/// The identity of a game: black, white and round.
pub(crate) type GameKey = (usize, usize, u32);

/// One game of a contest. Players are indices into the list of player factories.
#[derive(Clone, Debug, PartialEq)]
pub struct ContestGame<P: Position> {
    /// The black player.
    pub black: usize,
    /// The white player.
    pub white: usize,
    /// The round of this pair, from 0.
    pub round: u32,
    /// The moves and the result.
    pub played: PlayedGame<P>,
}

impl<P: Position> ContestGame<P> {
    /// The score of a player in half points: 2, 1 or 0.
    #[must_use]
    pub fn half_points_of(&self, player: usize) -> u32 {
        let black = self.played.half_points();
        if player == self.black { black } else { 2 - black }
    }

    /// Returns the identity of the game.
    pub(crate) fn key(&self) -> GameKey {
        (self.black, self.white, self.round)
    }
}

/// An error that ends a contest.
#[derive(Debug, thiserror::Error)]
pub enum ContestError {
    /// The journal could not be read or written.
    #[error(transparent)]
    Journal(#[from] outflank_runs::JournalError),
    /// The journal could not be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line of the journal is not a game of this contest.
    #[error(
        "{path}:{line}: game does not belong to this contest ({reason}). Resume with the original \
         openings, or start a new run."
    )]
    ForeignGame {
        /// The path of the journal.
        path: PathBuf,
        /// The line of the journal, from 1.
        line: usize,
        /// The mismatch.
        reason: String,
    },
    /// The remote workers could not be used.
    #[error(transparent)]
    Remote(#[from] WorkQueueError),
    /// The contest has no games.
    #[error("there are no games to play: give at least two players, one opening and one round")]
    Empty,
}

/// Minimum number of rounds in a job. Larger jobs reduce the scheduling overhead; an interruption
/// loses the games of the jobs in progress.
const MIN_ROUNDS_PER_JOB: u32 = 8;

/// A job: consecutive rounds of one pair, played by one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RoundJob {
    /// The two players.
    pub(crate) pair: (usize, usize),
    /// The first round, and the round after the last.
    pub(crate) rounds: (u32, u32),
    /// Number of games played in lockstep.
    pub(crate) lockstep: usize,
}

impl RoundJob {
    /// Returns the keys of the games in order, both colors of each round.
    pub(crate) fn games(self) -> impl Iterator<Item = GameKey> {
        let RoundJob { pair: (a, b), rounds, .. } = self;
        (rounds.0..rounds.1).flat_map(move |round| [(a, b, round), (b, a, round)])
    }

    /// Splits the rounds of a pair into jobs.
    fn split<P: Position>(
        factories: &[PlayerFactory<P>],
        pair: (usize, usize),
        rounds: u32,
    ) -> impl Iterator<Item = RoundJob> {
        let (size, lockstep) = RoundJob::size(factories, pair);
        (0..rounds).step_by(size as usize).map(move |from| {
            let to = (from + size).min(rounds);
            RoundJob { pair, rounds: (from, to), lockstep }
        })
    }

    /// Returns the number of rounds in a job of two players, and of games played in lockstep.
    fn size<P: Position>(factories: &[PlayerFactory<P>], (a, b): (usize, usize)) -> (u32, usize) {
        let lockstep = factories[a].concurrent_games(&factories[b]);
        (MIN_ROUNDS_PER_JOB.max(lockstep.div_ceil(2) as u32), lockstep)
    }

    /// Returns the job that contains a game. It may contain more rounds than the contest.
    fn of_game<P: Position>(
        factories: &[PlayerFactory<P>],
        (black, white, round): GameKey,
    ) -> RoundJob {
        let pair = (black, white);
        let (size, lockstep) = RoundJob::size(factories, pair);
        let from = round / size * size;
        RoundJob { pair, rounds: (from, from.saturating_add(size)), lockstep }
    }
}

/// A game of a job.
pub(crate) struct JobGame<P: Position> {
    pub(crate) game: ContestGame<P>,
    /// Whether the journal lacks the game.
    pub(crate) is_new: bool,
}

/// An event of a contest in progress.
#[derive(Clone, Debug)]
pub enum ContestEvent<P: Position> {
    /// The next games, and the number of new ones among them, which were not in the journal.
    Games(Vec<ContestGame<P>>, usize),
    /// A remote worker returned wrong games, and the contest starts again without them. All games
    /// passed so far are void: every game is passed again, starting with the first.
    Restarted,
}

/// Plays all rounds of all `pairs` and passes every game to `on_event` in order: pair by pair,
/// round by round. Games that the journal holds are not played again; new games are appended to it.
///
/// `on_event` returns whether to continue. The result is `Ok(false)` if the user requested a stop,
/// otherwise `Ok(true)`, even if `on_event` ended the contest early.
pub fn play_contest<P: Position>(
    factories: &[PlayerFactory<P>],
    pairs: &[(usize, usize)],
    config: &ContestConfig<P>,
    journal: Option<(Journal, Vec<String>)>,
    mut on_event: impl FnMut(ContestEvent<P>) -> bool,
) -> Result<bool, ContestError> {
    if factories.len() < 2 || config.openings.is_empty() || config.rounds == 0 {
        return Err(ContestError::Empty);
    }
    let (mut journal, mut lines) =
        journal.map_or((None, Vec::new()), |(j, lines)| (Some(j), lines));
    let mut job_workers = match &journal {
        Some(journal) => JobWorkers::open(journal.path(), config.remote.is_some())?,
        None => JobWorkers::default(),
    };
    if let Some(workers) = &config.remote {
        job_workers.quarantined().for_each(|worker| workers.quarantine(worker));
    }
    let jobs: Vec<RoundJob> =
        pairs.iter().flat_map(|&pair| RoundJob::split(factories, pair, config.rounds)).collect();
    // Valid games that are cut from the journal behind wrong games, to be appended again.
    let mut to_rewrite = FinishedGames::new();
    loop {
        let path = journal.as_ref().map_or(Path::new(""), Journal::path);
        let (finished, valid_lines) =
            config.parse_valid_games(factories, (path, &lines), &mut to_rewrite, &|key| {
                let job = RoundJob::of_game(factories, key);
                job_workers.was_played_by_quarantined(factories, job)
            })?;
        if let Some(journal) = journal.as_mut().filter(|_| valid_lines < lines.len()) {
            journal.truncate(&lines[..valid_lines])?;
        }
        lines = Vec::new();
        let known = KnownGames { finished, to_rewrite: std::mem::take(&mut to_rewrite) };
        let mut attempt = Attempt {
            factories,
            config,
            journal: &mut journal,
            job_workers: &mut job_workers,
            outcome: Ok(true),
        };
        let quarantined = attempt.play(&jobs, &known, &mut on_event)?;
        let outcome = attempt.outcome;
        if let Some(journal) = &mut journal {
            journal.sync()?;
        }
        if quarantined.is_empty() || outcome.is_err() {
            return outcome;
        }
        // Synced before the journal is truncated, so that a killed run is resumed correctly.
        job_workers.quarantine(&quarantined)?;
        if stop_requested() {
            return Ok(false);
        }
        to_rewrite = known.to_rewrite;
        if let Some(open) = journal {
            let path = open.path().to_owned();
            drop(open);
            let reopened = Journal::open(&path)?;
            (journal, lines) = (Some(reopened.0), reopened.1);
        }
        on_event(ContestEvent::Restarted);
    }
}

/// One attempt to play a contest: until all games are played, the run is stopped, or a worker is
/// quarantined.
struct Attempt<'a, P: Position> {
    factories: &'a [PlayerFactory<P>],
    config: &'a ContestConfig<P>,
    journal: &'a mut Option<Journal>,
    job_workers: &'a mut JobWorkers,
    /// `Ok(false)` after a stop request, otherwise `Ok(true)`, or an error of the journal.
    outcome: Result<bool, ContestError>,
}

impl<P: Position> Attempt<'_, P> {
    /// Plays the jobs and returns the workers that were quarantined.
    fn play(
        &mut self,
        jobs: &[RoundJob],
        known: &KnownGames<P>,
        on_event: &mut dyn FnMut(ContestEvent<P>) -> bool,
    ) -> Result<Vec<String>, ContestError> {
        let (factories, config) = (self.factories, self.config);
        let Some(workers) = &config.remote else {
            parallel_in_order(
                jobs.len(),
                config.threads,
                || PlayerPool::new(factories),
                |pool, number| play_job(pool, factories, config, &known.finished, jobs[number]),
                |number, games| self.accept(jobs[number], games, Some(LOCAL), on_event),
            );
            return Ok(Vec::new());
        };
        let mut accept = |job: RoundJob, games: Vec<JobGame<P>>, worker: Option<&str>| {
            self.accept(job, games, worker, on_event)
        };
        let end = remote::play_remotely(workers, factories, config, known, jobs, &mut accept)?;
        if !end.all_accepted && stop_requested() && self.outcome.is_ok() {
            self.outcome = Ok(false);
        }
        Ok(end.quarantined)
    }

    /// Appends the new games of a job to the journal and passes all its games to `on_event`.
    /// Returns whether to continue. `worker` is the name of the worker that played the job, if
    /// it was played in this attempt.
    fn accept(
        &mut self,
        job: RoundJob,
        games: Vec<JobGame<P>>,
        worker: Option<&str>,
        on_event: &mut dyn FnMut(ContestEvent<P>) -> bool,
    ) -> bool {
        let new = games.iter().filter(|game| game.is_new);
        let new_lines: Vec<String> =
            new.map(|new| new.game.to_line(self.factories, self.config)).collect();
        if let Err(error) = self.write(job, &new_lines, worker) {
            self.outcome = Err(error.into());
            return false;
        }
        let games = games.into_iter().map(|job_game| job_game.game).collect();
        let proceed = on_event(ContestEvent::Games(games, new_lines.len()));
        if stop_requested() {
            self.outcome = Ok(false);
        }
        proceed && !stop_requested()
    }

    fn write(
        &mut self,
        job: RoundJob,
        lines: &[String],
        worker: Option<&str>,
    ) -> Result<(), FileError> {
        let Some(journal) = self.journal else { return Ok(()) };
        if let Some(worker) = worker.filter(|_| !lines.is_empty()) {
            // Written before the games, so that no game of the journal lacks its worker.
            self.job_workers.add(self.factories, job, worker)?;
        }
        journal.append(lines)
    }
}

/// Plays the games of a job that are not in `finished` and returns all games of the job.
///
/// After a stop request, the result ends before the first game that was not played.
pub(crate) fn play_job<P: Position>(
    pool: &mut PlayerPool<'_, P>,
    factories: &[PlayerFactory<P>],
    config: &ContestConfig<P>,
    finished: &FinishedGames<P>,
    job: RoundJob,
) -> Vec<JobGame<P>> {
    let missing: Vec<_> = job.games().filter(|key| !finished.contains_key(key)).collect();
    let mut new = FinishedGames::<P>::new();
    for keys in missing.chunks(job.lockstep) {
        if stop_requested() {
            break;
        }
        new.extend(play_games(pool, factories, config, keys));
    }
    let game = |key @ (black, white, round): GameKey| {
        let (played, is_new) = match finished.get(&key) {
            Some(played) => (played.clone(), false),
            None => (new.remove(&key)?, true),
        };
        Some(JobGame { game: ContestGame { black, white, round, played }, is_new })
    };
    job.games().map_while(game).collect()
}

/// Plays games in lockstep.
pub(crate) fn play_games<P: Position>(
    pool: &mut PlayerPool<'_, P>,
    factories: &[PlayerFactory<P>],
    config: &ContestConfig<P>,
    keys: &[GameKey],
) -> Vec<(GameKey, PlayedGame<P>)> {
    let mut streams: Vec<_> = keys
        .iter()
        .map(|&(black, white, round)| {
            let path = ["game", &factories[black].name, &factories[white].name, &round.to_string()];
            rng::stream(config.seed, &path)
        })
        .collect();
    let (mut setups, mut started, mut played) = (Vec::new(), Vec::new(), Vec::new());
    for (&key, rng) in keys.iter().zip(&mut streams) {
        let (black, white, round) = key;
        let opening = config.opening(round);
        match (pool.take(black, Side::Black), pool.take(white, Side::White)) {
            (Ok(first), Ok(second)) => {
                setups.push(GameSetup { players: [first, second], line: opening.clone(), rng });
                started.push(key);
            }
            (first, second) => {
                // A player that cannot be created forfeits the game.
                let (loser, error) = match (first.err(), second.err()) {
                    (Some(error), _) => (Side::Black, error.to_string()),
                    (_, error) => (Side::White, error.map(|e| e.to_string()).unwrap_or_default()),
                };
                let result = -loser.sign() * P::MAX_RESULT;
                let early_end = Some(EarlyEnd { loser, reason: EarlyEndReason::Failed(error) });
                let game = PlayedGame { result, early_end, ..PlayedGame::from_opening(opening) };
                played.push((key, game));
            }
        }
    }
    for (key, ([black, white], game)) in started.into_iter().zip(play_lockstep(setups)) {
        pool.put_back(key.0, Side::Black, black);
        pool.put_back(key.1, Side::White, white);
        played.push((key, game));
    }
    played
}
