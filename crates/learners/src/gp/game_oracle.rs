//! Comparison of heuristics by games (Yelluri, 2015, section 4): the majority of games decides.
//!
//! Departures from the paper:
//! 1. Each game has its own random opening, and colors alternate. The paper plays each game three
//!    times, but deterministic players repeat the same game.

use super::GpError;
use super::active_learner::ComparisonOutcome;
use super::learner::PreferenceOracle;
use outflank_arena::play_game;
use outflank_games::{Line, Position};
use outflank_models::{Heuristic, NamedFeatures};
use outflank_players::registry::RegisteredGame;
use outflank_players::{AlphaBeta, Player};
use outflank_runs::{Rng, RngExt, rng, stop_requested};
use rayon::prelude::*;
use std::collections::HashSet;
use std::marker::PhantomData;
use std::sync::Arc;

/// How the games of a comparison are played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameOracleConfig {
    /// Search depth of alpha-beta in plies.
    pub depth: u32,
    /// Games per comparison.
    pub games: u32,
    /// Random moves at the start of a game.
    pub opening: u32,
    /// The seed.
    pub seed: u64,
}

/// A preference oracle that decides comparisons by games of alpha-beta players.
#[derive(Clone, Copy, Debug)]
pub struct GameOracle<P> {
    pub(super) config: GameOracleConfig,
    game: PhantomData<fn() -> P>,
}

/// Number of pairs between two checks for a stop request.
pub(super) const PAIRS_PER_BATCH: usize = 64;

impl<P: RegisteredGame + NamedFeatures> GameOracle<P> {
    /// Creates an oracle.
    #[must_use]
    pub fn new(config: GameOracleConfig) -> GameOracle<P> {
        GameOracle { config, game: PhantomData }
    }

    /// Plays the games of a pair with the RNG stream `path`. Returns the wins of the first minus
    /// those of the second.
    fn play_pair(&self, first: &Heuristic<P>, second: &Heuristic<P>, path: &[&str]) -> i32 {
        let player =
            |heuristic: &Heuristic<P>| AlphaBeta::<P>::new(Arc::new(*heuristic), self.config.depth);
        let (mut first, mut second) = (player(first), player(second));
        let mut rng = rng::stream(self.config.seed, path);
        let mut used = HashSet::new();
        let mut sum = 0;
        for game in 0..self.config.games {
            let opening = self.opening(&mut used, &mut rng);
            let mut between = |black: &mut dyn Player<P>, white: &mut dyn Player<P>| {
                play_game(black, white, &opening, &mut rng).result.signum()
            };
            // The order within a pair is independent of strength, so an odd number of games is
            // fair.
            sum += match game % 2 {
                0 => between(&mut first, &mut second),
                _ => -between(&mut second, &mut first),
            };
        }
        sum
    }

    /// Draws a random opening that this pair has not used yet, up to symmetry, if possible.
    fn opening(&self, used: &mut HashSet<P>, rng: &mut Rng) -> Line<P> {
        let mut line: Line<P> = Line::default();
        for _ in 0..20 {
            line = random_line(self.config.opening, rng);
            if !line.position().is_over() && used.insert(line.position().canonical_form()) {
                break;
            }
        }
        line
    }

    /// Plays all pairs, each with its own RNG stream below `name`. Returns the wins of the first
    /// minus those of the second.
    fn play_pairs(
        &self,
        name: &[&str],
        points: &[Vec<f64>],
        pairs: &[(usize, usize)],
    ) -> Result<Vec<i32>, GpError> {
        let heuristics: Vec<Heuristic<P>> = points.iter().map(|point| heuristic(point)).collect();
        let mut sums = Vec::with_capacity(pairs.len());
        for (batch, some) in pairs.chunks(PAIRS_PER_BATCH).enumerate() {
            if stop_requested() {
                return Err(GpError::Stopped);
            }
            sums.par_extend(some.par_iter().enumerate().map(|(at, &(first, second))| {
                let number = (batch * PAIRS_PER_BATCH + at).to_string();
                let path = [&["gp", "games"], name, &[number.as_str()]].concat();
                self.play_pair(&heuristics[first], &heuristics[second], &path)
            }));
        }
        Ok(sums)
    }

    /// Compares pairs by games with RNG streams below `name`.
    pub fn compare_pairs(
        &self,
        name: &[&str],
        points: &[Vec<f64>],
        pairs: &[(usize, usize)],
    ) -> Result<Vec<ComparisonOutcome>, GpError> {
        let outcome = |sum: i32| match sum.signum() {
            1 => ComparisonOutcome::First,
            -1 => ComparisonOutcome::Second,
            _ => ComparisonOutcome::Tie,
        };
        Ok(self.play_pairs(name, points, pairs)?.into_iter().map(outcome).collect())
    }

    /// Scores each heuristic by one game against each opponent: 1 for a win, ½ for a draw.
    ///
    /// The opening and the color depend only on the opponent.
    pub fn benchmark(
        &self,
        name: &str,
        points: &[Vec<f64>],
        opponents: &[Vec<f64>],
    ) -> Result<Vec<f64>, GpError> {
        let single = GameOracle::<P>::new(GameOracleConfig { games: 1, ..self.config });
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
                        0 => single.play_pair(&own, other, &path),
                        _ => -single.play_pair(other, &own, &path),
                    }
                })
                .collect();
            scores.push(sums.iter().map(|&sum| f64::from(1 + sum) / 2.0).sum());
        }
        Ok(scores)
    }
}

impl<P: RegisteredGame + NamedFeatures> PreferenceOracle for GameOracle<P> {
    fn compare(
        &mut self,
        round: u64,
        points: &[Vec<f64>],
        pairs: &[(usize, usize)],
    ) -> Result<Vec<ComparisonOutcome>, GpError> {
        self.compare_pairs(&["round", &round.to_string()], points, pairs)
    }

    fn games_per_comparison(&self) -> u64 {
        self.config.games.into()
    }
}

/// Converts a point to a heuristic. Missing weights are zero.
#[must_use]
pub fn heuristic<P: NamedFeatures>(point: &[f64]) -> Heuristic<P> {
    let weights: Vec<f32> = P::FEATURES
        .iter()
        .enumerate()
        .map(|(at, _)| *point.get(at).unwrap_or(&0.0) as f32)
        .collect();
    Heuristic::new(&weights).unwrap_or_else(Heuristic::zero)
}

/// Plays random moves from the start, at most `plies`.
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

/// Draws random heuristics, uniform in [-1, 1] per weight.
#[must_use]
pub fn random_heuristics(dimensions: usize, count: usize, seed: u64, name: &str) -> Vec<Vec<f64>> {
    let mut rng = rng::stream(seed, &["gp", "random", name]);
    let mut weight = || f64::from((2.0 * rng.unit() - 1.0) as f32);
    (0..count).map(|_| (0..dimensions).map(|_| weight()).collect()).collect()
}
