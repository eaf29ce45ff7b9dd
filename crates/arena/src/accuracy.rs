//! Move-prediction accuracy: how often a model's best move is the move that was played.
//!
//! A decision with two or more legal moves is a choice. A decision with one legal move counts in
//! `all` and not in `choices`. If a model scores k moves equally best and the played move is one of
//! them, the decision counts as 1/k of a hit. Stages of the game are defined by the number of discs
//! on the board after the move, as in Runarsson & Lucas (2014), Table II.

use crate::ratings::Z_95;
use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_models::Policy;
use outflank_records::Decision;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Scores that differ by at most this much are ties, as in play.
pub const TIE_TOLERANCE: f32 = 1e-6;

/// The largest k of the top-k accuracy.
pub const MAX_TOP_K: usize = 5;

/// The 13 stages: minimum and maximum number of discs on the board after the move.
pub const ACCURACY_STAGES: [(u32, u32); 13] = [
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

/// Successes among a number of observations, such as moves predicted among decisions; a tie counts as
/// a fraction of a success.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BinomialCount {
    /// The number of successes.
    #[serde(rename = "hits")]
    pub successes: f64,
    /// The number of observations.
    pub count: u64,
}

impl BinomialCount {
    /// The percentage of successes; 0 if there are no observations.
    #[must_use]
    pub fn percent(&self) -> f64 {
        if self.count == 0 { 0.0 } else { 100.0 * self.successes / self.count as f64 }
    }

    /// The Wilson score interval (95%) of the percentage, assuming independent observations. It has
    /// a positive width even if all or none are successes, and lies within 0 to 100.
    #[must_use]
    pub fn interval(&self) -> (f64, f64) {
        if self.count == 0 {
            return (0.0, 100.0);
        }
        let (n, z2) = (self.count as f64, Z_95 * Z_95);
        let p = (self.successes / n).clamp(0.0, 1.0);
        let center = (p + 0.5 * z2 / n) / (1.0 + z2 / n);
        let variance = p * (1.0 - p) / n + 0.25 * z2 / (n * n);
        let half_width = Z_95 * variance.sqrt() / (1.0 + z2 / n);
        // Rounding errors may exceed the range at its ends.
        let (low, high) = (100.0 * (center - half_width), 100.0 * (center + half_width));
        let percent = 100.0 * p;
        (low.max(0.0).min(percent), high.min(100.0).max(percent))
    }

    /// The larger of the two distances from the percentage to the ends of its 95% interval; 0 if
    /// there are no observations. For many observations this is half the width of the interval.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let (low, high) = self.interval();
        (self.percent() - low).max(high - self.percent())
    }

    /// Creates the count of successes that is this percentage of `count` observations.
    #[must_use]
    pub fn from_percent(percent: f64, count: u64) -> BinomialCount {
        BinomialCount { successes: percent / 100.0 * count as f64, count }
    }

    fn add(&mut self, success: f64) {
        self.successes += success;
        self.count += 1;
    }

    fn merge(&mut self, other: &BinomialCount) {
        self.successes += other.successes;
        self.count += other.count;
    }
}

/// The accuracy of a model on a set of decisions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accuracy {
    /// Decisions with more than one legal move.
    pub choices: BinomialCount,
    /// All decisions.
    pub all: BinomialCount,
    /// Choices; here a played move that ties with the best counts as a full hit.
    pub ties_as_hits: BinomialCount,
    /// Choices whose move is among the best 1, 2, ... up to [`MAX_TOP_K`]: top-k accuracy.
    pub top_k: [BinomialCount; MAX_TOP_K],
    /// Pairs of the played move and another legal move, over all choices: a hit if the played move
    /// is scored higher, half a hit for a tie.
    pub pairs: BinomialCount,
    /// Choices by stage.
    pub stages: [BinomialCount; 13],
    /// Pairs by stage.
    pub stage_pairs: [BinomialCount; 13],
    /// Choices by move number; the first entry is move 1.
    pub plies: Vec<BinomialCount>,
}

impl Accuracy {
    fn merge(mut self, other: Accuracy) -> Accuracy {
        self.choices.merge(&other.choices);
        self.all.merge(&other.all);
        self.ties_as_hits.merge(&other.ties_as_hits);
        self.pairs.merge(&other.pairs);
        let lists = [
            (&mut self.top_k[..], &other.top_k[..]),
            (&mut self.stages[..], &other.stages[..]),
            (&mut self.stage_pairs[..], &other.stage_pairs[..]),
            (&mut self.plies[..], &other.plies[..]),
        ];
        for (hits, other_hits) in lists {
            for (hits, other_hits) in hits.iter_mut().zip(other_hits) {
                hits.merge(other_hits);
            }
        }
        self
    }

    /// Adds a decision: the number of legal moves, and how many of them score better than, equal to
    /// (the chosen move included) and worse than the chosen move.
    fn add(&mut self, position: &Othello, moves: usize, better: usize, tied: usize, worse: usize) {
        let hit = if better == 0 { 1.0 / tied as f64 } else { 0.0 };
        self.all.add(hit);
        if moves < 2 {
            return;
        }
        self.choices.add(hit);
        self.ties_as_hits.add(if better == 0 { 1.0 } else { 0.0 });
        for (k, top_k) in self.top_k.iter_mut().enumerate() {
            // The better moves take the first ranks; of the first k + 1 ranks, these are left for
            // the tied moves.
            let ranks_left = (k + 1) as f64 - better as f64;
            top_k.add((ranks_left / tied as f64).clamp(0.0, 1.0));
        }
        let pairs = worse as f64 + 0.5 * (tied - 1) as f64;
        let discs = position.pieces() + 1;
        let stage = ACCURACY_STAGES.iter().position(|&(_, max)| discs <= max).unwrap_or(12);
        for hits in [&mut self.pairs, &mut self.stage_pairs[stage]] {
            hits.successes += pairs;
            hits.count += (moves - 1) as u64;
        }
        self.stages[stage].add(hit);
        let ply = (discs as usize).checked_sub(5).and_then(|ply| self.plies.get_mut(ply));
        if let Some(ply) = ply {
            ply.add(hit);
        }
    }
}

/// Measures the accuracy of a policy on decisions.
///
/// The decisions are split into chunks of fixed size whose results are added in order, so the sums
/// do not depend on the number of threads.
pub fn accuracy(policy: &dyn Policy<Othello>, decisions: &[Decision<Othello>]) -> Accuracy {
    let empty = || Accuracy { plies: vec![BinomialCount::default(); 60], ..Accuracy::default() };
    let chunks: Vec<Accuracy> = decisions
        .par_chunks(4096)
        .map(|chunk| {
            let mut result = empty();
            let scored = chunk.chunks(policy.batch_size().max(1)).flat_map(|batch| {
                let positions: Vec<_> = batch
                    .iter()
                    .map(|decision| (decision.position, decision.position.moves().collect()))
                    .collect();
                let scores = policy.score_batch(&positions);
                positions.into_iter().zip(scores)
            });
            for (&Decision { chosen, .. }, ((position, moves), scores)) in chunk.iter().zip(scored)
            {
                let moves: Vec<_> = moves;
                let Some(index) = moves.iter().position(|&mv| mv == chosen) else { continue };
                let chosen_score = scores[index];
                let better = scores.iter().filter(|&&s| s > chosen_score + TIE_TOLERANCE).count();
                let worse = scores.iter().filter(|&&s| s < chosen_score - TIE_TOLERANCE).count();
                // A NaN is neither better nor worse, so it counts as a tie.
                let tied = moves.len() - better - worse;
                result.add(&position, moves.len(), better, tied, worse);
            }
            result
        })
        .collect();
    chunks.into_iter().fold(empty(), Accuracy::merge)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Newcombe, "Two-sided confidence intervals for the single proportion" (1998), Table I, method
    /// 3.
    #[test]
    fn intervals_match_published_wilson_intervals() {
        for (hits, count, low, high) in [
            (81.0, 263, 0.2553, 0.3662),
            (15.0, 148, 0.0624, 0.1605),
            (0.0, 20, 0.0, 0.1611),
            (1.0, 29, 0.0061, 0.1718),
        ] {
            let close = |x: f64, y: f64| (x / 100.0 - y).abs() < 6e-5;
            let found = BinomialCount { successes: hits, count }.interval();
            assert!(close(found.0, low) && close(found.1, high), "{hits} of {count}: {found:?}");
            // The interval of the misses is the mirror image.
            let misses = BinomialCount { successes: count as f64 - hits, count }.interval();
            assert!(close(misses.0, 1.0 - high) && close(misses.1, 1.0 - low), "{misses:?}");
            // The half-width is the distance to the farther end.
            let proportion = hits / count as f64;
            let half_width = BinomialCount { successes: hits, count }.half_width();
            let expected = (proportion - low).max(high - proportion);
            assert!((half_width / 100.0 - expected).abs() < 6e-5, "{half_width}");
        }
        assert_eq!(BinomialCount { successes: 0.0, count: 20 }.interval().0, 0.0);
        assert_eq!(BinomialCount::from_percent(100.0, 7).interval().1, 100.0);
        // For many decisions it is the normal approximation: 1.96 sqrt(0.6 * 0.4 / 400,000).
        assert!((BinomialCount::from_percent(60.0, 400_000).half_width() - 0.1518).abs() < 2e-4);
        assert_eq!(
            (BinomialCount::default().half_width(), BinomialCount::default().interval()),
            (0.0, (0.0, 100.0))
        );
    }
}
