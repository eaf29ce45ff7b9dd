//! Products of matrices in single precision, the same to the last bit on every machine.
//!
//! Each number of the product is summed in the order of the inner index with fused multiplications
//! and additions, whatever the width of the vectors and the number of threads; a processor without
//! them computes the same, slowly. Both factors are packed into panels first, so that their rows and
//! columns may lie in memory in any way and the innermost loop reads them in order.

use rayon::prelude::*;

/// Rows of a tile that is summed in registers.
const ROWS: usize = 6;

/// Columns of a tile.
const COLUMNS: usize = 16;

/// So many columns are packed at a time.
const BLOCK: usize = 1024;

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
}

/// Adds the product of `a` (m x k) and `b` (k x n) to `c`, whose rows begin `stride` apart.
pub(super) fn add_product(
    (m, n, k): (usize, usize, usize),
    a: Matrix<'_>,
    b: Matrix<'_>,
    c: &mut [f32],
    stride: usize,
) {
    if m == 0 || n == 0 || k == 0 {
        return;
    }
    let mut left = vec![0.0; m.div_ceil(ROWS) * ROWS * k];
    for (panel, packed) in left.chunks_mut(ROWS * k).enumerate() {
        pack_rows(a, panel * ROWS, m, packed);
    }
    let mut right = vec![0.0; BLOCK.min(n.div_ceil(COLUMNS) * COLUMNS) * k];
    for from in (0..n).step_by(BLOCK) {
        let width = BLOCK.min(n - from);
        let panels = width.div_ceil(COLUMNS);
        let right = &mut right[..panels * COLUMNS * k];
        right.par_chunks_mut(COLUMNS * k).enumerate().for_each(|(panel, packed)| {
            pack_columns(b, from + panel * COLUMNS, n, packed);
        });
        let right = &*right;
        c.par_chunks_mut(ROWS * stride).zip(left.par_chunks(ROWS * k)).for_each(|(c, left)| {
            let rows = c.len().div_ceil(stride).min(ROWS);
            for (panel, right) in right.chunks_exact(COLUMNS * k).enumerate() {
                let column = from + panel * COLUMNS;
                tile(left, right, &mut c[column..], (rows, COLUMNS.min(n - column)), stride);
            }
        });
    }
}

fn pack_rows(a: Matrix<'_>, first: usize, m: usize, packed: &mut [f32]) {
    let rows = ROWS.min(m - first);
    for (inner, to) in packed.chunks_exact_mut(ROWS).enumerate() {
        for (row, to) in to[..rows].iter_mut().enumerate() {
            *to = a.data[(first + row) * a.row + inner * a.column];
        }
    }
}

fn pack_columns(b: Matrix<'_>, first: usize, n: usize, packed: &mut [f32]) {
    let columns = COLUMNS.min(n - first);
    for (inner, to) in packed.chunks_exact_mut(COLUMNS).enumerate() {
        let from = inner * b.row + first * b.column;
        if b.column == 1 {
            to[..columns].copy_from_slice(&b.data[from..from + columns]);
        } else {
            for (column, to) in to[..columns].iter_mut().enumerate() {
                *to = b.data[from + column * b.column];
            }
        }
        to[columns..].fill(0.0);
    }
}

/// Adds the product of two panels to a tile of `c`.
fn tile(left: &[f32], right: &[f32], c: &mut [f32], size: (usize, usize), stride: usize) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        #[target_feature(enable = "avx2,fma")]
        fn vectors(l: &[f32], r: &[f32], c: &mut [f32], size: (usize, usize), stride: usize) {
            sums(l, r, c, size, stride);
        }
        // SAFETY: this processor was just asked whether it has the instructions.
        unsafe { vectors(left, right, c, size, stride) };
        return;
    }
    sums(left, right, c, size, stride);
}

#[inline(always)]
fn sums(left: &[f32], right: &[f32], c: &mut [f32], size: (usize, usize), stride: usize) {
    let (rows, columns) = size;
    let mut tile = [[0.0f32; COLUMNS]; ROWS];
    for (row, tile) in tile.iter_mut().enumerate().take(rows) {
        tile[..columns].copy_from_slice(&c[row * stride..row * stride + columns]);
    }
    let (left, right) = (left.as_chunks::<ROWS>().0, right.as_chunks::<COLUMNS>().0);
    for (left, right) in left.iter().zip(right) {
        for (tile, &a) in tile.iter_mut().zip(left) {
            for (sum, &b) in tile.iter_mut().zip(right) {
                *sum = a.mul_add(b, *sum);
            }
        }
    }
    for (row, tile) in tile.iter().enumerate().take(rows) {
        c[row * stride..row * stride + columns].copy_from_slice(&tile[..columns]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_runs::{Draw, rng::stream};

    #[test]
    fn products_are_the_sums_in_their_order() {
        let mut rng = stream(1, &["gemm"]);
        let mut draw = |count: usize| (0..count).map(|_| rng.normal() as f32).collect::<Vec<_>>();
        for (m, n, k) in [(1, 1, 1), (5, 17, 3), (6, 16, 8), (13, 1100, 40), (64, 70, 129)] {
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
            add_product((m, n, k), Matrix::rows(&a, k), Matrix::rows(&b, n), &mut c, n);
            assert_eq!(c, expected);
            // The factors may lie the other way round.
            let turned = |x: &[f32], rows: usize, columns: usize| -> Vec<f32> {
                (0..rows * columns).map(|i| x[i % rows * columns + i / rows]).collect()
            };
            let (at, bt) = (turned(&a, m, k), turned(&b, k, n));
            let (at, bt) = (Matrix::rows(&at, m), Matrix::rows(&bt, k));
            let mut c = start.clone();
            add_product((m, n, k), at.transposed(), bt.transposed(), &mut c, n);
            assert_eq!(c, expected);
        }
    }
}
