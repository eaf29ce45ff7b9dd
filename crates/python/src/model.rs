//! Models.

use crate::errors::{OrRaise, error};
use crate::records::side_of;
use crate::work;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, ndarray::Array2};
use outflank_games::othello::{Othello, Square};
use outflank_games::{Position as _, Side};
use outflank_models::embedded::{self, Embedded, NAMES};
use outflank_models::files::{self, Origin, read_safetensors, write_safetensors};
use outflank_models::nets::SymmetryAveraged;
use outflank_models::{self as models, Policy};
use outflank_players::registry::run_model_path;
use outflank_runs::did_you_mean;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Positions that one thread evaluates at a time.
const CHUNK: usize = 256;

/// A model of Othello: a value function, a policy, or both.
#[pyclass(frozen, from_py_object, module = "outflank")]
#[derive(Clone)]
pub(crate) struct Model {
    pub(crate) model: models::Model,
    pub(crate) origin: Origin,
}

/// Converts a batch to positions.
fn to_positions(batch: &Bound<'_, PyAny>) -> PyResult<Vec<Othello>> {
    let py = batch.py();
    let batch = py.import("outflank")?.getattr("Positions")?.call_method1("of", (batch,))?;
    let own: PyReadonlyArray1<'_, u64> = batch.getattr("own")?.extract()?;
    let other: PyReadonlyArray1<'_, u64> = batch.getattr("other")?.extract()?;
    let side: PyReadonlyArray1<'_, u8> = batch.getattr("side")?.extract()?;
    let (own, other, side) = (own.as_slice()?, other.as_slice()?, side.as_slice()?);
    if own.len() != other.len() || own.len() != side.len() {
        return Err(error("the arrays own, other and side must have equal lengths"));
    }
    let position = |index: usize| {
        let to_move = if side[index] == 0 { Side::Black } else { Side::White };
        let (black, white) = match to_move {
            Side::Black => (own[index], other[index]),
            Side::White => (other[index], own[index]),
        };
        Othello::from_discs(black, white, to_move)
            .ok_or_else(|| error(format!("position {index} has two discs on one square")))
    };
    (0..own.len()).map(position).collect()
}

#[pymethods]
impl Model {
    /// The kind of the model, such as "ntuple" or "patterns".
    #[getter]
    fn kind(&self) -> &'static str {
        self.model.kind()
    }

    /// The number of trainable weights.
    #[getter]
    fn weight_count(&self) -> usize {
        self.model.weight_count()
    }

    /// The training method, or an empty text if it is unknown.
    #[getter]
    fn method(&self) -> &str {
        &self.origin.method
    }

    /// The seed of the training run.
    #[getter]
    fn seed(&self) -> Option<u64> {
        self.origin.seed
    }

    /// Whether the model evaluates positions. Otherwise it only scores moves.
    #[getter]
    fn has_values(&self) -> bool {
        self.model.value().is_some()
    }

    /// The weights of an n-tuple network; None for other kinds.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f32>>> {
        match &self.model {
            models::Model::NTuple(network) => Some(PyArray1::from_slice(py, network.weights())),
            _ => None,
        }
    }

    /// Returns the value of each position (float32) to the player who moved into it: by default the
    /// opponent of the side to move, otherwise the side in `mover` (0 black, 1 white).
    ///
    /// `positions` is a Positions or a list of Position.
    #[pyo3(signature = (positions, mover = None))]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        mover: Option<PyReadonlyArray1<'py, u8>>,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let Some(value) = self.model.value() else {
            let kind = self.model.kind();
            return Err(error(format!(
                "a model of kind '{kind}' scores moves and does not evaluate positions; use policy"
            )));
        };
        let positions = to_positions(positions)?;
        let movers: Vec<Side> = match &mover {
            Some(mover) if mover.as_slice()?.len() == positions.len() => {
                mover.as_slice()?.iter().map(|&side| side_of(side)).collect::<PyResult<_>>()?
            }
            Some(_) => return Err(error("mover must have one entry per position")),
            None => positions.iter().map(|position| position.to_move().other()).collect(),
        };
        let values: Vec<f32> = work::compute_items(py, positions.len(), |is_stopped| {
            let chunks = positions.par_chunks(CHUNK).zip(movers.par_chunks(CHUNK));
            let chunks = chunks.filter(|_| !is_stopped());
            let value = |(position, &mover)| value.value(position, mover);
            chunks.flat_map_iter(|(p, m)| p.iter().zip(m).map(value)).collect()
        })?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// Returns a score for each square of each position (n x 64, float32), -inf for illegal moves.
    /// Scores are comparable only within one position. A model with values scores a move by the
    /// value of the position after it. `symmetries=8` averages a policy network over the symmetries.
    ///
    /// `positions` is a Positions or a list of Position.
    #[pyo3(signature = (positions, symmetries = 1))]
    fn policy<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        symmetries: u32,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let policy: Arc<dyn Policy<Othello>> = match symmetries {
            1 => self.model.policy(),
            8 => Arc::new(SymmetryAveraged(self.model.policy())),
            _ => return Err(error(format!("symmetries is 1 or 8, not {symmetries}"))),
        };
        let positions = to_positions(positions)?;
        let count = positions.len();
        let scores = work::compute_items(py, count, |is_stopped| {
            let with_moves: Vec<(Othello, Vec<Square>)> =
                positions.into_iter().map(|p| (p, p.moves().collect())).collect();
            let scored: Vec<Vec<f32>> = with_moves
                .par_chunks(CHUNK)
                .filter(|_| !is_stopped())
                .flat_map_iter(|chunk| policy.score_batch(chunk))
                .collect();
            let mut scores = Array2::from_elem((count, 64), f32::NEG_INFINITY);
            for (row, ((_, moves), values)) in with_moves.iter().zip(&scored).enumerate() {
                for (mv, &value) in moves.iter().zip(values) {
                    scores[[row, mv.index()]] = value;
                }
            }
            scores
        })?;
        Ok(PyArray2::from_owned_array(py, scores))
    }

    /// Saves the model. The extension selects the format: .safetensors, .onnx (policy networks),
    /// .player or .wpc.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        files::save(&path, &self.model, &self.origin).or_raise()
    }

    /// Returns the content of a .safetensors file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = write_safetensors(&self.model, &self.origin).or_raise()?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Reads the content of a .safetensors file.
    #[classmethod]
    fn from_bytes(_class: &Bound<'_, PyType>, content: &[u8]) -> PyResult<Model> {
        let (model, origin) = read_safetensors(content).or_raise()?;
        Ok(Model { model, origin })
    }

    fn __repr__(&self) -> String {
        let (kind, weights) = (self.model.kind(), self.model.weight_count());
        match self.origin.method.as_str() {
            "" => format!("<outflank.Model: {kind}, {weights} weights>"),
            method => format!("<outflank.Model: {method}, {kind}, {weights} weights>"),
        }
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Model>().getattr("from_bytes")?, (self.to_bytes(py)?,)))
    }
}

/// Loads a model: an embedded one by name, a model file, or the model of a run folder.
#[pyfunction]
pub(crate) fn load_model(py: Python<'_>, name: PathBuf) -> PyResult<Model> {
    let name = name.to_str().ok_or_else(|| error("the name of a model must be valid Unicode"))?;
    let load = || match embedded::find(name) {
        Some(Embedded::Model(model)) => {
            let note = "part of the program".to_owned();
            Ok(Model {
                model,
                origin: Origin { method: name.to_owned(), note, ..Origin::default() },
            })
        }
        Some(Embedded::Heuristic(_)) => Err(format!(
            "'{name}' is a heuristic of named features, not a model with weights on squares"
        )),
        None => {
            let path = Path::new(name);
            if !path.exists() && path.extension().is_none() {
                return Err(format!("there is no model '{name}'; {}", did_you_mean(name, &NAMES)));
            }
            let path = if path.is_dir() { run_model_path(path) } else { path.to_owned() };
            let (model, origin) = files::load(&path).map_err(|error| error.to_string())?;
            Ok(Model { model, origin })
        }
    };
    py.detach(load).or_raise()
}
