//! One driver for all training methods.
//!
//! A [`Learner`] performs one step at a time: an iteration of a solver, an epoch, a batch of games,
//! a generation. A [`Trainer`] runs it until its budget is used, the solver has converged, the
//! validation metric no longer improves, or the time limit is reached. It measures the learner at
//! set points with an [`Evaluator`], such as the accuracy on validation data ([`AccuracyEvaluator`])
//! or matches against opponents ([`OpponentEvaluator`]). After each measurement it writes to a
//! folder: a checkpoint, the metrics as CSV and as a TensorBoard event file, and the model.
//!
//! Measurements are not part of the budget and do not affect training. An interrupted run resumes
//! from its last checkpoint and ends with the same files, byte for byte. A finished run continues
//! from its last checkpoint if its budget is raised.

mod accuracy_evaluator;
mod checkpoint;
pub(crate) mod encoding;
mod learner;
mod metrics;
mod opponent_evaluator;
mod trainer;

use outflank_arena::ContestError;
use outflank_models::files::{ModelError, Origin, SaveModel};
use outflank_runs::files::FileError;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use accuracy_evaluator::{AccuracyEvaluator, TRAINING_ACCURACY, VALIDATION_ACCURACY};
pub use checkpoint::{
    BEST_CHECKPOINT, CHECKPOINT, PREVIOUS_CHECKPOINT, has_checkpoint, import_checkpoint,
    remove_checkpoints,
};
pub use learner::{Learner, StepError, TrainingCounts};
pub use metrics::{EVENTS, METRICS, MetricColumn, Metrics, OLD_METRICS};
pub use opponent_evaluator::OpponentEvaluator;
pub use trainer::Trainer;

/// Measures a learner.
pub trait Evaluator<L: ?Sized> {
    /// Returns the columns of the metrics.
    fn columns(&self) -> Vec<MetricColumn>;

    /// Measures the metrics; `None` if the user requested a stop.
    fn measure(&self, learner: &L) -> Result<Option<Metrics>, TrainingError>;
}

/// An evaluator that measures nothing; the training metrics remain.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEvaluator;

impl<L: ?Sized> Evaluator<L> for NoEvaluator {
    fn columns(&self) -> Vec<MetricColumn> {
        Vec::new()
    }

    fn measure(&self, _: &L) -> Result<Option<Metrics>, TrainingError> {
        Ok(Some(Metrics::default()))
    }
}

/// When a run is measured; the end is always measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// This many times, at even intervals of the budget.
    Even(u64),
    /// After every step up to this much of the budget, then ten times less often, for solvers that
    /// improve most in their first iterations.
    Dense(u64),
}

impl Schedule {
    /// Returns the number of measurements due when `spent` of the budget is used.
    fn passed(self, spent: u64, budget: u64) -> u64 {
        match self {
            Schedule::Even(measurements) => intervals_passed(spent, measurements, budget),
            Schedule::Dense(dense) if spent <= dense => spent,
            Schedule::Dense(dense) => dense + (spent - dense) / 10,
        }
    }

    /// Returns the number of the last measurement.
    fn last(self, budget: u64) -> u64 {
        match self {
            Schedule::Even(measurements) => measurements,
            Schedule::Dense(_) => self.passed(budget, budget),
        }
    }
}

/// The metric that selects the best checkpoint and stops training early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Monitor {
    /// The name of the column; higher is better.
    pub column: String,
    /// Stops after this many measurements without improvement; `None` never stops early.
    pub patience: Option<u32>,
}

/// The budget and output of a training run.
#[derive(Clone, Debug)]
pub struct TrainingPlan {
    /// The budget, in the unit of the learner. A step that would exceed it is not started.
    pub budget: u64,
    /// The unit of the budget, for table headers.
    pub unit: &'static str,
    /// The time after which this call stops; the run can be resumed.
    pub time_limit: Option<Duration>,
    /// When the run is measured.
    pub schedule: Schedule,
    /// Whether the initial model is measured too.
    pub measure_start: bool,
    /// The metric that selects the model; `None` selects the last model.
    pub monitor: Option<Monitor>,
    /// Time between checkpoints, besides those after each measurement.
    pub checkpoint_interval: Duration,
    /// The provenance stored in model files.
    pub origin: Origin,
    /// Whether the model of every measurement is saved (`models/001.safetensors` and so on).
    pub keep_models: bool,
}

impl TrainingPlan {
    /// Time between checkpoints by default.
    pub const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(120);

    /// Creates a plan that measures the end only.
    #[must_use]
    pub fn new(budget: u64, unit: &'static str, origin: Origin) -> TrainingPlan {
        TrainingPlan {
            budget,
            unit,
            time_limit: None,
            schedule: Schedule::Even(1),
            measure_start: false,
            monitor: None,
            checkpoint_interval: TrainingPlan::CHECKPOINT_INTERVAL,
            origin,
            keep_models: false,
        }
    }
}

/// A measurement during training.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    /// The budget used before this measurement, in its unit; the unit of most methods is a game.
    #[serde(rename = "games")]
    pub spent: u64,
    /// The training metrics, then those of the evaluator, such as the score against each opponent,
    /// 0 to 100.
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
    pub spent: u64,
    /// The budget.
    pub budget: u64,
    /// The last measurement, if there is one.
    pub last: Option<&'a Measurement>,
}

/// Why a training run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// The budget is used.
    Budget,
    /// The solver converged.
    Converged,
    /// The monitored metric did not improve.
    EarlyStop,
    /// The time limit is reached; the current model is saved, and the run can be resumed.
    TimeLimit,
    /// The user requested a stop; the run can be resumed.
    Stopped,
}

/// The result of a training run.
#[derive(Clone, Debug)]
pub struct TrainingOutcome<M> {
    /// The model: the best by the monitored metric, or the last.
    pub model: M,
    /// The columns of the measurements.
    pub columns: Vec<MetricColumn>,
    /// The measurements.
    pub curve: Vec<Measurement>,
    /// Why the run ended.
    pub end: EndReason,
    /// Whether the run is complete; otherwise it can be resumed.
    pub complete: bool,
    /// The budget used, and the budget.
    pub spent: (u64, u64),
    /// What was processed, over all steps.
    pub counts: TrainingCounts,
    /// The measurement of the selected model, if a metric is monitored.
    pub best: Option<usize>,
    /// The budget that was already used when this call began.
    pub resumed_at: u64,
}

impl<M> TrainingOutcome<M> {
    /// Returns whether the model is worth measuring: the run is complete, or its time limit ended it
    /// after some steps.
    #[must_use]
    pub fn is_measurable(&self) -> bool {
        self.complete || (self.end == EndReason::TimeLimit && self.spent.0 > 0)
    }
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
    /// More than the budget is already used.
    #[error("{spent} {unit} are done, more than the requested {budget}. Request more, or omit it.")]
    BudgetExceeded {
        /// The budget used.
        spent: u64,
        /// The requested budget.
        budget: u64,
        /// Its unit.
        unit: &'static str,
    },
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

impl From<StepError> for TrainingError {
    fn from(error: StepError) -> TrainingError {
        TrainingError::Step(error.to_string())
    }
}

/// Returns the file name of a model of this kind.
#[must_use]
pub fn model_name<M: SaveModel>() -> String {
    format!("model.{}", M::EXTENSION)
}

/// Returns the path of the model that was saved with a measurement, numbered from 1. The final
/// model has the number of measurements of [`Schedule::Even`].
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

/// Removes the files that a [`Trainer`] has written, for a run whose result is of no use. A file that
/// cannot be removed stays.
pub fn remove_outputs<M: SaveModel>(folder: &Path) {
    let model = model_file::<M>(folder, 0);
    let names = [METRICS, EVENTS, CHECKPOINT, PREVIOUS_CHECKPOINT, BEST_CHECKPOINT];
    for path in names.iter().map(|name| folder.join(name)).chain([model]) {
        let _ = std::fs::remove_file(path);
    }
}

/// Returns the number of measurement intervals completed when `spent` of the budget is used.
fn intervals_passed(spent: u64, measurements: u64, budget: u64) -> u64 {
    let number = u128::from(spent) * u128::from(measurements) / u128::from(budget.max(1));
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
        false => intervals_passed(curve[index].spent, measurements, budget),
    };
    let before = (0..curve.len()).rev().find(|&index| number_of(index) <= number);
    before.map(|index| &curve[index]).or(curve.first())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Generations of 48,425 games, as in CTDL, with a budget of a million games.
    #[test]
    fn measurements_are_numbered_by_their_intervals() {
        let point =
            |spent: u64| Measurement { spent, scores: vec![], errors: vec![], losses: vec![] };
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
        let at = |number: u64| measurement_at(&curve, number, 10, 1_000_000).unwrap().spent;
        // The first generation past each tenth of the budget; the end is the tenth measurement.
        for number in 1..10 {
            assert_eq!(at(number), (number * 100_000).div_ceil(48_425) * 48_425);
        }
        assert_eq!(at(10), 20 * 48_425);
        // Generations of 400,000: missing measurements repeat the previous one.
        let coarse = [point(400_000), point(800_000)];
        let at = |number: u64| measurement_at(&coarse, number, 10, 1_000_000).unwrap().spent;
        assert_eq!([1, 4, 9, 10].map(at), [400_000, 400_000, 400_000, 800_000]);
        assert_eq!(measurement_at(&[], 1, 10, 1_000_000), None);
    }
}
