//! Plays the games of a match or league exactly once, with resume.
//!
//! A game is identified by (black, white, round), and its RNG stream is seeded by the same key.
//! The result therefore does not depend on the order of players, the number of threads, an
//! interruption, or players added later.

use crate::game::PlayedGame;
use crate::journal_line::FinishedGames;
use crate::lockstep::{GameSetup, play_lockstep};
use crate::player_pool::PlayerPool;
use crate::remote::{self, RemoteWorkers};
use outflank_games::{Line, Position, Side};
use outflank_players::PlayerFactory;
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
    /// Remote workers that play instead of local threads.
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
    File(#[from] outflank_runs::files::FileError),
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
    #[error("a contest needs at least two players, one opening and one round")]
    Empty,
}

/// Minimum number of rounds in a batch: enough to amortize scheduling, few enough that an
/// interruption loses little.
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
        let lockstep = factories[first].concurrent_games(&factories[second]);
        let size = MIN_ROUNDS_PER_BATCH.max(lockstep.div_ceil(2) as u32);
        (0..rounds).step_by(size as usize).map(move |from| {
            let to = (from + size).min(rounds);
            RoundBatch { first, second, rounds: (from, to), lockstep }
        })
    }
}

/// A game, and whether it is new (played now) or was read from the journal.
pub(crate) type GameAndIsNew<P> = (Game<P>, bool);

/// Plays all rounds of all `pairs` and passes every game to `on_games` in order: pair by pair,
/// round by round. Games that the journal holds are not played again; new games are appended to it.
///
/// `on_games` receives consecutive games and the number of new games among them, and returns
/// whether to continue. The result is `false` if the user requested a stop before the last game.
pub fn contest<P: Position>(
    factories: &[PlayerFactory<P>],
    pairs: &[(usize, usize)],
    config: &ContestConfig<P>,
    mut journal: Option<(Journal, Vec<String>)>,
    mut on_games: impl FnMut(Vec<Game<P>>, usize) -> bool,
) -> Result<bool, ContestError> {
    if factories.len() < 2 || config.openings.is_empty() || config.rounds == 0 {
        return Err(ContestError::Empty);
    }
    let lines = journal.as_mut().map(|(_, lines)| std::mem::take(lines)).unwrap_or_default();
    let finished = config.parse_journal(factories, &lines)?;
    drop(lines);
    let batches: Vec<RoundBatch> =
        pairs.iter().flat_map(|&pair| RoundBatch::split(factories, pair, config.rounds)).collect();
    let mut outcome = Ok(true);
    let mut accept = |games: Vec<GameAndIsNew<P>>| {
        let new: Vec<String> = games
            .iter()
            .filter(|(_, new)| *new)
            .map(|(game, _)| game.to_line(factories, config))
            .collect();
        if let Some((journal, _)) = &mut journal
            && let Err(error) = journal.append(&new)
        {
            outcome = Err(error.into());
            return false;
        }
        let count = new.len();
        let proceed = on_games(games.into_iter().map(|(game, _)| game).collect(), count);
        if stop_requested() {
            outcome = Ok(false);
        }
        proceed && !stop_requested()
    };
    match &config.remote {
        None => parallel_in_order(
            batches.len(),
            config.threads,
            || PlayerPool::new(factories),
            |pool, number| play_batch(pool, factories, config, &finished, batches[number]),
            |_, games| accept(games),
        ),
        Some(workers) => {
            let all = remote::play(workers, factories, config, &finished, &batches, &mut accept)?;
            if !all && stop_requested() && outcome.is_ok() {
                outcome = Ok(false);
            }
        }
    }
    if let Some((journal, _)) = &mut journal {
        journal.sync()?;
    }
    outcome
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
fn play_games<P: Position>(
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
                let margin = -side.sign() * P::MAX_MARGIN;
                let forfeit = Some((side, error));
                let game = PlayedGame { margin, forfeit, ..PlayedGame::from_opening(opening) };
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
