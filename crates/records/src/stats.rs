//! What a set of Othello games holds: how many games, moves and different decisions, and how well
//! any classifier could predict them.
//!
//! A decision is the board as its player saw it and the square that was chosen. One board may
//! have been met with several moves, so even the best classifier, which always answers the most
//! frequent move of a board, misses some: its accuracy is the ceiling. Counting is done by
//! sorting sixteen-byte examples, which for seven million of them takes a second or two and a few
//! hundred megabytes.

use crate::{Decision, Example, Record};
use outflank_games::Position;
use outflank_games::othello::{Othello, Symmetry};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The counts of a set of games.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// Games, unfinished ones included and illegal ones not.
    pub games: u64,
    /// Moves, passes not counted: each is a position in which somebody decided.
    pub positions: u64,
    /// Images of all moves under the eight symmetries, each as often as it occurs.
    pub positions_symmetric: u64,
    /// Different decisions.
    pub unique: u64,
    /// Different decisions among all images of all decisions under the eight symmetries.
    pub unique_symmetric: u64,
    /// Different boards on which somebody decided.
    pub boards: u64,
    /// The accuracy of the best classifier on all moves, 0 to 100; 0 when there are none.
    pub ceiling_positions: f64,
    /// The accuracy of the best classifier on the different decisions, 0 to 100; 0 without any.
    pub ceiling_unique: f64,
    /// Moves with no alternative.
    pub forced: u64,
    /// Games that break off before the end.
    pub unfinished: u64,
    /// Games left out because a move was illegal.
    pub illegal: u64,
    /// Finished games that Black won, that were drawn, and that White won, by discs.
    pub results: Results,
    /// What happened at each ply; the first entry is about the first moves.
    pub by_ply: Vec<PlyStats>,
    /// Games of each year in ascending order, those without a year first.
    pub by_year: Vec<YearStats>,
}

/// How finished games ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// Black had more discs.
    pub black: u64,
    /// Both had the same number.
    pub draws: u64,
    /// White had more discs.
    pub white: u64,
}

/// The moves at one ply of all games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlyStats {
    /// Games in which this ply was played.
    pub positions: u64,
    /// Legal moves in all these positions together.
    pub legal: u64,
    /// Positions with one legal move.
    pub forced: u64,
    /// Games whose record has no move after this one.
    pub last: u64,
}

impl PlyStats {
    /// The mean number of legal moves; 0 where nothing was played.
    #[must_use]
    pub fn branching(&self) -> f64 {
        share(self.legal, self.positions)
    }
}

/// The games of one year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct YearStats {
    /// The year, where the records say.
    pub year: Option<u16>,
    /// How many games.
    pub games: u64,
    /// How many moves.
    pub positions: u64,
}

/// Counts what the records hold.
///
/// A record has no illegal moves, so whoever read the games says how many were `illegal`.
pub fn stats<'a>(records: impl IntoIterator<Item = &'a Record<Othello>>, illegal: u64) -> Stats {
    let mut stats = Stats { illegal, ..Stats::default() };
    let mut years: BTreeMap<Option<u16>, (u64, u64)> = BTreeMap::new();
    let mut examples = Vec::new();
    for record in records {
        count_game(record, &mut stats, &mut examples);
        let year = years.entry(record.info.year()).or_default();
        year.0 += 1;
        year.1 += record.plies().len() as u64;
    }
    stats.by_year = years
        .into_iter()
        .map(|(year, (games, positions))| YearStats { year, games, positions })
        .collect();
    stats.positions = examples.len() as u64;
    stats.positions_symmetric = stats.positions * Symmetry::ALL.len() as u64;
    stats.forced = stats.by_ply.iter().map(|ply| ply.forced).sum();
    count_examples(examples, &mut stats);
    stats
}

/// Adds one game to what is counted by game and by ply, and its moves to the examples.
fn count_game(record: &Record<Othello>, stats: &mut Stats, examples: &mut Vec<Example>) {
    stats.games += 1;
    match record.end().margin() {
        None => stats.unfinished += 1,
        Some(margin) => {
            *match margin.signum() {
                1 => &mut stats.results.black,
                0 => &mut stats.results.draws,
                _ => &mut stats.results.white,
            } += 1;
        }
    }
    let length = record.plies().len();
    if stats.by_ply.len() < length {
        stats.by_ply.resize(length, PlyStats::default());
    }
    examples.reserve(length);
    for ((position, played), ply) in record.steps().zip(&mut stats.by_ply) {
        let legal = u64::from(position.move_bits().count_ones());
        ply.positions += 1;
        ply.legal += legal;
        ply.forced += u64::from(legal == 1);
        examples.push(Example::from(&Decision { position, chosen: played.mv }));
    }
    if let Some(last) = length.checked_sub(1).and_then(|last| stats.by_ply.get_mut(last)) {
        last.last += 1;
    }
}

/// Counts different decisions and boards, and how often the best answer to each board was given.
fn count_examples(mut examples: Vec<Example>, stats: &mut Stats) {
    examples.par_sort_unstable();
    let mut hits = 0;
    for board in examples.chunk_by(|a, b| a.board() == b.board()) {
        stats.boards += 1;
        hits += board.chunk_by(|a, b| a == b).map(|same| same.len() as u64).max().unwrap_or(0);
    }
    examples.dedup();
    stats.unique = examples.len() as u64;
    stats.ceiling_positions = 100.0 * share(hits, stats.positions);
    // Each different decision counts once here, so a classifier hits one on every board.
    stats.ceiling_unique = 100.0 * share(stats.boards, stats.unique);

    examples.par_iter_mut().for_each(|example| *example = example.canonical());
    examples.par_sort_unstable();
    examples.dedup();
    stats.unique_symmetric = examples.par_iter().map(|e| e.orbit_size() as u64).sum();
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
