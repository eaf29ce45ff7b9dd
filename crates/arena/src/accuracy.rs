//! How often a model picks the move that was played.
//!
//! A decision with one legal move is no choice; tables of choices leave it out, tables of all
//! moves keep it. A model that rates several moves best gets the share of a hit that a fair draw
//! among them would have. Stages are paper 0's Table II: by discs on the board after the move.

use crate::ratings::Z_95;
use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_models::Policy;
use outflank_records::Decision;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Scores closer than this are a tie, in play as in counting.
pub const TIE: f32 = 1e-6;

/// Ranks up to this are counted.
pub const RANKS: usize = 5;

/// The 13 stages: least and most discs on the board after the move.
pub const STAGES: [(u32, u32); 13] = [
    (1, 16),
    (17, 20),
    (21, 24),
    (25, 28),
    (29, 32),
    (33, 36),
    (37, 40),
    (41, 44),
    (45, 48),
    (49, 52),
    (53, 56),
    (57, 60),
    (61, 64),
];

/// Hits among a number of decisions; a tie gives a share of a hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hits {
    /// How many were hit.
    pub hits: f64,
    /// Of how many.
    pub count: u64,
}

impl Hits {
    /// Hits in a hundred; 0 of nothing.
    #[must_use]
    pub fn percent(&self) -> f64 {
        if self.count == 0 { 0.0 } else { 100.0 * self.hits / self.count as f64 }
    }

    /// The ends of the 95% interval of the percentage, decisions taken as independent, by Wilson: it is not
    /// empty when none or all were hit, and never leaves 0 to 100.
    #[must_use]
    pub fn interval(&self) -> (f64, f64) {
        if self.count == 0 {
            return (0.0, 100.0);
        }
        let (n, square) = (self.count as f64, Z_95 * Z_95);
        let p = (self.hits / n).clamp(0.0, 1.0);
        let middle = (p + 0.5 * square / n) / (1.0 + square / n);
        let spread = p * (1.0 - p) / n + 0.25 * square / (n * n);
        let half = Z_95 * spread.sqrt() / (1.0 + square / n);
        // What rounding leaves at the ends of the scale.
        let (low, high) = (100.0 * (middle - half), 100.0 * (middle + half));
        let percent = 100.0 * p;
        (low.max(0.0).min(percent), high.min(100.0).max(percent))
    }

    /// How far the percentage may be off, to go with it as a single number: up to the farther end of its
    /// interval. Of many decisions this is half the interval; nothing is said of none.
    #[must_use]
    pub fn error(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let (low, high) = self.interval();
        (self.percent() - low).max(high - self.percent())
    }

    /// The hits that make a percentage of so many.
    #[must_use]
    pub fn of(percent: f64, count: u64) -> Hits {
        Hits { hits: percent / 100.0 * count as f64, count }
    }

    fn add(&mut self, hit: f64) {
        self.hits += hit;
        self.count += 1;
    }

    fn join(&mut self, other: &Hits) {
        self.hits += other.hits;
        self.count += other.count;
    }
}

/// What a model predicts of a set of decisions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accuracy {
    /// Decisions with more than one legal move.
    pub choices: Hits,
    /// All decisions.
    pub all: Hits,
    /// Choices, a tie with the best counting as a whole hit.
    pub ties_as_hits: Hits,
    /// Choices whose move is among the best 1, 2, ... up to [`RANKS`].
    pub top: [Hits; RANKS],
    /// Over choices: pairs of the played move and another in which the played one is rated
    /// higher; half for a tie.
    pub pairs: Hits,
    /// Choices by stage.
    pub stages: [Hits; 13],
    /// Pairs by stage.
    pub stage_pairs: [Hits; 13],
    /// Choices by number of the move, from 1; the first entry is move 1.
    pub plies: Vec<Hits>,
}

impl Accuracy {
    fn join(mut self, other: Accuracy) -> Accuracy {
        self.choices.join(&other.choices);
        self.all.join(&other.all);
        self.ties_as_hits.join(&other.ties_as_hits);
        self.pairs.join(&other.pairs);
        let lists = [
            (&mut self.top[..], &other.top[..]),
            (&mut self.stages[..], &other.stages[..]),
            (&mut self.stage_pairs[..], &other.stage_pairs[..]),
            (&mut self.plies[..], &other.plies[..]),
        ];
        for (own, theirs) in lists {
            for (own, theirs) in own.iter_mut().zip(theirs) {
                own.join(theirs);
            }
        }
        self
    }

    fn add(&mut self, position: &Othello, moves: usize, better: usize, tied: usize, worse: usize) {
        let share = if better == 0 { 1.0 / tied as f64 } else { 0.0 };
        self.all.add(share);
        if moves < 2 {
            return;
        }
        self.choices.add(share);
        self.ties_as_hits.add(if better == 0 { 1.0 } else { 0.0 });
        for (k, top) in self.top.iter_mut().enumerate() {
            let room = (k + 1) as f64 - better as f64;
            top.add((room / tied as f64).clamp(0.0, 1.0));
        }
        let pairs = worse as f64 + 0.5 * (tied - 1) as f64;
        let discs = position.pieces() + 1;
        let stage = STAGES.iter().position(|&(_, most)| discs <= most).unwrap_or(12);
        for hits in [&mut self.pairs, &mut self.stage_pairs[stage]] {
            hits.hits += pairs;
            hits.count += (moves - 1) as u64;
        }
        self.stages[stage].add(share);
        let ply = (discs as usize).checked_sub(5).and_then(|ply| self.plies.get_mut(ply));
        if let Some(ply) = ply {
            ply.add(share);
        }
    }
}

/// Measures a policy on decisions.
///
/// The decisions are cut into pieces of fixed size whose results are added in order, so the sums
/// are the same on any number of threads.
pub fn accuracy(policy: &dyn Policy<Othello>, decisions: &[Decision<Othello>]) -> Accuracy {
    let empty = || Accuracy { plies: vec![Hits::default(); 60], ..Accuracy::default() };
    let pieces: Vec<Accuracy> = decisions
        .par_chunks(4096)
        .map(|piece| {
            let mut result = empty();
            let asked = piece.chunks(policy.batch_size().max(1)).flat_map(|together| {
                let positions: Vec<_> = together
                    .iter()
                    .map(|decision| (decision.position, decision.position.moves().collect()))
                    .collect();
                let scores = policy.score_batch(&positions);
                positions.into_iter().zip(scores)
            });
            for (&Decision { chosen, .. }, ((position, moves), scores)) in piece.iter().zip(asked) {
                let moves: Vec<_> = moves;
                let Some(at) = moves.iter().position(|&mv| mv == chosen) else { continue };
                let own = scores[at];
                let better = scores.iter().filter(|&&s| s > own + TIE).count();
                let worse = scores.iter().filter(|&&s| s < own - TIE).count();
                // A score that is no number is neither better nor worse: it ties.
                let tied = moves.len() - better - worse;
                result.add(&position, moves.len(), better, tied, worse);
            }
            result
        })
        .collect();
    pieces.into_iter().fold(empty(), Accuracy::join)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Newcombe, "Two-sided confidence intervals for the single proportion" (1998), Table I, method 3.
    #[test]
    fn intervals_are_wilsons() {
        for (hits, count, low, high) in [
            (81.0, 263, 0.2553, 0.3662),
            (15.0, 148, 0.0624, 0.1605),
            (0.0, 20, 0.0, 0.1611),
            (1.0, 29, 0.0061, 0.1718),
        ] {
            let close = |x: f64, y: f64| (x / 100.0 - y).abs() < 6e-5;
            let found = Hits { hits, count }.interval();
            assert!(close(found.0, low) && close(found.1, high), "{hits} of {count}: {found:?}");
            // Misses have the mirrored interval.
            let misses = Hits { hits: count as f64 - hits, count }.interval();
            assert!(close(misses.0, 1.0 - high) && close(misses.1, 1.0 - low), "{misses:?}");
            // A single number reaches the farther end.
            let share = hits / count as f64;
            let error = Hits { hits, count }.error();
            assert!((error / 100.0 - (share - low).max(high - share)).abs() < 6e-5, "{error}");
        }
        assert_eq!(Hits { hits: 0.0, count: 20 }.interval().0, 0.0);
        assert_eq!(Hits::from_percent(100.0, 7).interval().1, 100.0);
        // Of many it is the normal approximation: 1.96 sqrt(0.6 * 0.4 / 400,000).
        assert!((Hits::from_percent(60.0, 400_000).error() - 0.1518).abs() < 2e-4);
        assert_eq!((Hits::default().error(), Hits::default().interval()), (0.0, (0.0, 100.0)));
    }
}
