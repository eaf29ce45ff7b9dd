//! Operations on batches of Othello positions, as NumPy arrays.
//!
//! A batch has the bitboards `own` (the side to move) and `other` (`uint64`, bit 0 is a1) and the
//! side to move (`uint8`, 0 black, 1 white). As in a single position, the side to move has a legal
//! move unless the game is over.

use crate::errors::error;
use crate::position::parse_symmetry;
use numpy::{PyArray1, PyArray4, PyReadonlyArray1, ndarray::Array4};
use outflank_games::othello::kernel::{self, Kernel, Task};
use outflank_games::othello::{Board, Square};
use pyo3::prelude::*;

/// The move of a finished game, which changes nothing.
const NO_MOVE: u8 = 64;

type Bits<'py> = PyReadonlyArray1<'py, u64>;
type Bytes<'py> = PyReadonlyArray1<'py, u8>;
type BitsOut<'py> = Bound<'py, PyArray1<u64>>;
type BytesOut<'py> = Bound<'py, PyArray1<u8>>;

/// Checks that arrays have the same length.
fn check_lengths(own: usize, others: &[usize]) -> PyResult<()> {
    match others.iter().find(|&&len| len != own) {
        None => Ok(()),
        Some(len) => {
            Err(error(format!("the arrays have {own} and {len} entries; give equally many")))
        }
    }
}

/// Computes legal moves.
struct LegalMoves<'a>(&'a [u64], &'a [u64], &'a mut Vec<u64>);

impl Task for LegalMoves<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let boards = self.0.iter().zip(self.1);
        self.2.extend(boards.map(|(&own, &other)| kernel.moves(own, other)));
    }
}

/// Returns the legal moves of each position as a bitboard; 0 if there is none.
#[pyfunction]
pub(crate) fn legal_moves<'py>(
    py: Python<'py>,
    own: Bits<'py>,
    other: Bits<'py>,
) -> PyResult<BitsOut<'py>> {
    let (own, other) = (own.as_slice()?, other.as_slice()?);
    check_lengths(own.len(), &[other.len()])?;
    let mut legal = Vec::with_capacity(own.len());
    py.detach(|| kernel::run(LegalMoves(own, other, &mut legal)));
    Ok(PyArray1::from_vec(py, legal))
}

/// A batch of positions with their legal moves.
#[derive(Default)]
struct Batch {
    own: Vec<u64>,
    other: Vec<u64>,
    side: Vec<u8>,
    legal: Vec<u64>,
}

type BatchOut<'py> = (BitsOut<'py>, BitsOut<'py>, BytesOut<'py>, BitsOut<'py>);

impl Batch {
    fn with_capacity(len: usize) -> Batch {
        Batch {
            own: Vec::with_capacity(len),
            other: Vec::with_capacity(len),
            side: Vec::with_capacity(len),
            legal: Vec::with_capacity(len),
        }
    }

    /// Appends a position after a forced pass.
    #[inline(always)]
    fn push<K: Kernel>(&mut self, kernel: K, own: u64, other: u64, side: u8) {
        let (mut own, mut other, mut side) = (own, other, side);
        let mut legal = kernel.moves(own, other);
        if legal == 0 {
            let passed = kernel.moves(other, own);
            if passed != 0 {
                (own, other, side, legal) = (other, own, side ^ 1, passed);
            }
        }
        self.own.push(own);
        self.other.push(other);
        self.side.push(side);
        self.legal.push(legal);
    }

    fn into_arrays(self, py: Python<'_>) -> BatchOut<'_> {
        (
            PyArray1::from_vec(py, self.own),
            PyArray1::from_vec(py, self.other),
            PyArray1::from_vec(py, self.side),
            PyArray1::from_vec(py, self.legal),
        )
    }
}

/// Applies forced passes. Returns the index of the first invalid position as an error.
struct Normalize<'a>(&'a [u64], &'a [u64], &'a [u8], &'a mut Batch);

impl Task for Normalize<'_> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> Result<(), usize> {
        for (index, ((&own, &other), &side)) in self.0.iter().zip(self.1).zip(self.2).enumerate() {
            if own & other != 0 || side > 1 {
                return Err(index);
            }
            self.3.push(kernel, own, other, side);
        }
        Ok(())
    }
}

/// Checks a batch and applies forced passes. Returns own, other, side and the legal moves.
#[pyfunction]
pub(crate) fn normalize<'py>(
    py: Python<'py>,
    own: Bits<'py>,
    other: Bits<'py>,
    side: Bytes<'py>,
) -> PyResult<BatchOut<'py>> {
    let (own, other, side) = (own.as_slice()?, other.as_slice()?, side.as_slice()?);
    check_lengths(own.len(), &[other.len(), side.len()])?;
    let mut batch = Batch::with_capacity(own.len());
    py.detach(|| kernel::run(Normalize(own, other, side, &mut batch))).map_err(|index| {
        error(format!(
            "position {index} is invalid: a square has two discs, or the side is not 0 (black) or 1 \
             (white)"
        ))
    })?;
    Ok(batch.into_arrays(py))
}

/// Plays one move in each position. Returns the index of the first illegal move as an error.
struct Play<'a> {
    own: &'a [u64],
    other: &'a [u64],
    side: &'a [u8],
    moves: &'a [u8],
    batch: &'a mut Batch,
}

impl Task for Play<'_> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> Result<(), usize> {
        let Play { own, other, side, moves, batch } = self;
        let boards = own.iter().zip(other).zip(side).zip(moves);
        for (index, (((&own, &other), &side), &mv)) in boards.enumerate() {
            if mv == NO_MOVE && kernel.moves(own, other) == 0 {
                batch.push(kernel, own, other, side);
                continue;
            }
            let Some(square) = Square::new(mv) else { return Err(index) };
            if (own | other) & square.bit() != 0 {
                return Err(index);
            }
            let flips = kernel.flips(own, other, square);
            if flips == 0 {
                return Err(index);
            }
            batch.push(kernel, other ^ flips, own | flips | square.bit(), side ^ 1);
        }
        Ok(())
    }
}

/// Plays one move in each position and makes forced passes. The move of a finished game is 64.
/// Returns own, other, side and the legal moves.
#[pyfunction]
pub(crate) fn play<'py>(
    py: Python<'py>,
    own: Bits<'py>,
    other: Bits<'py>,
    side: Bytes<'py>,
    moves: Bytes<'py>,
) -> PyResult<BatchOut<'py>> {
    let (own, other, side) = (own.as_slice()?, other.as_slice()?, side.as_slice()?);
    let moves = moves.as_slice()?;
    check_lengths(own.len(), &[other.len(), side.len(), moves.len()])?;
    let mut batch = Batch::with_capacity(own.len());
    let task = Play { own, other, side, moves, batch: &mut batch };
    py.detach(|| kernel::run(task)).map_err(|index| {
        let mv = moves[index];
        error(format!("move {mv} is not legal in position {index}; use 64 where the game is over"))
    })?;
    Ok(batch.into_arrays(py))
}

/// Selects one legal move of each position by a uniform 64-bit random number; 64 if there is none.
#[pyfunction]
pub(crate) fn select_moves<'py>(
    py: Python<'py>,
    legal: Bits<'py>,
    random: Bits<'py>,
) -> PyResult<BytesOut<'py>> {
    let (legal, random) = (legal.as_slice()?, random.as_slice()?);
    check_lengths(legal.len(), &[random.len()])?;
    let select = |(&legal, &random): (&u64, &u64)| {
        let rank = ((u128::from(random) * u128::from(legal.count_ones())) >> 64) as u32;
        let rest = (0..rank).fold(legal, |rest, _| rest & rest.wrapping_sub(1));
        rest.trailing_zeros() as u8
    };
    let moves: Vec<u8> = py.detach(|| legal.iter().zip(random).map(select).collect());
    Ok(PyArray1::from_vec(py, moves))
}

/// Returns the positions as planes of 0 and 1 (n x channels x 8 x 8, float32): own discs, the
/// opponent's discs and, if requested, the legal moves.
#[pyfunction]
pub(crate) fn planes<'py>(
    py: Python<'py>,
    own: Bits<'py>,
    other: Bits<'py>,
    legal: Option<Bits<'py>>,
) -> PyResult<Bound<'py, PyArray4<f32>>> {
    let (own, other) = (own.as_slice()?, other.as_slice()?);
    let legal = legal.as_ref().map(|legal| legal.as_slice()).transpose()?;
    check_lengths(own.len(), &[other.len(), legal.map_or(own.len(), <[u64]>::len)])?;
    let channels = 2 + usize::from(legal.is_some());
    let values = py.detach(|| {
        let mut values = Vec::with_capacity(own.len() * channels * 64);
        for index in 0..own.len() {
            for bits in [Some(own), Some(other), legal].into_iter().flatten() {
                let bits = bits[index];
                values.extend((0..64).map(|square| (bits >> square & 1) as f32));
            }
        }
        Array4::from_shape_vec((own.len(), channels, 8, 8), values)
    });
    Ok(PyArray4::from_owned_array(py, values.map_err(error)?))
}

/// Returns Black's discs minus White's on each board.
#[pyfunction]
pub(crate) fn disc_differences<'py>(
    py: Python<'py>,
    own: Bits<'py>,
    other: Bits<'py>,
    side: Bytes<'py>,
) -> PyResult<Bound<'py, PyArray1<i8>>> {
    let (own, other, side) = (own.as_slice()?, other.as_slice()?, side.as_slice()?);
    check_lengths(own.len(), &[other.len(), side.len()])?;
    let difference = |((&own, &other), &side): ((&u64, &u64), &u8)| {
        let difference = Board { own, other }.difference() as i8;
        if side == 0 { difference } else { -difference }
    };
    let disc_differences: Vec<i8> =
        py.detach(|| own.iter().zip(other).zip(side).map(difference).collect());
    Ok(PyArray1::from_vec(py, disc_differences))
}

/// Returns bitboards transformed by a symmetry, 0 to 7.
#[pyfunction]
pub(crate) fn transform<'py>(
    py: Python<'py>,
    bits: Bits<'py>,
    symmetry: usize,
) -> PyResult<BitsOut<'py>> {
    let symmetry = parse_symmetry(symmetry)?;
    let bits = bits.as_slice()?;
    let transformed: Vec<u64> =
        py.detach(|| bits.iter().map(|&bits| symmetry.transform_bits(bits)).collect());
    Ok(PyArray1::from_vec(py, transformed))
}

/// Returns the smallest of the eight symmetric boards, and the symmetry that leads to it.
#[pyfunction]
pub(crate) fn canonical<'py>(
    py: Python<'py>,
    own: Bits<'py>,
    other: Bits<'py>,
) -> PyResult<(BitsOut<'py>, BitsOut<'py>, BytesOut<'py>)> {
    let (own, other) = (own.as_slice()?, other.as_slice()?);
    check_lengths(own.len(), &[other.len()])?;
    let boards: Vec<_> = py.detach(|| {
        own.iter().zip(other).map(|(&own, &other)| Board { own, other }.canonical()).collect()
    });
    Ok((
        PyArray1::from_iter(py, boards.iter().map(|(board, _)| board.own)),
        PyArray1::from_iter(py, boards.iter().map(|(board, _)| board.other)),
        PyArray1::from_iter(py, boards.iter().map(|(_, symmetry)| symmetry.index() as u8)),
    ))
}
