//! Test pairs: random pairs of heuristics with the winner of their comparison.

use super::GpError;
use super::active_learner::ComparisonOutcome;
use super::game_oracle::{GameOracle, PAIRS_PER_BATCH, random_heuristics};
use super::posterior::Posterior;
use outflank_models::NamedFeatures;
use outflank_players::registry::RegisteredGame;
use outflank_runs::Journal;
use rayon::prelude::*;
use std::cmp::Ordering;
use std::path::Path;

/// Random pairs of heuristics whose comparison was not a tie.
#[derive(Clone, Debug)]
pub struct TestPairs {
    /// The heuristics, two per pair.
    points: Vec<Vec<f64>>,
    /// Indices of winner and loser.
    pairs: Vec<(usize, usize)>,
    /// Number of pairs left out because their comparison was a tie.
    pub ties: usize,
}

impl TestPairs {
    /// Plays until there are `count` pairs, without a journal.
    #[cfg(test)]
    pub(super) fn play<P: RegisteredGame + NamedFeatures>(
        games: &GameOracle<P>,
        count: usize,
        mut progress: impl FnMut(usize),
    ) -> Result<TestPairs, GpError> {
        TestPairs::build(games, count, &[], |_, found| {
            progress(found);
            Ok(())
        })
    }

    /// Plays until there are `count` pairs; `progress` receives the number so far.
    ///
    /// Outcomes are written to a journal, from which an interrupted run resumes.
    pub fn play_journaled<P: RegisteredGame + NamedFeatures>(
        games: &GameOracle<P>,
        count: usize,
        path: &Path,
        mut progress: impl FnMut(usize),
    ) -> Result<TestPairs, GpError> {
        let failed = |error: &dyn std::fmt::Display| GpError::Oracle(error.to_string());
        let (mut journal, lines) = Journal::open(path).map_err(|error| failed(&error))?;
        let journaled: Option<Vec<Vec<ComparisonOutcome>>> =
            lines.iter().map(|line| decode(line)).collect();
        let journaled = journaled.ok_or_else(|| {
            failed(&format!(
                "{}: damaged journal. Delete it to play the pairs again.",
                path.display()
            ))
        })?;
        TestPairs::build(games, count, &journaled, |outcomes, found| {
            progress(found);
            let line: String = outcomes.iter().map(|&outcome| encode(outcome)).collect();
            journal.append(&[line]).map_err(|error| failed(&error))
        })
    }

    /// Builds the pairs in batches. Outcomes come from `journaled` first; `played` receives the
    /// others.
    fn build<P: RegisteredGame + NamedFeatures>(
        games: &GameOracle<P>,
        count: usize,
        journaled: &[Vec<ComparisonOutcome>],
        mut played: impl FnMut(&[ComparisonOutcome], usize) -> Result<(), GpError>,
    ) -> Result<TestPairs, GpError> {
        let mut tests = TestPairs { points: Vec::new(), pairs: Vec::new(), ties: 0 };
        let pairs: Vec<(usize, usize)> =
            (0..PAIRS_PER_BATCH).map(|at| (2 * at, 2 * at + 1)).collect();
        let mut batch = 0;
        // Bounded, in case all comparisons are ties.
        while tests.pairs.len() < count && batch < 20 + count {
            let name = format!("tests {batch}");
            let seed = games.config.seed;
            let drawn = random_heuristics(P::FEATURES.len(), 2 * PAIRS_PER_BATCH, seed, &name);
            let outcomes = match journaled.get(batch) {
                Some(outcomes) if outcomes.len() == PAIRS_PER_BATCH => outcomes.clone(),
                _ => games.compare_pairs(&[&name], &drawn, &pairs)?,
            };
            let base = tests.points.len();
            tests.points.extend(drawn);
            for (&(first, second), outcome) in pairs.iter().zip(&outcomes) {
                if tests.pairs.len() == count {
                    break;
                }
                match outcome {
                    ComparisonOutcome::First => tests.pairs.push((base + first, base + second)),
                    ComparisonOutcome::Second => tests.pairs.push((base + second, base + first)),
                    ComparisonOutcome::Tie => tests.ties += 1,
                }
            }
            if batch >= journaled.len() {
                played(&outcomes, tests.pairs.len())?;
            }
            batch += 1;
        }
        Ok(tests)
    }

    /// Returns the number of pairs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Returns whether there are no pairs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Returns the share of pairs whose winner has the larger predicted strength; equal strengths
    /// count half.
    #[must_use]
    pub fn accuracy(&self, posterior: &Posterior) -> f64 {
        let strengths: Vec<f64> =
            self.points.par_iter().map(|point| posterior.strength(point)).collect();
        let halves: u32 = self
            .pairs
            .iter()
            .map(|&(winner, loser)| match strengths[winner].total_cmp(&strengths[loser]) {
                Ordering::Greater => 2,
                Ordering::Equal => 1,
                Ordering::Less => 0,
            })
            .sum();
        f64::from(halves) / (2 * self.len().max(1)) as f64
    }

    /// Estimates the accuracy that any model could reach on these pairs by repeating each
    /// comparison.
    pub fn accuracy_limit<P: RegisteredGame + NamedFeatures>(
        &self,
        games: &GameOracle<P>,
    ) -> Result<AccuracyLimit, GpError> {
        let mut sums = vec![0i32; self.len()];
        let (mut same, mut ties) = (0u32, 0u32);
        for repeat in 0..REPEATS {
            let name = if repeat == 0 { "fresh".to_owned() } else { format!("fresh {repeat}") };
            let outcomes = games.compare_pairs(&["repeated", &name], &self.points, &self.pairs)?;
            for (sum, outcome) in sums.iter_mut().zip(outcomes) {
                *sum += match outcome {
                    ComparisonOutcome::First => 1,
                    ComparisonOutcome::Second => -1,
                    ComparisonOutcome::Tie => 0,
                };
                same += u32::from(repeat == 0 && outcome == ComparisonOutcome::First);
                ties += u32::from(repeat == 0 && outcome == ComparisonOutcome::Tie);
            }
        }
        let halves: i32 = sums.iter().map(|sum| 1 + sum.signum()).sum();
        let count = self.len().max(1) as f64;
        Ok(AccuracyLimit {
            same: f64::from(same) / count,
            ties: f64::from(ties) / count,
            majority: 0.5 * f64::from(halves) / count,
        })
    }
}

/// Number of repeated comparisons per pair; odd.
const REPEATS: u32 = 7;

/// Estimates of the best possible accuracy on test pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccuracyLimit {
    /// Share of pairs whose winner also wins a repeated comparison.
    pub same: f64,
    /// Share of ties in the repeated comparison.
    pub ties: f64,
    /// Share of pairs whose winner also wins the majority of the repeated comparisons; ties count
    /// half. It slightly underestimates the accuracy of a model with the true probabilities.
    pub majority: f64,
}

impl AccuracyLimit {
    /// Returns the share of pairs with the same winner among those without a tie.
    #[must_use]
    pub fn same_if_decided(&self) -> f64 {
        self.same / (1.0 - self.ties).max(f64::EPSILON)
    }
}

/// Encodes an outcome in the journal.
fn encode(outcome: ComparisonOutcome) -> char {
    match outcome {
        ComparisonOutcome::First => '1',
        ComparisonOutcome::Second => '2',
        ComparisonOutcome::Tie => '=',
    }
}

/// Decodes a line of the journal.
fn decode(line: &str) -> Option<Vec<ComparisonOutcome>> {
    let outcome = |code: char| match code {
        '1' => Some(ComparisonOutcome::First),
        '2' => Some(ComparisonOutcome::Second),
        '=' => Some(ComparisonOutcome::Tie),
        _ => None,
    };
    line.chars().map(outcome).collect()
}
