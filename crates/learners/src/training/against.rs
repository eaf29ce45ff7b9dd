//! Measuring a player of Othello by games against others.

use super::{Column, Gauge, Learner, Measured, TrainError};
use outflank_arena::Terms;
use outflank_arena::matches::play_match;
use outflank_games::Line;
use outflank_games::othello::Othello;
use outflank_models::Model;
use outflank_players::{Entry, ForcedRandom, Greedy};

/// Whom a learner is measured against, and how.
#[derive(Clone, Debug)]
pub struct Against {
    /// The others, by name; they bring their own random moves.
    pub others: Vec<Entry<Othello>>,
    /// Games against each, half with each colour.
    pub games: u32,
    /// The probability of a random move of the learned player.
    pub random: f64,
    /// The seed of these games.
    pub seed: u64,
    /// How many threads play.
    pub threads: usize,
}

impl<L: Learner> Gauge<L> for Against
where
    L::Model: Into<Model>,
{
    fn columns(&self) -> Vec<Column> {
        let column = |entry: &Entry<Othello>| Column {
            name: entry.name.clone(),
            tag: format!("score/{}", entry.name),
            error: true,
        };
        self.others.iter().map(column).collect()
    }

    /// The score against each, 0 to 100, and the half-widths of their 95% intervals.
    fn measure(&self, learner: &L) -> Result<Option<Measured>, TrainError> {
        let model: Model = learner.model().into();
        let (policy, random) = (model.policy(), self.random);
        let entry = Entry::new("learned", move || {
            Ok(Box::new(ForcedRandom::new(Greedy::new(policy.clone()), random)))
        });
        let terms = Terms {
            openings: vec![Line::default()],
            rounds: self.games / 2,
            seed: self.seed,
            threads: self.threads,
        };
        let mut measured = Measured::default();
        for other in &self.others {
            let pair = [entry.clone(), other.clone()];
            let (report, _) = play_match(&pair, &terms, None, None, |_, _| {})?;
            if !report.complete {
                return Ok(None);
            }
            measured.values.push(100.0 * report.score);
            measured.errors.push(100.0 * report.error);
        }
        Ok(Some(measured))
    }
}
