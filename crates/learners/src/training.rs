//! Runs methods that learn by playing, with a budget, measurements, checkpoints and resume.
//!
//! A [`Learner`] performs one step at a time, such as a generation or a batch of games. [`train`]
//! runs it until its budget is used and measures it at even intervals with an [`Evaluator`], such
//! as matches against opponents ([`OpponentEvaluator`]). After each measurement it writes to a
//! folder: a checkpoint, the measurements as CSV and as a TensorBoard event file, and the model.
//! Measurements are not part of the budget and do not affect training. An interrupted run resumes
//! from its last checkpoint and ends with the same files, byte for byte.

mod checkpoint;
mod metrics;
mod opponent_evaluator;

use checkpoint::{load_checkpoint, save_checkpoint};
use metrics::write_metrics;
use outflank_arena::ContestError;
use outflank_models::files::{ModelError, Origin, SaveModel};
use outflank_runs::files::{self, FileError};
use outflank_runs::stop_requested;
use serde::Serialize;
use std::path::{Path, PathBuf};

pub use checkpoint::{CHECKPOINT, PREVIOUS_CHECKPOINT};
pub use metrics::{CURVE, EVENTS, MetricColumn, Metrics};
pub use opponent_evaluator::OpponentEvaluator;

/// A method that learns by playing.
pub trait Learner {
    /// The type of the model.
    type Model: Clone + SaveModel;

    /// Initializes the learner before its first step, outside the budget.
    fn begin(&mut self) -> Result<(), StepError> {
        Ok(())
    }

    /// Returns the budget used so far, in games or rounds.
    fn spent(&self) -> u64;

    /// Returns the budget that the next step takes.
    fn next_cost(&self) -> u64;

    /// Performs one step: a generation, a batch of games or a round. A stopped step has no effect.
    fn step(&mut self) -> Result<(), StepError>;

    /// Returns the best model so far.
    fn model(&self) -> Self::Model;

    /// Returns all models that are trained simultaneously, the best first. Measurement games are
    /// divided among them.
    fn models(&self) -> Vec<Self::Model> {
        vec![self.model()]
    }

    /// Serializes everything that later steps depend on, as checkpoint shards.
    fn state(&self) -> Result<Vec<Vec<u8>>, String>;

    /// Restores the state of a learner with the same configuration.
    fn restore(&mut self, shards: &[Vec<u8>]) -> Result<(), String>;
}

/// An error of a step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
    /// The user requested a stop.
    #[error("stopped")]
    Stopped,
    /// The step failed.
    #[error("{0}")]
    Failed(String),
}

impl From<String> for StepError {
    fn from(reason: String) -> StepError {
        StepError::Failed(reason)
    }
}

/// Measures a learner.
pub trait Evaluator<L> {
    /// Returns the columns of the metrics.
    fn columns(&self) -> Vec<MetricColumn>;

    /// Measures the metrics; `None` if the user requested a stop.
    fn measure(&self, learner: &L) -> Result<Option<Metrics>, TrainingError>;
}

/// The budget and output of a training run.
#[derive(Clone, Debug)]
pub struct TrainingPlan {
    /// The budget, in the unit of the learner. A step that would exceed it is not started.
    pub budget: u64,
    /// The unit of the budget, for table headers.
    pub unit: &'static str,
    /// Number of measurements at even intervals; the end is always measured.
    pub measurements: u64,
    /// Whether the initial model is measured too.
    pub measure_start: bool,
    /// The provenance stored in model files.
    pub origin: Origin,
    /// Whether the model of every measurement is saved (`models/001.safetensors` and so on).
    pub keep_models: bool,
}

/// A measurement during training.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    /// The budget used before this measurement, usually in games.
    pub games: u64,
    /// The metrics, such as the score against each opponent, 0 to 100.
    pub scores: Vec<f64>,
    /// The half-widths of their 95% confidence intervals, 0 if unknown.
    pub errors: Vec<f64>,
    /// The percentage of games lost to each opponent, 0 if the metric is not a score.
    pub losses: Vec<f64>,
}

/// The progress of a training run.
#[derive(Clone, Copy, Debug)]
pub struct TrainingStatus<'a> {
    /// The budget used so far.
    pub games: u64,
    /// The last measurement, if there is one.
    pub last: Option<&'a Measurement>,
}

/// The result of a training run.
#[derive(Clone, Debug)]
pub struct TrainingOutcome<M> {
    /// The best model.
    pub model: M,
    /// The measurements.
    pub curve: Vec<Measurement>,
    /// Whether the budget is used up; otherwise the run was stopped and can be resumed.
    pub complete: bool,
}

/// An error of a training run.
#[derive(Debug, thiserror::Error)]
pub enum TrainingError {
    /// The checkpoint is damaged or belongs to another run.
    #[error("{path}: invalid checkpoint ({reason}). Start a new run with --out.")]
    Checkpoint {
        /// The file.
        path: String,
        /// The reason.
        reason: String,
    },
    /// A step failed.
    #[error("training failed: {0}")]
    Step(String),
    /// A file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The model could not be written.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A measurement failed.
    #[error(transparent)]
    Contest(#[from] ContestError),
}

/// Returns the file name of a model of this kind.
#[must_use]
pub fn model_name<M: SaveModel>() -> String {
    format!("model.{}", M::EXTENSION)
}

/// Returns the path of the model that was saved with a measurement, numbered from 1. The final
/// model has the number [`TrainingPlan::measurements`].
#[must_use]
pub fn numbered_model_file<M: SaveModel>(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("models/{number:03}.{}", M::EXTENSION))
}

/// Returns the path of one of the models that are trained simultaneously, counted from 0.
#[must_use]
pub fn model_file<M: SaveModel>(folder: &Path, index: usize) -> PathBuf {
    match index {
        0 => folder.join(model_name::<M>()),
        _ => folder.join(format!("model-{}.{}", index + 1, M::EXTENSION)),
    }
}

/// Returns the number of measurement intervals completed when `games` of the budget are used.
fn intervals_passed(games: u64, measurements: u64, budget: u64) -> u64 {
    let number = u128::from(games) * u128::from(measurements) / u128::from(budget.max(1));
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// Returns the measurement of a finished run with a number from 1 to `measurements`, as in
/// [`numbered_model_file`]. If a step was longer than an interval, this is the measurement before.
#[must_use]
pub fn measurement_at(
    curve: &[Measurement],
    number: u64,
    measurements: u64,
    budget: u64,
) -> Option<&Measurement> {
    let last = curve.len().checked_sub(1)?;
    let number_of = |index: usize| match index == last {
        true => measurements,
        false => intervals_passed(curve[index].games, measurements, budget),
    };
    let before = (0..curve.len()).rev().find(|&index| number_of(index) <= number);
    before.map(|index| &curve[index]).or(curve.first())
}

/// Trains until the budget is used, resuming from the folder's checkpoint if there is one.
/// `on_progress` is called after each step and returns whether to continue.
pub fn train<L: Learner>(
    learner: &mut L,
    evaluator: &impl Evaluator<L>,
    plan: &TrainingPlan,
    folder: &Path,
    mut on_progress: impl FnMut(TrainingStatus<'_>) -> bool,
) -> Result<TrainingOutcome<L::Model>, TrainingError> {
    let columns = evaluator.columns();
    for written in [folder, &folder.join("models")] {
        if written.is_dir() {
            files::remove_temp_files(written)?;
        }
    }
    let mut curve = match load_checkpoint(learner, folder)? {
        Some(curve) => curve,
        None => match learner.begin() {
            Ok(()) => Vec::new(),
            Err(StepError::Failed(reason)) => return Err(TrainingError::Step(reason)),
            Err(StepError::Stopped) => return Ok(stopped(learner, Vec::new())),
        },
    };
    loop {
        let spent = learner.spent();
        let finished = spent.saturating_add(learner.next_cost()) > plan.budget;
        let last = curve.last().map_or(0, |point: &Measurement| point.games);
        let passed = |games: u64| intervals_passed(games, plan.measurements, plan.budget);
        let due = passed(spent) > passed(last)
            || (finished && last < spent)
            || (plan.measure_start && curve.is_empty());
        if due {
            let Some(Metrics { values, errors, mut losses }) = evaluator.measure(learner)? else {
                save_checkpoint(learner, &curve, folder)?;
                return Ok(stopped(learner, curve));
            };
            losses.resize(values.len(), 0.0);
            curve.push(Measurement { games: spent, scores: values, errors, losses });
            write_metrics(&curve, plan.unit, &columns, folder)?;
            let number = if finished { plan.measurements } else { passed(spent) };
            save_models(learner, plan, number, folder)?;
            save_checkpoint(learner, &curve, folder)?;
        }
        let proceed = on_progress(TrainingStatus { games: spent, last: curve.last() });
        if finished {
            // A complete run needs no earlier checkpoint; a failure to remove it is harmless.
            let _ = std::fs::remove_file(folder.join(PREVIOUS_CHECKPOINT));
            return Ok(TrainingOutcome { model: learner.model(), curve, complete: true });
        }
        let step =
            if proceed && !stop_requested() { learner.step() } else { Err(StepError::Stopped) };
        match step {
            Ok(()) => {}
            Err(StepError::Failed(reason)) => {
                let saved = last_model::<L::Model>(&curve, plan, folder);
                return Err(TrainingError::Step(reason + &saved));
            }
            Err(StepError::Stopped) => {
                save_checkpoint(learner, &curve, folder)?;
                return Ok(stopped(learner, curve));
            }
        }
    }
}

/// Saves the current models, and the numbered copy if the plan keeps them.
fn save_models<L: Learner>(
    learner: &L,
    plan: &TrainingPlan,
    number: u64,
    folder: &Path,
) -> Result<(), TrainingError> {
    let models = learner.models();
    for (index, model) in models.iter().enumerate() {
        model.save(&model_file::<L::Model>(folder, index), &plan.origin)?;
    }
    if let (true, Some(model)) = (plan.keep_models, models.first()) {
        files::create_folder(&folder.join("models"))?;
        model.save(&numbered_model_file::<L::Model>(folder, number), &plan.origin)?;
    }
    Ok(())
}

/// Describes the last saved model, for the error of a failed step.
fn last_model<M: SaveModel>(curve: &[Measurement], plan: &TrainingPlan, folder: &Path) -> String {
    curve.last().map_or_else(String::new, |point| {
        format!(
            "; the model of the last measurement, after {} {}, is in {}",
            point.games,
            plan.unit,
            model_file::<M>(folder, 0).display()
        )
    })
}

/// Returns the outcome of a run that can be resumed.
fn stopped<L: Learner>(learner: &L, curve: Vec<Measurement>) -> TrainingOutcome<L::Model> {
    TrainingOutcome { model: learner.model(), curve, complete: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Generations of 48,425 games, as in CTDL, with a budget of a million games.
    #[test]
    fn measurements_are_numbered_by_their_intervals() {
        let point =
            |games: u64| Measurement { games, scores: vec![], errors: vec![], losses: vec![] };
        let mut curve = Vec::new();
        let (mut spent, mut last) = (0, 0);
        while spent + 48_425 <= 1_000_000 {
            spent += 48_425;
            if intervals_passed(spent, 10, 1_000_000) > intervals_passed(last, 10, 1_000_000) {
                curve.push(point(spent));
                last = spent;
            }
        }
        curve.push(point(spent));
        let at = |number: u64| measurement_at(&curve, number, 10, 1_000_000).unwrap().games;
        // The first generation past each tenth of the budget; the end is the tenth measurement.
        for number in 1..10 {
            assert_eq!(at(number), (number * 100_000).div_ceil(48_425) * 48_425);
        }
        assert_eq!(at(10), 20 * 48_425);
        // Generations of 400,000: missing measurements repeat the previous one.
        let coarse = [point(400_000), point(800_000)];
        let at = |number: u64| measurement_at(&coarse, number, 10, 1_000_000).unwrap().games;
        assert_eq!([1, 4, 9, 10].map(at), [400_000, 400_000, 400_000, 800_000]);
        assert_eq!(measurement_at(&[], 1, 10, 1_000_000), None);
    }
}
