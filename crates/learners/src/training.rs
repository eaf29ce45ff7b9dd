//! The loop around every method that learns by playing: the budget, the curve, checkpoints,
//! progress and stopping, written once.
//!
//! A [`Learner`] does one step at a time, a generation or a batch of games, and says what it has
//! learned so far. [`train`] lets it step until its budget of games is used up, measures what it
//! has learned at even distances against the players it is told, and after each measurement
//! writes to a folder: `checkpoint.bin` to go on from, `curve.csv`, the same as a TensorBoard
//! event file, and the model. Measured games are no part of the budget and change nothing that is
//! learned. A run that was stopped or killed goes on from its last checkpoint to the same bytes.

use outflank_arena::matches::play_match;
use outflank_arena::{ContestError, Terms};
use outflank_games::Line;
use outflank_games::othello::Othello;
use outflank_models::files::{ModelError, Origin, save as save_model};
use outflank_models::{Model, Policy};
use outflank_players::{Entry, ForcedRandom, Greedy};
use outflank_runs::events::{Scalar, event_file};
use outflank_runs::files::{self, FileError};
use outflank_runs::{parts, stop_requested};
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A method that learns by playing.
pub trait Learner {
    /// What it learns.
    type Model: Clone + Into<Model>;

    /// Games played so far.
    fn spent(&self) -> u64;

    /// Games that the next step takes.
    fn next_games(&self) -> u64;

    /// A generation, or a batch of games.
    fn step(&mut self) -> Result<(), String>;

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

/// How long to learn and how to measure.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The budget of games: no step begins that it could not pay.
    pub games: u64,
    /// How often to measure, at even distances; the end is always measured.
    pub points: u64,
    /// Whom to measure against, by name; they bring their own random moves.
    pub against: Vec<Entry<Othello>>,
    /// Games of each measurement, half with each colour.
    pub measured_games: u32,
    /// The probability of a random move of the learned player while it is measured.
    pub random: f64,
    /// The seed of the measured games.
    pub seed: u64,
    /// How many threads measure.
    pub threads: usize,
    /// What the model file says about how it was made.
    pub origin: Origin,
    /// Whether the model of every measurement is kept, as `models/001.safetensors` and so on.
    pub keep_models: bool,
}

/// A measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Games learned from until then.
    pub games: u64,
    /// The score against each player, 0 to 100.
    pub scores: Vec<f64>,
    /// The half-widths of their 95% intervals.
    pub errors: Vec<f64>,
    /// The percentage of games lost against each.
    pub losses: Vec<f64>,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct Status<'a> {
    /// Games played.
    pub games: u64,
    /// The last measurement.
    pub last: Option<&'a Point>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Trained<M> {
    /// The best that was learned.
    pub model: M,
    /// The measurements.
    pub curve: Vec<Point>,
    /// Whether the budget was used up; otherwise the run was stopped and can go on.
    pub complete: bool,
}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
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
/// The measurements as a table.
pub const CURVE: &str = "curve.csv";
/// The measurements for TensorBoard, which looks for `tfevents` in the name.
pub const EVENTS: &str = "events.out.tfevents.0.outflank";
/// What was learned.
pub const MODEL: &str = "model.safetensors";

/// Where the model of a measurement is kept; the last has the number of points.
#[must_use]
pub fn model_at(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("models/{number:03}.safetensors"))
}

/// Where the last of each of the models is that were learned side by side, counted from 0.
#[must_use]
pub fn model_file(folder: &Path, place: usize) -> PathBuf {
    match place {
        0 => folder.join(MODEL),
        _ => folder.join(format!("model-{}.safetensors", place + 1)),
    }
}

/// No checkpoint is larger than this.
const LIMIT: u64 = 1 << 34;

/// Lets a learner use up its budget, going on from the folder's checkpoint if there is one.
/// `watch` sees how far it has come, after each step; it may end the run by returning `false`.
pub fn train<L: Learner>(
    learner: &mut L,
    plan: &Plan,
    folder: &Path,
    mut watch: impl FnMut(Status<'_>) -> bool,
) -> Result<Trained<L::Model>, TrainError> {
    let mut curve = resume(learner, folder)?;
    loop {
        let spent = learner.spent();
        let over = spent.saturating_add(learner.next_games()) > plan.games;
        let last = curve.last().map_or(0, |point: &Point| point.games);
        let period = |games: u64| {
            u128::from(games) * u128::from(plan.points) / u128::from(plan.games.max(1))
        };
        let due = period(spent) > period(last) || (over && last < spent);
        if due {
            let models: Vec<Model> = learner.models().into_iter().map(Into::into).collect();
            let policies: Vec<_> = models.iter().map(Model::policy).collect();
            let Some(point) = measure(&policies, spent, plan)? else {
                save(learner, &curve, folder)?;
                return Ok(Trained { model: learner.model(), curve, complete: false });
            };
            curve.push(point);
            write_curve(&curve, plan, folder)?;
            for (place, model) in models.iter().enumerate() {
                save_model(&model_file(folder, place), model, &plan.origin)?;
            }
            if let (true, Some(model)) = (plan.keep_models, models.first()) {
                let number = if over { plan.points } else { period(spent) as u64 };
                files::create_folder(&folder.join("models"))?;
                save_model(&model_at(folder, number), model, &plan.origin)?;
            }
            save(learner, &curve, folder)?;
        }
        let go_on = watch(Status { games: spent, last: curve.last() });
        if over {
            return Ok(Trained { model: learner.model(), curve, complete: true });
        }
        if !go_on || stop_requested() {
            save(learner, &curve, folder)?;
            return Ok(Trained { model: learner.model(), curve, complete: false });
        }
        learner.step().map_err(TrainError::Step)?;
    }
}

/// Plays the measured games; `None` when the user stopped them.
fn measure(
    policies: &[Arc<dyn Policy<Othello>>],
    games: u64,
    plan: &Plan,
) -> Result<Option<Point>, TrainError> {
    let random = plan.random;
    let mut point = Point { games, scores: Vec::new(), errors: Vec::new(), losses: Vec::new() };
    let (count, all) = (policies.len() as u32, plan.measured_games / 2);
    for other in &plan.against {
        let (mut score, mut variance, mut lost, mut played) = (0.0, 0.0, 0, 0);
        for (place, policy) in policies.iter().enumerate() {
            // As even as can be, and at least one round for each.
            let rounds = (all / count + u32::from((place as u32) < all % count)).max(1);
            let name = match place {
                0 => "learned".to_owned(),
                _ => format!("learned {}", place + 1),
            };
            let policy = Arc::clone(policy);
            let entry = Entry::new(name, move || {
                Ok(Box::new(ForcedRandom::new(Greedy::new(policy.clone()), random)))
            });
            let openings = vec![Line::default()];
            let terms = Terms { openings, rounds, seed: plan.seed, threads: plan.threads };
            let (report, _) = play_match(&[entry, other.clone()], &terms, None, None, |_, _| {})?;
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
        point.scores.push(100.0 * score / played);
        point.errors.push(100.0 * variance.sqrt() / played);
        point.losses.push(100.0 * lost as f64 / played);
    }
    Ok(Some(point))
}

fn write_curve(curve: &[Point], plan: &Plan, folder: &Path) -> Result<(), FileError> {
    let mut text = "games".to_owned();
    for entry in &plan.against {
        let name = entry.name.replace(['"', '\n', ','], "_");
        let _ = write!(text, ",{name},{name} error");
    }
    text.push('\n');
    let mut scalars = Vec::new();
    for point in curve {
        let _ = write!(text, "{}", point.games);
        for ((score, error), entry) in point.scores.iter().zip(&point.errors).zip(&plan.against) {
            let _ = write!(text, ",{score},{error}");
            let tag = format!("score/{}", entry.name);
            scalars.push(Scalar { tag, step: point.games, value: *score as f32 });
        }
        text.push('\n');
    }
    files::write(&folder.join(CURVE), text.as_bytes())?;
    files::write(&folder.join(EVENTS), &event_file(&scalars))
}

fn save<L: Learner>(learner: &L, curve: &[Point], folder: &Path) -> Result<(), TrainError> {
    let mut all = vec![write_points(curve).into_bytes()];
    all.extend(learner.state().map_err(TrainError::Step)?);
    Ok(files::write(&folder.join(CHECKPOINT), &parts::pack(&all))?)
}

/// Puts the learner back to the checkpoint, if there is one, and returns its curve.
fn resume<L: Learner>(learner: &mut L, folder: &Path) -> Result<Vec<Point>, TrainError> {
    let path = folder.join(CHECKPOINT);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let bytes = files::read(&path, LIMIT)?;
    let mut inner = || -> Result<Vec<Point>, String> {
        let all = parts::unpack(&bytes)?;
        let (curve, state) = all.split_first().ok_or("it is empty")?;
        let curve = std::str::from_utf8(curve).ok().and_then(read_points);
        learner.restore(state)?;
        curve.ok_or_else(|| "its curve is damaged".to_owned())
    };
    inner().map_err(|reason| TrainError::Checkpoint { path: path.display().to_string(), reason })
}

/// A line for each point: the games, then each score, its error and the losses. Rust writes and reads the same
/// numbers to the last bit.
fn write_points(curve: &[Point]) -> String {
    let mut text = String::new();
    for point in curve {
        let _ = write!(text, "{}", point.games);
        let Point { scores, errors, losses, .. } = point;
        for ((score, error), lost) in scores.iter().zip(errors).zip(losses) {
            let _ = write!(text, " {score} {error} {lost}");
        }
        text.push('\n');
    }
    text
}

fn read_points(text: &str) -> Option<Vec<Point>> {
    let point = |line: &str| {
        let mut words = line.split(' ');
        let games = words.next()?.parse().ok()?;
        let numbers: Option<Vec<f64>> = words.map(|word| word.parse().ok()).collect();
        let numbers = numbers?;
        let (triples, rest) = numbers.as_chunks::<3>();
        rest.is_empty().then(|| Point {
            games,
            scores: triples.iter().map(|triple| triple[0]).collect(),
            errors: triples.iter().map(|triple| triple[1]).collect(),
            losses: triples.iter().map(|triple| triple[2]).collect(),
        })
    };
    text.lines().map(point).collect()
}
