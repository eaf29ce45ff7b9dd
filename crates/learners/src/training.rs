//! The loop around every method that learns by playing: the budget, the curve, checkpoints,
//! progress and stopping, written once.
//!
//! A [`Learner`] does one step at a time, a generation or a batch of games, and says what it has
//! learned so far. [`train`] lets it step until its budget is used up, measures it at even
//! distances by a [`Evaluator`], such as games against others ([`OpponentEvaluator`]), and after each measurement
//! writes to a folder: `checkpoint.bin` to go on from, `curve.csv`, the same as a TensorBoard
//! event file, and the model. Measuring is no part of the budget and changes nothing that is
//! learned. A run that was stopped or killed goes on from its last checkpoint to the same bytes.

mod against;

use outflank_arena::ContestError;
use outflank_models::files::{SaveModel, ModelError, Origin};
use outflank_runs::tensorboard::{Scalar, encode_events};
use outflank_runs::files::{self, FileError};
use outflank_runs::{ProgressLog, shards, stop_requested};
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};

pub use against::OpponentEvaluator;

/// A method that learns by playing.
pub trait Learner {
    /// What it learns.
    type Model: Clone + SaveModel;

    /// What it does before its first step, at no cost.
    fn begin(&mut self) -> Result<(), StepError> {
        Ok(())
    }

    /// How much of its budget it has used: games played so far, or rounds.
    fn spent(&self) -> u64;

    /// How much of it the next step takes.
    fn next_cost(&self) -> u64;

    /// A generation, or a batch of games, or a round; one that is stopped has not happened.
    fn step(&mut self) -> Result<(), StepError>;

    /// The best it has learned so far.
    fn model(&self) -> Self::Model;

    /// All that it has learned side by side, the best first; measured games are shared out among
    /// them.
    fn models(&self) -> Vec<Self::Model> {
        vec![self.model()]
    }

    /// Everything that the steps to come depend on.
    fn state(&self) -> Result<Vec<Vec<u8>>, String>;

    /// Goes back to a state; the settings are the same.
    fn restore(&mut self, parts: &[Vec<u8>]) -> Result<(), String>;
}

/// Why a step was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
    /// The user stopped it.
    #[error("stopped")]
    Stopped,
    /// It failed.
    #[error("{0}")]
    Failed(String),
}

impl From<String> for StepError {
    fn from(reason: String) -> StepError {
        StepError::Failed(reason)
    }
}

/// A figure that is measured again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricColumn {
    /// Its name in the table.
    pub name: String,
    /// Its name in TensorBoard.
    pub tag: String,
    /// Whether the half-width of its interval is known and stands beside it.
    pub error: bool,
}

/// What a measurement found, in the order of the columns; errors are 0 where none is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    /// The figures.
    pub values: Vec<f64>,
    /// The half-widths of their 95% intervals.
    pub errors: Vec<f64>,
    /// The percentage of games lost, for figures that are scores; otherwise nothing.
    pub losses: Vec<f64>,
}

/// Says how far a learner has come.
pub trait Evaluator<L> {
    /// What it measures.
    fn columns(&self) -> Vec<MetricColumn>;

    /// Measures; `None` when the user stopped it.
    fn measure(&self, learner: &L) -> Result<Option<Metrics>, TrainingError>;
}

/// How long to learn and what to keep.
#[derive(Clone, Debug)]
pub struct TrainingPlan {
    /// The budget, in games or whatever the learner counts: no step begins that it could not pay.
    pub games: u64,
    /// What the learner counts, in a word for the table.
    pub unit: &'static str,
    /// How often to measure, at even distances; the end is always measured.
    pub points: u64,
    /// Whether the beginning is measured too.
    pub measure_start: bool,
    /// What the model file says about how it was made.
    pub origin: Origin,
    /// Whether the model of every measurement is kept, as `models/001.safetensors` and so on.
    pub keep_models: bool,
}

/// A measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    /// How much of the budget was used until then, as a rule games.
    pub games: u64,
    /// The figures, such as the score against each player, 0 to 100.
    pub scores: Vec<f64>,
    /// The half-widths of their 95% intervals, 0 where none is known.
    pub errors: Vec<f64>,
    /// The percentage of games lost against each, 0 where the figure is no score.
    pub losses: Vec<f64>,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct TrainingStatus<'a> {
    /// How much of the budget is used.
    pub games: u64,
    /// The last measurement.
    pub last: Option<&'a Measurement>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct TrainingOutcome<M> {
    /// The best that was learned.
    pub model: M,
    /// The measurements.
    pub curve: Vec<Measurement>,
    /// Whether the budget was used up; otherwise the run was stopped and can go on.
    pub complete: bool,
}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum TrainingError {
    /// The checkpoint is not one of this run.
    #[error("{path}: {reason}; start anew with --out")]
    Checkpoint {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A step failed.
    #[error("learning failed: {0}")]
    Step(String),
    /// A file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The model could not be written.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Measuring failed.
    #[error(transparent)]
    Contest(#[from] ContestError),
}

/// The names of the files in a run's folder.
pub const CHECKPOINT: &str = "checkpoint.bin";
/// The checkpoint before that one, for the case that it is damaged; a run that is complete needs none.
pub const BEFORE: &str = "checkpoint-before.bin";
/// The measurements as a table.
pub const CURVE: &str = "curve.csv";
/// The measurements for TensorBoard, which looks for `tfevents` in the name.
pub const EVENTS: &str = "events.out.tfevents.0.outflank";

/// The file of what was learned, by its kind.
#[must_use]
pub fn model_name<M: SaveModel>() -> String {
    format!("model.{}", M::EXTENSION)
}

/// Where the model of a measurement is kept; the last has the number of points.
#[must_use]
pub fn model_at<M: SaveModel>(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("models/{number:03}.{}", M::EXTENSION))
}

/// Where the last of each of the models is that were learned side by side, counted from 0.
#[must_use]
pub fn model_file<M: SaveModel>(folder: &Path, place: usize) -> PathBuf {
    match place {
        0 => folder.join(model_name::<M>()),
        _ => folder.join(format!("model-{}.{}", place + 1, M::EXTENSION)),
    }
}

/// Which of `points` measurements of a budget this one is, from what was spent until then.
fn period(games: u64, points: u64, budget: u64) -> u64 {
    let number = u128::from(games) * u128::from(points) / u128::from(budget.max(1));
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// The measurement of a finished run that counts at a number from 1 to `points`: the one of that number, as
/// in [`model_at`], or the last before where a step was longer than the distance between two.
#[must_use]
pub fn measurement_at(curve: &[Measurement], number: u64, points: u64, budget: u64) -> Option<&Measurement> {
    let last = curve.len().checked_sub(1)?;
    let of = |place: usize| match place == last {
        true => points,
        false => period(curve[place].games, points, budget),
    };
    let before = (0..curve.len()).rev().find(|&place| of(place) <= number);
    before.map(|place| &curve[place]).or(curve.first())
}

/// No checkpoint is larger than this.
const LIMIT: u64 = 1 << 34;

/// Lets a learner use up its budget, going on from the folder's checkpoint if there is one.
/// `watch` sees how far it has come, after each step; it may end the run by returning `false`.
pub fn train<L: Learner>(
    learner: &mut L,
    gauge: &impl Evaluator<L>,
    plan: &TrainingPlan,
    folder: &Path,
    mut watch: impl FnMut(TrainingStatus<'_>) -> bool,
) -> Result<TrainingOutcome<L::Model>, TrainingError> {
    let columns = gauge.columns();
    for cut_off in [folder, &folder.join("models")] {
        if cut_off.is_dir() {
            files::remove_temp_files(cut_off)?;
        }
    }
    let mut curve = match resume(learner, folder)? {
        Some(curve) => curve,
        None => match learner.begin() {
            Ok(()) => Vec::new(),
            Err(StepError::Failed(reason)) => return Err(TrainingError::Step(reason)),
            Err(StepError::Stopped) => return stopped(learner, Vec::new()),
        },
    };
    loop {
        let spent = learner.spent();
        let over = spent.saturating_add(learner.next_cost()) > plan.games;
        let last = curve.last().map_or(0, |point: &Measurement| point.games);
        let period = |games: u64| period(games, plan.points, plan.games);
        let due = period(spent) > period(last)
            || (over && last < spent)
            || (plan.measure_start && curve.is_empty());
        if due {
            let Some(Metrics { values, errors, mut losses }) = gauge.measure(learner)? else {
                save(learner, &curve, folder)?;
                return stopped(learner, curve);
            };
            losses.resize(values.len(), 0.0);
            curve.push(Measurement { games: spent, scores: values, errors, losses });
            write_curve(&curve, plan.unit, &columns, folder)?;
            let models = learner.models();
            for (place, model) in models.iter().enumerate() {
                model.save(&model_file::<L::Model>(folder, place), &plan.origin)?;
            }
            if let (true, Some(model)) = (plan.keep_models, models.first()) {
                let number = if over { plan.points } else { period(spent) };
                files::create_folder(&folder.join("models"))?;
                model.save(&model_at::<L::Model>(folder, number), &plan.origin)?;
            }
            save(learner, &curve, folder)?;
        }
        let go_on = watch(TrainingStatus { games: spent, last: curve.last() });
        if over {
            // What cannot be removed does no harm.
            let _ = std::fs::remove_file(folder.join(BEFORE));
            return Ok(TrainingOutcome { model: learner.model(), curve, complete: true });
        }
        let step =
            if go_on && !stop_requested() { learner.step() } else { Err(StepError::Stopped) };
        match step {
            Ok(()) => {}
            Err(StepError::Failed(reason)) => {
                let kept = match curve.last() {
                    Some(point) => format!(
                        "; {} has what was learned by then, measured after {} {}",
                        model_file::<L::Model>(folder, 0).display(),
                        point.games,
                        plan.unit
                    ),
                    None => String::new(),
                };
                return Err(TrainingError::Step(reason + &kept));
            }
            Err(StepError::Stopped) => {
                save(learner, &curve, folder)?;
                return stopped(learner, curve);
            }
        }
    }
}

/// What there is of a run that can go on.
fn stopped<L: Learner>(learner: &L, curve: Vec<Measurement>) -> Result<TrainingOutcome<L::Model>, TrainingError> {
    Ok(TrainingOutcome { model: learner.model(), curve, complete: false })
}

fn write_curve(
    curve: &[Measurement],
    unit: &str,
    columns: &[MetricColumn],
    folder: &Path,
) -> Result<(), FileError> {
    let mut text = unit.to_owned();
    for column in columns {
        let name = column.name.replace(['"', '\n', ','], "_");
        let _ = write!(text, ",{name}");
        if column.error {
            let _ = write!(text, ",{name} error");
        }
    }
    text.push('\n');
    let mut scalars = Vec::new();
    for point in curve {
        let _ = write!(text, "{}", point.games);
        for ((value, error), column) in point.scores.iter().zip(&point.errors).zip(columns) {
            let _ = write!(text, ",{value}");
            if column.error {
                let _ = write!(text, ",{error}");
            }
            let tag = column.tag.clone();
            scalars.push(Scalar { tag, step: point.games, value: *value as f32 });
        }
        text.push('\n');
    }
    files::write(&folder.join(CURVE), text.as_bytes())?;
    files::write(&folder.join(EVENTS), &encode_events(&scalars))
}

fn save<L: Learner>(learner: &L, curve: &[Measurement], folder: &Path) -> Result<(), TrainingError> {
    let mut all = vec![write_points(curve).into_bytes()];
    all.extend(learner.state().map_err(TrainingError::Step)?);
    let (last, before) = (folder.join(CHECKPOINT), folder.join(BEFORE));
    if last.exists() {
        std::fs::rename(&last, &before).map_err(FileError::on("rename", &last))?;
    }
    Ok(files::write(&last, &shards::pack(&all))?)
}

/// Puts the learner back to the last checkpoint that is whole, if there is one, and returns its curve.
fn resume<L: Learner>(learner: &mut L, folder: &Path) -> Result<Option<Vec<Measurement>>, TrainingError> {
    let mut damaged = None;
    for path in [CHECKPOINT, BEFORE].map(|name| folder.join(name)) {
        if !path.exists() {
            continue;
        }
        let failed = |reason| TrainingError::Checkpoint { path: path.display().to_string(), reason };
        let all = match shards::unpack(&files::read(&path, LIMIT)?) {
            Ok(all) => all,
            Err(reason) => {
                damaged.get_or_insert(failed(reason));
                continue;
            }
        };
        let mut restore = || -> Result<Vec<Measurement>, String> {
            let (curve, state) = all.split_first().ok_or("it is empty")?;
            let curve = std::str::from_utf8(curve).ok().and_then(read_points);
            learner.restore(state)?;
            curve.ok_or_else(|| "its curve is damaged".to_owned())
        };
        let curve = restore().map_err(failed)?;
        if let Some(TrainingError::Checkpoint { path: last, reason }) = damaged {
            let text = format!("{last}: {reason}; going on from {}", path.display());
            ProgressLog::new(false).println(&text);
            // It would take the place of the good one when the next is written.
            std::fs::remove_file(&last).map_err(FileError::on("remove", Path::new(&last)))?;
        }
        return Ok(Some(curve));
    }
    damaged.map_or(Ok(None), Err)
}

/// A line for each point: the games, then each score, its error and the losses. Rust writes and
/// reads the same numbers to the last bit.
fn write_points(curve: &[Measurement]) -> String {
    let mut text = String::new();
    for point in curve {
        let _ = write!(text, "{}", point.games);
        let Measurement { scores, errors, losses, .. } = point;
        for ((score, error), lost) in scores.iter().zip(errors).zip(losses) {
            let _ = write!(text, " {score} {error} {lost}");
        }
        text.push('\n');
    }
    text
}

fn read_points(text: &str) -> Option<Vec<Measurement>> {
    let point = |line: &str| {
        let mut words = line.split(' ');
        let games = words.next()?.parse().ok()?;
        let numbers: Option<Vec<f64>> = words.map(|word| word.parse().ok()).collect();
        let numbers = numbers?;
        let (triples, rest) = numbers.as_chunks::<3>();
        rest.is_empty().then(|| Measurement {
            games,
            scores: triples.iter().map(|triple| triple[0]).collect(),
            errors: triples.iter().map(|triple| triple[1]).collect(),
            losses: triples.iter().map(|triple| triple[2]).collect(),
        })
    };
    text.lines().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Generations of 48,425 games, as CTDL has them on a budget of a million.
    #[test]
    fn measurements_have_the_numbers_of_their_periods() {
        let point = |games: u64| Measurement { games, scores: vec![], errors: vec![], losses: vec![] };
        let mut curve = Vec::new();
        let (mut spent, mut last) = (0, 0);
        while spent + 48_425 <= 1_000_000 {
            spent += 48_425;
            if period(spent, 10, 1_000_000) > period(last, 10, 1_000_000) {
                curve.push(point(spent));
                last = spent;
            }
        }
        curve.push(point(spent));
        let at = |number: u64| measurement_at(&curve, number, 10, 1_000_000).unwrap().games;
        // The first whole number of generations past each tenth; the end is the tenth.
        for number in 1..10 {
            assert_eq!(at(number), (number * 100_000).div_ceil(48_425) * 48_425);
        }
        assert_eq!(at(10), 20 * 48_425);
        // A generation of 400,000: what is not measured is as before, the beginning as the first.
        let coarse = [point(400_000), point(800_000)];
        let at = |number: u64| measurement_at(&coarse, number, 10, 1_000_000).unwrap().games;
        assert_eq!([1, 4, 9, 10].map(at), [400_000, 400_000, 400_000, 800_000]);
        assert_eq!(measurement_at(&[], 1, 10, 1_000_000), None);
    }
}
