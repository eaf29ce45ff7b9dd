//! Plays each game of a match or league exactly once, also if the run is interrupted and resumed.
//!
//! A game is identified by (black, white, round), and its RNG stream is seeded by the same key.
//! The result therefore does not depend on the order of players, the number of threads, an
//! interruption, or players added later.

use crate::game::PlayedGame;
use crate::journal_line::FinishedGames;
use crate::lockstep::{GameSetup, play_lockstep};
use crate::player_pool::PlayerPool;
use crate::remote::{self, KnownGames, RemoteWorkers};
use crate::worker_record::{LOCAL, WorkerRecord};
use outflank_games::{Line, Position, Side};
use outflank_players::PlayerFactory;
use outflank_runs::files::FileError;
use outflank_runs::{Journal, WorkQueueError, parallel_in_order, rng, stop_requested};

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
pub struct Game<P: Position> {
    /// The black player.
    pub black: usize,
    /// The white player.
    pub white: usize,
    /// The round of this pair, from 0.
    pub round: u32,
    /// The moves and the result.
    pub played: PlayedGame<P>,
}

impl<P: Position> Game<P> {
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
        "games.tsv:{line}: game does not belong to this contest ({reason}). Resume with the original --openings, or start a new run with --out."
    )]
    ForeignGame {
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

/// Minimum number of rounds in a batch. More rounds reduce the cost of scheduling; an interruption
/// loses at most the batches in progress.
const MIN_ROUNDS_PER_BATCH: u32 = 8;

/// Consecutive rounds of one pair, the unit of work of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RoundBatch {
    pub(crate) first: usize,
    pub(crate) second: usize,
    pub(crate) rounds: (u32, u32),
    /// Number of games played in lockstep.
    pub(crate) lockstep: usize,
}

impl RoundBatch {
    /// Returns the keys of the games in order, both colors of each round.
    pub(crate) fn games(self) -> impl Iterator<Item = GameKey> {
        let RoundBatch { first, second, rounds, .. } = self;
        (rounds.0..rounds.1).flat_map(move |round| [(first, second, round), (second, first, round)])
    }

    /// Splits the rounds of a pair into batches.
    fn split<P: Position>(
        factories: &[PlayerFactory<P>],
        (first, second): (usize, usize),
        rounds: u32,
    ) -> impl Iterator<Item = RoundBatch> {
        let (size, lockstep) = RoundBatch::size(factories, first, second);
        (0..rounds).step_by(size as usize).map(move |from| {
            let to = (from + size).min(rounds);
            RoundBatch { first, second, rounds: (from, to), lockstep }
        })
    }

    /// Returns the number of rounds in a batch of two players, and of games played in lockstep.
    fn size<P: Position>(
        factories: &[PlayerFactory<P>],
        first: usize,
        second: usize,
    ) -> (u32, usize) {
        let lockstep = factories[first].concurrent_games(&factories[second]);
        (MIN_ROUNDS_PER_BATCH.max(lockstep.div_ceil(2) as u32), lockstep)
    }

    /// Returns the batch that contains a game; its last round may lie after the last of the contest.
    fn of_game<P: Position>(
        factories: &[PlayerFactory<P>],
        (first, second, round): GameKey,
    ) -> RoundBatch {
        let (size, lockstep) = RoundBatch::size(factories, first, second);
        let from = round / size * size;
        RoundBatch { first, second, rounds: (from, from.saturating_add(size)), lockstep }
    }
}

/// A game, and whether it is new (played now) or was read from the journal.
pub(crate) type GameAndIsNew<P> = (Game<P>, bool);

/// What happens in a contest.
#[derive(Clone, Debug)]
pub enum ContestEvent<P: Position> {
    /// The next games, and the number of new games among them.
    Games(Vec<Game<P>>, usize),
    /// A remote worker returned forged games, and the contest starts again without them. All games
    /// passed so far are void; the games follow from the first one.
    Restarted,
}

/// Plays all rounds of all `pairs` and passes every game to `on_event` in order: pair by pair,
/// round by round. Games that the journal holds are not played again; new games are appended to it.
///
/// `on_event` returns whether to continue. The result is `false` if the user requested a stop before
/// the last game.
pub fn contest<P: Position>(
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
    let mut record = match &journal {
        Some(journal) => WorkerRecord::open(journal.path(), config.remote.is_some())?,
        None => WorkerRecord::default(),
    };
    if let Some(workers) = &config.remote {
        record.quarantined().for_each(|worker| workers.quarantine(worker));
    }
    let batches: Vec<RoundBatch> =
        pairs.iter().flat_map(|&pair| RoundBatch::split(factories, pair, config.rounds)).collect();
    let mut kept = FinishedGames::new();
    loop {
        let (finished, valid_lines) =
            config.parse_valid_games(factories, &lines, &mut kept, &|key| {
                record.is_suspect(factories, RoundBatch::of_game(factories, key))
            })?;
        if let Some(journal) = journal.as_mut().filter(|_| valid_lines < lines.len()) {
            journal.truncate(&lines[..valid_lines])?;
        }
        lines = Vec::new();
        let known = KnownGames { finished, kept: std::mem::take(&mut kept) };
        let mut attempt = Attempt {
            factories,
            config,
            journal: &mut journal,
            record: &mut record,
            outcome: Ok(true),
        };
        let quarantined = attempt.play(&batches, &known, &mut on_event)?;
        let outcome = attempt.outcome;
        if let Some(journal) = &mut journal {
            journal.sync()?;
        }
        if quarantined.is_empty() || outcome.is_err() {
            return outcome;
        }
        // Durable before the journal is truncated, so that a killed run is resumed correctly.
        record.quarantine(&quarantined)?;
        if stop_requested() {
            return Ok(false);
        }
        kept = known.kept;
        if let Some(open) = journal {
            let path = open.path().to_owned();
            drop(open);
            let reopened = Journal::open(&path)?;
            (journal, lines) = (Some(reopened.0), reopened.1);
        }
        on_event(ContestEvent::Restarted);
    }
}

/// One attempt to play a contest, which ends when a worker is quarantined.
struct Attempt<'a, P: Position> {
    factories: &'a [PlayerFactory<P>],
    config: &'a ContestConfig<P>,
    journal: &'a mut Option<Journal>,
    record: &'a mut WorkerRecord,
    /// Whether all games were played, or an error of the journal.
    outcome: Result<bool, ContestError>,
}

impl<P: Position> Attempt<'_, P> {
    /// Plays the batches; returns the workers that were quarantined.
    fn play(
        &mut self,
        batches: &[RoundBatch],
        known: &KnownGames<P>,
        on_event: &mut dyn FnMut(ContestEvent<P>) -> bool,
    ) -> Result<Vec<String>, ContestError> {
        let (factories, config) = (self.factories, self.config);
        let Some(workers) = &config.remote else {
            parallel_in_order(
                batches.len(),
                config.threads,
                || PlayerPool::new(factories),
                |pool, number| {
                    play_batch(pool, factories, config, &known.finished, batches[number])
                },
                |number, games| self.accept(batches[number], games, Some(LOCAL), on_event),
            );
            return Ok(Vec::new());
        };
        let mut accept = |batch: RoundBatch, games: Vec<GameAndIsNew<P>>, worker: Option<&str>| {
            self.accept(batch, games, worker, on_event)
        };
        let end = remote::play(workers, factories, config, known, batches, &mut accept)?;
        if !end.all_played && stop_requested() && self.outcome.is_ok() {
            self.outcome = Ok(false);
        }
        Ok(end.quarantined)
    }

    /// Appends the new games of a batch to the journal and passes all of them on. `worker` played them
    /// now. Returns whether to continue.
    fn accept(
        &mut self,
        batch: RoundBatch,
        games: Vec<GameAndIsNew<P>>,
        worker: Option<&str>,
        on_event: &mut dyn FnMut(ContestEvent<P>) -> bool,
    ) -> bool {
        let new = games.iter().filter(|(_, new)| *new);
        let new: Vec<String> =
            new.map(|(game, _)| game.to_line(self.factories, self.config)).collect();
        if let Err(error) = self.write(batch, &new, worker) {
            self.outcome = Err(error.into());
            return false;
        }
        let games = games.into_iter().map(|(game, _)| game).collect();
        let proceed = on_event(ContestEvent::Games(games, new.len()));
        if stop_requested() {
            self.outcome = Ok(false);
        }
        proceed && !stop_requested()
    }

    fn write(
        &mut self,
        batch: RoundBatch,
        lines: &[String],
        worker: Option<&str>,
    ) -> Result<(), FileError> {
        let Some(journal) = self.journal else { return Ok(()) };
        if let Some(worker) = worker.filter(|_| !lines.is_empty()) {
            // Before the games, so that no game of the journal lacks its worker.
            self.record.add(self.factories, batch, worker)?;
        }
        journal.append(lines)
    }
}

/// Plays the games of a batch that are not in `finished` and returns all games of the batch.
///
/// After a stop request the result ends before the first game that was not played.
pub(crate) fn play_batch<P: Position>(
    pool: &mut PlayerPool<'_, P>,
    factories: &[PlayerFactory<P>],
    config: &ContestConfig<P>,
    finished: &FinishedGames<P>,
    batch: RoundBatch,
) -> Vec<GameAndIsNew<P>> {
    let missing: Vec<_> = batch.games().filter(|key| !finished.contains_key(key)).collect();
    let mut new = FinishedGames::<P>::new();
    for keys in missing.chunks(batch.lockstep) {
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
        Some((Game { black, white, round, played }, is_new))
    };
    batch.games().map_while(game).collect()
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
                let (side, error) = match (first.err(), second.err()) {
                    (Some(error), _) => (Side::Black, error.to_string()),
                    (_, error) => (Side::White, error.map(|e| e.to_string()).unwrap_or_default()),
                };
                let result = -side.sign() * P::MAX_RESULT;
                let forfeit = Some((side, error));
                let game = PlayedGame { result, forfeit, ..PlayedGame::from_opening(opening) };
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
