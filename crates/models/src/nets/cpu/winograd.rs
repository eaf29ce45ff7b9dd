//! Winograd convolution F(2x2, 3x3) on 8x8 boards (Winograd, 1980; Lavin & Gray, 2016).
//!
//! A board has sixteen tiles of 2x2 outputs. Each tile depends on 4x4 inputs and is computed as
//! Y = Aᵀ[(G g Gᵀ) ⊙ (Bᵀ d B)]A, which takes 16 multiplications per pair of channels instead of 36.
//! Summed over channels, each of the 16 elements ("points") of the bracket is a matrix product:
//! weights times the points of all tiles.
//!
//! F(4x4, 3x3) would need little more than half of the multiplications, but four times as many
//! weights as direct convolution. For a single position, reading them takes longer than the
//! multiplications. A different algorithm for large batches would make the outputs depend on the
//! batch size.
//!
//! Each sum has a fixed order for any vector width, number of threads and batch size: Bᵀ d B first
//! along the rows of a board and then along its columns, Aᵀ M A the other way round, and matrix
//! products in the order of the inner index.

mod gradient;

use super::layers::Conv;
use crate::nets::BufferPool;
use crate::nets::gemm_kernel::{GemmKernel, VectorTask, add_full_tile};
use rayon::prelude::*;

/// Number of tiles of a board.
const TILES: usize = 16;

/// Number of points of a tile.
const POINTS: usize = 16;

/// Number of boards transformed at a time: with 256 channels their points take 1 MiB and stay in
/// the cache while all weights are read.
const BOARDS: usize = 4;

/// Number of floats of a cache line.
const LINE: usize = 16;

/// Minimum number of input and output channels. With fewer, direct convolution is faster because
/// the transforms dominate.
const MIN_CHANNELS: usize = 16;

/// The products of a panel of weights and a panel of points, aligned to a cache line.
#[repr(align(64))]
struct Sums([f32; POINTS * GemmKernel::MAX_TILE]);

/// The transformed weights of a convolution.
#[derive(Clone, Debug)]
pub(super) struct Winograd {
    kernel: GemmKernel,
    /// Number of input channels.
    inputs: usize,
    /// A packed panel for each group of output channels and each point.
    panels: Vec<f32>,
}

impl Winograd {
    /// Returns whether Winograd convolution is applicable and faster.
    pub(super) fn is_faster(conv: Conv) -> bool {
        (conv.size, conv.stride, conv.input.side) == (3, 1, 8)
            && conv.input.channels.min(conv.output.channels) >= MIN_CHANNELS
    }

    /// Transforms weights in the order (out channel, in channel, row, column).
    pub(super) fn pack(
        kernel: GemmKernel,
        weight: &[f32],
        inputs: usize,
        pool: &mut BufferPool,
    ) -> Winograd {
        let kernels = weight.as_chunks::<9>().0;
        let taps = |output: usize, input: usize| kernels[output * inputs + input];
        Winograd::pack_with(kernel, (kernels.len() / inputs, inputs), taps, pool)
    }

    /// Transforms the weights for the backward pass: the gradient of the inputs is the convolution
    /// of the outputs' gradient with rotated kernels and swapped channels.
    pub(super) fn pack_transposed(
        kernel: GemmKernel,
        weight: &[f32],
        inputs: usize,
        pool: &mut BufferPool,
    ) -> Winograd {
        let kernels = weight.as_chunks::<9>().0;
        let taps = |output: usize, input: usize| {
            let mut taps = kernels[input * inputs + output];
            taps.reverse();
            taps
        };
        Winograd::pack_with(kernel, (inputs, kernels.len() / inputs), taps, pool)
    }

    /// Transforms the weights that `taps(output, input)` returns for each pair of channels.
    fn pack_with(
        kernel: GemmKernel,
        (outputs, inputs): (usize, usize),
        taps: impl Fn(usize, usize) -> [f32; 9] + Sync,
        pool: &mut BufferPool,
    ) -> Winograd {
        let rows = kernel.rows();
        let size = POINTS * inputs * rows;
        let mut panels = pool.take(outputs.div_ceil(rows) * size);
        panels.par_chunks_mut(size).enumerate().for_each(|(panel, to)| {
            let count = rows.min(outputs - panel * rows);
            if count < rows {
                to.fill(0.0);
            }
            for row in 0..count {
                for input in 0..inputs {
                    let points = kernel_points(&taps(panel * rows + row, input));
                    for (point, value) in points.into_iter().enumerate() {
                        to[(point * inputs + input) * rows + row] = value;
                    }
                }
            }
        });
        Winograd { kernel, inputs, panels }
    }

    /// Returns its buffer to the pool.
    pub(super) fn release(self, pool: &mut BufferPool) {
        pool.release(self.panels);
    }

    /// Adds the convolution of a batch of boards to `y`.
    pub(super) fn forward(&self, x: &[f32], y: &mut [f32], batch: usize, pool: &mut BufferPool) {
        let mut buffer = pool.take(BOARDS.min(batch) * POINTS * TILES * self.inputs + LINE);
        // Aligned vectors load in half the time.
        let start = buffer.as_ptr().align_offset(size_of::<f32>() * LINE).min(LINE);
        let points = &mut buffer[start..];
        for first in (0..batch).step_by(BOARDS) {
            let count = BOARDS.min(batch - first);
            let points = &mut points[..count * POINTS * TILES * self.inputs];
            self.transform_boards(x, (first, batch), points);
            self.add_outputs(points, (first, batch), y);
        }
        pool.release(buffer);
    }

    /// Returns the size of a panel of points: as many boards as the columns of a tile hold.
    fn panel_size(&self) -> usize {
        self.kernel.columns() * POINTS * self.inputs
    }

    /// Computes the points of some boards: for each panel and point, one row per channel.
    fn transform_boards(&self, x: &[f32], (first, batch): (usize, usize), points: &mut [f32]) {
        let boards = self.kernel.columns() / TILES;
        points.par_chunks_mut(self.panel_size()).enumerate().for_each(|(panel, points)| {
            let columns = points.len() / (POINTS * self.inputs);
            let at = 64 * (first + panel * boards);
            let x = x.get(at..).unwrap_or_default();
            self.kernel.run(TransformInputs { x, stride: 64 * batch, points, columns });
        });
    }

    /// Adds the outputs of some boards, given their points, to `y`.
    fn add_outputs(&self, points: &[f32], (first, batch): (usize, usize), y: &mut [f32]) {
        let rows = self.kernel.rows();
        let boards = self.kernel.columns() / TILES;
        let weights = self.panels.par_chunks(POINTS * self.inputs * rows);
        y.par_chunks_mut(rows * 64 * batch).zip(weights).for_each(|(y, weights)| {
            let outputs = y.len() / (64 * batch);
            let mut sums = Sums([0.0; POINTS * GemmKernel::MAX_TILE]);
            for (panel, points) in points.chunks(self.panel_size()).enumerate() {
                let columns = points.len() / (POINTS * self.inputs);
                let sums = &mut sums.0[..POINTS * rows * columns];
                sums.fill(0.0);
                let each = weights.chunks_exact(self.inputs * rows);
                let each = each.zip(points.chunks_exact(self.inputs * columns));
                for ((weights, points), sums) in each.zip(sums.chunks_exact_mut(rows * columns)) {
                    add_full_tile(self.kernel, weights, points, sums, (outputs, columns));
                }
                let y = &mut y[64 * (first + panel * boards)..];
                self.kernel.run(TransformOutputs { sums, rows, columns, y, stride: 64 * batch });
            }
        });
    }
}

/// Computes G g Gᵀ of a 3x3 kernel, rounded once.
fn kernel_points(taps: &[f32; 9]) -> [f32; POINTS] {
    let line = |[a, b, c]: [f64; 3]| [a, (a + b + c) / 2.0, (a - b + c) / 2.0, c];
    let at = |tap: usize| f64::from(taps[tap]);
    let rows = [0, 1, 2].map(|column| line([at(column), at(3 + column), at(6 + column)]));
    let points = [0, 1, 2, 3].map(|row| line(rows.map(|column| column[row])));
    std::array::from_fn(|point| points[point / 4][point % 4] as f32)
}

/// Computes the points of the boards of a panel. `stride` is the distance of channels in `x`.
struct TransformInputs<'a> {
    x: &'a [f32],
    stride: usize,
    points: &'a mut [f32],
    columns: usize,
}

impl VectorTask for TransformInputs<'_> {
    #[inline(always)]
    fn run(self) {
        let TransformInputs { x, stride, points, columns } = self;
        let maps = points.len() / (POINTS * columns);
        for (map, x) in x.chunks(stride).take(maps).enumerate() {
            for (board, x) in x.as_chunks::<64>().0.iter().take(columns / TILES).enumerate() {
                board_points(x, &mut points[map * columns + board * TILES..], columns * maps);
            }
        }
    }
}

/// Adds the outputs of the boards of a panel. `stride` is the distance of channels in `y`.
struct TransformOutputs<'a> {
    sums: &'a [f32],
    rows: usize,
    columns: usize,
    y: &'a mut [f32],
    stride: usize,
}

impl VectorTask for TransformOutputs<'_> {
    #[inline(always)]
    fn run(self) {
        let TransformOutputs { sums, rows, columns, y, stride } = self;
        for (row, y) in y.chunks_mut(stride).take(rows).enumerate() {
            let boards = y.as_chunks_mut::<64>().0.iter_mut().take(columns / TILES);
            for (board, y) in boards.enumerate() {
                add_board(&sums[row * columns + board * TILES..], rows * columns, y);
            }
        }
    }
}

/// Computes Bᵀ d B of every tile: a row of sixteen tiles per point. `stride` is the distance of
/// rows.
#[inline(always)]
fn board_points(board: &[f32; 64], to: &mut [f32], stride: usize) {
    // Zero padding. For each row of the board: every other cell, starting at column -1, 0, 1, 2.
    let mut lines = [[[0.0f32; 4]; 10]; 4];
    for (row, &[a, b, c, d, e, f, g, h]) in board.as_chunks::<8>().0.iter().enumerate() {
        let columns = [[0.0, b, d, f], [a, c, e, g], [b, d, f, h], [c, e, g, 0.0]];
        for tile in 0..4 {
            lines[0][row + 1][tile] = columns[0][tile] - columns[2][tile];
            lines[1][row + 1][tile] = columns[1][tile] + columns[2][tile];
            lines[2][row + 1][tile] = columns[2][tile] - columns[1][tile];
            lines[3][row + 1][tile] = columns[1][tile] - columns[3][tile];
        }
    }
    for (column, lines) in lines.iter().enumerate() {
        let mut points = [[[0.0f32; 4]; 4]; 4];
        for row in 0..4 {
            for tile in 0..4 {
                let cell = |line: usize| lines[2 * row + line][tile];
                points[0][row][tile] = cell(0) - cell(2);
                points[1][row][tile] = cell(1) + cell(2);
                points[2][row][tile] = cell(2) - cell(1);
                points[3][row][tile] = cell(1) - cell(3);
            }
        }
        for (point, tiles) in points.iter().enumerate() {
            let at = (4 * point + column) * stride;
            to[at..at + TILES].copy_from_slice(tiles.as_flattened());
        }
    }
}

/// Adds Aᵀ M A of every tile to a board. `stride` is the distance of the rows of sixteen tiles per
/// point.
#[inline(always)]
fn add_board(points: &[f32], stride: usize, board: &mut [f32; 64]) {
    let mut lines = [[[0.0f32; TILES]; 4]; 2];
    for column in 0..4 {
        let row_of = |point: usize| points[(4 * point + column) * stride..].first_chunk::<TILES>();
        let (Some(a), Some(b), Some(c), Some(d)) = (row_of(0), row_of(1), row_of(2), row_of(3))
        else {
            return;
        };
        for tile in 0..TILES {
            lines[0][column][tile] = a[tile] + b[tile] + c[tile];
            lines[1][column][tile] = b[tile] - c[tile] - d[tile];
        }
    }
    for (line, [a, b, c, d]) in lines.iter().enumerate() {
        let (mut even, mut odd) = ([0.0f32; TILES], [0.0f32; TILES]);
        for tile in 0..TILES {
            even[tile] = a[tile] + b[tile] + c[tile];
            odd[tile] = b[tile] - c[tile] - d[tile];
        }
        for row in 0..4 {
            let y = &mut board[8 * (2 * row + line)..][..8];
            for tile in 0..4 {
                y[2 * tile] += even[4 * row + tile];
                y[2 * tile + 1] += odd[4 * row + tile];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_runs::{RngExt, rng::stream};

    /// Returns random inputs, weights and initial outputs of a layer.
    pub(super) fn layer(from: usize, to: usize, batch: usize) -> (Vec<f32>, Vec<f32>, Vec<f32>) {
        let mut rng = stream(3, &["winograd", &from.to_string(), &to.to_string()]);
        let mut draw = |count: usize| (0..count).map(|_| rng.normal() as f32).collect::<Vec<_>>();
        (draw(from * batch * 64), draw(to * from * 9), draw(to * batch * 64))
    }

    /// Returns the direct convolution at a cell in double precision.
    fn reference(x: &[f64; 64], taps: &[f32; 9], cell: usize) -> f64 {
        let tap = |tap: usize| {
            let (row, column) = (cell / 8 + tap / 3, cell % 8 + tap % 3);
            let inside = (1..9).contains(&row) && (1..9).contains(&column);
            if inside { f64::from(taps[tap]) * x[8 * (row - 1) + column - 1] } else { 0.0 }
        };
        (0..9).map(tap).sum()
    }

    /// Returns the outputs of a board with all inputs and coefficients replaced by their absolute
    /// values, which bound the rounding error.
    fn magnitudes(x: &[f64; 64], taps: &[f32; 9]) -> [f64; 64] {
        let weights = kernel_points(taps).map(|value| f64::from(value.abs()));
        std::array::from_fn(|cell| {
            let (row, column) = (cell / 8, cell % 8);
            let at = |r: usize, c: usize| {
                // A cell of the 4x4 window of the tile.
                let (r, c) = (row / 2 * 2 + r, column / 2 * 2 + c);
                let inside = (1..9).contains(&r) && (1..9).contains(&c);
                if inside { x[8 * (r - 1) + c - 1].abs() } else { 0.0 }
            };
            const SOURCES: [[usize; 2]; 4] = [[0, 2], [1, 2], [1, 2], [1, 3]];
            let reads = |odd: usize| if odd == 0 { [0, 1, 2] } else { [1, 2, 3] };
            let mut sum = 0.0;
            for r in reads(row % 2) {
                for c in reads(column % 2) {
                    let sources =
                        SOURCES[r].iter().flat_map(|&a| SOURCES[c].iter().map(move |&b| (a, b)));
                    sum += weights[4 * r + c] * sources.map(|(a, b)| at(a, b)).sum::<f64>();
                }
            }
            sum
        })
    }

    /// Roundings: one for a weight, two for a point of a board, one per channel of the sum, four
    /// for an output of a tile and one for adding it to the initial output.
    #[test]
    fn matches_direct_convolution_within_rounding() {
        for (from, to, batch) in [(16, 17, 3), (64, 12, 2), (200, 5, 1)] {
            let (x, weight, initial) = layer(from, to, batch);
            let mut y = initial.clone();
            let mut pool = BufferPool::default();
            let packed = Winograd::pack(GemmKernel::detect(), &weight, from, &mut pool);
            packed.forward(&x, &mut y, batch, &mut pool);
            let unit = f64::from(f32::EPSILON) / 2.0;
            let roundings = (1 + 2 + from + 4 + 1) as f64 * unit;
            let factor = roundings / (1.0 - roundings);
            for (at, (y, initial)) in y.chunks(64).zip(initial.chunks(64)).enumerate() {
                let (output, board) = (at / batch, at % batch);
                let (mut sums, mut bounds) = ([0.0; 64], [0.0; 64]);
                for map in 0..from {
                    let start = (map * batch + board) * 64;
                    let x: [f64; 64] = std::array::from_fn(|cell| f64::from(x[start + cell]));
                    let taps = weight[(output * from + map) * 9..].first_chunk().unwrap();
                    let magnitudes = magnitudes(&x, taps);
                    for cell in 0..64 {
                        sums[cell] += reference(&x, taps, cell);
                        bounds[cell] += magnitudes[cell];
                    }
                }
                for cell in 0..64 {
                    let expected = sums[cell] + f64::from(initial[cell]);
                    let bound = factor * (bounds[cell] + f64::from(initial[cell].abs()));
                    let error = (f64::from(y[cell]) - expected).abs();
                    assert!(error <= bound, "{from} {to} {cell}: {error} > {bound}");
                }
            }
        }
    }

    #[test]
    fn results_do_not_depend_on_kernel_threads_or_batch() {
        let (from, to, batch) = (23, 29, 7);
        let (x, weight, initial) = layer(from, to, batch);
        let convolve = |kernel: GemmKernel, threads: usize| {
            let mut y = initial.clone();
            let threads = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            threads.install(|| {
                let mut pool = BufferPool::default();
                let packed = Winograd::pack(kernel, &weight, from, &mut pool);
                packed.forward(&x, &mut y, batch, &mut pool);
            });
            y
        };
        let expected = convolve(GemmKernel::Portable, 1);
        for kernel in GemmKernel::all() {
            assert_eq!(convolve(kernel, 3), expected, "{kernel:?}");
            let mut pool = BufferPool::default();
            let packed = Winograd::pack(kernel, &weight, from, &mut pool);
            for board in 0..batch {
                let board_values = |batch_values: &[f32]| -> Vec<f32> {
                    let boards = batch_values.chunks(64).skip(board).step_by(batch);
                    boards.flatten().copied().collect()
                };
                let mut alone = board_values(&initial);
                pool.release(vec![7.0; POINTS * TILES * from + LINE]);
                packed.forward(&board_values(&x), &mut alone, 1, &mut pool);
                assert_eq!(alone, board_values(&expected), "{kernel:?} {board}");
            }
        }
    }
}
