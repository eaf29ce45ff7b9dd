//! Convolutions of 3x3 fields on 8x8 boards with fewer multiplications (Winograd, 1980; Lavin and
//! Gray, 2016).
//!
//! A board has sixteen tiles of 2x2 outputs, each of which sees 4x4 inputs. With
//! Y = Aᵀ[(G g Gᵀ) ⊙ (Bᵀ d B)]A a tile takes 16 multiplications for each pair of maps where the
//! definition takes 36. Summed over maps, each of the 16 places ("points") of the product in brackets
//! is a product of matrices: weights times the points of all tiles.
//!
//! Tiles of 4x4 outputs would take little more than half of these, but four times the weights of the
//! definition would be read, which for a single position takes longer than multiplying with them; and
//! an answer must not depend on how many positions are asked about together.
//!
//! Each sum has one order, whatever the vectors, the threads and the batch: Bᵀ d B along the rows of a
//! board and then down its columns, Aᵀ M A the other way round, and products as everywhere in the
//! order of the inner index.

mod gradient;

use super::layers::Conv;
use crate::nets::Space;
use crate::nets::tile::{Kernel, Work, whole_tile};
use rayon::prelude::*;

/// The tiles of a board.
const TILES: usize = 16;

/// The points of a tile.
const POINTS: usize = 16;

/// So many boards are transformed at a time: at 256 maps their points have a megabyte, which stays in
/// the cache while all weights pass by.
const BOARDS: usize = 4;

/// The numbers of a line of the cache.
const LINE: usize = 16;

/// Layers with fewer maps than this on either side are left to the definition: the transforms would
/// weigh too much beside the products.
const MAPS: usize = 16;

/// The products of a panel of weights and a panel of points, at the start of a line of the cache.
#[repr(align(64))]
struct Sums([f32; POINTS * Kernel::LARGEST]);

/// The weights of a convolution, transformed.
#[derive(Clone, Debug)]
pub(super) struct Winograd {
    kernel: Kernel,
    from: usize,
    /// For each few outputs and each point, a panel as products want it.
    panels: Vec<f32>,
}

impl Winograd {
    /// Whether this is the way to do a convolution.
    pub(super) fn pays(conv: Conv) -> bool {
        (conv.size, conv.stride, conv.from.side) == (3, 1, 8)
            && conv.from.channels.min(conv.to.channels) >= MAPS
    }

    /// Transforms weights that lie output by output, map by map, row by row.
    pub(super) fn pack(kernel: Kernel, weight: &[f32], from: usize, space: &mut Space) -> Winograd {
        let fields = weight.as_chunks::<9>().0;
        let field = |output: usize, map: usize| fields[output * from + map];
        Winograd::fill(kernel, (fields.len() / from, from), field, space)
    }

    /// Transforms the same weights for the way back: a convolution of the outputs' gradient, with fields
    /// turned about and maps before and after exchanged, is the gradient at the inputs.
    pub(super) fn pack_back(
        kernel: Kernel,
        weight: &[f32],
        from: usize,
        space: &mut Space,
    ) -> Winograd {
        let fields = weight.as_chunks::<9>().0;
        let field = |output: usize, map: usize| {
            let mut field = fields[map * from + output];
            field.reverse();
            field
        };
        Winograd::fill(kernel, (from, fields.len() / from), field, space)
    }

    fn fill(
        kernel: Kernel,
        (outputs, from): (usize, usize),
        field: impl Fn(usize, usize) -> [f32; 9] + Sync,
        space: &mut Space,
    ) -> Winograd {
        let rows = kernel.rows();
        let size = POINTS * from * rows;
        let mut panels = space.any(outputs.div_ceil(rows) * size);
        panels.par_chunks_mut(size).enumerate().for_each(|(panel, to)| {
            let count = rows.min(outputs - panel * rows);
            if count < rows {
                to.fill(0.0);
            }
            for row in 0..count {
                for map in 0..from {
                    let points = field_points(&field(panel * rows + row, map));
                    for (point, value) in points.into_iter().enumerate() {
                        to[(point * from + map) * rows + row] = value;
                    }
                }
            }
        });
        Winograd { kernel, from, panels }
    }

    /// Gives its room back.
    pub(super) fn done(self, space: &mut Space) {
        space.release(self.panels);
    }

    /// Adds the convolution of a batch of boards to `y`.
    pub(super) fn forward(&self, x: &[f32], y: &mut [f32], batch: usize, space: &mut Space) {
        let mut room = space.any(BOARDS.min(batch) * POINTS * TILES * self.from + LINE);
        // Vectors that begin on lines of the cache are read in half the time.
        let start = room.as_ptr().align_offset(size_of::<f32>() * LINE).min(LINE);
        let points = &mut room[start..];
        for first in (0..batch).step_by(BOARDS) {
            let count = BOARDS.min(batch - first);
            let points = &mut points[..count * POINTS * TILES * self.from];
            self.boards(x, (first, batch), points);
            self.outputs(points, (first, batch), y);
        }
        space.release(room);
    }

    /// The numbers of a panel of points: as many boards as a product's columns hold.
    fn panel(&self) -> usize {
        self.kernel.columns() * POINTS * self.from
    }

    /// The points of some boards: for each few boards and each point, a row for each map.
    fn boards(&self, x: &[f32], (first, batch): (usize, usize), points: &mut [f32]) {
        let boards = self.kernel.columns() / TILES;
        points.par_chunks_mut(self.panel()).enumerate().for_each(|(panel, points)| {
            let columns = points.len() / (POINTS * self.from);
            let at = 64 * (first + panel * boards);
            let x = x.get(at..).unwrap_or_default();
            self.kernel.lend(Spread { x, apart: 64 * batch, points, columns });
        });
    }

    /// Adds the outputs of some boards, from their points, to `y`.
    fn outputs(&self, points: &[f32], (first, batch): (usize, usize), y: &mut [f32]) {
        let rows = self.kernel.rows();
        let boards = self.kernel.columns() / TILES;
        let weights = self.panels.par_chunks(POINTS * self.from * rows);
        y.par_chunks_mut(rows * 64 * batch).zip(weights).for_each(|(y, weights)| {
            let outputs = y.len() / (64 * batch);
            let mut sums = Sums([0.0; POINTS * Kernel::LARGEST]);
            for (panel, points) in points.chunks(self.panel()).enumerate() {
                let columns = points.len() / (POINTS * self.from);
                let sums = &mut sums.0[..POINTS * rows * columns];
                sums.fill(0.0);
                let each = weights.chunks_exact(self.from * rows);
                let each = each.zip(points.chunks_exact(self.from * columns));
                for ((weights, points), sums) in each.zip(sums.chunks_exact_mut(rows * columns)) {
                    whole_tile(self.kernel, weights, points, sums, (outputs, columns));
                }
                let y = &mut y[64 * (first + panel * boards)..];
                self.kernel.lend(Gather { sums, rows, columns, y, apart: 64 * batch });
            }
        });
    }
}

/// G g Gᵀ of a field, rounded once.
fn field_points(field: &[f32; 9]) -> [f32; POINTS] {
    let line = |[a, b, c]: [f64; 3]| [a, (a + b + c) / 2.0, (a - b + c) / 2.0, c];
    let at = |tap: usize| f64::from(field[tap]);
    let rows = [0, 1, 2].map(|column| line([at(column), at(3 + column), at(6 + column)]));
    let points = [0, 1, 2, 3].map(|row| line(rows.map(|column| column[row])));
    std::array::from_fn(|point| points[point / 4][point % 4] as f32)
}

/// Writes the points of a panel's boards; their maps in `x` begin `apart`.
struct Spread<'a> {
    x: &'a [f32],
    apart: usize,
    points: &'a mut [f32],
    columns: usize,
}

impl Work for Spread<'_> {
    #[inline(always)]
    fn run(self) {
        let Spread { x, apart, points, columns } = self;
        let maps = points.len() / (POINTS * columns);
        for (map, x) in x.chunks(apart).take(maps).enumerate() {
            for (board, x) in x.as_chunks::<64>().0.iter().take(columns / TILES).enumerate() {
                board_points(x, &mut points[map * columns + board * TILES..], columns * maps);
            }
        }
    }
}

/// Adds the outputs of a panel's boards; their maps in `y` begin `apart`.
struct Gather<'a> {
    sums: &'a [f32],
    rows: usize,
    columns: usize,
    y: &'a mut [f32],
    apart: usize,
}

impl Work for Gather<'_> {
    #[inline(always)]
    fn run(self) {
        let Gather { sums, rows, columns, y, apart } = self;
        for (row, y) in y.chunks_mut(apart).take(rows).enumerate() {
            let boards = y.as_chunks_mut::<64>().0.iter_mut().take(columns / TILES);
            for (board, y) in boards.enumerate() {
                add_board(&sums[row * columns + board * TILES..], rows * columns, y);
            }
        }
    }
}

/// Bᵀ d B of every tile: a row of sixteen tiles for each point, the rows `apart`.
#[inline(always)]
fn board_points(board: &[f32; 64], to: &mut [f32], apart: usize) {
    // What is beyond the edge is nought. Of each row of the board: every other cell from -1, 0, 1, 2.
    let mut lines = [[[0.0f32; 4]; 10]; 4];
    for (row, &[a, b, c, d, e, f, g, h]) in board.as_chunks::<8>().0.iter().enumerate() {
        let seen = [[0.0, b, d, f], [a, c, e, g], [b, d, f, h], [c, e, g, 0.0]];
        for tile in 0..4 {
            lines[0][row + 1][tile] = seen[0][tile] - seen[2][tile];
            lines[1][row + 1][tile] = seen[1][tile] + seen[2][tile];
            lines[2][row + 1][tile] = seen[2][tile] - seen[1][tile];
            lines[3][row + 1][tile] = seen[1][tile] - seen[3][tile];
        }
    }
    for (column, lines) in lines.iter().enumerate() {
        let mut points = [[[0.0f32; 4]; 4]; 4];
        for row in 0..4 {
            for tile in 0..4 {
                let seen = |line: usize| lines[2 * row + line][tile];
                points[0][row][tile] = seen(0) - seen(2);
                points[1][row][tile] = seen(1) + seen(2);
                points[2][row][tile] = seen(2) - seen(1);
                points[3][row][tile] = seen(1) - seen(3);
            }
        }
        for (point, tiles) in points.iter().enumerate() {
            let at = (4 * point + column) * apart;
            to[at..at + TILES].copy_from_slice(tiles.as_flattened());
        }
    }
}

/// Adds Aᵀ M A of every tile to a board; the points' rows of sixteen tiles are `apart`.
#[inline(always)]
fn add_board(points: &[f32], apart: usize, board: &mut [f32; 64]) {
    let mut lines = [[[0.0f32; TILES]; 4]; 2];
    for column in 0..4 {
        let of = |point: usize| points[(4 * point + column) * apart..].first_chunk::<TILES>();
        let (Some(a), Some(b), Some(c), Some(d)) = (of(0), of(1), of(2), of(3)) else { return };
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

    /// Inputs and weights of a layer, its maps before and after, and offsets.
    pub(super) fn layer(from: usize, to: usize, batch: usize) -> (Vec<f32>, Vec<f32>, Vec<f32>) {
        let mut rng = stream(3, &["winograd", &from.to_string(), &to.to_string()]);
        let mut draw = |count: usize| (0..count).map(|_| rng.normal() as f32).collect::<Vec<_>>();
        (draw(from * batch * 64), draw(to * from * 9), draw(to * batch * 64))
    }

    /// The sum over a cell's field, in double precision.
    fn by_definition(x: &[f64; 64], field: &[f32; 9], cell: usize) -> f64 {
        let tap = |tap: usize| {
            let (row, column) = (cell / 8 + tap / 3, cell % 8 + tap % 3);
            let inside = (1..9).contains(&row) && (1..9).contains(&column);
            if inside { f64::from(field[tap]) * x[8 * (row - 1) + column - 1] } else { 0.0 }
        };
        (0..9).map(tap).sum()
    }

    /// What the outputs of a board are when every number and every coefficient counts by its size:
    /// the measure of what rounding can do.
    fn sizes(x: &[f64; 64], field: &[f32; 9]) -> [f64; 64] {
        let weights = field_points(field).map(|value| f64::from(value.abs()));
        std::array::from_fn(|cell| {
            let (row, column) = (cell / 8, cell % 8);
            let at = |r: usize, c: usize| {
                // The cell in this row and column of the window that the tile of this cell sees.
                let (r, c) = (row / 2 * 2 + r, column / 2 * 2 + c);
                let inside = (1..9).contains(&r) && (1..9).contains(&c);
                if inside { x[8 * (r - 1) + c - 1].abs() } else { 0.0 }
            };
            const SEEN: [[usize; 2]; 4] = [[0, 2], [1, 2], [1, 2], [1, 3]];
            let reads = |odd: usize| if odd == 0 { [0, 1, 2] } else { [1, 2, 3] };
            let mut sum = 0.0;
            for r in reads(row % 2) {
                for c in reads(column % 2) {
                    let seen = SEEN[r].iter().flat_map(|&a| SEEN[c].iter().map(move |&b| (a, b)));
                    sum += weights[4 * r + c] * seen.map(|(a, b)| at(a, b)).sum::<f64>();
                }
            }
            sum
        })
    }

    /// Against the definition. Rounding: once for a weight, twice for a point of a board, once for
    /// each map that is summed, four times for an output of a tile and once for its offset.
    #[test]
    fn it_is_the_convolution_within_rounding() {
        for (from, to, batch) in [(16, 17, 3), (64, 12, 2), (200, 5, 1)] {
            let (x, weight, offsets) = layer(from, to, batch);
            let mut y = offsets.clone();
            let mut space = Space::default();
            let packed = Winograd::pack(Kernel::here(), &weight, from, &mut space);
            packed.forward(&x, &mut y, batch, &mut space);
            let unit = f64::from(f32::EPSILON) / 2.0;
            let roundings = (1 + 2 + from + 4 + 1) as f64 * unit;
            let most = roundings / (1.0 - roundings);
            for (at, (y, offset)) in y.chunks(64).zip(offsets.chunks(64)).enumerate() {
                let (output, board) = (at / batch, at % batch);
                let (mut sums, mut bounds) = ([0.0; 64], [0.0; 64]);
                for map in 0..from {
                    let start = (map * batch + board) * 64;
                    let x: [f64; 64] = std::array::from_fn(|cell| f64::from(x[start + cell]));
                    let field = weight[(output * from + map) * 9..].first_chunk().unwrap();
                    let sizes = sizes(&x, field);
                    for cell in 0..64 {
                        sums[cell] += by_definition(&x, field, cell);
                        bounds[cell] += sizes[cell];
                    }
                }
                for cell in 0..64 {
                    let expected = sums[cell] + f64::from(offset[cell]);
                    let bound = most * (bounds[cell] + f64::from(offset[cell].abs()));
                    let error = (f64::from(y[cell]) - expected).abs();
                    assert!(error <= bound, "{from} {to} {cell}: {error} > {bound}");
                }
            }
        }
    }

    #[test]
    fn vectors_threads_and_company_change_no_bit() {
        let (from, to, batch) = (23, 29, 7);
        let (x, weight, offsets) = layer(from, to, batch);
        let run = |kernel: Kernel, threads: usize| {
            let mut y = offsets.clone();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut space = Space::default();
                let packed = Winograd::pack(kernel, &weight, from, &mut space);
                packed.forward(&x, &mut y, batch, &mut space);
            });
            y
        };
        let expected = run(Kernel::Plain, 1);
        for kernel in Kernel::all() {
            assert_eq!(run(kernel, 3), expected, "{kernel:?}");
            let mut space = Space::default();
            let packed = Winograd::pack(kernel, &weight, from, &mut space);
            for board in 0..batch {
                let of = |numbers: &[f32]| -> Vec<f32> {
                    let boards = numbers.chunks(64).skip(board).step_by(batch);
                    boards.flatten().copied().collect()
                };
                let mut alone = of(&offsets);
                space.release(vec![7.0; POINTS * TILES * from + LINE]);
                packed.forward(&of(&x), &mut alone, 1, &mut space);
                assert_eq!(alone, of(&expected), "{kernel:?} {board}");
            }
        }
    }
}
