//! Measuring a player of Othello by games against others.

use super::{MetricColumn, Evaluator, Learner, Metrics, TrainingError};
use outflank_arena::ContestConfig;
use outflank_arena::matches::play_match;
use outflank_games::Line;
use outflank_games::othello::Othello;
use outflank_models::Model;
use outflank_players::{PlayerFactory, ForcedRandom, Greedy};

/// Whom a learner is measured against, and how.
#[derive(Clone, Debug)]
pub struct OpponentEvaluator {
    /// The others, by name; they bring their own random moves.
    pub others: Vec<PlayerFactory<Othello>>,
    /// Games against each, half with each colour.
    pub games: u32,
    /// The probability of a random move of the learned player.
    pub random: f64,
    /// The seed of these games.
    pub seed: u64,
    /// How many threads play.
    pub threads: usize,
}

impl<L: Learner> Evaluator<L> for OpponentEvaluator
where
    L::Model: Into<Model>,
{
    fn columns(&self) -> Vec<MetricColumn> {
        let column = |entry: &PlayerFactory<Othello>| MetricColumn {
            name: entry.name.clone(),
            tag: format!("score/{}", entry.name),
            error: true,
        };
        self.others.iter().map(column).collect()
    }

    /// The score against each, 0 to 100, the half-widths of their 95% intervals and the percentage
    /// lost; several models share the games out among them.
    fn measure(&self, learner: &L) -> Result<Option<Metrics>, TrainingError> {
        let models: Vec<Model> = learner.models().into_iter().map(Into::into).collect();
        let (count, all) = (models.len() as u32, self.games / 2);
        let mut measured = Metrics::default();
        for other in &self.others {
            let (mut score, mut variance, mut lost, mut played) = (0.0, 0.0, 0, 0);
            for (place, model) in models.iter().enumerate() {
                // As even as can be, and at least one round for each.
                let rounds = (all / count + u32::from((place as u32) < all % count)).max(1);
                let name = match place {
                    0 => "learned".to_owned(),
                    _ => format!("learned {}", place + 1),
                };
                let (policy, random) = (model.policy(), self.random);
                let entry = PlayerFactory::new(name, move || {
                    Ok(Box::new(ForcedRandom::new(Greedy::new(policy.clone()), random)))
                });
                let openings = vec![Line::default()];
                let terms = ContestConfig {
                    openings,
                    rounds,
                    seed: self.seed,
                    threads: self.threads,
                    remote: None,
                };
                let pair = [entry, other.clone()];
                let (report, _) = play_match(&pair, &terms, None, None, |_, _| {})?;
                if !report.complete {
                    return Ok(None);
                }
                let games = report.games as f64;
                score += games * report.score;
                variance += (games * report.error).powi(2);
                lost += report.losses;
                played += report.games;
            }
            let played = played.max(1) as f64;
            measured.values.push(100.0 * score / played);
            measured.errors.push(100.0 * variance.sqrt() / played);
            measured.losses.push(100.0 * lost as f64 / played);
        }
        Ok(Some(measured))
    }
}
