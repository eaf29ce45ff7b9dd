//! Matrix multiplication in single precision, bit-identical on every machine.
//!
//! Each element of the product is summed in the order of the inner index with fused multiply-adds,
//! for any vector width and number of threads; a processor without FMA computes the same result,
//! but slowly. Both factors are first packed into panels, so that any memory layout works and the
//! innermost loop reads sequentially. The inner index is processed in blocks, so that packed data
//! stays in the cache.

use super::BufferPool;
use super::gemm_kernel::{GemmKernel, add_tile};
use rayon::prelude::*;
use std::ops::Range;

/// Number of columns packed at a time.
const COLUMN_BLOCK: usize = 512;

/// Block size of the inner index.
const INNER_BLOCK: usize = 256;

/// A strided matrix: element (r, c) is at `r * row_stride + c * column_stride`.
#[derive(Clone, Copy)]
pub(super) struct Matrix<'a> {
    pub(super) data: &'a [f32],
    pub(super) row_stride: usize,
    pub(super) column_stride: usize,
}

impl<'a> Matrix<'a> {
    /// Creates a row-major matrix with rows of this length.
    pub(super) fn rows(data: &'a [f32], length: usize) -> Matrix<'a> {
        Matrix { data, row_stride: length, column_stride: 1 }
    }

    /// Returns the transposed matrix.
    pub(super) fn transposed(self) -> Matrix<'a> {
        Matrix { row_stride: self.column_stride, column_stride: self.row_stride, ..self }
    }

    /// Returns the contiguous elements of a row from a column on.
    fn contiguous(self, row: usize, column: usize) -> &'a [f32] {
        let from = &self.data[row * self.row_stride + column * self.column_stride..];
        if self.column_stride == 1 { from } else { &from[..1] }
    }
}

/// A left factor, packed into panels of rows.
#[derive(Clone, Debug)]
pub(super) struct PackedLeft {
    kernel: GemmKernel,
    m: usize,
    k: usize,
    data: Vec<f32>,
}

impl PackedLeft {
    /// Packs a matrix of m rows and k columns.
    pub(super) fn pack(a: Matrix<'_>, m: usize, k: usize, pool: &mut BufferPool) -> PackedLeft {
        PackedLeft::pack_with(m, k, |row, inner| a.contiguous(row, inner), pool)
    }

    /// Packs m rows and k columns. `elements(row, column)` returns the contiguous elements of a row
    /// from a column on.
    pub(super) fn pack_with<'a>(
        m: usize,
        k: usize,
        elements: impl Fn(usize, usize) -> &'a [f32] + Sync,
        pool: &mut BufferPool,
    ) -> PackedLeft {
        let kernel = GemmKernel::detect();
        let rows = kernel.rows();
        let mut data = pool.take(m.div_ceil(rows) * rows * k);
        data.par_chunks_mut((rows * k).max(1)).enumerate().for_each(|(panel, packed)| {
            let first = panel * rows;
            pack_lines(|row, inner| elements(first + row, inner), m - first, 0, rows, packed);
        });
        PackedLeft { kernel, m, k, data }
    }

    /// Returns its buffer to the pool.
    pub(super) fn release(self, pool: &mut BufferPool) {
        pool.release(self.data);
    }
}

/// A right factor, packed into panels of columns. It is packed once if it is used repeatedly, such
/// as the weights of a layer.
#[derive(Clone, Debug)]
pub(super) struct PackedRight {
    kernel: GemmKernel,
    n: usize,
    data: Vec<f32>,
}

impl PackedRight {
    /// Packs a matrix of k rows and n columns.
    pub(super) fn pack(b: Matrix<'_>, k: usize, n: usize, pool: &mut BufferPool) -> PackedRight {
        let kernel = GemmKernel::detect();
        let columns = kernel.columns();
        let mut data = pool.take(n.div_ceil(columns) * columns * k);
        data.par_chunks_mut((columns * k).max(1)).enumerate().for_each(|(panel, packed)| {
            pack_columns(b, panel * columns, n, 0, columns, packed);
        });
        PackedRight { kernel, n, data }
    }

    /// Returns its buffer to the pool.
    pub(super) fn release(self, pool: &mut BufferPool) {
        pool.release(self.data);
    }

    /// Adds the product with a left factor to `c`, whose rows are `stride` apart.
    pub(super) fn add_product(&self, left: &PackedLeft, c: &mut [f32], stride: usize) {
        let columns = self.kernel.columns();
        for first in (0..left.k).step_by(INNER_BLOCK) {
            let inner = first..left.k.min(first + INNER_BLOCK);
            let panel = |panel: usize| {
                let from = (panel * left.k + inner.start) * columns;
                &self.data[from..from + inner.len() * columns]
            };
            add_block(left, inner.clone(), panel, 0..self.n, c, stride);
        }
    }
}

/// Adds the product of `left` and a matrix of n columns to `c`, whose rows are `stride` apart.
/// `fill_panel(column, inner, columns, panel)` writes a panel of that matrix row by row; columns past
/// the last may have any value.
pub(super) fn add_product_with(
    left: &PackedLeft,
    n: usize,
    fill_panel: impl Fn(usize, usize, usize, &mut [f32]) + Sync,
    (c, stride): (&mut [f32], usize),
    pool: &mut BufferPool,
) {
    let columns = left.kernel.columns();
    let mut buffer =
        pool.take(COLUMN_BLOCK.min(n.div_ceil(columns) * columns) * INNER_BLOCK.min(left.k));
    for from in (0..n).step_by(COLUMN_BLOCK) {
        let to = n.min(from + COLUMN_BLOCK);
        for first in (0..left.k).step_by(INNER_BLOCK) {
            let inner = first..left.k.min(first + INNER_BLOCK);
            let size = columns * inner.len();
            let right = &mut buffer[..(to - from).div_ceil(columns) * size];
            right.par_chunks_mut(size).enumerate().for_each(|(panel, packed)| {
                fill_panel(from + panel * columns, inner.start, columns, packed);
            });
            let right = &*right;
            let panel = |panel: usize| &right[panel * size..(panel + 1) * size];
            add_block(left, inner, panel, from..to, c, stride);
        }
    }
    pool.release(buffer);
}

/// Adds the part of a product for a block of columns and a block of the inner index.
fn add_block<'a>(
    left: &PackedLeft,
    inner: Range<usize>,
    right: impl Fn(usize) -> &'a [f32] + Sync,
    block: Range<usize>,
    c: &mut [f32],
    stride: usize,
) {
    let PackedLeft { kernel, m, k, ref data } = *left;
    let (rows, columns) = (kernel.rows(), kernel.columns());
    let panels = c.par_chunks_mut(rows * stride).zip(data.par_chunks(rows * k)).enumerate();
    panels.for_each(|(number, (c, left))| {
        let left = &left[inner.start * rows..inner.end * rows];
        let count = rows.min(m - number * rows);
        for (panel, column) in block.clone().step_by(columns).enumerate() {
            let size = (count, columns.min(block.end - column));
            add_tile(kernel, left, right(panel), &mut c[column..], size, stride);
        }
    });
}

/// Adds the product of `a` (m x k) and `b` (k x n) to `c`, whose rows are `stride` apart.
pub(super) fn add_product(
    (m, n, k): (usize, usize, usize),
    (a, b): (Matrix<'_>, Matrix<'_>),
    (c, stride): (&mut [f32], usize),
    pool: &mut BufferPool,
) {
    if m == 0 || n == 0 || k == 0 {
        return;
    }
    let fill_panel = |first: usize, inner: usize, columns: usize, packed: &mut [f32]| {
        pack_columns(b, first, n, inner, columns, packed);
    };
    let left = PackedLeft::pack(a, m, k, pool);
    add_product_with(&left, n, fill_panel, (c, stride), pool);
    left.release(pool);
}

/// Packs columns from `first` on and rows from `inner` on, until `packed` is full.
pub(super) fn pack_columns(
    b: Matrix<'_>,
    first: usize,
    n: usize,
    inner: usize,
    columns: usize,
    packed: &mut [f32],
) {
    if b.column_stride != 1 {
        let transposed = b.transposed();
        let elements = |column: usize, inner: usize| transposed.contiguous(first + column, inner);
        return pack_lines(elements, n - first, inner, columns, packed);
    }
    let count = columns.min(n - first);
    for (row, to) in packed.chunks_exact_mut(columns).enumerate() {
        let from = (inner + row) * b.row_stride + first;
        to[..count].copy_from_slice(&b.data[from..from + count]);
        to[count..].fill(0.0);
    }
}

/// Interleaves `lanes` lines from an inner index on, until `packed` is full. Only `remaining` lines
/// exist; the others are zero. A few elements of each line are copied at a time, so that source and
/// destination stay in the cache.
fn pack_lines<'a>(
    elements: impl Fn(usize, usize) -> &'a [f32],
    remaining: usize,
    inner: usize,
    lanes: usize,
    packed: &mut [f32],
) {
    const LENGTH: usize = 16;
    for (block, to) in packed.chunks_mut(LENGTH * lanes).enumerate() {
        let (first, count) = (inner + block * LENGTH, to.len() / lanes);
        for lane in 0..lanes.min(remaining) {
            let mut at = 0;
            while at < count {
                let from = elements(lane, first + at);
                let from = &from[..from.len().min(count - at)];
                let to = to[at * lanes + lane..].iter_mut().step_by(lanes);
                to.zip(from).for_each(|(to, &from)| *to = from);
                at += from.len().max(1);
            }
        }
        for lane in remaining.min(lanes)..lanes {
            to[lane..].iter_mut().step_by(lanes).for_each(|to| *to = 0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_runs::{RngExt, rng::stream};

    #[test]
    fn products_match_sequential_sums() {
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
            let mut pool = BufferPool::default();
            let factors = (Matrix::rows(&a, k), Matrix::rows(&b, n));
            add_product((m, n, k), factors, (&mut c, n), &mut pool);
            assert_eq!(c, expected);
            // Transposed factors have the same product.
            let transpose = |x: &[f32], rows: usize, columns: usize| -> Vec<f32> {
                (0..rows * columns).map(|i| x[i % rows * columns + i / rows]).collect()
            };
            let (at, bt) = (transpose(&a, m, k), transpose(&b, k, n));
            let (at, bt) = (Matrix::rows(&at, m), Matrix::rows(&bt, k));
            let mut c = start.clone();
            let factors = (at.transposed(), bt.transposed());
            add_product((m, n, k), factors, (&mut c, n), &mut pool);
            assert_eq!(c, expected);
        }
    }
}
