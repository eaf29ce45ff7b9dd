//! Statistics of Othello games: numbers of games, moves and distinct decisions, and the best
//! possible prediction accuracy.
//!
//! Different moves may have been played on the same board, so no predictor that sees only the board
//! predicts all moves. The ceiling is the accuracy of a predictor that always predicts the most
//! frequent move of the board. Counting sorts 16-byte examples: seven million take one or two seconds
//! and a few hundred megabytes.

use crate::{Decision, Example, Record};
use outflank_games::Position;
use outflank_games::othello::{Othello, Symmetry};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Statistics of a set of games.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GameStats {
    /// Games, including unfinished ones, but not those with an illegal move.
    pub games: u64,
    /// Moves, not counting passes. Each belongs to one position with its side to move.
    pub positions: u64,
    /// Eight times the number of moves: all symmetries, with duplicates.
    pub positions_symmetric: u64,
    /// Distinct decisions.
    pub unique: u64,
    /// Distinct decisions among all symmetries of all decisions.
    pub unique_symmetric: u64,
    /// Distinct boards, from the view of the side to move.
    pub boards: u64,
    /// The best possible accuracy on all moves, in percent; 0 without moves.
    pub ceiling_positions: f64,
    /// The best possible accuracy on the distinct decisions, in percent; 0 without any.
    pub ceiling_unique: f64,
    /// Moves in positions with only one legal move.
    pub forced: u64,
    /// Unfinished games.
    pub unfinished: u64,
    /// Games excluded because they contain an illegal move.
    pub illegal: u64,
    /// Numbers of finished games by the result on the final board.
    pub results: ResultCounts,
    /// Statistics of each ply, starting with the first move.
    pub by_ply: Vec<PlyStats>,
    /// Statistics of each year in ascending order, games without a year first.
    pub by_year: Vec<YearStats>,
}

/// Numbers of finished games by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResultCounts {
    /// Wins of Black.
    pub black: u64,
    /// Draws.
    pub draws: u64,
    /// Wins of White.
    pub white: u64,
}

/// Statistics of one ply over all games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlyStats {
    /// Games with this ply.
    pub positions: u64,
    /// Total number of legal moves in these positions.
    pub legal_moves: u64,
    /// Positions with only one legal move.
    pub forced: u64,
    /// Games that end with this ply.
    pub ended: u64,
}

impl PlyStats {
    /// Returns the mean number of legal moves; 0 without positions.
    #[must_use]
    pub fn mean_legal_moves(&self) -> f64 {
        ratio(self.legal_moves, self.positions)
    }
}

/// Statistics of one year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct YearStats {
    /// The year, if known.
    pub year: Option<u16>,
    /// Number of games.
    pub games: u64,
    /// Number of moves.
    pub positions: u64,
}

/// Computes the statistics of records.
///
/// Records have no illegal moves, so the caller provides the number of `illegal` games.
pub fn stats<'a>(
    records: impl IntoIterator<Item = &'a Record<Othello>>,
    illegal: u64,
) -> GameStats {
    let mut stats = GameStats { illegal, ..GameStats::default() };
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

/// Adds one game to the statistics by game and by ply, and its moves to the examples.
fn count_game(record: &Record<Othello>, stats: &mut GameStats, examples: &mut Vec<Example>) {
    stats.games += 1;
    match record.end().result() {
        None => stats.unfinished += 1,
        Some(result) => {
            *match result.signum() {
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
    for ((position, ply), by_ply) in record.steps().zip(&mut stats.by_ply) {
        let legal = u64::from(position.move_bits().count_ones());
        by_ply.positions += 1;
        by_ply.legal_moves += legal;
        by_ply.forced += u64::from(legal == 1);
        examples.push(Example::from(&Decision { position, chosen: ply.mv }));
    }
    if let Some(last) = length.checked_sub(1).and_then(|last| stats.by_ply.get_mut(last)) {
        last.ended += 1;
    }
}

/// Counts distinct decisions and boards, and computes the accuracy ceilings.
fn count_examples(mut examples: Vec<Example>, stats: &mut GameStats) {
    examples.par_sort_unstable();
    let mut hits = 0;
    for same_board in examples.chunk_by(|a, b| a.board() == b.board()) {
        stats.boards += 1;
        hits += same_board.chunk_by(|a, b| a == b).map(|same| same.len() as u64).max().unwrap_or(0);
    }
    examples.dedup();
    stats.unique = examples.len() as u64;
    stats.ceiling_positions = 100.0 * ratio(hits, stats.positions);
    // Among the distinct decisions, every move of a board is equally frequent: a predictor predicts
    // one per board.
    stats.ceiling_unique = 100.0 * ratio(stats.boards, stats.unique);

    examples.par_iter_mut().for_each(|example| *example = example.canonical());
    examples.par_sort_unstable();
    examples.dedup();
    stats.unique_symmetric = examples.par_iter().map(|e| e.orbit_size() as u64).sum();
}

fn ratio(part: u64, total: u64) -> f64 {
    if total == 0 { 0.0 } else { part as f64 / total as f64 }
}
