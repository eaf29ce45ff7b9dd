//! Analysis of games and solution of endgames.

use crate::errors::{OrRaise, error};
use crate::game::Game;
use crate::position::Position;
use crate::records::Record;
use crate::work::{self, interrupted, thread_count};
use outflank_analysis::game_analysis::{EXACT_FROM, GameAnalyzer};
use outflank_analysis::grade;
use outflank_analysis::report::{self, GameReport};
use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Position as _, Side};
use outflank_models::Evaluate;
use outflank_players::PlayerSpec;
use outflank_players::registry::{PlayerModel, find_model};
use outflank_records::obf::ObfEntry;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// The analysis of a game: the value and the loss of every move.
#[pyclass(frozen, module = "outflank")]
pub(crate) struct Analysis {
    report: GameReport,
    settings: String,
}

#[pymethods]
impl Analysis {
    /// One dictionary per move, for pandas.DataFrame: ply, side, played, best, loss and value in
    /// discs (None if unknown; the value is for Black), exact, depth, grade.
    #[getter]
    fn moves<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let row = |analyzed: &outflank_analysis::game_analysis::AnalyzedMove<Square>| {
            let row = PyDict::new(py);
            row.set_item("ply", analyzed.ply)?;
            row.set_item("side", analyzed.side.to_string())?;
            row.set_item("played", analyzed.played.to_string())?;
            let best: Vec<String> = analyzed.best.iter().map(ToString::to_string).collect();
            row.set_item("best", best)?;
            row.set_item("loss", analyzed.loss)?;
            row.set_item("value", analyzed.value)?;
            row.set_item("exact", analyzed.exact)?;
            row.set_item("depth", analyzed.depth)?;
            row.set_item("grade", analyzed.loss.map(grade))?;
            Ok(row)
        };
        self.report.moves.iter().map(row).collect()
    }

    /// Returns the report as a self-contained HTML page.
    fn to_html(&self) -> String {
        report::page(std::slice::from_ref(&self.report), &self.settings).to_html()
    }

    /// Returns the report as Markdown.
    fn to_markdown(&self) -> String {
        report::markdown(std::slice::from_ref(&self.report), &self.settings)
    }

    fn __len__(&self) -> usize {
        self.report.moves.len()
    }

    fn __str__(&self) -> String {
        report::text(std::slice::from_ref(&self.report), &self.settings)
    }

    fn __repr__(&self) -> String {
        format!("<outflank.Analysis: {} moves>", self.report.moves.len())
    }

    fn _repr_html_(&self) -> String {
        frame(&self.to_html())
    }
}

/// Returns an HTML page as an element of another page.
pub(crate) fn frame(page: &str) -> String {
    let page = page.replace('&', "&amp;").replace('"', "&quot;");
    format!("<iframe srcdoc=\"{page}\" width=\"100%\" height=\"600\" frameborder=\"0\"></iframe>")
}

/// Returns a model that evaluates positions.
fn value_model(name: &str) -> PyResult<Arc<dyn Evaluate<Othello>>> {
    let spec: PlayerSpec = name.parse().or_raise()?;
    match find_model::<Othello>(&spec).or_raise()? {
        PlayerModel::Value(value) => Ok(value),
        _ => Err(error(format!("model takes a model that evaluates positions, not '{name}'"))),
    }
}

// A literal, so that the signature in Python shows it.
const _: () = assert!(EXACT_FROM == 16);

/// Analyzes a game of Othello: a Game, a Record, or a text such as "f5d6c3d3c4".
///
/// Every position is searched `depth` plies deep with `model`, and solved from `exact` empty squares.
/// `cut` is the ProbCut threshold in standard deviations; 0 disables it.
#[pyfunction]
#[pyo3(signature = (game, *, model = "champion", depth = 8, exact = 16, cut = 0.0,
    threads = None, progress = None))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments in Python")]
pub(crate) fn analyze(
    py: Python<'_>,
    game: &Bound<'_, PyAny>,
    model: &str,
    depth: u32,
    exact: u32,
    cut: f32,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Analysis> {
    let (line, title): (Line<Othello>, String) = match game.cast::<Record>() {
        Ok(record) => {
            let record = &record.get().record;
            let title = match record.info.black.is_empty() || record.info.white.is_empty() {
                true => "Black - White".to_owned(),
                false => format!("{} - {}", record.info.black, record.info.white),
            };
            (record.to_line(), title)
        }
        Err(_) => {
            let line = match game.extract::<String>() {
                Ok(text) => {
                    outflank_records::transcript::game(text.as_bytes()).or_raise()?.to_line()
                }
                Err(_) => game
                    .cast::<Game>()
                    .map_err(|_| error("give a Game, a Record or a text such as f5d6c3"))?
                    .borrow()
                    .to_line()?,
            };
            (line, "Black - White".to_owned())
        }
    };
    if line.moves().is_empty() {
        return Err(error(
            "the game contains no moves to analyze; give a game with at least one move",
        ));
    }
    if !(1..=60).contains(&depth) {
        return Err(error(format!("depth is a number of plies from 1 to 60, not {depth}")));
    }
    if !(cut.is_finite() && cut >= 0.0) {
        return Err(error(format!("cut is a number of standard deviations, 0 or more, not {cut}")));
    }
    let value = value_model(model)?;
    let total = line.moves().len() as u64;
    let moves = work::run(py, progress, |task| {
        let mut analyzer = GameAnalyzer::new(value, exact, thread_count(threads));
        if cut > 0.0 {
            analyzer = analyzer.with_probcut(cut);
        }
        analyzer.analyze(&line, depth, |done| task.report(done as u64, total, ""))
    })?;
    let moves = moves.ok_or_else(interrupted)?;
    let settings =
        format!("Search of {depth} plies with {model}, exact from {exact} empty squares.");
    Ok(Analysis { report: GameReport::new(title, None, line, moves), settings })
}

/// The exact value of an endgame.
#[pyclass(frozen, get_all, module = "outflank")]
pub(crate) struct Solution {
    /// The disc difference for the side to move under best play; empty squares go to the winner.
    score: i32,
    /// A best move; None if the game is over.
    best: Option<String>,
    /// The number of searched positions.
    nodes: u64,
    /// The duration.
    seconds: f64,
}

#[pymethods]
impl Solution {
    #[staticmethod]
    fn _restore(score: i32, best: Option<String>, nodes: u64, seconds: f64) -> Solution {
        Solution { score, best, nodes, seconds }
    }

    #[allow(clippy::type_complexity, reason = "the form that pickle requires")]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (i32, Option<String>, u64, f64))> {
        let restore = py.get_type::<Solution>().getattr("_restore")?;
        Ok((restore, (self.score, self.best.clone(), self.nodes, self.seconds)))
    }

    fn __repr__(&self) -> String {
        let best = self.best.as_deref().unwrap_or("none");
        format!("Solution(score={:+}, best={best}, nodes={})", self.score, self.nodes)
    }
}

/// Solves an Othello position exactly. `memory` is the size of the transposition table in MiB.
#[pyfunction]
#[pyo3(signature = (position, *, threads = None, memory = 256))]
pub(crate) fn solve(
    py: Python<'_>,
    position: &Bound<'_, PyAny>,
    threads: Option<usize>,
    memory: u32,
) -> PyResult<Solution> {
    let position = match position.extract::<Position>() {
        Ok(position) => crate::position::downcast::<Othello>(&position)?,
        Err(_) => position
            .extract::<String>()
            .map_err(|_| error("give a Position or 64 of X, O and - and the side to move"))?
            .parse()
            .or_raise()?,
    };
    let side: Side = position.to_move();
    let entry = ObfEntry { position, side, scores: Vec::new() };
    let solved = work::run(py, None, |task| {
        let bytes = u64::from(memory) << 20;
        outflank_analysis::endgames::solve(entry, bytes, thread_count(threads), &task.control)
    })?;
    let solved = solved.ok_or_else(interrupted)?;
    let (score, best, nodes, seconds) = (solved.score, solved.best, solved.nodes, solved.seconds);
    Ok(Solution { score, best, nodes, seconds })
}
