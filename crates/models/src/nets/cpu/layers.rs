//! The two layers with weights: convolutions, as products with the fields written out side by side,
//! and matrices.

use super::winograd::Winograd;
use crate::nets::gemm::{Left, Matrix, Right, add_filled, add_product, pack_columns};
use crate::nets::tile::Kernel;
use crate::nets::{Node, Op, Shape, Space};
use rayon::prelude::*;

/// So many positions' fields are written out at a time.
const CHUNK: usize = 32;

/// The form of a convolution of a batch.
#[derive(Clone, Copy)]
pub(super) struct Conv {
    pub(super) from: Shape,
    pub(super) to: Shape,
    pub(super) size: usize,
    pub(super) stride: usize,
    pub(super) batch: usize,
}

impl Conv {
    pub(super) fn of(node: &Node, from: Shape, batch: usize) -> Option<Conv> {
        match node.op {
            Op::Conv { size, stride, .. } => {
                Some(Conv { from, to: node.shape, size, stride, batch })
            }
            _ => None,
        }
    }

    /// The numbers that each output is summed over.
    fn inner(self) -> usize {
        self.from.channels * self.size * self.size
    }

    /// For each cell of a map and each cell of its field, where that cell is; none beyond the edge.
    fn fields(self) -> Vec<Option<usize>> {
        let (reach, side) = (self.size / 2, self.from.side);
        let mut fields = Vec::with_capacity(self.size * self.size * self.to.cells());
        for tap in 0..self.size * self.size {
            for cell in 0..self.to.cells() {
                let row = cell / self.to.side * self.stride + tap / self.size;
                let column = cell % self.to.side * self.stride + tap % self.size;
                let inside = |at: usize| (reach..side + reach).contains(&at);
                fields.push(
                    (inside(row) && inside(column)).then(|| (row - reach) * side + column - reach),
                );
            }
        }
        fields
    }

    /// The fields of `count` positions from `first` on: a row for each map and cell of the field.
    fn unfold(
        self,
        x: &[f32],
        fields: &[Option<usize>],
        (first, count): (usize, usize),
        space: &mut Space,
    ) -> Vec<f32> {
        let (cells, taps) = (self.to.cells(), self.size * self.size);
        let mut columns = space.any(self.inner() * count * cells);
        columns.par_chunks_mut(count * cells).enumerate().for_each(|(row, to)| {
            let (channel, tap) = (row / taps, row % taps);
            let field = &fields[tap * cells..(tap + 1) * cells];
            let map = &x[channel * self.batch * self.from.cells()..];
            for (position, to) in to.chunks_exact_mut(cells).enumerate() {
                let at = (first + position) * self.from.cells();
                let board = &map[at..at + self.from.cells()];
                for (to, from) in to.iter_mut().zip(field) {
                    *to = from.map_or(0.0, |from| board[from]);
                }
            }
        });
        columns
    }

    fn chunks(self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.batch).step_by(CHUNK).map(move |first| (first, CHUNK.min(self.batch - first)))
    }

    /// The weights as the product wants them.
    pub(super) fn pack(self, weight: &[f32], space: &mut Space) -> Left {
        Left::pack(Matrix::rows(weight, self.inner()), self.to.channels, self.inner(), space)
    }

    /// Adds the convolution to `y`.
    pub(super) fn forward(self, x: &[f32], weight: &Left, y: &mut [f32], space: &mut Space) {
        let cells = self.to.cells();
        let stride = self.batch * cells;
        if (self.size, self.stride, self.from.side) == (3, 1, 8) {
            let fill = |first: usize, inner: usize, columns: usize, packed: &mut [f32]| {
                board_fields(&x[first / 64 * 64..], stride, (first % 64, inner), columns, packed);
            };
            add_filled(weight, stride, fill, (y, stride), space);
            return;
        }
        let fields = self.fields();
        for (first, count) in self.chunks() {
            let columns = self.unfold(x, &fields, (first, count), space);
            let width = count * cells;
            let fill = |first: usize, inner: usize, wide: usize, packed: &mut [f32]| {
                pack_columns(Matrix::rows(&columns, width), first, width, inner, wide, packed);
            };
            add_filled(weight, width, fill, (&mut y[first * cells..], stride), space);
            space.release(columns);
        }
    }

    /// Adds what the outputs' gradient `dy` means for the weights and for the inputs.
    pub(super) fn backward(
        self,
        (x, dy): (&[f32], &[f32]),
        weight: &[f32],
        dweight: &mut [f32],
        mut dx: Option<&mut [f32]>,
        space: &mut Space,
    ) {
        if Winograd::pays(self) {
            let kernel = Kernel::here();
            Winograd::gradient(kernel, self, (x, dy), dweight, space);
            if let Some(dx) = dx {
                let back = Winograd::pack_back(kernel, weight, self.from.channels, space);
                back.forward(dy, dx, self.batch, space);
                back.done(space);
            }
            return;
        }
        let (cells, inner) = (self.to.cells(), self.inner());
        let (stride, fields) = (self.batch * cells, self.fields());
        for (first, count) in self.chunks() {
            let columns = self.unfold(x, &fields, (first, count), space);
            let width = count * cells;
            let dy = Matrix { data: &dy[first * cells..], row: stride, column: 1 };
            let turned = Matrix::rows(&columns, width).transposed();
            let size = (self.to.channels, inner, width);
            add_product(size, (dy, turned), (dweight, inner), space);
            space.release(columns);
            if let Some(dx) = dx.as_deref_mut() {
                let mut dcolumns = space.noughts(inner * width);
                let weight = Matrix::rows(weight, inner).transposed();
                let size = (inner, width, self.to.channels);
                add_product(size, (weight, dy), (&mut dcolumns, width), space);
                self.fold(&dcolumns, &fields, first, count, dx);
                space.release(dcolumns);
            }
        }
    }

    /// Adds what was written out by [`Conv::unfold`] back to where it came from.
    fn fold(
        self,
        columns: &[f32],
        fields: &[Option<usize>],
        first: usize,
        count: usize,
        dx: &mut [f32],
    ) {
        let (cells, taps) = (self.to.cells(), self.size * self.size);
        let map = self.batch * self.from.cells();
        dx.par_chunks_mut(map).enumerate().for_each(|(channel, dx)| {
            for tap in 0..taps {
                let row = (channel * taps + tap) * count * cells;
                let field = &fields[tap * cells..(tap + 1) * cells];
                for position in 0..count {
                    let board = &mut dx[(first + position) * self.from.cells()..];
                    let from = &columns[row + position * cells..];
                    for (&value, to) in from.iter().zip(field) {
                        if let Some(to) = to {
                            board[*to] += value;
                        }
                    }
                }
            }
        });
    }
}

/// Writes fields of 3x3 cells of 8x8 boards where a product wants them: `columns` cells, whole rows of
/// the board, from `cell` on, and cells of the fields from `inner` on. Maps lie `map` apart in `x`.
fn board_fields(
    x: &[f32],
    map: usize,
    (cell, inner): (usize, usize),
    columns: usize,
    packed: &mut [f32],
) {
    for (at, to) in packed.chunks_exact_mut(columns).enumerate() {
        let (channel, tap) = ((inner + at) / 9, (inner + at) % 9);
        let board = x[channel * map..channel * map + 64].as_chunks::<8>().0;
        for (row, to) in to.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let from = (cell / 8 + row + tap / 3).wrapping_sub(1);
            *to = match board.get(from) {
                None => [0.0; 8],
                Some(&[a, b, c, d, e, f, g, h]) => match tap % 3 {
                    0 => [0.0, a, b, c, d, e, f, g],
                    1 => [a, b, c, d, e, f, g, h],
                    _ => [b, c, d, e, f, g, h, 0.0],
                },
            };
        }
    }
}

/// A matrix's weights as the product wants them.
pub(super) fn pack_linear(weight: &[f32], inner: usize, space: &mut Space) -> Right {
    let outputs = weight.len() / inner.max(1);
    Right::pack(Matrix::rows(weight, inner).transposed(), inner, outputs, space)
}

/// The numbers of a position from one on, as many as lie together: those of a map.
fn cells_of(x: &[f32], shape: Shape, (position, batch): (usize, usize), number: usize) -> &[f32] {
    let (map, cell) = (number / shape.cells(), number % shape.cells());
    let at = (map * batch + position) * shape.cells();
    &x[at + cell..at + shape.cells()]
}

/// Adds a matrix's outputs for these positions of a batch to `y`.
pub(super) fn linear(
    (x, from): (&[f32], Shape),
    weight: &Right,
    y: &mut [f32],
    (positions, batch): (&[usize], usize),
    space: &mut Space,
) {
    let outputs = y.len() / batch.max(1);
    let run = |row: usize, inner: usize| cells_of(x, from, (positions[row], batch), inner);
    let left = Left::fill(positions.len(), from.len(), run, space);
    // Position by position, and back to output by output.
    let places = || positions.iter().flat_map(|at| (0..outputs).map(move |o| o * batch + at));
    let mut turned: Vec<f32> = places().map(|place| y[place]).collect();
    weight.add_product(&left, &mut turned, outputs);
    left.done(space);
    for (place, value) in places().zip(turned) {
        y[place] = value;
    }
}

/// Adds what the outputs' gradient `dy` means for the matrix and for the inputs.
pub(super) fn linear_backward(
    (x, dy, from): (&[f32], &[f32], Shape),
    weight: &[f32],
    dweight: &mut [f32],
    dx: Option<&mut [f32]>,
    batch: usize,
    space: &mut Space,
) {
    let (outputs, inner) = (dy.len() / batch.max(1), from.len());
    let dy = Matrix::rows(dy, batch);
    let left = Left::pack(dy, outputs, batch, space);
    let fill = |first: usize, position: usize, columns: usize, packed: &mut [f32]| {
        for (row, to) in packed.chunks_exact_mut(columns).enumerate() {
            let count = columns.min(inner - first);
            let mut at = 0;
            while at < count {
                let run = cells_of(x, from, (position + row, batch), first + at);
                let run = &run[..run.len().min(count - at)];
                to[at..at + run.len()].copy_from_slice(run);
                at += run.len();
            }
        }
    };
    add_filled(&left, inner, fill, (dweight, inner), space);
    left.done(space);
    let Some(dx) = dx else { return };
    // Position by position, and back to map by map.
    let mut turned = space.noughts(inner * batch);
    let factors = (dy.transposed(), Matrix::rows(weight, inner));
    add_product((batch, inner, outputs), factors, (&mut turned, inner), space);
    let cells = from.cells();
    dx.par_chunks_mut(batch * cells).enumerate().for_each(|(map, dx)| {
        for (position, dx) in dx.chunks_exact_mut(cells).enumerate() {
            let from = &turned[position * inner + map * cells..];
            dx.iter_mut().zip(from).for_each(|(dx, from)| *dx += from);
        }
    });
    space.release(turned);
}
