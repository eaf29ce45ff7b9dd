//! One recorded game.

use super::OthelloRecord;
use super::state::{RecordState, from_state, to_state};
use crate::game::Game;
use crate::position::Position;
use outflank_records::{Termination, transcript};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

/// A recorded game of Othello. All its moves are legal.
#[pyclass(frozen, from_py_object, module = "outflank")]
#[derive(Clone)]
pub(crate) struct Record {
    pub(crate) record: OthelloRecord,
}

#[pymethods]
impl Record {
    /// The name of Black; empty if unknown.
    #[getter]
    fn black(&self) -> &str {
        &self.record.info.black
    }

    /// The name of White; empty if unknown.
    #[getter]
    fn white(&self) -> &str {
        &self.record.info.white
    }

    /// Black's rating.
    #[getter]
    fn black_rating(&self) -> Option<f32> {
        self.record.info.black_rating
    }

    /// White's rating.
    #[getter]
    fn white_rating(&self) -> Option<f32> {
        self.record.info.white_rating
    }

    /// The tournament or site; empty if unknown.
    #[getter]
    fn event(&self) -> &str {
        &self.record.info.event
    }

    /// The date as written in the record.
    #[getter]
    fn date(&self) -> &str {
        &self.record.info.date
    }

    /// The year of the date.
    #[getter]
    fn year(&self) -> Option<u16> {
        self.record.info.year()
    }

    /// The recorded result: Black's discs minus White's, with empty squares for the winner.
    #[getter]
    fn result(&self) -> Option<i32> {
        self.record.info.result
    }

    /// Black's discs minus White's on the last board, with empty squares for the leader.
    #[getter]
    fn score(&self) -> i32 {
        self.record.disc_score()
    }

    /// The reason for an early end: "resigned", "timeout" or "agreed".
    #[getter]
    fn termination(&self) -> Option<&'static str> {
        self.record.info.termination.map(|termination| match termination {
            Termination::Resigned => "resigned",
            Termination::Timeout => "timeout",
            Termination::Agreed => "agreed",
        })
    }

    /// The moves as text.
    #[getter]
    fn moves(&self) -> Vec<String> {
        self.record.plies().iter().map(|ply| ply.mv.to_string()).collect()
    }

    /// The moves as squares from 0 (a1) to 63 (h8).
    #[getter]
    fn actions(&self) -> Vec<usize> {
        self.record.plies().iter().map(|ply| ply.mv.index()).collect()
    }

    /// For each move, whether it was random.
    #[getter]
    fn random(&self) -> Vec<bool> {
        self.record.plies().iter().map(|ply| ply.random).collect()
    }

    /// For each move, the player's evaluation in discs, if recorded.
    #[getter]
    fn values(&self) -> Vec<Option<f32>> {
        self.record.plies().iter().map(|ply| ply.value).collect()
    }

    /// For each move, the time in seconds, if recorded.
    #[getter]
    fn seconds(&self) -> Vec<Option<f32>> {
        self.record.plies().iter().map(|ply| ply.seconds).collect()
    }

    /// The starting position.
    #[getter]
    fn start(&self) -> Position {
        Position::new(*self.record.start())
    }

    /// The position after the last move.
    #[getter]
    fn end(&self) -> Position {
        Position::new(*self.record.end())
    }

    /// Returns the start and the moves as a Game.
    fn to_game(&self) -> Game {
        Game::from_line(&self.record.to_line())
    }

    fn _repr_svg_(&self) -> String {
        crate::position::to_svg(crate::position::AnyPosition::board(
            self.record.end(),
            format!("{} - {}", self.record.info.black, self.record.info.white),
        ))
    }

    fn __len__(&self) -> usize {
        self.record.plies().len()
    }

    fn __str__(&self) -> String {
        transcript::write(&self.record)
    }

    fn __repr__(&self) -> String {
        let info = &self.record.info;
        format!(
            "<outflank.Record: {:?} - {:?}, {} moves>",
            info.black,
            info.white,
            self.record.plies().len()
        )
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Record>().is_ok_and(|other| self.record == other.get().record)
    }

    #[classmethod]
    fn _from_state(
        _class: &Bound<'_, PyType>,
        state: RecordState,
        info: &Bound<'_, PyDict>,
    ) -> PyResult<Record> {
        Ok(Record { record: from_state(state, info)? })
    }

    #[allow(clippy::type_complexity, reason = "the form that pickle requires")]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (RecordState, Bound<'py, PyDict>))> {
        let restore = py.get_type::<Record>().getattr("_from_state")?;
        Ok((restore, to_state(py, &self.record)?))
    }
}
