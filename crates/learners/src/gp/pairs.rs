//! Pairs with known winners, to measure a belief with.

use super::GpError;
use super::active::Outcome;
use super::games::{AT_A_TIME, GameOracle, random_heuristics};
use super::posterior::Posterior;
use outflank_models::NamedFeatures;
use outflank_players::registry::RegisteredGame;
use outflank_runs::Journal;
use rayon::prelude::*;
use std::cmp::Ordering;
use std::path::Path;

/// Random pairs that did not come out even.
#[derive(Clone, Debug)]
pub struct Tests {
    /// Heuristics, two for each pair.
    points: Vec<Vec<f64>>,
    /// The winner's and the loser's number.
    pairs: Vec<(usize, usize)>,
    /// How many pairs came out even and were left out.
    pub even: usize,
}

impl Tests {
    /// So many pairs; `watch` sees how many there are.
    pub fn play<P: RegisteredGame + NamedFeatures>(
        games: &GameOracle<P>,
        count: usize,
        mut watch: impl FnMut(usize),
    ) -> Result<Tests, GpError> {
        Tests::build(games, count, &[], |_, found| {
            watch(found);
            Ok(())
        })
    }

    /// The same, whose outcomes are kept in a journal as they come, so that a stop loses nothing.
    pub fn recorded<P: RegisteredGame + NamedFeatures>(
        games: &GameOracle<P>,
        count: usize,
        path: &Path,
        mut watch: impl FnMut(usize),
    ) -> Result<Tests, GpError> {
        let failed = |error: &dyn std::fmt::Display| GpError::Oracle(error.to_string());
        let (mut journal, lines) = Journal::open(path).map_err(|error| failed(&error))?;
        let known: Option<Vec<Vec<Outcome>>> = lines.iter().map(|line| read(line)).collect();
        let known = known.ok_or_else(|| failed(&format!("{} is damaged", path.display())))?;
        Tests::build(games, count, &known, |outcomes, found| {
            watch(found);
            let line: String = outcomes.iter().map(|&outcome| letter(outcome)).collect();
            journal.append(&[line]).map_err(|error| failed(&error))
        })
    }

    /// Batch by batch, the known ones first; `played` sees each that was not known.
    fn build<P: RegisteredGame + NamedFeatures>(
        games: &GameOracle<P>,
        count: usize,
        known: &[Vec<Outcome>],
        mut played: impl FnMut(&[Outcome], usize) -> Result<(), GpError>,
    ) -> Result<Tests, GpError> {
        let mut tests = Tests { points: Vec::new(), pairs: Vec::new(), even: 0 };
        let pairs: Vec<(usize, usize)> = (0..AT_A_TIME).map(|at| (2 * at, 2 * at + 1)).collect();
        let mut batch = 0;
        // Heuristics that always draw would go on for ever, so there is an end to trying.
        while tests.pairs.len() < count && batch < 20 + count {
            let name = format!("tests {batch}");
            let seed = games.contest.seed;
            let drawn = random_heuristics(P::FEATURES.len(), 2 * AT_A_TIME, seed, &name);
            let outcomes = match known.get(batch) {
                Some(outcomes) if outcomes.len() == AT_A_TIME => outcomes.clone(),
                _ => games.compare(&[&name], &drawn, &pairs)?,
            };
            let base = tests.points.len();
            tests.points.extend(drawn);
            for (&(first, second), outcome) in pairs.iter().zip(&outcomes) {
                if tests.pairs.len() == count {
                    break;
                }
                match outcome {
                    Outcome::First => tests.pairs.push((base + first, base + second)),
                    Outcome::Second => tests.pairs.push((base + second, base + first)),
                    Outcome::Even => tests.even += 1,
                }
            }
            if batch >= known.len() {
                played(&outcomes, tests.pairs.len())?;
            }
            batch += 1;
        }
        Ok(tests)
    }

    /// How many pairs there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The share of pairs whose winner is believed to be the stronger; where both are believed
    /// equal, half a pair.
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

    /// How well any belief could do on these pairs, found out by comparing each anew several times.
    pub fn ceiling<P: RegisteredGame + NamedFeatures>(&self, games: &GameOracle<P>) -> Result<Ceiling, GpError> {
        let mut sums = vec![0i32; self.len()];
        let (mut same, mut even) = (0u32, 0u32);
        for time in 0..FRESH {
            let name = if time == 0 { "fresh".to_owned() } else { format!("fresh {time}") };
            let outcomes = games.compare(&["repeated", &name], &self.points, &self.pairs)?;
            for (sum, outcome) in sums.iter_mut().zip(outcomes) {
                *sum += match outcome {
                    Outcome::First => 1,
                    Outcome::Second => -1,
                    Outcome::Even => 0,
                };
                same += u32::from(time == 0 && outcome == Outcome::First);
                even += u32::from(time == 0 && outcome == Outcome::Even);
            }
        }
        let halves: i32 = sums.iter().map(|sum| 1 + sum.signum()).sum();
        let count = self.len().max(1) as f64;
        Ok(Ceiling {
            same: f64::from(same) / count,
            even: f64::from(even) / count,
            foreseeable: 0.5 * f64::from(halves) / count,
        })
    }
}

/// How often a pair is compared anew to see what could be known of it; an odd number.
const FRESH: u32 = 7;

/// How far the winners of test pairs can be foreseen at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ceiling {
    /// The share of pairs whose winner wins a fresh comparison.
    pub same: f64,
    /// The share that is even in that comparison.
    pub even: f64,
    /// The share of winners that the majority of several fresh comparisons names, half a pair where
    /// there is none: what whoever knew the true odds would come to, a little less for there being
    /// only so many.
    pub foreseeable: f64,
}

impl Ceiling {
    /// The share of the same winners among pairs that were decided again.
    #[must_use]
    pub fn of_decided(&self) -> f64 {
        self.same / (1.0 - self.even).max(f64::EPSILON)
    }
}

/// An outcome as a letter of a journal.
fn letter(outcome: Outcome) -> char {
    match outcome {
        Outcome::First => '1',
        Outcome::Second => '2',
        Outcome::Even => '=',
    }
}

/// The outcomes of a line.
fn read(line: &str) -> Option<Vec<Outcome>> {
    let outcome = |letter: char| match letter {
        '1' => Some(Outcome::First),
        '2' => Some(Outcome::Second),
        '=' => Some(Outcome::Even),
        _ => None,
    };
    line.chars().map(outcome).collect()
}
