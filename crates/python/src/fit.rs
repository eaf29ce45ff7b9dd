//! Training on games, and move-prediction accuracy.

use crate::contest::to_dict;
use crate::errors::{OrRaise, error};
use crate::model::Model;
use crate::player::{Player, othello_policy};
use crate::python_policy::Failure;
use crate::records::{Decisions, Games};
use crate::work::{self, Task, interrupted};
use outflank_games::othello::{Othello, Square};
use outflank_learners::coevolution::TupleShape;
use outflank_learners::methods::{self, Method, MethodOptions, TrainingData, methods_using};
use outflank_learners::online::PreferenceLoss;
use outflank_learners::training::{Measurement, NoEvaluator, Schedule, Trainer, TrainingPlan};
use outflank_models::files::{Origin, load_tuples};
use outflank_models::patterns::{Count, classic, whole_board};
use outflank_models::tuple_shapes::{blocks, systematic};
use outflank_models::{Policy, Tuples, embedded};
use outflank_presentation::accuracy_json;
use outflank_records::{DecisionFilter, decisions};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The default tolerance of the command line.
const TOLERANCE: f64 = 1e-3;

/// The curve has every iteration up to this one, later every tenth, as on the command line.
const DENSE_ITERATIONS: u64 = 50;

/// Returns the tuples and counts of a feature set.
fn features(name: &str) -> PyResult<(Tuples, Vec<Count>)> {
    let tuples = match name {
        "ntuple" => embedded::runarsson_lucas_tuples(),
        "1tuple" => Tuples::squares(),
        "patterns" => whole_board(),
        "classic" => classic(),
        file => {
            let path = Path::new(file);
            let shape = if path.exists() { None } else { file.parse().ok() };
            let squares = match shape {
                Some(TupleShape::Systematic { length, blocks }) => {
                    Some(systematic(length, blocks).or_raise()?)
                }
                Some(TupleShape::Blocks) => Some(blocks()),
                Some(TupleShape::Snakes { .. }) | None => None,
            };
            match squares {
                Some(squares) => Tuples::symmetric(&squares).or_raise()?,
                None => load_tuples(path).map_err(|e| {
                    error(format!(
                        "{e}; features takes ntuple, 1tuple, patterns, classic, a systematic set \
                         such as all3+2x2, or a file that lists tuples"
                    ))
                })?,
            }
        }
    };
    let counts = match name {
        "patterns" | "classic" => Count::ALL.to_vec(),
        _ => Vec::new(),
    };
    Ok((tuples, counts))
}

/// Reads the options of a method. Every option must belong to the method.
fn method_options(method: Method, given: &Bound<'_, PyDict>) -> PyResult<MethodOptions> {
    let solver: Option<String> = match given.get_item("solver")? {
        Some(solver) => Some(solver.extract()?),
        None => None,
    };
    let mut options = match solver.as_deref() {
        Some("dual") => MethodOptions::dual(),
        None | Some("primal" | "online") => {
            MethodOptions { tolerance: TOLERANCE, ..MethodOptions::default() }
        }
        Some(other) => {
            return Err(error(format!("solver is primal, dual or online, not '{other}'")));
        }
    };
    options.online = solver.as_deref() == Some("online");
    for (name, value) in given {
        let name: String = name.extract()?;
        if value.is_none() {
            continue;
        }
        let option = match name.as_str() {
            "balanced" => "unbalanced".to_owned(),
            name => name.trim_end_matches('_').replace('_', "-"),
        };
        if !methods_using(&option).contains(&method) {
            return Err(error(format!("{} has no option {name}", method.name())));
        }
        match name.as_str() {
            "c" => options.c = value.extract()?,
            "tolerance" => {
                options.tolerance = value.extract()?;
                options.mm_tolerance = options.tolerance;
            }
            "max_iterations" => {
                options.max_iterations = value.extract()?;
                options.mm_max_iterations = options.max_iterations;
            }
            "binary" => options.preference_binary = value.extract()?,
            "balanced" => options.balanced = value.extract()?,
            "lambda_" => options.lambda = value.extract()?,
            "ridge" => options.ridge = value.extract()?,
            "prior" => options.prior = value.extract()?,
            "multivalued" => options.mm_binary = !value.extract::<bool>()?,
            "epochs" => options.epochs = value.extract()?,
            "learning_rate" => options.learning_rate = value.extract()?,
            "discs_per_stage" => options.discs_per_stage = value.extract()?,
            "afterstates" => options.afterstates = value.extract()?,
            "loss" => {
                options.loss = match value.extract::<String>()?.as_str() {
                    "softmax" => PreferenceLoss::Softmax,
                    "margin" => PreferenceLoss::SquaredHinge,
                    other => {
                        return Err(error(format!("loss is softmax or margin, not '{other}'")));
                    }
                }
            }
            "solver" => {}
            _ => return Err(error(format!("{} has no option {name}", method.name()))),
        }
    }
    if options.online && method != Method::IPref {
        return Err(error(format!(
            "solver online is for ipref; {} has primal and dual",
            method.name()
        )));
    }
    options.check(method).or_raise()?;
    Ok(options)
}

/// Trains a model on games. Returns the model and a dictionary with a summary and the curve.
///
/// `checkpoint` is a folder from which an interrupted run continues.
#[pyfunction]
#[pyo3(signature = (method, games, options, *, features = "ntuple", by = None, seed = 1,
    checkpoint = None, progress = None))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments in Python")]
pub(crate) fn fit<'py>(
    py: Python<'py>,
    method: &str,
    games: &Bound<'py, PyAny>,
    options: &Bound<'py, PyDict>,
    features: &str,
    by: Option<String>,
    seed: u64,
    checkpoint: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Model, Bound<'py, PyDict>)> {
    let method: Method = method.parse().or_raise()?;
    let options = method_options(method, options)?;
    let games = Games::from_any(games)?;
    let (tuples, counts) = self::features(features)?;
    let iterations = methods::max_iterations(method, &options, games.records.len());
    let unit = methods::iteration_unit(method, &options);
    let origin = Origin {
        method: method.name().to_owned(),
        seed: Some(seed),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        note: String::new(),
    };
    let plan = TrainingPlan {
        schedule: match method {
            Method::Lstd => Schedule::Even(1),
            _ => Schedule::Dense(DENSE_ITERATIONS),
        },
        ..TrainingPlan::new(iterations, unit, origin.clone())
    };
    let temporary = tempfile::tempdir().or_raise()?;
    let folder = checkpoint.as_deref().unwrap_or(temporary.path());
    let trained = work::run_in_pool(py, progress, |task| {
        let filter = DecisionFilter { by: by.as_deref(), ..DecisionFilter::CHOICES };
        let choices = decisions(games.records.iter(), &filter);
        if choices.is_empty() {
            return Err("there are no decisions to train on; give games with choices".to_owned());
        }
        let data =
            TrainingData { counts, ..TrainingData::new(&games.records, choices.items(), tuples) };
        let mut learner =
            methods::learner(method, data, &options, seed).map_err(|error| error.to_string())?;
        let outcome = Trainer::new(plan).run(&mut *learner, &NoEvaluator, folder, |status| {
            let message = match status.last.and_then(|point| point.scores.first()) {
                Some(value) if value.is_finite() => format!("{value:.4}"),
                _ => String::new(),
            };
            task.report(status.spent, status.budget, &message)
        });
        let outcome = outcome.map_err(|error| error.to_string())?;
        if outcome.complete {
            methods::check_model(&outcome.model, choices.items())
                .map_err(|error| error.to_string())?;
        }
        Ok((outcome, learner.summary(), learner.remarks()))
    })?;
    let (outcome, summary, remarks) = trained.or_raise()?;
    if !outcome.complete {
        return Err(interrupted());
    }
    let about = PyDict::new(py);
    about.set_item("summary", summary)?;
    about.set_item("remarks", remarks)?;
    let row = |point: &Measurement| {
        let row = PyDict::new(py);
        row.set_item("iteration", point.spent)?;
        for (column, score) in outcome.columns.iter().zip(&point.scores) {
            row.set_item(&column.name, score)?;
        }
        Ok::<_, PyErr>(row)
    };
    let rows = outcome.curve.iter().map(row).collect::<PyResult<Vec<_>>>()?;
    about.set_item("curve", PyList::new(py, rows)?)?;
    about.set_item("iterations", outcome.spent.0)?;
    Ok((Model { model: outcome.model, origin }, about))
}

/// Measures how often a player's best move is the move that was played.
///
/// `player` is a Model, a Player without search or a function. Returns a dictionary: the accuracy on
/// choices (positions with two or more legal moves), on all decisions, top-k accuracy, and accuracy
/// by stage, in percent.
#[pyfunction]
#[pyo3(signature = (player, decisions, *, progress = None))]
pub(crate) fn accuracy<'py>(
    py: Python<'py>,
    player: &Bound<'py, PyAny>,
    decisions: &Decisions,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let list = PyList::new(py, [player])?;
    let players = crate::player::to_players(py, &list, "othello")?;
    let [player]: [Player; 1] = players.try_into().map_err(|_| error("give one player"))?;
    let failure = Failure::default();
    let policy = othello_policy(&player, &failure)?;
    let items = decisions.decisions.items();
    let total = items.len() as u64;
    let (measured, scored) = work::run_in_pool(py, progress, |task| {
        let policy = Observed { policy, task, total, scored: Mutex::new(0) };
        let measured = outflank_arena::accuracy(&policy, items);
        (measured, policy.scored.into_inner().unwrap_or_else(PoisonError::into_inner))
    })?;
    failure.raise()?;
    if scored < total {
        return Err(interrupted());
    }
    to_dict(py, &accuracy_json("", &measured))
}

/// A policy that reports progress. After a stop its scores are zero.
struct Observed<'a> {
    policy: Arc<dyn Policy<Othello>>,
    task: &'a Task,
    total: u64,
    /// The number of positions scored so far.
    scored: Mutex<u64>,
}

impl Observed<'_> {
    /// Counts positions. Progress is reported a hundred times.
    fn count(&self, positions: usize) {
        let mut scored = self.scored.lock().unwrap_or_else(PoisonError::into_inner);
        let percent = |scored: u64| scored * 100 / self.total.max(1);
        let before = percent(*scored);
        *scored += positions as u64;
        let scored = *scored;
        if percent(scored) > before {
            self.task.report(scored, self.total, "");
        }
    }
}

impl Policy<Othello> for Observed<'_> {
    fn score(&self, position: &Othello, moves: &[Square], out: &mut Vec<f32>) {
        out.clear();
        out.extend(self.score_batch(&[(*position, moves.to_vec())]).into_iter().flatten());
    }

    fn score_batch(&self, positions: &[(Othello, Vec<Square>)]) -> Vec<Vec<f32>> {
        if self.task.is_stopped() {
            return positions.iter().map(|(_, moves)| vec![0.0; moves.len()]).collect();
        }
        let scores = self.policy.score_batch(positions);
        self.count(positions.len());
        scores
    }

    fn batch_size(&self) -> usize {
        self.policy.batch_size()
    }
}
