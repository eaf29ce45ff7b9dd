//! Regression of pattern evaluations on labels: the scores of deep searches and exact endgames
//! (Buro, 1998).
//!
//! The value of a position is the expected score in discs of the side that moved into it. A step
//! reads a batch of labeled games in random order and updates the weights of each stage by AdaGrad,
//! as in [`crate::online`], with the derivative of half the squared error. Training can start from
//! the weights of another model, which are first scaled to discs.
//!
//! One game in [`VALIDATION_INTERVAL`] is not trained on; the error on its positions is a metric.

use crate::online::StageState;
use crate::training::{Learner, MetricColumn, StepError, TrainingCounts};
use outflank_games::Position;
use outflank_games::othello::kernel::{self, Kernel, Task};
use outflank_games::othello::{Board, Othello};
use outflank_models::Patterns;
use outflank_models::patterns::{AfterstateFeatures, MoveFeatures, Stages, active_weight_sum};
use outflank_records::labels::LabeledGame;
use outflank_runs::{RngExt, rng};
use rayon::prelude::*;

/// One game in this many is used for validation only.
pub const VALIDATION_INTERVAL: usize = 20;

/// Name of the metric that selects a model: the root mean squared error in discs on validation
/// positions.
pub const VALIDATION_ERROR: &str = "validation error";

/// Configuration of training on labels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelTrainingConfig {
    /// Number of batches; the learning rate decays linearly to zero over them.
    pub batches: u32,
    /// Number of games per batch.
    pub games_per_batch: u32,
    /// Initial learning rate.
    pub learning_rate: f64,
    /// Seed of the order of the games.
    pub seed: u64,
}

/// A position, seen by the side that moved into it, and its score in discs for that side.
#[derive(Clone, Copy, Debug)]
struct LabeledBoard {
    board: Board,
    score: f32,
}

/// A regression of a pattern evaluation on labels.
pub struct LabelRegression {
    features: AfterstateFeatures,
    stages: Stages,
    config: LabelTrainingConfig,
    training: Vec<Vec<LabeledBoard>>,
    validation: Vec<LabeledBoard>,
    states: Vec<StageState>,
    /// Number of completed batches.
    done: u32,
    /// The epoch whose order of games is cached, and the order.
    order: (u64, Vec<u32>),
    /// Sum of the squared errors and number of positions since the last measurement.
    errors: (f64, u64),
    examples: u64,
}

/// Returns the labeled positions of a game.
fn boards(game: &LabeledGame) -> Vec<LabeledBoard> {
    let board = |(position, score): (Othello, f32)| {
        let side = position.to_move().other();
        let (own, other) = (position.discs(side), position.discs(side.other()));
        LabeledBoard { board: Board { own, other }, score: -score }
    };
    game.positions().map(board).collect()
}

impl LabelRegression {
    /// Creates a learner with zero weights. Returns `None` if there are no training positions.
    #[must_use]
    pub fn new(
        features: AfterstateFeatures,
        stages: Stages,
        games: &[LabeledGame],
        config: LabelTrainingConfig,
    ) -> Option<LabelRegression> {
        let (mut training, mut validation) = (Vec::new(), Vec::new());
        for (number, game) in games.iter().enumerate() {
            match (number + 1).is_multiple_of(VALIDATION_INTERVAL) {
                true => validation.extend(boards(game)),
                false => training.push(boards(game)),
            }
        }
        training.retain(|game| !game.is_empty());
        let states =
            (0..stages.count()).map(|_| StageState::new(features.weight_count())).collect();
        (!training.is_empty()).then(|| LabelRegression {
            features,
            stages,
            config,
            training,
            validation,
            states,
            done: 0,
            order: (u64::MAX, Vec::new()),
            errors: (0.0, 0),
            examples: 0,
        })
    }

    /// Starts from the weights of a model with the same features and stages, scaled to discs by a
    /// regression of the labels on its values in each stage. Returns `None` if it differs.
    #[must_use]
    pub fn with_initial(mut self, model: &Patterns) -> Option<LabelRegression> {
        let same = model.stages() == self.stages
            && model.features().tuples() == self.features.tuples()
            && model.features().counts() == self.features.counts();
        if !same {
            return None;
        }
        for (stage, state) in self.states.iter_mut().enumerate() {
            let weights = model.weights(stage);
            state.weights[..weights.len()].copy_from_slice(weights);
        }
        let stages = self.stages;
        let mut sums = vec![(0.0f64, 0.0f64); stages.count()];
        for position in self.training.iter().flatten() {
            let stage = stage_of(stages, position);
            let value = f64::from(self.value(position));
            let (products, squares) = &mut sums[stage];
            *products += value * f64::from(position.score);
            *squares += value * value;
        }
        // A stage without positions gets the scale of the next one.
        let mut scale = 1.0;
        for ((products, squares), state) in sums.into_iter().zip(&mut self.states).rev() {
            if products > 0.0 {
                scale = products / squares;
            }
            state.weights.iter_mut().for_each(|weight| *weight *= scale as f32);
        }
        Some(self)
    }

    /// Returns the number of training games and of validation positions.
    #[must_use]
    pub fn sizes(&self) -> (usize, usize) {
        (self.training.len(), self.validation.len())
    }

    fn value(&self, position: &LabeledBoard) -> f32 {
        let weights = &self.states[stage_of(self.stages, position)].weights;
        kernel::run(Value { features: &self.features, weights, board: position.board })
    }

    /// Returns the root mean squared error on the validation positions, in discs; NaN without any.
    #[must_use]
    pub fn validation_error(&self) -> f64 {
        let squares: Vec<f64> = self
            .validation
            .par_iter()
            .map(|position| f64::from(self.value(position) - position.score).powi(2))
            .collect();
        (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
    }

    /// Returns the games of the next batch.
    fn next_games(&mut self) -> Vec<u32> {
        let count = self.training.len() as u64;
        let size = u64::from(self.config.games_per_batch);
        let first = u64::from(self.done) * size;
        let mut games = Vec::with_capacity(size as usize);
        for number in first..first + size {
            let epoch = number / count;
            if self.order.0 != epoch {
                let mut order: Vec<u32> = (0..count as u32).collect();
                rng::stream(self.config.seed, &["labels", &epoch.to_string()]).shuffle(&mut order);
                self.order = (epoch, order);
            }
            games.extend(self.order.1.get((number % count) as usize));
        }
        games
    }
}

fn stage_of(stages: Stages, position: &LabeledBoard) -> usize {
    stages.stage_of(64 - position.board.empty().count_ones())
}

/// The value of a board.
struct Value<'a> {
    features: &'a AfterstateFeatures,
    weights: &'a [f32],
    board: Board,
}

impl Task for Value<'_> {
    type Output = f32;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> f32 {
        let mut row = vec![0i32; self.features.width()];
        self.features.row(kernel, self.board.own, self.board.other, &mut row);
        active_weight_sum(self.weights, &row)
    }
}

/// The update of one stage from the positions of a batch.
struct StageUpdate<'a, I> {
    features: &'a AfterstateFeatures,
    state: &'a mut StageState,
    positions: I,
    learning_rate: f32,
}

impl<'a, I: Iterator<Item = &'a LabeledBoard>> Task for StageUpdate<'a, I> {
    /// The sum of the squared errors and the number of positions.
    type Output = (f64, u64);

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> (f64, u64) {
        let mut row = vec![0i32; self.features.width()];
        let used = self.features.board_row_len();
        let (mut squares, mut count) = (0.0, 0);
        for &LabeledBoard { board, score } in self.positions {
            self.features.row(kernel, board.own, board.other, &mut row);
            let error = active_weight_sum(&self.state.weights, &row) - score;
            squares += f64::from(error).powi(2);
            count += 1;
            let tied = self.features.tied_weights();
            self.state.step(tied, &row[..used], error, self.learning_rate);
        }
        (squares, count)
    }
}

impl Learner for LabelRegression {
    type Model = Patterns;

    fn spent(&self) -> u64 {
        u64::from(self.done) * u64::from(self.config.games_per_batch)
    }

    fn next_cost(&self) -> u64 {
        self.config.games_per_batch.into()
    }

    fn step(&mut self) -> Result<(), StepError> {
        let games = self.next_games();
        let progress = f64::from(self.done) / f64::from(self.config.batches.max(1));
        let learning_rate = (self.config.learning_rate * (1.0 - progress).max(0.0)) as f32;
        let (features, stages, training) = (&self.features, self.stages, &self.training);
        let errors: Vec<(f64, u64)> = self
            .states
            .par_iter_mut()
            .enumerate()
            .with_max_len(1)
            .map(|(stage, state)| {
                let positions = games.iter().flat_map(|&game| &training[game as usize]);
                let positions = positions.filter(|position| stage_of(stages, position) == stage);
                kernel::run(StageUpdate { features, state, positions, learning_rate })
            })
            .collect();
        self.done += 1;
        for (squares, count) in errors {
            self.errors.0 += squares;
            self.errors.1 += count;
            self.examples += count;
        }
        match self.errors.0.is_finite() {
            true => Ok(()),
            false => Err(StepError::Failed(format!(
                "the weights diverged in batch {}; use a learning rate below {}",
                self.done, self.config.learning_rate
            ))),
        }
    }

    fn model(&self) -> Result<Patterns, StepError> {
        let weights = self.states.iter().map(StageState::rounded).collect();
        Patterns::new(self.features.clone(), self.stages, weights)
            .ok_or_else(|| StepError::Failed("a weight is not finite".to_owned()))
    }

    fn state(&self) -> Result<Vec<Vec<u8>>, String> {
        let mut header = self.done.to_le_bytes().to_vec();
        header.extend(self.examples.to_le_bytes());
        header.extend(self.errors.0.to_le_bytes());
        header.extend(self.errors.1.to_le_bytes());
        let mut sections = vec![header];
        sections.extend(self.states.iter().map(StageState::to_bytes));
        Ok(sections)
    }

    fn restore(&mut self, sections: &[Vec<u8>]) -> Result<(), String> {
        let mismatch =
            || "the checkpoint belongs to a learner with other features or stages".to_owned();
        let (header, stages) = sections.split_first().ok_or_else(mismatch)?;
        let states: Option<Vec<StageState>> = stages
            .iter()
            .map(|bytes| {
                StageState::from_bytes(bytes).filter(|s| s.fits(self.features.weight_count(), 0))
            })
            .collect();
        let states = states.filter(|states| states.len() == self.stages.count());
        let (done, rest) = header.split_first_chunk().ok_or_else(mismatch)?;
        let (examples, rest) = rest.split_first_chunk().ok_or_else(mismatch)?;
        let (squares, rest) = rest.split_first_chunk().ok_or_else(mismatch)?;
        let count: &[u8; 8] = rest.try_into().map_err(|_| mismatch())?;
        self.states = states.ok_or_else(mismatch)?;
        self.done = u32::from_le_bytes(*done);
        self.examples = u64::from_le_bytes(*examples);
        self.errors = (f64::from_le_bytes(*squares), u64::from_le_bytes(*count));
        Ok(())
    }

    fn columns(&self) -> Vec<MetricColumn> {
        ["training error", VALIDATION_ERROR].map(MetricColumn::new).to_vec()
    }

    fn metrics(&mut self) -> Result<Vec<f64>, StepError> {
        let (squares, count) = std::mem::take(&mut self.errors);
        Ok(vec![(squares / count as f64).sqrt(), self.validation_error()])
    }

    fn counts(&self) -> TrainingCounts {
        let epochs = self.spent() as f64 / self.training.len() as f64;
        TrainingCounts { examples: Some(self.examples), epochs: Some(epochs) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_models::patterns::{Count, classic};
    use outflank_records::embedded;

    /// Games labeled with the disc difference of each position, which patterns can represent.
    fn labeled_games() -> Vec<LabeledGame> {
        let label = |game: &outflank_records::Record<Othello>| {
            let scores = game.steps().map(|(position, _)| {
                let side = position.to_move();
                let discs = |side| position.discs(side).count_ones() as f32;
                discs(side) - discs(side.other())
            });
            LabeledGame { game: game.clone(), first: 0, scores: scores.collect() }
        };
        embedded::games().iter().take(100).map(label).collect()
    }

    fn learner(learning_rate: f64) -> LabelRegression {
        let features = AfterstateFeatures::new(classic(), vec![Count::OtherMoves]).unwrap();
        let config =
            LabelTrainingConfig { batches: 40, games_per_batch: 50, learning_rate, seed: 1 };
        LabelRegression::new(features, Stages::with_width(20).unwrap(), &labeled_games(), config)
            .unwrap()
    }

    #[test]
    fn the_error_on_other_games_falls_and_does_not_depend_on_threads() {
        let train = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut learner = learner(0.1);
                let before = learner.validation_error();
                (0..40).for_each(|_| learner.step().unwrap());
                (before, learner.validation_error(), learner.model().unwrap().weights(1).to_vec())
            })
        };
        let (before, after, weights) = train(1);
        assert!(after < 0.5 * before, "{before} {after}");
        assert_eq!(train(2), (before, after, weights));
    }

    #[test]
    fn runs_resume_from_their_state_and_models_are_extended() {
        let mut whole = learner(0.1);
        (0..6).for_each(|_| whole.step().unwrap());
        let mut part = learner(0.1);
        (0..3).for_each(|_| part.step().unwrap());
        let mut resumed = learner(0.1);
        resumed.restore(&part.state().unwrap()).unwrap();
        (0..3).for_each(|_| resumed.step().unwrap());
        assert_eq!(resumed.state(), whole.state());
        assert_eq!((resumed.spent(), resumed.sizes().0), (300, 95));
        assert!(resumed.restore(&[]).is_err());
        // A model in another unit has the same error after it is scaled to discs.
        let model = whole.model().unwrap();
        let halves: Vec<Vec<f32>> = (0..3)
            .map(|stage| model.weights(stage).iter().map(|weight| weight / 2.0).collect())
            .collect();
        let halves = Patterns::new(model.features().clone(), model.stages(), halves).unwrap();
        let [full, half] = [&model, &halves]
            .map(|model| learner(0.1).with_initial(model).unwrap().validation_error());
        assert!(
            (full - half).abs() < 1e-3 && full < whole.validation_error() * 1.1,
            "{full} {half}"
        );
        let other = Patterns::zero(model.features().clone(), Stages::ONE);
        assert!(learner(0.1).with_initial(&other).is_none());
    }
}
