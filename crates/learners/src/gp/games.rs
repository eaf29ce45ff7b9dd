//! Comparing heuristics by games.
//!
//! Paper 2, section 4, plays each game three times; between players without chance that would be
//! one game three times, so each game has a random opening of its own. Colours alternate, the
//! majority decides, and a tie is even.

use super::GpError;
use super::active::Outcome;
use super::learner::PreferenceOracle;
use outflank_arena::play;
use outflank_games::{Line, Position};
use outflank_models::{NamedFeatures, Heuristic};
use outflank_players::registry::RegisteredGame;
use outflank_players::{AlphaBeta, Player};
use outflank_runs::{RngExt, Rng, rng, stop_requested};
use rayon::prelude::*;
use std::collections::HashSet;
use std::marker::PhantomData;
use std::sync::Arc;

/// How games are played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contest {
    /// How many plies alpha-beta looks ahead.
    pub depth: u32,
    /// How many games a pair plays.
    pub games: u32,
    /// How many random moves a game begins with.
    pub opening: u32,
    /// The seed.
    pub seed: u64,
}

/// Plays the games of one game.
#[derive(Clone, Copy, Debug)]
pub struct GameOracle<P> {
    pub(super) contest: Contest,
    game: PhantomData<fn() -> P>,
}

/// So many pairs are played between two looks at whether to stop.
pub(super) const AT_A_TIME: usize = 64;

impl<P: RegisteredGame + NamedFeatures> GameOracle<P> {
    /// Plays under these terms.
    #[must_use]
    pub fn new(contest: Contest) -> GameOracle<P> {
        GameOracle { contest, game: PhantomData }
    }

    /// The games of a pair, for the stream of this name: the first's wins less the second's.
    fn meet(&self, first: &Heuristic<P>, second: &Heuristic<P>, path: &[&str]) -> i32 {
        let player = |heuristic: &Heuristic<P>| {
            AlphaBeta::<P>::new(Arc::new(*heuristic), self.contest.depth)
        };
        let (mut first, mut second) = (player(first), player(second));
        let mut rng = rng::stream(self.contest.seed, path);
        let mut begun = HashSet::new();
        let mut sum = 0;
        for game in 0..self.contest.games {
            let opening = self.opening(&mut begun, &mut rng);
            let mut between = |black: &mut dyn Player<P>, white: &mut dyn Player<P>| {
                play(black, white, &opening, &mut rng).margin.signum()
            };
            // The first opening of a pair belongs to either as often as to the other, since nobody
            // is first by strength.
            sum += match game % 2 {
                0 => between(&mut first, &mut second),
                _ => -between(&mut second, &mut first),
            };
        }
        sum
    }

    /// A few random moves, to a position that this pair has not begun from, if there is one; a mirror
    /// image would be the same game again.
    fn opening(&self, begun: &mut HashSet<P>, rng: &mut Rng) -> Line<P> {
        let mut line: Line<P> = Line::default();
        for _ in 0..20 {
            line = random_line(self.contest.opening, rng);
            if !line.position().is_over() && begun.insert(line.position().canonical_form()) {
                break;
            }
        }
        line
    }

    /// The wins of the first less those of the second for each pair, each pair in a stream of its
    /// own below `name`.
    fn meet_all(
        &self,
        name: &[&str],
        points: &[Vec<f64>],
        pairs: &[(usize, usize)],
    ) -> Result<Vec<i32>, GpError> {
        let heuristics: Vec<Heuristic<P>> = points.iter().map(|point| heuristic(point)).collect();
        let mut sums = Vec::with_capacity(pairs.len());
        for (part, some) in pairs.chunks(AT_A_TIME).enumerate() {
            if stop_requested() {
                return Err(GpError::Stopped);
            }
            sums.par_extend(some.par_iter().enumerate().map(|(at, &(first, second))| {
                let number = (part * AT_A_TIME + at).to_string();
                let path = [&["gp", "games"], name, &[number.as_str()]].concat();
                self.meet(&heuristics[first], &heuristics[second], &path)
            }));
        }
        Ok(sums)
    }

    /// How pairs come out, in games of this name.
    pub fn compare(
        &self,
        name: &[&str],
        points: &[Vec<f64>],
        pairs: &[(usize, usize)],
    ) -> Result<Vec<Outcome>, GpError> {
        let outcome = |sum: i32| match sum.signum() {
            1 => Outcome::First,
            -1 => Outcome::Second,
            _ => Outcome::Even,
        };
        Ok(self.meet_all(name, points, pairs)?.into_iter().map(outcome).collect())
    }

    /// The score of each heuristic in one game against each of these: 1 for a win, ½ for a draw.
    ///
    /// Each opponent has its own opening, the same for all, and every other one has Black.
    pub fn benchmark(
        &self,
        name: &str,
        points: &[Vec<f64>],
        opponents: &[Vec<f64>],
    ) -> Result<Vec<f64>, GpError> {
        let single = GameOracle::<P>::new(Contest { games: 1, ..self.contest });
        let all: Vec<Heuristic<P>> = opponents.iter().map(|point| heuristic(point)).collect();
        let mut scores = Vec::with_capacity(points.len());
        for point in points {
            if stop_requested() {
                return Err(GpError::Stopped);
            }
            let own = heuristic::<P>(point);
            let sums: Vec<i32> = all
                .par_iter()
                .enumerate()
                .map(|(at, other)| {
                    let path = ["gp", "benchmark", name, &at.to_string()];
                    match at % 2 {
                        0 => single.meet(&own, other, &path),
                        _ => -single.meet(other, &own, &path),
                    }
                })
                .collect();
            scores.push(sums.iter().map(|&sum| f64::from(1 + sum) / 2.0).sum());
        }
        Ok(scores)
    }
}

impl<P: RegisteredGame + NamedFeatures> PreferenceOracle for GameOracle<P> {
    fn judge(
        &mut self,
        round: u64,
        points: &[Vec<f64>],
        pairs: &[(usize, usize)],
    ) -> Result<Vec<Outcome>, GpError> {
        self.compare(&["round", &round.to_string()], points, pairs)
    }

    fn games(&self) -> u64 {
        self.contest.games.into()
    }
}

/// The heuristic that a point is; a point of the wrong size plays as if all were alike to it.
#[must_use]
pub fn heuristic<P: NamedFeatures>(point: &[f64]) -> Heuristic<P> {
    let weights: Vec<f32> = P::FEATURES
        .iter()
        .enumerate()
        .map(|(at, _)| *point.get(at).unwrap_or(&0.0) as f32)
        .collect();
    Heuristic::new(&weights).unwrap_or_else(Heuristic::zero)
}

/// A game of so many random moves, or fewer where it ends before.
pub(super) fn random_line<P: Position>(plies: u32, rng: &mut Rng) -> Line<P> {
    let mut line: Line<P> = Line::default();
    for _ in 0..plies {
        let moves: Vec<P::Move> = line.position().moves().collect();
        let Some(&mv) = rng.pick(&moves) else { break };
        if line.push(mv).is_err() {
            break;
        }
    }
    line
}

/// Random heuristics, uniform in the box from -1 to 1.
#[must_use]
pub fn random_heuristics(dimensions: usize, count: usize, seed: u64, name: &str) -> Vec<Vec<f64>> {
    let mut rng = rng::stream(seed, &["gp", "random", name]);
    let mut weight = || f64::from((2.0 * rng.unit() - 1.0) as f32);
    (0..count).map(|_| (0..dimensions).map(|_| weight()).collect()).collect()
}
