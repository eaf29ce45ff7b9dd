//! A Python function as a policy.

use crate::position::Position;
use numpy::{PyArray1, PyReadonlyArray2};
use outflank_games::Position as GamePosition;
use outflank_games::othello::{Othello, Square};
use outflank_models::Policy;
use pyo3::prelude::*;
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

/// The first exception of the Python functions of a contest.
#[derive(Clone, Default)]
pub(crate) struct Failure(Arc<Mutex<Option<PyErr>>>);

impl Failure {
    /// Stores an exception unless there is one.
    pub(crate) fn set(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// Returns whether there was an exception.
    pub(crate) fn is_set(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Returns the exception as an error.
    pub(crate) fn raise(&self) -> PyResult<()> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// A policy that a Python function computes.
///
/// The function receives batches of positions. After an exception all scores are zero, and the
/// caller must check the [`Failure`].
pub(crate) struct PythonPolicy {
    function: Py<PyAny>,
    batch_size: usize,
    failure: Failure,
}

impl PythonPolicy {
    pub(crate) fn new(function: Py<PyAny>, batch_size: usize, failure: Failure) -> PythonPolicy {
        PythonPolicy { function, batch_size, failure }
    }

    fn call<P: GamePosition>(&self, items: &[(P, Vec<P::Move>)]) -> PyResult<Vec<Vec<f32>>> {
        Python::attach(|py| {
            let adapter = py.import("outflank._policies")?;
            let othello: Option<Vec<&Othello>> =
                items.iter().map(|(position, _)| (position as &dyn Any).downcast_ref()).collect();
            let Some(othello) = othello else {
                let positions: Vec<Position> =
                    items.iter().map(|(position, _)| Position::new(*position)).collect();
                let scores = adapter.call_method1("score_moves", (&self.function, positions))?;
                return scores.extract();
            };
            let boards = || othello.iter().map(|position| position.board());
            let own = PyArray1::from_iter(py, boards().map(|board| board.own));
            let other = PyArray1::from_iter(py, boards().map(|board| board.other));
            let sides = othello.iter().map(|position| position.to_move().index() as u8);
            let side = PyArray1::from_iter(py, sides);
            let scores =
                adapter.call_method1("score_squares", (&self.function, own, other, side))?;
            let scores: PyReadonlyArray2<'_, f32> = scores.extract()?;
            let scores = scores.as_array();
            let row = |(row, (_, moves)): (usize, &(P, Vec<P::Move>))| {
                let squares =
                    moves.iter().filter_map(|mv| (mv as &dyn Any).downcast_ref::<Square>());
                squares.map(|square| scores[[row, square.index()]]).collect()
            };
            Ok(items.iter().enumerate().map(row).collect())
        })
    }
}

impl<P: GamePosition> Policy<P> for PythonPolicy {
    fn score(&self, position: &P, moves: &[P::Move], out: &mut Vec<f32>) {
        out.clear();
        out.extend(self.score_batch(&[(*position, moves.to_vec())]).into_iter().flatten());
    }

    fn score_batch(&self, positions: &[(P, Vec<P::Move>)]) -> Vec<Vec<f32>> {
        let zeros = || positions.iter().map(|(_, moves)| vec![0.0; moves.len()]).collect();
        if self.failure.is_set() {
            return zeros();
        }
        self.call(positions).unwrap_or_else(|error| {
            self.failure.set(error);
            zeros()
        })
    }

    fn batch_size(&self) -> usize {
        self.batch_size
    }
}
