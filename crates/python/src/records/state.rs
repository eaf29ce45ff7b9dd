//! The pickled form of a record.

use super::OthelloRecord;
use crate::errors::{OrRaise, error};
use outflank_games::othello::{Othello, Square};
use outflank_records::{GameInfo, Ply, Record, Termination};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyDictMethods};

/// The start, and for each move the square, whether it was random, its value and its time.
pub(super) type RecordState = (String, Vec<(u8, bool, Option<f32>, Option<f32>)>);

const TERMINATIONS: [Termination; 3] =
    [Termination::Resigned, Termination::Timeout, Termination::Agreed];

pub(super) fn to_state<'py>(
    py: Python<'py>,
    record: &OthelloRecord,
) -> PyResult<(RecordState, Bound<'py, PyDict>)> {
    let plies = record.plies().iter();
    let plies = plies.map(|ply| (ply.mv.index() as u8, ply.random, ply.value, ply.seconds));
    // Every field is named, so that a new one is not forgotten.
    let GameInfo {
        black,
        white,
        black_rating,
        white_rating,
        event,
        date,
        clock,
        white_clock,
        result,
        termination,
        perfect_result,
        perfect_depth,
    } = &record.info;
    let info = PyDict::new(py);
    info.set_item("black", black)?;
    info.set_item("white", white)?;
    info.set_item("black_rating", black_rating)?;
    info.set_item("white_rating", white_rating)?;
    info.set_item("event", event)?;
    info.set_item("date", date)?;
    info.set_item("clock", clock)?;
    info.set_item("white_clock", white_clock)?;
    info.set_item("result", result)?;
    let termination = termination.and_then(|this| TERMINATIONS.iter().position(|&t| t == this));
    info.set_item("termination", termination)?;
    info.set_item("perfect_result", perfect_result)?;
    info.set_item("perfect_depth", perfect_depth)?;
    Ok(((record.start().to_string(), plies.collect()), info))
}

pub(super) fn from_state(
    (start, plies): RecordState,
    info: &Bound<'_, PyDict>,
) -> PyResult<OthelloRecord> {
    fn get<'py, T: for<'a> FromPyObject<'a, 'py, Error = PyErr> + Default>(
        info: &Bound<'py, PyDict>,
        key: &str,
    ) -> PyResult<T> {
        match info.get_item(key)? {
            Some(value) => value.extract(),
            None => Ok(T::default()),
        }
    }
    let termination: Option<usize> = get(info, "termination")?;
    let info = GameInfo {
        black: get(info, "black")?,
        white: get(info, "white")?,
        black_rating: get(info, "black_rating")?,
        white_rating: get(info, "white_rating")?,
        event: get(info, "event")?,
        date: get(info, "date")?,
        clock: get(info, "clock")?,
        white_clock: get(info, "white_clock")?,
        result: get(info, "result")?,
        termination: termination.and_then(|index| TERMINATIONS.get(index).copied()),
        perfect_result: get(info, "perfect_result")?,
        perfect_depth: get(info, "perfect_depth")?,
    };
    let start: Othello = start.parse().or_raise()?;
    let mut record = Record::new(start, info);
    for (square, random, value, seconds) in plies {
        let mv = Square::new(square).ok_or_else(|| error(format!("{square} is not a square")))?;
        record.push(Ply { mv, random, value, seconds }).or_raise()?;
    }
    Ok(record)
}
