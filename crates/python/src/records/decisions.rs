//! Decisions: positions and the moves played in them.

use super::{indices_of, side_of, to_sizes};
use crate::errors::{OrRaise, error};
use crate::position::Position;
use crate::work;
use numpy::{PyArray1, PyReadonlyArray1};
use outflank_games::othello::{Othello, Square};
use outflank_games::{Position as _, Side};
use outflank_records::{
    self as records, Decision, DecisionSource, export_csv, export_npz, split_examples,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::Arc;

/// A list of decisions of Othello: positions and the moves played in them.
#[pyclass(frozen, from_py_object, module = "outflank")]
#[derive(Clone)]
pub(crate) struct Decisions {
    pub(crate) decisions: Arc<records::Decisions<Othello>>,
}

impl Decisions {
    pub(crate) fn new(decisions: records::Decisions<Othello>) -> Decisions {
        Decisions { decisions: Arc::new(decisions) }
    }
}

#[pymethods]
impl Decisions {
    fn __len__(&self) -> usize {
        self.decisions.len()
    }

    /// Returns the decisions of a slice, of a list of indices or of a boolean mask.
    fn __getitem__(&self, index: &Bound<'_, PyAny>) -> PyResult<Decisions> {
        if index.hasattr("__index__")? && index.call_method0("__index__").is_ok() {
            return Err(error("an integer selects no list of decisions; use position(index)"));
        }
        let indices = indices_of(index, self.decisions.len())?;
        Ok(Decisions::new(self.decisions.select(&indices)))
    }

    fn __repr__(&self) -> String {
        format!("<outflank.Decisions: {} decisions>", self.decisions.len())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Decisions>().is_ok_and(|other| self.decisions == other.get().decisions)
    }

    /// Returns a position and the move played in it.
    fn position(&self, index: usize) -> PyResult<(Position, String)> {
        let item = self.decisions.items().get(index).ok_or_else(|| {
            pyo3::exceptions::PyIndexError::new_err(format!("there is no decision {index}"))
        })?;
        Ok((Position::new(item.position), item.chosen.to_string()))
    }

    /// Returns the decisions as arrays, with the names and types of the exported files: `own` and
    /// `other` (uint64, from the view of the side to move, bit 0 is a1), `move` (uint8, 0 is a1),
    /// `side` (uint8, 0 black, 1 white), `game` (uint32) and `ply` (uint8, from 0).
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (items, sources) = (self.decisions.items(), self.decisions.sources());
        let arrays = PyDict::new(py);
        let boards = || items.iter().map(|item| item.position.board());
        arrays.set_item("own", PyArray1::from_iter(py, boards().map(|board| board.own)))?;
        arrays.set_item("other", PyArray1::from_iter(py, boards().map(|board| board.other)))?;
        let moves = items.iter().map(|item| item.chosen.index() as u8);
        arrays.set_item("move", PyArray1::from_iter(py, moves))?;
        let sides = items.iter().map(|item| item.position.to_move().index() as u8);
        arrays.set_item("side", PyArray1::from_iter(py, sides))?;
        arrays.set_item("game", PyArray1::from_iter(py, sources.iter().map(|s| s.game)))?;
        let plies = sources.iter().map(|s| s.ply.min(255) as u8);
        arrays.set_item("ply", PyArray1::from_iter(py, plies))?;
        Ok(arrays)
    }

    /// Returns the decisions without duplicates, in the original order. Two decisions are equal if
    /// the board, from the view of the side to move, and the move are equal.
    fn unique(&self, py: Python<'_>) -> PyResult<Decisions> {
        work::compute(py, || self.decisions.unique()).map(Decisions::new)
    }

    /// Returns the decisions with two or more legal moves.
    fn choices(&self, py: Python<'_>) -> PyResult<Decisions> {
        work::compute(py, || self.decisions.filter(|item, _| !item.is_forced())).map(Decisions::new)
    }

    /// Returns the decisions of these games.
    fn of_games(&self, games: Vec<usize>) -> Decisions {
        Decisions::new(self.decisions.of_games(&games))
    }

    /// Splits the decisions at random into disjoint subsets of these sizes, numbers or fractions.
    /// Positions of one game may be in several subsets; split games to prevent that.
    #[pyo3(signature = (*sizes, seed = 1))]
    fn split(&self, sizes: Vec<f64>, seed: u64) -> PyResult<Vec<Decisions>> {
        let sizes = to_sizes(self.decisions.len(), &sizes)?;
        let mut indices: Vec<usize> = (0..self.decisions.len()).collect();
        let split = split_examples(&mut indices, seed, &sizes).or_raise()?;
        let subsets = split.subsets.iter();
        Ok(subsets.map(|subset| Decisions::new(self.decisions.select(subset))).collect())
    }

    /// Writes the arrays as an NPZ file, which `load_decisions` reads.
    fn save_npz(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        work::run(py, None, |_| export_npz(&self.decisions, None, &path))?.or_raise()
    }

    /// Writes a CSV file.
    fn save_csv(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        work::run(py, None, |_| export_csv(&self.decisions, &path))?.or_raise()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let make = py.import("outflank._outflank")?.getattr("make_decisions")?;
        let arrays = self.arrays(py)?;
        let mut columns = Vec::new();
        for name in ["own", "other", "move", "side", "game", "ply"] {
            columns.extend(arrays.get_item(name)?);
        }
        Ok((make, pyo3::types::PyTuple::new(py, columns)?.into_any()))
    }
}

/// Creates decisions from arrays. Every move must be legal.
#[pyfunction]
pub(crate) fn make_decisions(
    py: Python<'_>,
    own: PyReadonlyArray1<'_, u64>,
    other: PyReadonlyArray1<'_, u64>,
    moves: PyReadonlyArray1<'_, u8>,
    side: PyReadonlyArray1<'_, u8>,
    game: PyReadonlyArray1<'_, u32>,
    ply: PyReadonlyArray1<'_, u8>,
) -> PyResult<Decisions> {
    let (own, other, moves) = (own.as_slice()?, other.as_slice()?, moves.as_slice()?);
    let (side, game, ply) = (side.as_slice()?, game.as_slice()?, ply.as_slice()?);
    let lengths = [other.len(), moves.len(), side.len(), game.len(), ply.len()];
    if let Some(len) = lengths.iter().find(|&&len| len != own.len()) {
        return Err(error(format!("the arrays have {} and {len} entries", own.len())));
    }
    let read = || {
        let mut decisions = records::Decisions::new();
        for index in 0..own.len() {
            let to_move = side_of(side[index])?;
            let (black, white) = match to_move {
                Side::Black => (own[index], other[index]),
                Side::White => (other[index], own[index]),
            };
            let position = Othello::from_discs(black, white, to_move)
                .filter(|position| position.is_over() || position.to_move() == to_move);
            let chosen = Square::new(moves[index]);
            let legal =
                position.zip(chosen).filter(|(position, chosen)| position.is_legal(*chosen));
            let Some((position, chosen)) = legal else {
                let mv = moves[index];
                return Err(error(format!(
                    "decision {index}: move {mv} is not legal on this board"
                )));
            };
            let source = DecisionSource { game: game[index], ply: ply[index].into() };
            decisions.push(Decision { position, chosen }, source);
        }
        Ok::<_, PyErr>(decisions)
    };
    py.detach(read).map(Decisions::new)
}
