//! The gradient of the weights in Winograd convolution.
//!
//! The outputs are Aᵀ[U ⊙ V]A with U = G g Gᵀ and V = Bᵀ d B, summed over channels. The gradient of
//! U is A dY Aᵀ times V, summed over the tiles of all boards, which is again one matrix product per
//! point. The gradient of the kernel g is Gᵀ dU G.
//!
//! Sums run over tiles, so panels have one line per tile with the channels side by side.

use super::{POINTS, TILES, Winograd};
use crate::nets::BufferPool;
use crate::nets::cpu::layers::Conv;
use crate::nets::gemm_kernel::{GemmKernel, VectorTask, add_full_tile};
use rayon::prelude::*;

/// Number of boards transformed at a time; a product sums over their tiles.
const BOARDS: usize = 8;

/// The transform to apply.
#[derive(Clone, Copy, PartialEq)]
enum Transform {
    /// Bᵀ d B.
    Inputs,
    /// A dY Aᵀ.
    Outputs,
}

impl Winograd {
    /// Adds the gradient of a convolution's weights to `dweight`.
    pub(in crate::nets::cpu) fn gradient(
        kernel: GemmKernel,
        conv: Conv,
        (x, dy): (&[f32], &[f32]),
        dweight: &mut [f32],
        pool: &mut BufferPool,
    ) {
        let (rows, columns) = (kernel.rows(), kernel.columns());
        let (inputs, outputs) = (conv.input.channels, conv.output.channels);
        let (left_panels, right_panels) = (outputs.div_ceil(rows), inputs.div_ceil(columns));
        let boards = BOARDS.min(conv.batch);
        let mut left = pool.take(left_panels * rows * POINTS * TILES * boards);
        let mut right = pool.take(right_panels * columns * POINTS * TILES * boards);
        // For each point and each pair of panels, a tile of the product.
        let mut sums = pool.take_zeroed(POINTS * left_panels * right_panels * rows * columns);
        for first in (0..conv.batch).step_by(BOARDS) {
            let count = BOARDS.min(conv.batch - first);
            let tiles = TILES * count;
            let (left_size, right_size) = (rows * tiles, columns * tiles);
            let left = &mut left[..left_panels * POINTS * left_size];
            let right = &mut right[..right_panels * POINTS * right_size];
            let left_tasks = left.par_chunks_mut(POINTS * left_size).enumerate();
            let left_tasks =
                left_tasks.map(|(at, to)| (dy, Transform::Outputs, at * rows, rows, to));
            let right_tasks = right.par_chunks_mut(POINTS * right_size).enumerate();
            let right_tasks =
                right_tasks.map(|(at, to)| (x, Transform::Inputs, at * columns, columns, to));
            left_tasks.chain(right_tasks).for_each(|(from, transform, map, lanes, to)| {
                let stride = 64 * conv.batch;
                let maps = &from[map * stride..];
                let task = TransformBoards { maps, stride, first, transform, to };
                match lanes {
                    6 => kernel.run(Lanes::<6>(task)),
                    12 => kernel.run(Lanes::<12>(task)),
                    16 => kernel.run(Lanes::<16>(task)),
                    _ => kernel.run(Lanes::<32>(task)),
                }
            });
            let (left, right) = (&*left, &*right);
            let each = sums.par_chunks_mut(right_panels * rows * columns).enumerate();
            each.for_each(|(at, sums)| {
                let (point, panel) = (at / left_panels, at % left_panels);
                let count = rows.min(outputs - panel * rows);
                let left = &left[(panel * POINTS + point) * left_size..][..left_size];
                for (panel, sums) in sums.chunks_exact_mut(rows * columns).enumerate() {
                    let right = &right[(panel * POINTS + point) * right_size..][..right_size];
                    add_full_tile(kernel, left, right, sums, (count, columns));
                }
            });
        }
        let sums_of = |output: usize, map: usize| {
            let tile = output / rows * right_panels + map / columns;
            let at = tile * rows * columns + output % rows * columns + map % columns;
            std::array::from_fn(|point| {
                sums[point * left_panels * right_panels * rows * columns + at]
            })
        };
        dweight.par_chunks_mut(9 * inputs).enumerate().for_each(|(output, kernels)| {
            for (map, taps) in kernels.as_chunks_mut::<9>().0.iter_mut().enumerate() {
                let gradient = kernel_gradient(&sums_of(output, map));
                taps.iter_mut().zip(gradient).for_each(|(to, gradient)| *to += gradient);
            }
        });
        [left, right, sums].into_iter().for_each(|buffer| pool.release(buffer));
    }
}

/// Computes Gᵀ dU G.
fn kernel_gradient(points: &[f32; POINTS]) -> [f32; 9] {
    let multiply = |[a, b, c, d]: [f32; 4]| {
        let (sum, difference) = ((b + c) / 2.0, (b - c) / 2.0);
        [a + sum, difference, d + sum]
    };
    let rows = [0, 1, 2, 3].map(|column| multiply([0, 4, 8, 12].map(|row| points[row + column])));
    let taps = [0, 1, 2].map(|row| multiply(rows.map(|column| column[row])));
    std::array::from_fn(|tap| taps[tap / 3][tap % 3])
}

/// Transforms the boards from `first` on, for the channels in `maps`, which are `stride` apart.
struct TransformBoards<'a> {
    maps: &'a [f32],
    stride: usize,
    first: usize,
    transform: Transform,
    to: &'a mut [f32],
}

/// A [`TransformBoards`] task with `MAPS` channels side by side.
struct Lanes<'a, const MAPS: usize>(TransformBoards<'a>);

impl<const MAPS: usize> VectorTask for Lanes<'_, MAPS> {
    #[inline(always)]
    fn run(self) {
        let TransformBoards { maps, stride, first, transform, to } = self.0;
        let to = to.as_chunks_mut::<MAPS>().0;
        let tiles = to.len() / POINTS;
        for board in 0..tiles / TILES {
            // Zero padding on every side.
            let mut cells = [[[0.0f32; MAPS]; 10]; 10];
            for (lane, map) in maps.chunks(stride).take(MAPS).enumerate() {
                let from = map[64 * (first + board)..][..64].as_chunks::<8>().0;
                for (row, from) in from.iter().enumerate() {
                    for (column, &from) in from.iter().enumerate() {
                        cells[row + 1][column + 1][lane] = from;
                    }
                }
            }
            for tile in 0..TILES {
                let (row, column) = (tile / 4 * 2, tile % 4 * 2);
                let mut lines = [[[0.0f32; MAPS]; 4]; 4];
                for (line, cells) in lines.iter_mut().zip(&cells[row..row + 4]) {
                    let cells = &cells[column..column + 4];
                    let cells = [&cells[0], &cells[1], &cells[2], &cells[3]];
                    *line = match transform {
                        Transform::Inputs => transform_input(cells),
                        Transform::Outputs => transform_output(cells),
                    };
                }
                for column in 0..4 {
                    let [a, b, c, d] = &lines;
                    let lines = [&a[column], &b[column], &c[column], &d[column]];
                    let points = match transform {
                        Transform::Inputs => transform_input(lines),
                        Transform::Outputs => transform_output(lines),
                    };
                    for (row, point) in points.iter().enumerate() {
                        to[(4 * row + column) * tiles + TILES * board + tile] = *point;
                    }
                }
            }
        }
    }
}

/// Multiplies four lines by Bᵀ.
#[inline(always)]
fn transform_input<const MAPS: usize>([a, b, c, d]: [&[f32; MAPS]; 4]) -> [[f32; MAPS]; 4] {
    let mut to = [[0.0; MAPS]; 4];
    for map in 0..MAPS {
        to[0][map] = a[map] - c[map];
        to[1][map] = b[map] + c[map];
        to[2][map] = c[map] - b[map];
        to[3][map] = b[map] - d[map];
    }
    to
}

/// Multiplies the two middle lines, which belong to the tile, by A.
#[inline(always)]
fn transform_output<const MAPS: usize>([_, a, b, _]: [&[f32; MAPS]; 4]) -> [[f32; MAPS]; 4] {
    let mut to = [[0.0; MAPS]; 4];
    for map in 0..MAPS {
        to[0][map] = a[map];
        to[1][map] = a[map] + b[map];
        to[2][map] = a[map] - b[map];
        to[3][map] = -b[map];
    }
    to
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nets::Shape;
    use crate::nets::cpu::winograd::tests::layer;

    fn conv(from: usize, to: usize, batch: usize) -> Conv {
        let shape = |channels: usize| Shape { channels, side: 8 };
        Conv { input: shape(from), output: shape(to), size: 3, stride: 1, batch }
    }

    /// Returns the gradient of each weight by direct summation, and the sum of absolute values.
    fn reference(conv: Conv, x: &[f32], dy: &[f32]) -> Vec<(f64, f64)> {
        let (from, batch) = (conv.input.channels, conv.batch);
        let each = |at: usize| {
            let (output, map, tap) = (at / 9 / from, at / 9 % from, at % 9);
            let (mut sum, mut magnitude) = (0.0, 0.0);
            for board in 0..batch {
                for cell in 0..64 {
                    let (row, column) = (cell / 8 + tap / 3, cell % 8 + tap % 3);
                    if (1..9).contains(&row) && (1..9).contains(&column) {
                        let x = x[(map * batch + board) * 64 + 8 * (row - 1) + column - 1];
                        let product =
                            f64::from(x) * f64::from(dy[(output * batch + board) * 64 + cell]);
                        sum += product;
                        magnitude += product.abs();
                    }
                }
            }
            (sum, magnitude)
        };
        (0..9 * from * conv.output.channels).map(each).collect()
    }

    #[test]
    fn matches_direct_summation_within_rounding() {
        for (from, to, batch) in [(16, 17, 3), (40, 16, 19)] {
            let (x, _, dy) = layer(from, to, batch);
            let conv = conv(from, to, batch);
            let mut found = vec![0.0; 9 * from * to];
            let mut pool = BufferPool::default();
            Winograd::gradient(GemmKernel::detect(), conv, (&x, &dy), &mut found, &mut pool);
            for (found, (sum, magnitude)) in found.iter().zip(reference(conv, &x, &dy)) {
                let error = (f64::from(*found) - sum).abs();
                assert!(error <= 1e-6 * magnitude, "{from} {to}: {found}, expected {sum}");
            }
        }
    }

    #[test]
    fn results_do_not_depend_on_kernel_or_threads() {
        let (from, to, batch) = (39, 29, 18);
        let (x, _, dy) = layer(from, to, batch);
        let gradient = |kernel: GemmKernel, threads: usize| {
            let threads = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut found = vec![0.5; 9 * from * to];
            let (conv, mut pool) = (conv(from, to, batch), BufferPool::default());
            threads.install(|| {
                Winograd::gradient(kernel, conv, (&x, &dy), &mut found, &mut pool);
            });
            found
        };
        let expected = gradient(GemmKernel::Portable, 1);
        for kernel in GemmKernel::all() {
            assert_eq!(gradient(kernel, 3), expected, "{kernel:?}");
        }
    }
}
