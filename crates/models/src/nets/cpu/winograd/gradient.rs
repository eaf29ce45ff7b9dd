//! What the outputs' gradient means for the weights of a convolution, with fewer multiplications.
//!
//! The outputs are Aᵀ[U ⊙ V]A with U = G g Gᵀ and V = Bᵀ d B, summed over maps. So the gradient at U is
//! that of the outputs, A dY Aᵀ, times V, summed over the tiles of all boards: for each point a product
//! of matrices again. From there the fields' is Gᵀ dU G.
//!
//! Sums run over tiles, so here panels have a line for each tile and its maps side by side; and so lie the
//! maps that are transformed.

use super::{POINTS, TILES, Winograd};
use crate::nets::Space;
use crate::nets::cpu::layers::Conv;
use crate::nets::tile::{Kernel, Work, whole_tile};
use rayon::prelude::*;

/// So many boards are transformed at a time: their tiles are what a product sums over.
const BOARDS: usize = 8;

/// Which transform.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    /// Bᵀ d B.
    Inputs,
    /// A dY Aᵀ.
    Outputs,
}

impl Winograd {
    /// Adds the gradient of a convolution's weights to `dweight`.
    pub(in crate::nets::cpu) fn gradient(
        kernel: Kernel,
        conv: Conv,
        (x, dy): (&[f32], &[f32]),
        dweight: &mut [f32],
        space: &mut Space,
    ) {
        let (rows, columns) = (kernel.rows(), kernel.columns());
        let (from, to) = (conv.from.channels, conv.to.channels);
        let (lefts, rights) = (to.div_ceil(rows), from.div_ceil(columns));
        let boards = BOARDS.min(conv.batch);
        let mut left = space.any(lefts * rows * POINTS * TILES * boards);
        let mut right = space.any(rights * columns * POINTS * TILES * boards);
        // For each point, each few outputs and each few inputs, a tile of the product.
        let mut sums = space.noughts(POINTS * lefts * rights * rows * columns);
        for first in (0..conv.batch).step_by(BOARDS) {
            let count = BOARDS.min(conv.batch - first);
            let tiles = TILES * count;
            let (left_size, right_size) = (rows * tiles, columns * tiles);
            let left = &mut left[..lefts * POINTS * left_size];
            let right = &mut right[..rights * POINTS * right_size];
            let lefts_each = left.par_chunks_mut(POINTS * left_size).enumerate();
            let lefts_each = lefts_each.map(|(at, to)| (dy, Of::Outputs, at * rows, rows, to));
            let rights_each = right.par_chunks_mut(POINTS * right_size).enumerate();
            let rights_each =
                rights_each.map(|(at, to)| (x, Of::Inputs, at * columns, columns, to));
            lefts_each.chain(rights_each).for_each(|(from, of, map, lanes, to)| {
                let apart = 64 * conv.batch;
                let maps = &from[map * apart..];
                let beside = Beside { maps, apart, first, of, to };
                match lanes {
                    6 => kernel.lend(Lanes::<6>(beside)),
                    12 => kernel.lend(Lanes::<12>(beside)),
                    16 => kernel.lend(Lanes::<16>(beside)),
                    _ => kernel.lend(Lanes::<32>(beside)),
                }
            });
            let (left, right) = (&*left, &*right);
            let each = sums.par_chunks_mut(rights * rows * columns).enumerate();
            each.for_each(|(at, sums)| {
                let (point, panel) = (at / lefts, at % lefts);
                let count = rows.min(to - panel * rows);
                let left = &left[(panel * POINTS + point) * left_size..][..left_size];
                for (panel, sums) in sums.chunks_exact_mut(rows * columns).enumerate() {
                    let right = &right[(panel * POINTS + point) * right_size..][..right_size];
                    whole_tile(kernel, left, right, sums, (count, columns));
                }
            });
        }
        let sums_of = |output: usize, map: usize| {
            let tile = output / rows * rights + map / columns;
            let at = tile * rows * columns + output % rows * columns + map % columns;
            std::array::from_fn(|point| sums[point * lefts * rights * rows * columns + at])
        };
        dweight.par_chunks_mut(9 * from).enumerate().for_each(|(output, fields)| {
            for (map, field) in fields.as_chunks_mut::<9>().0.iter_mut().enumerate() {
                let parts = field_of(&sums_of(output, map));
                field.iter_mut().zip(parts).for_each(|(to, part)| *to += part);
            }
        });
        [left, right, sums].into_iter().for_each(|room| space.release(room));
    }
}

/// Gᵀ dU G.
fn field_of(points: &[f32; POINTS]) -> [f32; 9] {
    let line = |[a, b, c, d]: [f32; 4]| {
        let (sum, difference) = ((b + c) / 2.0, (b - c) / 2.0);
        [a + sum, difference, d + sum]
    };
    let rows = [0, 1, 2, 3].map(|column| line([0, 4, 8, 12].map(|row| points[row + column])));
    let field = [0, 1, 2].map(|row| line(rows.map(|column| column[row])));
    std::array::from_fn(|tap| field[tap / 3][tap % 3])
}

/// Transforms boards from `first` on of as many maps as lie side by side, `apart` in `maps`.
struct Beside<'a> {
    maps: &'a [f32],
    apart: usize,
    first: usize,
    of: Of,
    to: &'a mut [f32],
}

/// With so many maps side by side.
struct Lanes<'a, const MAPS: usize>(Beside<'a>);

impl<const MAPS: usize> Work for Lanes<'_, MAPS> {
    #[inline(always)]
    fn run(self) {
        let Beside { maps, apart, first, of, to } = self.0;
        let to = to.as_chunks_mut::<MAPS>().0;
        let tiles = to.len() / POINTS;
        for board in 0..tiles / TILES {
            // A row and a column of noughts on every side.
            let mut cells = [[[0.0f32; MAPS]; 10]; 10];
            for (lane, map) in maps.chunks(apart).take(MAPS).enumerate() {
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
                    *line = if of == Of::Inputs { seen(cells) } else { given(cells) };
                }
                for column in 0..4 {
                    let [a, b, c, d] = &lines;
                    let lines = [&a[column], &b[column], &c[column], &d[column]];
                    let points = if of == Of::Inputs { seen(lines) } else { given(lines) };
                    for (row, point) in points.iter().enumerate() {
                        to[(4 * row + column) * tiles + TILES * board + tile] = *point;
                    }
                }
            }
        }
    }
}

/// Bᵀ of four lines.
#[inline(always)]
fn seen<const MAPS: usize>([a, b, c, d]: [&[f32; MAPS]; 4]) -> [[f32; MAPS]; 4] {
    let mut to = [[0.0; MAPS]; 4];
    for map in 0..MAPS {
        to[0][map] = a[map] - c[map];
        to[1][map] = b[map] + c[map];
        to[2][map] = c[map] - b[map];
        to[3][map] = b[map] - d[map];
    }
    to
}

/// A of the two lines in the middle, which are the tile's own.
#[inline(always)]
fn given<const MAPS: usize>([_, a, b, _]: [&[f32; MAPS]; 4]) -> [[f32; MAPS]; 4] {
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
        Conv { from: shape(from), to: shape(to), size: 3, stride: 1, batch }
    }

    /// A change of one weight moves each output by the input that it meets.
    fn by_definition(conv: Conv, x: &[f32], dy: &[f32]) -> Vec<(f64, f64)> {
        let (from, batch) = (conv.from.channels, conv.batch);
        let each = |at: usize| {
            let (output, map, tap) = (at / 9 / from, at / 9 % from, at % 9);
            let (mut sum, mut size) = (0.0, 0.0);
            for board in 0..batch {
                for cell in 0..64 {
                    let (row, column) = (cell / 8 + tap / 3, cell % 8 + tap % 3);
                    if (1..9).contains(&row) && (1..9).contains(&column) {
                        let x = x[(map * batch + board) * 64 + 8 * (row - 1) + column - 1];
                        let part =
                            f64::from(x) * f64::from(dy[(output * batch + board) * 64 + cell]);
                        sum += part;
                        size += part.abs();
                    }
                }
            }
            (sum, size)
        };
        (0..9 * from * conv.to.channels).map(each).collect()
    }

    #[test]
    fn it_is_the_gradient_within_rounding() {
        for (from, to, batch) in [(16, 17, 3), (40, 16, 19)] {
            let (x, _, dy) = layer(from, to, batch);
            let conv = conv(from, to, batch);
            let mut found = vec![0.0; 9 * from * to];
            let mut space = Space::default();
            Winograd::gradient(Kernel::here(), conv, (&x, &dy), &mut found, &mut space);
            for (found, (sum, size)) in found.iter().zip(by_definition(conv, &x, &dy)) {
                let error = (f64::from(*found) - sum).abs();
                assert!(error <= 1e-6 * size, "{from} {to}: {found}, not {sum} of {size}");
            }
        }
    }

    #[test]
    fn vectors_and_threads_change_no_bit() {
        let (from, to, batch) = (39, 29, 18);
        let (x, _, dy) = layer(from, to, batch);
        let run = |kernel: Kernel, threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut found = vec![0.5; 9 * from * to];
            let (conv, mut space) = (conv(from, to, batch), Space::default());
            pool.install(|| {
                Winograd::gradient(kernel, conv, (&x, &dy), &mut found, &mut space);
            });
            found
        };
        let expected = run(Kernel::Plain, 1);
        for kernel in Kernel::all() {
            assert_eq!(run(kernel, 3), expected, "{kernel:?}");
        }
    }
}
