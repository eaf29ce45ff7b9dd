//! The learner: rounds of choosing, comparing and learning, for either game.

use super::active::{Active, Outcome, Question, Settings};
use super::games::{Contest, GameOracle, random_heuristics};
use super::{GpError, state};
use crate::training::{Learner, StepError};
use outflank_models::{NamedFeatures, Heuristic};
use outflank_players::registry::RegisteredGame;

/// Says how comparisons come out: by games, or by asking somebody.
pub trait PreferenceOracle {
    /// How the pairs of a round come out, points being known by their numbers.
    fn judge(
        &mut self,
        round: u64,
        points: &[Vec<f64>],
        pairs: &[(usize, usize)],
    ) -> Result<Vec<Outcome>, GpError>;

    /// How many games a comparison takes.
    fn games(&self) -> u64;
}

/// What a round has shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// Games played to learn from, until then.
    pub games: u64,
    /// The log evidence, and the comparisons it is of.
    pub evidence: f64,
    /// How many comparisons there were.
    pub comparisons: u64,
    /// What was expected of the pair when it was chosen; zero at the beginning.
    pub mean: f64,
    /// How uncertain that was.
    pub variance: f64,
    /// The share of the round's outcomes that was foreseen, one that is even or of which nothing
    /// was known counting half.
    pub foreseen: f64,
    /// The best benchmark score so far; 0 without a benchmark.
    pub best: f64,
}

/// Learns heuristics of a game by comparing them.
#[derive(Clone, Debug)]
pub struct Gp<P, J = GameOracle<P>> {
    pub(super) active: Active,
    games: GameOracle<P>,
    judge: J,
    /// Whom every heuristic plays to be scored; nobody, when none was asked for.
    benchmark: Vec<Vec<f64>>,
    pub(super) scores: Vec<f64>,
    pub(super) rounds: Vec<Round>,
}

impl<P: RegisteredGame + NamedFeatures> Gp<P> {
    /// Nothing learned yet; games decide, and `benchmark` random heuristics are what all are scored
    /// against.
    pub fn new(settings: Settings, contest: Contest, benchmark: usize) -> Result<Gp<P>, GpError> {
        Gp::judged(settings, contest, benchmark, GameOracle::new(contest))
    }
}

impl<P: RegisteredGame + NamedFeatures, J: PreferenceOracle> Gp<P, J> {
    /// The same with another judge; games only score.
    pub fn judged(
        settings: Settings,
        contest: Contest,
        benchmark: usize,
        judge: J,
    ) -> Result<Gp<P, J>, GpError> {
        if settings.dimensions != P::FEATURES.len() {
            let reason = format!(
                "{} has {} features, not {}",
                P::GAME,
                P::FEATURES.len(),
                settings.dimensions
            );
            return Err(GpError::Settings(reason));
        }
        if contest.games == 0 || contest.depth == 0 {
            let reason = "a comparison needs at least one game and one ply".to_owned();
            return Err(GpError::Settings(reason));
        }
        Ok(Gp {
            active: Active::new(settings)?,
            games: GameOracle::new(contest),
            judge,
            benchmark: random_heuristics(
                settings.dimensions,
                benchmark,
                settings.seed,
                "benchmark",
            ),
            scores: Vec::new(),
            rounds: Vec::new(),
        })
    }

    /// The loop inside.
    #[must_use]
    pub fn active(&self) -> &Active {
        &self.active
    }

    /// What each round has shown, the beginning first.
    #[must_use]
    pub fn rounds(&self) -> &[Round] {
        &self.rounds
    }

    /// The benchmark score of each heuristic, in the order of [`Active::points`].
    #[must_use]
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// Games played to learn from.
    #[must_use]
    pub fn played(&self) -> u64 {
        self.rounds.last().map_or(0, |round| round.games)
    }

    /// The number of the best heuristic so far: by the benchmark, or by what is believed where
    /// there is none; the first of equals.
    #[must_use]
    pub fn best(&self) -> usize {
        let means = self.active.posterior().map(|posterior| &posterior.latent().mean);
        let worth = if self.benchmark.is_empty() { means } else { Some(&self.scores) };
        let worth = worth.map_or(&[][..], Vec::as_slice);
        worth.iter().enumerate().fold(0, |best, (at, score)| {
            if worth.get(best).is_some_and(|top| score > top) { at } else { best }
        })
    }

    /// The best heuristic so far; one to which all is alike before the first step.
    #[must_use]
    pub fn heuristic(&self) -> Heuristic<P> {
        let weights: Vec<f32> = match self.active.points().get(self.best()) {
            Some(point) => point.iter().map(|&weight| weight as f32).collect(),
            None => Vec::new(),
        };
        Heuristic::new(&weights).unwrap_or_else(Heuristic::zero)
    }

    /// A round: chooses, compares, learns and scores; one that fails or is stopped changes nothing.
    pub fn round(&mut self) -> Result<(), GpError> {
        let before = (self.active.clone(), self.scores.len(), self.rounds.len());
        let mut whole = || {
            let question = self.choose();
            let outcomes = self.compare(&question)?;
            self.learn(&question, &outcomes)?;
            self.score(&question)
        };
        let done = whole();
        if done.is_err() {
            self.active = before.0;
            self.scores.truncate(before.1);
            self.rounds.truncate(before.2);
        }
        done
    }

    /// Chooses what to compare next.
    pub fn choose(&mut self) -> Question {
        self.active.ask(self.best())
    }

    /// Compares it.
    pub fn compare(&mut self, question: &Question) -> Result<Vec<Outcome>, GpError> {
        self.judge.judge(self.active.round, self.active.points(), &question.pairs)
    }

    /// Learns from it.
    pub fn learn(&mut self, question: &Question, outcomes: &[Outcome]) -> Result<(), GpError> {
        let foreseen = self.active.foreseen(question, outcomes);
        self.active.tell(question, outcomes)?;
        let games = self.played() + question.pairs.len() as u64 * self.judge.games();
        let evidence = self.active.posterior().map_or(0.0, |p| p.strengths().evidence);
        let (mean, variance) = question.expected.map_or((0.0, 0.0), |e| (e.mean, e.variance));
        let comparisons = self.active.comparisons().len() as u64;
        let best = self.rounds.last().map_or(0.0, |round| round.best);
        self.rounds.push(Round { games, evidence, comparisons, mean, variance, foreseen, best });
        Ok(())
    }

    /// Scores the heuristics that are new.
    pub fn score(&mut self, question: &Question) -> Result<(), GpError> {
        if self.benchmark.is_empty() {
            return Ok(());
        }
        let fresh: Vec<Vec<f64>> =
            question.fresh.iter().map(|&at| self.active.points()[at].clone()).collect();
        self.scores.extend(self.games.benchmark("fixed", &fresh, &self.benchmark)?);
        let best = self.scores.get(self.best()).copied().unwrap_or(0.0);
        if let Some(round) = self.rounds.last_mut() {
            round.best = best;
        }
        Ok(())
    }

    /// The score of the best heuristic against as many random ones as the benchmark has, which it
    /// was not chosen by.
    pub fn fresh_score(&self) -> Result<f64, GpError> {
        let settings = self.active.settings();
        let fresh = random_heuristics(
            settings.dimensions,
            self.benchmark.len(),
            settings.seed,
            "fresh benchmark",
        );
        let best: Vec<Vec<f64>> =
            self.active.points().get(self.best()).cloned().into_iter().collect();
        let scores = self.games.benchmark("fresh", &best, &fresh)?;
        Ok(scores.first().copied().unwrap_or(0.0))
    }
}

impl<P: RegisteredGame + NamedFeatures, J: PreferenceOracle> Learner for Gp<P, J> {
    type Model = Heuristic<P>;

    /// Compares the random heuristics that it begins with.
    fn begin(&mut self) -> Result<(), StepError> {
        Ok(self.round()?)
    }

    /// Rounds.
    fn spent(&self) -> u64 {
        self.active.rounds()
    }

    fn next_cost(&self) -> u64 {
        1
    }

    fn step(&mut self) -> Result<(), StepError> {
        Ok(self.round()?)
    }

    fn model(&self) -> Heuristic<P> {
        self.heuristic()
    }

    fn state(&self) -> Result<Vec<Vec<u8>>, String> {
        Ok(state::write(&self.active, &self.scores, &self.rounds))
    }

    fn restore(&mut self, parts: &[Vec<u8>]) -> Result<(), String> {
        let scored = !self.benchmark.is_empty();
        let (active, scores, rounds) = state::read(self.active.settings, scored, parts)?;
        (self.active, self.scores, self.rounds) = (active, scores, rounds);
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
