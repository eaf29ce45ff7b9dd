//! Recorded games.

mod decisions;
mod record;
mod state;

pub(crate) use decisions::{Decisions, make_decisions};
pub(crate) use record::Record;

use crate::errors::{OrRaise, error};
use crate::work;
use numpy::{PyArray1, PyArray2, ndarray::Array2};
use outflank_games::othello::Othello;
use outflank_games::{Position as _, Side};
use outflank_records::wthor::{CreationDate, Names};
use outflank_records::{
    self as records, DecisionFilter, Format, Selection, convert, count_overlap,
    sizes_from_fractions, split_games, transcript,
};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySlice, PyType};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

type OthelloRecord = records::Record<Othello>;

/// The value of missing moves in arrays.
const PADDING: u8 = 255;

/// A list of recorded games of Othello.
///
/// An integer index gives a Record; a slice or a list of indices gives Games.
#[pyclass(frozen, from_py_object, module = "outflank")]
#[derive(Clone)]
pub(crate) struct Games {
    pub(crate) records: Arc<Vec<OthelloRecord>>,
}

impl Games {
    fn new(records: Vec<OthelloRecord>) -> Games {
        Games { records: Arc::new(records) }
    }

    /// Creates games from a sequence of Record or Games.
    pub(crate) fn from_any(games: &Bound<'_, PyAny>) -> PyResult<Games> {
        if let Ok(games) = games.cast::<Games>() {
            return Ok(games.get().clone());
        }
        let mut records = Vec::new();
        for item in games.try_iter()? {
            let item = item?;
            let record = item.cast::<Record>().map_err(|_| {
                error(format!("expected games, a list of Record, not {}", item.get_type()))
            })?;
            records.push(record.get().record.clone());
        }
        Ok(Games::new(records))
    }

    pub(crate) fn select(&self, indices: &[usize]) -> PyResult<Games> {
        let record = |&index: &usize| {
            let record = self.records.get(index).cloned();
            record.ok_or_else(|| PyIndexError::new_err(format!("there is no game {index}")))
        };
        Ok(Games::new(indices.iter().map(record).collect::<PyResult<_>>()?))
    }
}

/// Returns the indices that a slice or a sequence selects; a boolean sequence selects its true items.
pub(crate) fn indices_of(index: &Bound<'_, PyAny>, len: usize) -> PyResult<Vec<usize>> {
    if let Ok(slice) = index.cast::<PySlice>() {
        let range = slice.indices(len as isize)?;
        let count = range.slicelength;
        return Ok((0..count as isize).map(|i| (range.start + i * range.step) as usize).collect());
    }
    let mut indices = Vec::new();
    let mut is_mask = false;
    for (number, item) in index.try_iter()?.enumerate() {
        let item = item?;
        let kind = item.get_type();
        let name = kind.name()?;
        if name.to_str()?.starts_with("bool") {
            is_mask = true;
            if item.is_truthy()? {
                indices.push(number);
            }
            continue;
        }
        let number = item.call_method0("__index__").map_err(|_| {
            error(format!("{item} is not an index; use an integer, a slice, a list or a mask"))
        })?;
        let number: isize = number.extract()?;
        indices.push(resolve_index(number, len)?);
    }
    if is_mask && indices.last().is_some_and(|&last| last >= len) {
        return Err(PyIndexError::new_err("the mask is longer than the list"));
    }
    Ok(indices)
}

fn resolve_index(index: isize, len: usize) -> PyResult<usize> {
    let resolved = if index < 0 { index + len as isize } else { index };
    usize::try_from(resolved)
        .ok()
        .filter(|&resolved| resolved < len)
        .ok_or_else(|| PyIndexError::new_err(format!("there is no item {index} among {len}")))
}

#[pymethods]
impl Games {
    #[new]
    fn create(records: &Bound<'_, PyAny>) -> PyResult<Games> {
        Games::from_any(records)
    }

    fn __len__(&self) -> usize {
        self.records.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        if let Ok(number) = index.call_method0("__index__") {
            let number = resolve_index(number.extract()?, self.records.len())?;
            let record = Record { record: self.records[number].clone() };
            return Ok(Py::new(py, record)?.into_any());
        }
        let games = self.select(&indices_of(index, self.records.len())?)?;
        Ok(Py::new(py, games)?.into_any())
    }

    fn __iter__(&self) -> RecordIterator {
        RecordIterator { games: self.clone(), next: 0 }
    }

    fn __add__(&self, other: &Games) -> Games {
        Games::new(self.records.iter().chain(other.records.iter()).cloned().collect())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Games>().is_ok_and(|other| self.records == other.get().records)
    }

    fn __repr__(&self) -> String {
        format!("<outflank.Games: {} games>", self.records.len())
    }

    /// Returns the matching games. `by` and `tournament` are parts of names, or whole names after
    /// `=`; `sample` draws this many of the matching games at random.
    #[pyo3(signature = (*, years = None, by = None, tournament = None, sample = None, seed = 1))]
    fn filter(
        &self,
        years: Option<(u16, u16)>,
        by: Option<String>,
        tournament: Option<String>,
        sample: Option<usize>,
        seed: u64,
    ) -> Games {
        let selection = Selection { years, by, tournament, sample };
        let matching = self.records.iter().filter(|record| selection.matches(&record.info));
        Games::new(selection.sample_from(matching.cloned().collect(), seed))
    }

    /// Splits the games at random into disjoint subsets of these sizes, numbers of games or
    /// fractions. Games left over are dropped. The result depends only on the seed and the sizes.
    #[pyo3(signature = (*sizes, seed = 1))]
    fn split(&self, sizes: Vec<f64>, seed: u64) -> PyResult<Vec<Games>> {
        let sizes = to_sizes(self.records.len(), &sizes)?;
        let split = split_games(self.records.len(), seed, &sizes).or_raise()?;
        split.subsets.iter().map(|subset| self.select(subset)).collect()
    }

    /// Returns the number of games of `other` whose start and moves also occur in these games.
    fn overlap(&self, other: &Games) -> usize {
        let all: Vec<OthelloRecord> =
            self.records.iter().chain(other.records.iter()).cloned().collect();
        let own = self.records.len();
        count_overlap(&all, &(0..own).collect::<Vec<_>>(), &(own..all.len()).collect::<Vec<_>>())
    }

    /// Returns the games without duplicates, in the original order. Two games are equal if their starts
    /// and their moves are equal; the first one is kept.
    fn unique(&self, py: Python<'_>) -> Games {
        let mut seen = HashSet::new();
        let key = |record: &OthelloRecord| {
            let moves: Vec<u8> = record.plies().iter().map(|ply| ply.mv.index() as u8).collect();
            (*record.start(), moves)
        };
        let mut is_first = |record: &&OthelloRecord| seen.insert(key(record));
        py.detach(|| Games::new(self.records.iter().filter(&mut is_first).cloned().collect()))
    }

    /// Writes the games to a file. The extension selects the format: .wtb (WTHOR), .ggf, .txt
    /// (transcripts) or .pgn, and for games without moves .obf or .boards.
    ///
    /// Returns what the format cannot store, with the number of games that lose it.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<BTreeMap<String, usize>> {
        let is_text = path.extension().is_some_and(|name| name.eq_ignore_ascii_case("txt"));
        let format = if is_text { Some(Format::Transcript) } else { Format::from_extension(&path) };
        let format = format.ok_or_else(|| {
            error(format!(
                "the format of {} is unknown; use the extension .wtb, .ggf, .txt, .pgn, .obf or .boards",
                path.display()
            ))
        })?;
        let written = py.detach(|| convert(&self.records, format, &path, CreationDate::default()));
        let dropped = written.or_raise()?.dropped;
        Ok(dropped.iter().map(|(field, games)| (field.to_owned(), games)).collect())
    }

    /// Returns the decisions of the games: positions and the moves played in them.
    ///
    /// `forced` includes positions with one legal move, `random` includes random moves, and `by`
    /// restricts to one player.
    #[pyo3(signature = (*, forced = true, random = true, by = None))]
    fn decisions(
        &self,
        py: Python<'_>,
        forced: bool,
        random: bool,
        by: Option<String>,
    ) -> PyResult<Decisions> {
        let found = work::compute(py, || {
            let filter = DecisionFilter { forced, random, by: by.as_deref() };
            records::decisions(self.records.iter(), &filter)
        })?;
        Ok(Decisions::new(found))
    }

    /// Returns the games as arrays of equal length: `moves` (games x longest game, 255 after the
    /// end), `random`, `length`, `score` (Black's discs minus White's at the end, with empty squares
    /// for the winner), and the start as `own`, `other` and `side`.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let records = &self.records;
        let width = records.iter().map(|record| record.plies().len()).max().unwrap_or(0);
        let mut moves = Array2::from_elem((records.len(), width), PADDING);
        let mut random = Array2::from_elem((records.len(), width), false);
        for (row, record) in records.iter().enumerate() {
            for (column, ply) in record.plies().iter().enumerate() {
                moves[[row, column]] = ply.mv.index() as u8;
                random[[row, column]] = ply.random;
            }
        }
        let arrays = PyDict::new(py);
        arrays.set_item("moves", PyArray2::from_owned_array(py, moves))?;
        arrays.set_item("random", PyArray2::from_owned_array(py, random))?;
        let lengths = records.iter().map(|record| record.plies().len() as u8);
        arrays.set_item("length", PyArray1::from_iter(py, lengths))?;
        let scores = records.iter().map(|record| record.disc_score() as i8);
        arrays.set_item("score", PyArray1::from_iter(py, scores))?;
        let boards = || records.iter().map(|record| record.start().board());
        arrays.set_item("own", PyArray1::from_iter(py, boards().map(|board| board.own)))?;
        arrays.set_item("other", PyArray1::from_iter(py, boards().map(|board| board.other)))?;
        let sides = records.iter().map(|record| record.start().to_move().index() as u8);
        arrays.set_item("side", PyArray1::from_iter(py, sides))?;
        Ok(arrays)
    }

    /// Returns the metadata as a dictionary of lists, for pandas.DataFrame.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let info = PyDict::new(py);
        let records = || self.records.iter();
        let list =
            |name: &str, values: Vec<Py<PyAny>>| info.set_item(name, PyList::new(py, values)?);
        macro_rules! column {
            ($name:expr, $value:expr) => {
                list(
                    $name,
                    records()
                        .map(|record| Ok($value(record).into_pyobject(py)?.into_any().unbind()))
                        .collect::<PyResult<_>>()?,
                )?
            };
        }
        column!("black", |record: &OthelloRecord| record.info.black.clone());
        column!("white", |record: &OthelloRecord| record.info.white.clone());
        column!("black_rating", |record: &OthelloRecord| record.info.black_rating);
        column!("white_rating", |record: &OthelloRecord| record.info.white_rating);
        column!("event", |record: &OthelloRecord| record.info.event.clone());
        column!("date", |record: &OthelloRecord| record.info.date.clone());
        column!("year", |record: &OthelloRecord| record.info.year());
        column!("result", |record: &OthelloRecord| record.info.result);
        column!("score", OthelloRecord::disc_score);
        column!("moves", |record: &OthelloRecord| record.plies().len());
        Ok(info)
    }

    /// Returns each game as a transcript such as f5d6c3.
    fn transcripts(&self) -> Vec<String> {
        self.records.iter().map(transcript::write).collect()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, (Vec<Record>,))> {
        let records = self.records.iter().map(|record| Record { record: record.clone() });
        Ok((py.get_type::<Games>(), (records.collect(),)))
    }
}

/// An iterator over the records of games.
#[pyclass]
struct RecordIterator {
    games: Games,
    next: usize,
}

#[pymethods]
impl RecordIterator {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self) -> Option<Record> {
        let record = self.games.records.get(self.next)?.clone();
        self.next += 1;
        Some(Record { record })
    }
}

/// Converts sizes given as numbers of items or as fractions.
pub(crate) fn to_sizes(count: usize, sizes: &[f64]) -> PyResult<Vec<usize>> {
    if sizes.is_empty() {
        return Err(error("give the size of each subset, such as 0.8, 0.2"));
    }
    let is_count = |size: &f64| *size >= 1.0 && size.fract() == 0.0 && *size <= u32::MAX.into();
    // A single 1.0 is the whole set.
    if sizes.iter().all(is_count) && !(sizes.len() == 1 && sizes[0] == 1.0) {
        return Ok(sizes.iter().map(|&size| size as usize).collect());
    }
    sizes_from_fractions(count, sizes).or_raise()
}

/// Splits the indices 0 to count - 1 at random into subsets of these sizes.
#[pyfunction]
pub(crate) fn split_indices(
    py: Python<'_>,
    count: usize,
    sizes: Vec<f64>,
    seed: u64,
) -> PyResult<Vec<Bound<'_, PyArray1<usize>>>> {
    let split = split_games(count, seed, &to_sizes(count, &sizes)?).or_raise()?;
    Ok(split.subsets.into_iter().map(|subset| PyArray1::from_vec(py, subset)).collect())
}

/// Reads games of Othello from files and folders, in any format: WTHOR, GGF, transcripts, OBF and
/// boards.
///
/// Fails if any game is bad. A file of positions gives games without moves.
#[pyfunction]
#[pyo3(signature = (paths, *, years = None, by = None, tournament = None, sample = None, seed = 1))]
pub(crate) fn read_games(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    years: Option<(u16, u16)>,
    by: Option<String>,
    tournament: Option<String>,
    sample: Option<usize>,
    seed: u64,
) -> PyResult<Games> {
    let selection = Selection { years, by, tournament, sample };
    let games = work::run_in_pool(py, None, |_| records::read_games(&paths, &selection, seed))?;
    Ok(Games::new(games.or_raise()?.records))
}

/// Parses games from the content of a file. The format is detected from the name or the content.
#[pyfunction]
#[pyo3(signature = (content, name = "games"))]
pub(crate) fn parse_games(py: Python<'_>, content: &[u8], name: &str) -> PyResult<Games> {
    let parsed =
        work::compute(py, || records::parse_games(Path::new(name), content, &Names::default()))?;
    Ok(Games::new(parsed.or_raise()?.into_iter().collect::<Result<_, _>>().or_raise()?))
}

/// Returns the games that are part of the package: self-play games from random openings.
#[pyfunction]
pub(crate) fn embedded_games(py: Python<'_>) -> PyResult<Games> {
    work::compute(py, records::embedded::games).map(Games::new)
}

/// Returns the side of an entry of an array: 0 is black.
pub(crate) fn side_of(index: u8) -> PyResult<Side> {
    match index {
        0 => Ok(Side::Black),
        1 => Ok(Side::White),
        _ => Err(error(format!("{index} is not a side; use 0 for black and 1 for white"))),
    }
}
