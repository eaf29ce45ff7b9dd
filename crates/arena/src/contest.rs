//! Many games between several players, played once each, whatever happens in between.
//!
//! A game is known by who has Black, who has White and its round. Its random stream is named by
//! the same three, so a game is the same game whoever is listed first, on however many threads,
//! before or after a stop, and in a league that somebody joined later.

use crate::elsewhere::{self, Elsewhere};
use crate::game::PlayedGame;
use crate::lines::{Done, journal_line, line_of, parse_journal};
use crate::together::{Table, play_together};
use outflank_games::{Line, Position, Side};
use outflank_players::{PlayerFactory, Player};
use outflank_runs::{WorkQueueError, Journal, parallel_in_order, rng, stop_requested};

/// What a contest is played under.
#[derive(Clone, Debug)]
pub struct ContestConfig<P: Position> {
    /// Where games start, in order; used again from the first when there are more rounds.
    pub openings: Vec<Line<P>>,
    /// Rounds for each pair: each is an opening played twice with colours swapped.
    pub rounds: u32,
    /// The seed of all random streams.
    pub seed: u64,
    /// How many threads play.
    pub threads: usize,
    /// Who else plays in their stead.
    pub elsewhere: Option<Elsewhere>,
}

/// One game of a contest; players are numbers of entries.
#[derive(Clone, Debug, PartialEq)]
pub struct Game<P: Position> {
    /// Who had Black.
    pub black: usize,
    /// Who had White.
    pub white: usize,
    /// Which round of their meeting, from 0.
    pub round: u32,
    /// What happened.
    pub played: PlayedGame<P>,
}

impl<P: Position> Game<P> {
    /// The score of a player in half points: 2, 1 or 0.
    #[must_use]
    pub fn half_points_of(&self, player: usize) -> u32 {
        let black = self.played.half_points();
        if player == self.black { black } else { 2 - black }
    }
}

/// Why a contest could not be played, or not to its end.
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
        "line {line} of the journal is not a game of this contest: {reason}; resume with the same openings, or start anew with --out"
    )]
    Foreign {
        /// Which line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// Others could not be had play.
    #[error(transparent)]
    WorkQueue(#[from] WorkQueueError),
    /// There is nothing to play.
    #[error("a contest needs at least two players, one opening and one round")]
    Empty,
}

/// How many rounds a thread plays at a time: enough that handing them out costs nothing, few
/// enough that little is lost in a stop.
const ROUNDS_AT_A_TIME: u32 = 8;

/// Both games of each of these rounds, unless they were played before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) first: usize,
    pub(crate) second: usize,
    pub(crate) rounds: (u32, u32),
    /// How many games at a time.
    pub(crate) together: usize,
}

impl Piece {
    /// Its games in order: black, white and round.
    pub(crate) fn games(self) -> impl Iterator<Item = (usize, usize, u32)> {
        let Piece { first, second, rounds, .. } = self;
        (rounds.0..rounds.1).flat_map(move |round| [(first, second, round), (second, first, round)])
    }
}

/// Plays all rounds of all `pairs`, skipping games that the journal holds and writing new ones to
/// it, and hands over every game in order: pair by pair, round by round.
///
/// `watch` is called with each stretch of games and the number that were newly played; it returns
/// whether to go on. Games come to an early end as well when the user asks to stop; the result
/// says whether all were played.
pub fn contest<P: Position>(
    entries: &[PlayerFactory<P>],
    pairs: &[(usize, usize)],
    terms: &ContestConfig<P>,
    mut journal: Option<(Journal, Vec<String>)>,
    mut watch: impl FnMut(Vec<Game<P>>, usize) -> bool,
) -> Result<bool, ContestError> {
    if entries.len() < 2 || terms.openings.is_empty() || terms.rounds == 0 {
        return Err(ContestError::Empty);
    }
    let lines = journal.as_mut().map(|(_, lines)| std::mem::take(lines)).unwrap_or_default();
    let done = parse_journal(entries, terms, &lines)?;
    drop(lines);
    let pieces: Vec<Piece> = pairs
        .iter()
        .flat_map(|&(first, second)| {
            let together = entries[first].concurrent_games(&entries[second]);
            let rounds = ROUNDS_AT_A_TIME.max(together.div_ceil(2) as u32);
            (0..terms.rounds).step_by(rounds as usize).map(move |from| {
                let to = (from + rounds).min(terms.rounds);
                Piece { first, second, rounds: (from, to), together }
            })
        })
        .collect();
    let mut outcome = Ok(true);
    let mut hand_over = |games: Vec<(Game<P>, bool)>| {
        let new: Vec<String> = games
            .iter()
            .filter(|(_, new)| *new)
            .map(|(game, _)| journal_line(entries, terms, game))
            .collect();
        if let Some((journal, _)) = &mut journal
            && let Err(error) = journal.append(&new)
        {
            outcome = Err(error.into());
            return false;
        }
        let played = new.len();
        let go_on = watch(games.into_iter().map(|(game, _)| game).collect(), played);
        if stop_requested() {
            outcome = Ok(false);
        }
        go_on && !stop_requested()
    };
    match &terms.elsewhere {
        None => parallel_in_order(
            pieces.len(),
            terms.threads,
            || no_seats(entries),
            |players, job| play_piece(players, entries, terms, &done, pieces[job]),
            |_, games| hand_over(games),
        ),
        Some(others) => {
            let all = elsewhere::play(others, entries, terms, &done, &pieces, &mut hand_over)?;
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

/// For each entry those who wait to play Black and those who wait to play White.
pub(crate) type Seats<P> = Vec<[Vec<Box<dyn Player<P>>>; 2]>;

/// Nobody has sat down yet.
pub(crate) fn no_seats<P: Position>(entries: &[PlayerFactory<P>]) -> Seats<P> {
    entries.iter().map(|_| [Vec::new(), Vec::new()]).collect()
}

/// Plays the missing games of a piece; each thread keeps its players, apart for each colour, so
/// that a player may meet itself and an engine is started once.
pub(crate) fn play_piece<P: Position>(
    players: &mut Seats<P>,
    entries: &[PlayerFactory<P>],
    terms: &ContestConfig<P>,
    done: &Done<P>,
    piece: Piece,
) -> Vec<(Game<P>, bool)> {
    let wanted: Vec<(usize, usize, u32)> = piece.games().collect();
    let missing: Vec<_> = wanted.iter().copied().filter(|game| !done.contains_key(game)).collect();
    let mut new: Done<P> = Done::new();
    for games in missing.chunks(piece.together) {
        if stop_requested() {
            break;
        }
        new.extend(play_games(players, entries, terms, games));
    }
    let game = |&(black, white, round): &(usize, usize, u32)| {
        let key = (black, white, round);
        let (played, is_new) = match done.get(&key) {
            Some(played) => (played.clone(), false),
            None => (new.remove(&key)?, true),
        };
        Some((Game { black, white, round, played }, is_new))
    };
    // After a stop, what lies behind the first game that was not played is left out.
    wanted.iter().map_while(game).collect()
}

/// Plays these games side by side.
fn play_games<P: Position>(
    players: &mut Seats<P>,
    entries: &[PlayerFactory<P>],
    terms: &ContestConfig<P>,
    games: &[(usize, usize, u32)],
) -> Vec<((usize, usize, u32), PlayedGame<P>)> {
    let mut streams: Vec<_> = games
        .iter()
        .map(|&(black, white, round)| {
            let path = ["game", &entries[black].name, &entries[white].name, &round.to_string()];
            rng::stream(terms.seed, &path)
        })
        .collect();
    let (mut tables, mut seated, mut played) = (Vec::new(), Vec::new(), Vec::new());
    for (&game, rng) in games.iter().zip(&mut streams) {
        let (black, white, round) = game;
        let opening = &terms.openings[round as usize % terms.openings.len()];
        let mut seat = |who: usize, side: Side| {
            players[who][side.index()].pop().map_or_else(|| entries[who].make(), Ok)
        };
        match (seat(black, Side::Black), seat(white, Side::White)) {
            (Ok(first), Ok(second)) => {
                tables.push(Table { players: [first, second], line: opening.clone(), rng });
                seated.push(game);
            }
            (first, second) => {
                // A player that cannot even be made fails like any other.
                let (side, fault) = match (first.err(), second.err()) {
                    (Some(fault), _) => (Side::Black, fault.to_string()),
                    (_, fault) => (Side::White, fault.map(|f| f.to_string()).unwrap_or_default()),
                };
                let margin = -side.sign() * P::MAX_MARGIN;
                let fault = Some((side, fault));
                played.push((game, PlayedGame { margin, fault, ..line_of(opening) }));
            }
        }
    }
    for (game, (pair, result)) in seated.into_iter().zip(play_together(tables)) {
        for (side, player) in pair.into_iter().enumerate() {
            let who = if side == 0 { game.0 } else { game.1 };
            players[who][side].push(player);
        }
        played.push((game, result));
    }
    played
}
