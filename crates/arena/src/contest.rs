//! Many games between several players, played once each, whatever happens in between.
//!
//! A game is known by who has Black, who has White and its round. Its random stream is named by
//! the same three, so a game is the same game whoever is listed first, on however many threads,
//! before or after a stop, and in a league that somebody joined later.

use crate::game::{Played, whole_margin};
use crate::together::{Table, play_together};
use outflank_games::{Line, Position, Side};
use outflank_players::{Entry, Player};
use outflank_runs::{Journal, in_order, rng, stop_requested};
use std::collections::HashMap;

/// What a contest is played under.
#[derive(Clone, Debug)]
pub struct Terms<P: Position> {
    /// Where games start, in order; used again from the first when there are more rounds.
    pub openings: Vec<Line<P>>,
    /// Rounds for each pair: each is an opening played twice with colours swapped.
    pub rounds: u32,
    /// The seed of all random streams.
    pub seed: u64,
    /// How many threads play.
    pub threads: usize,
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
    pub played: Played<P>,
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
    /// There is nothing to play.
    #[error("a contest needs at least two players, one opening and one round")]
    Empty,
}

/// How many rounds a thread plays at a time: enough that handing them out costs nothing, few
/// enough that little is lost in a stop.
const ROUNDS_AT_A_TIME: u32 = 8;

/// Both games of each of these rounds, unless they were played before.
#[derive(Clone, Copy, Debug)]
struct Piece {
    first: usize,
    second: usize,
    rounds: (u32, u32),
    /// How many games at a time.
    together: usize,
}

/// Plays all rounds of all `pairs`, skipping games that the journal holds and writing new ones to
/// it, and hands over every game in order: pair by pair, round by round.
///
/// `watch` is called with each stretch of games and the number that were newly played; it returns
/// whether to go on. Games come to an early end as well when the user asks to stop; the result
/// says whether all were played.
pub fn contest<P: Position>(
    entries: &[Entry<P>],
    pairs: &[(usize, usize)],
    terms: &Terms<P>,
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
            let together = entries[first].games_with(&entries[second]);
            let rounds = ROUNDS_AT_A_TIME.max(together.div_ceil(2) as u32);
            (0..terms.rounds).step_by(rounds as usize).map(move |from| {
                let to = (from + rounds).min(terms.rounds);
                Piece { first, second, rounds: (from, to), together }
            })
        })
        .collect();
    let mut outcome = Ok(true);
    in_order(
        pieces.len(),
        terms.threads,
        || entries.iter().map(|_| [Vec::new(), Vec::new()]).collect::<Vec<_>>(),
        |players, job| play_piece(players, entries, terms, &done, pieces[job]),
        |_, games| {
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
        },
    );
    if let Some((journal, _)) = &mut journal {
        journal.sync()?;
    }
    outcome
}

type Done<P> = HashMap<(usize, usize, u32), Played<P>>;
/// For each entry those who wait to play Black and those who wait to play White.
type Seats<P> = Vec<[Vec<Box<dyn Player<P>>>; 2]>;

/// Plays the missing games of a piece; each thread keeps its players, apart for each colour, so
/// that a player may meet itself and an engine is started once.
fn play_piece<P: Position>(
    players: &mut Seats<P>,
    entries: &[Entry<P>],
    terms: &Terms<P>,
    done: &Done<P>,
    piece: Piece,
) -> Vec<(Game<P>, bool)> {
    let wanted: Vec<(usize, usize, u32)> = (piece.rounds.0..piece.rounds.1)
        .flat_map(|round| [(piece.first, piece.second, round), (piece.second, piece.first, round)])
        .collect();
    let missing: Vec<_> = wanted.iter().copied().filter(|game| !done.contains_key(game)).collect();
    let mut new: Done<P> = HashMap::new();
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
    entries: &[Entry<P>],
    terms: &Terms<P>,
    games: &[(usize, usize, u32)],
) -> Vec<((usize, usize, u32), Played<P>)> {
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
                let margin = -side.sign() * whole_margin(P::GAME);
                let fault = Some((side, fault));
                played.push((game, Played { margin, fault, ..line_of(opening) }));
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

/// A game as a line: black, white, round, margin, moves since the opening (a `?` behind one that
/// was forced at random), and what went wrong.
fn journal_line<P: Position>(entries: &[Entry<P>], terms: &Terms<P>, game: &Game<P>) -> String {
    let played = &game.played;
    let opening = terms.openings[game.round as usize % terms.openings.len()].moves().len();
    let mut moves = String::new();
    for (mv, random) in played.line.moves().iter().zip(&played.random).skip(opening) {
        if !moves.is_empty() {
            moves.push(' ');
        }
        moves.push_str(&mv.to_string());
        if *random {
            moves.push('?');
        }
    }
    let fault = played.fault.as_ref().map_or(String::new(), |(side, text)| {
        format!("{side}: {}", text.replace(['\t', '\n', '\r'], " "))
    });
    let (black, white) = (&entries[game.black].name, &entries[game.white].name);
    format!("{black}\t{white}\t{}\t{}\t{moves}\t{fault}", game.round, played.margin)
}

/// The games of a journal that belong to this contest; games of players who are no longer listed
/// are left alone.
fn parse_journal<P: Position>(
    entries: &[Entry<P>],
    terms: &Terms<P>,
    lines: &[String],
) -> Result<Done<P>, ContestError> {
    let names: HashMap<&str, usize> =
        entries.iter().enumerate().map(|(i, entry)| (entry.name.as_str(), i)).collect();
    let mut done = HashMap::with_capacity(lines.len());
    for (number, line) in lines.iter().enumerate() {
        let foreign =
            |reason: &str| ContestError::Foreign { line: number + 1, reason: reason.to_owned() };
        let fields: Vec<&str> = line.split('\t').collect();
        let &[black, white, round, margin, moves, fault] = fields.as_slice() else {
            return Err(foreign("it does not have six fields"));
        };
        let (Some(&black), Some(&white)) = (names.get(black), names.get(white)) else { continue };
        let round: u32 = round.parse().map_err(|_| foreign("its round is no number"))?;
        let margin: i32 = margin.parse().map_err(|_| foreign("its margin is no number"))?;
        let mut played = line_of(&terms.openings[round as usize % terms.openings.len()]);
        for text in moves.split(' ').filter(|text| !text.is_empty()) {
            let random = text.ends_with('?');
            let position = played.line.position();
            let mv = position
                .parse_move(text.trim_end_matches('?'))
                .map_err(|error| foreign(&error.to_string()))?;
            played.line.push(mv).map_err(|error| foreign(&error.to_string()))?;
            played.random.push(random);
        }
        played.margin = margin;
        if let Some((side, text)) = fault.split_once(": ") {
            let side = if side == "black" { Side::Black } else { Side::White };
            played.fault = Some((side, text.to_owned()));
        } else if played.line.position().margin() != Some(margin) {
            return Err(foreign("its moves do not lead to its result"));
        }
        done.insert((black, white, round), played);
    }
    Ok(done)
}

fn line_of<P: Position>(opening: &Line<P>) -> Played<P> {
    Played {
        line: opening.clone(),
        random: vec![false; opening.moves().len()],
        margin: 0,
        fault: None,
    }
}
