//! Measures an Othello player by matches against opponents.

use super::{Evaluator, Learner, MetricColumn, Metrics, TrainingError};
use outflank_arena::ContestConfig;
use outflank_arena::matches::play_match;
use outflank_games::Line;
use outflank_games::othello::Othello;
use outflank_models::Model;
use outflank_players::{Greedy, PlayerFactory, RandomMoves};

/// An evaluator that plays matches against opponents.
#[derive(Clone, Debug)]
pub struct OpponentEvaluator {
    /// The opponents, with their own share of random moves.
    pub opponents: Vec<PlayerFactory<Othello>>,
    /// Games per opponent, half with each color.
    pub games: u32,
    /// Probability of a random move of the trained player.
    pub random: f64,
    /// The seed of the games.
    pub seed: u64,
    /// Number of threads.
    pub threads: usize,
}

impl<L: Learner + ?Sized> Evaluator<L> for OpponentEvaluator
where
    L::Model: Into<Model>,
{
    fn columns(&self) -> Vec<MetricColumn> {
        let column = |opponent: &PlayerFactory<Othello>| MetricColumn {
            name: opponent.name.clone(),
            tag: format!("score/{}", opponent.name),
            error: true,
        };
        self.opponents.iter().map(column).collect()
    }

    /// Returns the score against each opponent, 0 to 100, the half-width of its 95% confidence
    /// interval and the percentage of lost games. Several models divide the games among them.
    fn measure(&self, learner: &L) -> Result<Option<Metrics>, TrainingError> {
        let models: Vec<Model> = learner.models()?.into_iter().map(Into::into).collect();
        let (count, total) = (models.len() as u32, self.games / 2);
        let mut metrics = Metrics::default();
        for opponent in &self.opponents {
            let (mut score, mut variance, mut lost, mut played) = (0.0, 0.0, 0, 0);
            for (index, model) in models.iter().enumerate() {
                // Rounds are divided as evenly as possible, at least one per model.
                let rounds = (total / count + u32::from((index as u32) < total % count)).max(1);
                let name = match index {
                    0 => "learned".to_owned(),
                    _ => format!("learned {}", index + 1),
                };
                let (policy, random) = (model.policy(), self.random);
                let trained = PlayerFactory::new(name, move || {
                    Ok(Box::new(RandomMoves::new(Greedy::new(policy.clone()), random)))
                });
                let openings = vec![Line::default()];
                let config = ContestConfig {
                    openings,
                    rounds,
                    seed: self.seed,
                    threads: self.threads,
                    remote: None,
                };
                let pair = [trained, opponent.clone()];
                let (report, _) = play_match(&pair, &config, None, None, |_, _| true)?;
                if !report.complete {
                    return Ok(None);
                }
                let games = report.games as f64;
                score += games * report.score;
                variance += (games * report.half_width).powi(2);
                lost += report.losses;
                played += report.games;
            }
            let played = played.max(1) as f64;
            metrics.values.push(100.0 * score / played);
            metrics.errors.push(100.0 * variance.sqrt() / played);
            metrics.losses.push(100.0 * lost as f64 / played);
        }
        Ok(Some(metrics))
    }
}
