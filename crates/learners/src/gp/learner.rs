//! The learner of a game's heuristic: rounds of query selection, comparison and inference.

use super::active_learner::{ActiveLearner, ComparisonOutcome, GpConfig, Query};
use super::game_oracle::{GameOracle, GameOracleConfig, random_heuristics};
use super::{GpError, state};
use crate::training::{Learner, StepError, TrainingCounts};
use outflank_models::{Heuristic, NamedFeatures};
use outflank_players::registry::RegisteredGame;

/// Decides comparisons of heuristics, by games or by asking a person.
pub trait PreferenceOracle {
    /// Compares the pairs of a round, given as indices into `points`.
    fn compare(
        &mut self,
        round: u64,
        points: &[Vec<f64>],
        pairs: &[(usize, usize)],
    ) -> Result<Vec<ComparisonOutcome>, GpError>;

    /// Returns the number of games per comparison.
    fn games_per_comparison(&self) -> u64;
}

/// Statistics of a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundStats {
    /// Training games played so far.
    pub games: u64,
    /// Log evidence of all comparisons.
    pub log_evidence: f64,
    /// Number of comparisons.
    pub comparisons: u64,
    /// Predicted mean of the selected pair; 0 in the initial round.
    pub mean: f64,
    /// Predicted variance of the selected pair.
    pub variance: f64,
    /// Share of the outcomes that were predicted correctly before the update; ties count half.
    pub accuracy: f64,
    /// Best benchmark score so far; 0 without a benchmark.
    pub best_score: f64,
}

/// Learns a heuristic of a game from comparisons.
#[derive(Clone, Debug)]
pub struct GpLearner<P, O = GameOracle<P>> {
    pub(super) active_learner: ActiveLearner,
    games: GameOracle<P>,
    oracle: O,
    /// The opponents of the benchmark; empty without one.
    benchmark: Vec<Vec<f64>>,
    pub(super) scores: Vec<f64>,
    pub(super) rounds: Vec<RoundStats>,
}

impl<P: RegisteredGame + NamedFeatures> GpLearner<P> {
    /// Creates a learner whose comparisons are decided by games. `benchmark` is the number of
    /// random heuristics that every heuristic is scored against.
    pub fn new(
        config: GpConfig,
        games: GameOracleConfig,
        benchmark: usize,
    ) -> Result<GpLearner<P>, GpError> {
        GpLearner::with_oracle(config, games, benchmark, GameOracle::new(games))
    }
}

impl<P: RegisteredGame + NamedFeatures, O: PreferenceOracle> GpLearner<P, O> {
    /// Creates a learner with another preference oracle; games are only used for the benchmark.
    pub fn with_oracle(
        config: GpConfig,
        games: GameOracleConfig,
        benchmark: usize,
        oracle: O,
    ) -> Result<GpLearner<P, O>, GpError> {
        if config.dimensions != P::FEATURES.len() {
            let reason = format!(
                "{} has {} features, not {}",
                P::GAME,
                P::FEATURES.len(),
                config.dimensions
            );
            return Err(GpError::Config(reason));
        }
        if games.games == 0 || games.depth == 0 {
            let reason = "a comparison needs at least one game and one ply".to_owned();
            return Err(GpError::Config(reason));
        }
        Ok(GpLearner {
            active_learner: ActiveLearner::new(config)?,
            games: GameOracle::new(games),
            oracle,
            benchmark: random_heuristics(config.dimensions, benchmark, config.seed, "benchmark"),
            scores: Vec::new(),
            rounds: Vec::new(),
        })
    }

    /// Returns the active learner.
    #[must_use]
    pub fn active_learner(&self) -> &ActiveLearner {
        &self.active_learner
    }

    /// Returns the statistics of the rounds, starting with the initial one.
    #[must_use]
    pub fn rounds(&self) -> &[RoundStats] {
        &self.rounds
    }

    /// Returns the benchmark score of each heuristic, in the order of [`ActiveLearner::points`].
    #[must_use]
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// Returns the number of training games.
    #[must_use]
    pub fn games_played(&self) -> u64 {
        self.rounds.last().map_or(0, |round| round.games)
    }

    /// Returns the index of the best heuristic: by benchmark score, or by mean strength without a
    /// benchmark; the first of equals.
    #[must_use]
    pub fn best_index(&self) -> usize {
        let means = self.active_learner.posterior().map(|posterior| &posterior.latent().mean);
        let scores = if self.benchmark.is_empty() { means } else { Some(&self.scores) };
        let scores = scores.map_or(&[][..], Vec::as_slice);
        scores.iter().enumerate().fold(0, |best, (at, score)| {
            if scores.get(best).is_some_and(|top| score > top) { at } else { best }
        })
    }

    /// Returns the best heuristic; the zero heuristic before the first round.
    #[must_use]
    pub fn heuristic(&self) -> Heuristic<P> {
        let weights: Vec<f32> = match self.active_learner.points().get(self.best_index()) {
            Some(point) => point.iter().map(|&weight| weight as f32).collect(),
            None => Vec::new(),
        };
        Heuristic::new(&weights).unwrap_or_else(Heuristic::zero)
    }

    /// Runs a round: query, comparison, update and scoring. A round that fails or is stopped has no
    /// effect.
    pub fn round(&mut self) -> Result<(), GpError> {
        let before = (self.active_learner.clone(), self.scores.len(), self.rounds.len());
        let mut run = || {
            let query = self.next_query();
            let outcomes = self.compare(&query)?;
            self.update(&query, &outcomes)?;
            self.score(&query)
        };
        let result = run();
        if result.is_err() {
            self.active_learner = before.0;
            self.scores.truncate(before.1);
            self.rounds.truncate(before.2);
        }
        result
    }

    /// Selects the next query.
    pub fn next_query(&mut self) -> Query {
        self.active_learner.next_query(self.best_index())
    }

    /// Lets the oracle compare the pairs of a query.
    pub fn compare(&mut self, query: &Query) -> Result<Vec<ComparisonOutcome>, GpError> {
        self.oracle.compare(self.active_learner.round, self.active_learner.points(), &query.pairs)
    }

    /// Updates the posterior with the outcomes.
    pub fn update(&mut self, query: &Query, outcomes: &[ComparisonOutcome]) -> Result<(), GpError> {
        let accuracy = self.active_learner.prediction_accuracy(query, outcomes);
        self.active_learner.update(query, outcomes)?;
        let games =
            self.games_played() + query.pairs.len() as u64 * self.oracle.games_per_comparison();
        let log_evidence = self.active_learner.posterior().map_or(0.0, |p| p.latent().log_evidence);
        let (mean, variance) = query.prediction.map_or((0.0, 0.0), |e| (e.mean, e.variance));
        let comparisons = self.active_learner.comparisons().len() as u64;
        let best_score = self.rounds.last().map_or(0.0, |round| round.best_score);
        self.rounds.push(RoundStats {
            games,
            log_evidence,
            comparisons,
            mean,
            variance,
            accuracy,
            best_score,
        });
        Ok(())
    }

    /// Scores the new heuristics on the benchmark.
    pub fn score(&mut self, query: &Query) -> Result<(), GpError> {
        if self.benchmark.is_empty() {
            return Ok(());
        }
        let new: Vec<Vec<f64>> =
            query.new_points.iter().map(|&at| self.active_learner.points()[at].clone()).collect();
        self.scores.extend(self.games.benchmark("fixed", &new, &self.benchmark)?);
        let best = self.scores.get(self.best_index()).copied().unwrap_or(0.0);
        if let Some(round) = self.rounds.last_mut() {
            round.best_score = best;
        }
        Ok(())
    }

    /// Scores the best heuristic against random heuristics outside the benchmark by which it was
    /// selected.
    pub fn held_out_score(&self) -> Result<f64, GpError> {
        let config = self.active_learner.config();
        let opponents = random_heuristics(
            config.dimensions,
            self.benchmark.len(),
            config.seed,
            "fresh benchmark",
        );
        let best: Vec<Vec<f64>> =
            self.active_learner.points().get(self.best_index()).cloned().into_iter().collect();
        let scores = self.games.benchmark("fresh", &best, &opponents)?;
        Ok(scores.first().copied().unwrap_or(0.0))
    }
}

impl<P: RegisteredGame + NamedFeatures, O: PreferenceOracle> Learner for GpLearner<P, O> {
    type Model = Heuristic<P>;

    /// Compares the initial random heuristics.
    fn begin(&mut self) -> Result<(), StepError> {
        Ok(self.round()?)
    }

    /// Returns the number of completed rounds.
    fn spent(&self) -> u64 {
        self.active_learner.rounds()
    }

    fn next_cost(&self) -> u64 {
        1
    }

    fn step(&mut self) -> Result<(), StepError> {
        Ok(self.round()?)
    }

    fn model(&self) -> Result<Heuristic<P>, StepError> {
        Ok(self.heuristic())
    }

    fn counts(&self) -> TrainingCounts {
        let comparisons = self.active_learner.comparisons().len() as u64;
        TrainingCounts { examples: Some(comparisons), epochs: None }
    }

    fn state(&self) -> Result<Vec<Vec<u8>>, String> {
        Ok(state::write(&self.active_learner, &self.scores, &self.rounds))
    }

    fn restore(&mut self, sections: &[Vec<u8>]) -> Result<(), String> {
        let scored = !self.benchmark.is_empty();
        let (active, scores, rounds) = state::read(self.active_learner.config, scored, sections)?;
        (self.active_learner, self.scores, self.rounds) = (active, scores, rounds);
        Ok(())
    }
}

impl From<GpError> for StepError {
    fn from(error: GpError) -> StepError {
        match error {
            GpError::Stopped => StepError::Stopped,
            other => StepError::Failed(other.to_string()),
        }
    }
}
