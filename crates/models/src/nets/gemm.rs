//! Products of matrices in single precision, the same to the last bit on every machine.
//!
//! Each number of the product is summed in the order of the inner index with fused multiplications
//! and additions, whatever the width of the vectors and the number of threads; a processor without
//! them computes the same, slowly. Both factors are packed into panels first, so that their rows and
//! columns may lie in memory in any way and the innermost loop reads them in order. A block of the
//! inner index is done at a time, so that what is packed stays in the cache.

use super::Space;
use super::tile::{Kernel, tile};
use rayon::prelude::*;
use std::ops::Range;

/// So many columns are packed at a time.
const BLOCK: usize = 512;

/// So much of the inner index is done at a time.
const INNER: usize = 256;

/// A matrix in a slice: the number in row r and column c is at `r * row + c * column`.
#[derive(Clone, Copy)]
pub(super) struct Matrix<'a> {
    pub(super) data: &'a [f32],
    pub(super) row: usize,
    pub(super) column: usize,
}

impl<'a> Matrix<'a> {
    /// A matrix by rows of this length.
    pub(super) fn rows(data: &'a [f32], length: usize) -> Matrix<'a> {
        Matrix { data, row: length, column: 1 }
    }

    /// The same with rows and columns exchanged.
    pub(super) fn transposed(self) -> Matrix<'a> {
        Matrix { row: self.column, column: self.row, ..self }
    }

    /// The numbers of a row from a column on, as many as lie together.
    fn run(self, row: usize, column: usize) -> &'a [f32] {
        let from = &self.data[row * self.row + column * self.column..];
        if self.column == 1 { from } else { &from[..1] }
    }
}

/// A left factor in panels of a few rows, ready to be multiplied.
#[derive(Clone, Debug)]
pub(super) struct Left {
    kernel: Kernel,
    m: usize,
    k: usize,
    data: Vec<f32>,
}

impl Left {
    /// Packs a matrix of m rows and k columns.
    pub(super) fn pack(a: Matrix<'_>, m: usize, k: usize, space: &mut Space) -> Left {
        Left::fill(m, k, |row, inner| a.run(row, inner), space)
    }

    /// Packs m rows and k columns. `run` gives the numbers of a row from a column on, as many as lie
    /// together.
    pub(super) fn fill<'a>(
        m: usize,
        k: usize,
        run: impl Fn(usize, usize) -> &'a [f32] + Sync,
        space: &mut Space,
    ) -> Left {
        let kernel = Kernel::here();
        let rows = kernel.rows();
        let mut data = space.any(m.div_ceil(rows) * rows * k);
        data.par_chunks_mut((rows * k).max(1)).enumerate().for_each(|(panel, packed)| {
            let first = panel * rows;
            pack_lines(|row, inner| run(first + row, inner), m - first, 0, rows, packed);
        });
        Left { kernel, m, k, data }
    }

    /// Gives its room back.
    pub(super) fn done(self, space: &mut Space) {
        space.release(self.data);
    }
}

/// A right factor in panels of a few columns, for weights that many rows are multiplied with.
#[derive(Clone, Debug)]
pub(super) struct Right {
    kernel: Kernel,
    n: usize,
    data: Vec<f32>,
}

impl Right {
    /// Packs a matrix of k rows and n columns.
    pub(super) fn pack(b: Matrix<'_>, k: usize, n: usize, space: &mut Space) -> Right {
        let kernel = Kernel::here();
        let columns = kernel.columns();
        let mut data = space.any(n.div_ceil(columns) * columns * k);
        data.par_chunks_mut((columns * k).max(1)).enumerate().for_each(|(panel, packed)| {
            pack_columns(b, panel * columns, n, 0, columns, packed);
        });
        Right { kernel, n, data }
    }

    /// Gives its room back.
    pub(super) fn done(self, space: &mut Space) {
        space.release(self.data);
    }

    /// Adds the product with a left factor to `c`, whose rows begin `stride` apart.
    pub(super) fn add_product(&self, left: &Left, c: &mut [f32], stride: usize) {
        let columns = self.kernel.columns();
        for first in (0..left.k).step_by(INNER) {
            let inner = first..left.k.min(first + INNER);
            let panel = |panel: usize| {
                let from = (panel * left.k + inner.start) * columns;
                &self.data[from..from + inner.len() * columns]
            };
            add_block(left, inner.clone(), panel, 0..self.n, c, stride);
        }
    }
}

/// Adds the product of `left` and a matrix of n columns to `c`, whose rows begin `stride` apart.
/// `fill` writes a panel of that matrix: from a column on, from an inner index on, so many columns
/// wide, row by row; what lies beyond its last column it leaves alone.
pub(super) fn add_filled(
    left: &Left,
    n: usize,
    fill: impl Fn(usize, usize, usize, &mut [f32]) + Sync,
    (c, stride): (&mut [f32], usize),
    space: &mut Space,
) {
    let columns = left.kernel.columns();
    let mut room = space.any(BLOCK.min(n.div_ceil(columns) * columns) * INNER.min(left.k));
    for from in (0..n).step_by(BLOCK) {
        let to = n.min(from + BLOCK);
        for first in (0..left.k).step_by(INNER) {
            let inner = first..left.k.min(first + INNER);
            let size = columns * inner.len();
            let right = &mut room[..(to - from).div_ceil(columns) * size];
            right.par_chunks_mut(size).enumerate().for_each(|(panel, packed)| {
                fill(from + panel * columns, inner.start, columns, packed);
            });
            let right = &*right;
            let panel = |panel: usize| &right[panel * size..(panel + 1) * size];
            add_block(left, inner, panel, from..to, c, stride);
        }
    }
    space.release(room);
}

/// Adds the part of a product that belongs to a block of columns and a block of the inner index.
fn add_block<'a>(
    left: &Left,
    inner: Range<usize>,
    right: impl Fn(usize) -> &'a [f32] + Sync,
    block: Range<usize>,
    c: &mut [f32],
    stride: usize,
) {
    let Left { kernel, m, k, ref data } = *left;
    let (rows, columns) = (kernel.rows(), kernel.columns());
    let panels = c.par_chunks_mut(rows * stride).zip(data.par_chunks(rows * k)).enumerate();
    panels.for_each(|(number, (c, left))| {
        let left = &left[inner.start * rows..inner.end * rows];
        let count = rows.min(m - number * rows);
        for (panel, column) in block.clone().step_by(columns).enumerate() {
            let size = (count, columns.min(block.end - column));
            tile(kernel, left, right(panel), &mut c[column..], size, stride);
        }
    });
}

/// Adds the product of `a` (m x k) and `b` (k x n) to `c`, whose rows begin `stride` apart.
pub(super) fn add_product(
    (m, n, k): (usize, usize, usize),
    (a, b): (Matrix<'_>, Matrix<'_>),
    (c, stride): (&mut [f32], usize),
    space: &mut Space,
) {
    if m == 0 || n == 0 || k == 0 {
        return;
    }
    let fill = |first: usize, inner: usize, columns: usize, packed: &mut [f32]| {
        pack_columns(b, first, n, inner, columns, packed);
    };
    let left = Left::pack(a, m, k, space);
    add_filled(&left, n, fill, (c, stride), space);
    left.done(space);
}

/// Packs columns from `first` on and rows from `inner` on, so many as there is room for.
pub(super) fn pack_columns(
    b: Matrix<'_>,
    first: usize,
    n: usize,
    inner: usize,
    columns: usize,
    packed: &mut [f32],
) {
    if b.column != 1 {
        let turned = b.transposed();
        let run = |column: usize, inner: usize| turned.run(first + column, inner);
        return pack_lines(run, n - first, inner, columns, packed);
    }
    let count = columns.min(n - first);
    for (row, to) in packed.chunks_exact_mut(columns).enumerate() {
        let from = (inner + row) * b.row + first;
        to[..count].copy_from_slice(&b.data[from..from + count]);
        to[count..].fill(0.0);
    }
}

/// Packs lines beside one another, of which `left` are left, from an inner index on, so far as there is
/// room: a few numbers of each at a time, so that what is read and what is written stays in the cache.
fn pack_lines<'a>(
    run: impl Fn(usize, usize) -> &'a [f32],
    left: usize,
    inner: usize,
    lanes: usize,
    packed: &mut [f32],
) {
    const TOGETHER: usize = 16;
    for (block, to) in packed.chunks_mut(TOGETHER * lanes).enumerate() {
        let (first, count) = (inner + block * TOGETHER, to.len() / lanes);
        for lane in 0..lanes.min(left) {
            let mut at = 0;
            while at < count {
                let from = run(lane, first + at);
                let from = &from[..from.len().min(count - at)];
                let to = to[at * lanes + lane..].iter_mut().step_by(lanes);
                to.zip(from).for_each(|(to, &from)| *to = from);
                at += from.len().max(1);
            }
        }
        for lane in left.min(lanes)..lanes {
            to[lane..].iter_mut().step_by(lanes).for_each(|to| *to = 0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_runs::{RngExt, rng::stream};

    #[test]
    fn products_are_the_sums_in_their_order() {
        let mut rng = stream(1, &["gemm"]);
        let mut draw = |count: usize| (0..count).map(|_| rng.normal() as f32).collect::<Vec<_>>();
        for (m, n, k) in [(1, 1, 1), (5, 17, 3), (6, 16, 8), (13, 1100, 40), (64, 70, 600)] {
            let (a, b, start) = (draw(m * k), draw(k * n), draw(m * n));
            let mut expected = start.clone();
            for row in 0..m {
                for column in 0..n {
                    for inner in 0..k {
                        let sum = &mut expected[row * n + column];
                        *sum = a[row * k + inner].mul_add(b[inner * n + column], *sum);
                    }
                }
            }
            let mut c = start.clone();
            let mut space = Space::default();
            let factors = (Matrix::rows(&a, k), Matrix::rows(&b, n));
            add_product((m, n, k), factors, (&mut c, n), &mut space);
            assert_eq!(c, expected);
            // The factors may lie the other way round.
            let turned = |x: &[f32], rows: usize, columns: usize| -> Vec<f32> {
                (0..rows * columns).map(|i| x[i % rows * columns + i / rows]).collect()
            };
            let (at, bt) = (turned(&a, m, k), turned(&b, k, n));
            let (at, bt) = (Matrix::rows(&at, m), Matrix::rows(&bt, k));
            let mut c = start.clone();
            let factors = (at.transposed(), bt.transposed());
            add_product((m, n, k), factors, (&mut c, n), &mut space);
            assert_eq!(c, expected);
        }
    }
}
