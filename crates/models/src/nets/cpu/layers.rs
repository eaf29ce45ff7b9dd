//! Layers with weights: convolutions by im2col and matrix multiplication, and linear layers.

use super::winograd::Winograd;
use crate::nets::gemm::{
    Matrix, PackedLeft, PackedRight, add_product, add_product_with, pack_columns,
};
use crate::nets::gemm_kernel::GemmKernel;
use crate::nets::{BufferPool, Node, Op, Shape};
use rayon::prelude::*;

/// Number of positions that im2col expands at a time.
const CHUNK: usize = 32;

/// The dimensions of a convolution of a batch.
#[derive(Clone, Copy)]
pub(super) struct Conv {
    pub(super) input: Shape,
    pub(super) output: Shape,
    /// Kernel size.
    pub(super) size: usize,
    pub(super) stride: usize,
    pub(super) batch: usize,
}

impl Conv {
    /// Returns the dimensions if the node is a convolution.
    pub(super) fn from_node(node: &Node, input: Shape, batch: usize) -> Option<Conv> {
        match node.op {
            Op::Conv { size, stride, .. } => {
                Some(Conv { input, output: node.shape, size, stride, batch })
            }
            _ => None,
        }
    }

    /// Returns the number of products per output.
    fn inner(self) -> usize {
        self.input.channels * self.size * self.size
    }

    /// Returns the source cell of each kernel tap and output cell; `None` in the padding.
    fn source_cells(self) -> Vec<Option<usize>> {
        let (reach, side) = (self.size / 2, self.input.side);
        let mut cells = Vec::with_capacity(self.size * self.size * self.output.cells());
        for tap in 0..self.size * self.size {
            for cell in 0..self.output.cells() {
                let row = cell / self.output.side * self.stride + tap / self.size;
                let column = cell % self.output.side * self.stride + tap % self.size;
                let inside = |at: usize| (reach..side + reach).contains(&at);
                cells.push(
                    (inside(row) && inside(column)).then(|| (row - reach) * side + column - reach),
                );
            }
        }
        cells
    }

    /// Expands `count` positions from `first` on: one row per channel and kernel tap.
    fn im2col(
        self,
        x: &[f32],
        sources: &[Option<usize>],
        (first, count): (usize, usize),
        pool: &mut BufferPool,
    ) -> Vec<f32> {
        let (cells, taps) = (self.output.cells(), self.size * self.size);
        let mut columns = pool.take(self.inner() * count * cells);
        columns.par_chunks_mut(count * cells).enumerate().for_each(|(row, to)| {
            let (channel, tap) = (row / taps, row % taps);
            let sources = &sources[tap * cells..(tap + 1) * cells];
            let map = &x[channel * self.batch * self.input.cells()..];
            for (position, to) in to.chunks_exact_mut(cells).enumerate() {
                let at = (first + position) * self.input.cells();
                let board = &map[at..at + self.input.cells()];
                for (to, from) in to.iter_mut().zip(sources) {
                    *to = from.map_or(0.0, |from| board[from]);
                }
            }
        });
        columns
    }

    fn chunks(self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.batch).step_by(CHUNK).map(move |first| (first, CHUNK.min(self.batch - first)))
    }

    /// Packs the weights.
    pub(super) fn pack(self, weight: &[f32], pool: &mut BufferPool) -> PackedLeft {
        PackedLeft::pack(
            Matrix::rows(weight, self.inner()),
            self.output.channels,
            self.inner(),
            pool,
        )
    }

    /// Adds the convolution to `y`.
    pub(super) fn forward(
        self,
        x: &[f32],
        weight: &PackedLeft,
        y: &mut [f32],
        pool: &mut BufferPool,
    ) {
        let cells = self.output.cells();
        let stride = self.batch * cells;
        if (self.size, self.stride, self.input.side) == (3, 1, 8) {
            let fill_panel = |first: usize, inner: usize, columns: usize, packed: &mut [f32]| {
                board_im2col(&x[first / 64 * 64..], stride, (first % 64, inner), columns, packed);
            };
            add_product_with(weight, stride, fill_panel, (y, stride), pool);
            return;
        }
        let sources = self.source_cells();
        for (first, count) in self.chunks() {
            let columns = self.im2col(x, &sources, (first, count), pool);
            let width = count * cells;
            let fill_panel = |first: usize, inner: usize, wide: usize, packed: &mut [f32]| {
                pack_columns(Matrix::rows(&columns, width), first, width, inner, wide, packed);
            };
            add_product_with(weight, width, fill_panel, (&mut y[first * cells..], stride), pool);
            pool.release(columns);
        }
    }

    /// Adds the gradients of the weights and of the inputs, given the gradient `dy` of the outputs.
    pub(super) fn backward(
        self,
        (x, dy): (&[f32], &[f32]),
        weight: &[f32],
        dweight: &mut [f32],
        mut dx: Option<&mut [f32]>,
        pool: &mut BufferPool,
    ) {
        if Winograd::is_faster(self) {
            let kernel = GemmKernel::detect();
            Winograd::gradient(kernel, self, (x, dy), dweight, pool);
            if let Some(dx) = dx {
                let transposed =
                    Winograd::pack_transposed(kernel, weight, self.input.channels, pool);
                transposed.forward(dy, dx, self.batch, pool);
                transposed.release(pool);
            }
            return;
        }
        let (cells, inner) = (self.output.cells(), self.inner());
        let (stride, sources) = (self.batch * cells, self.source_cells());
        for (first, count) in self.chunks() {
            let columns = self.im2col(x, &sources, (first, count), pool);
            let width = count * cells;
            let dy = Matrix { data: &dy[first * cells..], row_stride: stride, column_stride: 1 };
            let columns_t = Matrix::rows(&columns, width).transposed();
            let size = (self.output.channels, inner, width);
            add_product(size, (dy, columns_t), (dweight, inner), pool);
            pool.release(columns);
            if let Some(dx) = dx.as_deref_mut() {
                let mut dcolumns = pool.take_zeroed(inner * width);
                let weight = Matrix::rows(weight, inner).transposed();
                let size = (inner, width, self.output.channels);
                add_product(size, (weight, dy), (&mut dcolumns, width), pool);
                self.col2im(&dcolumns, &sources, first, count, dx);
                pool.release(dcolumns);
            }
        }
    }

    /// Adds expanded columns back to their source cells; the adjoint of [`Conv::im2col`].
    fn col2im(
        self,
        columns: &[f32],
        sources: &[Option<usize>],
        first: usize,
        count: usize,
        dx: &mut [f32],
    ) {
        let (cells, taps) = (self.output.cells(), self.size * self.size);
        let map = self.batch * self.input.cells();
        dx.par_chunks_mut(map).enumerate().for_each(|(channel, dx)| {
            for tap in 0..taps {
                let row = (channel * taps + tap) * count * cells;
                let sources = &sources[tap * cells..(tap + 1) * cells];
                for position in 0..count {
                    let board = &mut dx[(first + position) * self.input.cells()..];
                    let from = &columns[row + position * cells..];
                    for (&value, to) in from.iter().zip(sources) {
                        if let Some(to) = to {
                            board[*to] += value;
                        }
                    }
                }
            }
        });
    }
}

/// Expands 8x8 boards for 3x3 convolutions directly into a packed panel: `columns` cells (whole
/// rows of the board) from `cell` on, and kernel taps from `inner` on. `map` is the distance of
/// channels in `x`.
fn board_im2col(
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

/// Packs the weights of a linear layer.
pub(super) fn pack_linear(weight: &[f32], inner: usize, pool: &mut BufferPool) -> PackedRight {
    let outputs = weight.len() / inner.max(1);
    PackedRight::pack(Matrix::rows(weight, inner).transposed(), inner, outputs, pool)
}

/// Returns the elements of a position from index `number` to the end of that feature map, which are
/// contiguous.
fn elements_from(
    x: &[f32],
    shape: Shape,
    (position, batch): (usize, usize),
    number: usize,
) -> &[f32] {
    let (map, cell) = (number / shape.cells(), number % shape.cells());
    let at = (map * batch + position) * shape.cells();
    &x[at + cell..at + shape.cells()]
}

/// Adds the outputs of a linear layer for some positions of a batch to `y`.
pub(super) fn linear(
    (x, from): (&[f32], Shape),
    weight: &PackedRight,
    y: &mut [f32],
    (positions, batch): (&[usize], usize),
    pool: &mut BufferPool,
) {
    let outputs = y.len() / batch.max(1);
    let elements =
        |row: usize, inner: usize| elements_from(x, from, (positions[row], batch), inner);
    let left = PackedLeft::pack_with(positions.len(), from.len(), elements, pool);
    // Transpose to position-major order and back.
    let indices = || positions.iter().flat_map(|at| (0..outputs).map(move |o| o * batch + at));
    let mut by_position: Vec<f32> = indices().map(|index| y[index]).collect();
    weight.add_product(&left, &mut by_position, outputs);
    left.release(pool);
    for (index, value) in indices().zip(by_position) {
        y[index] = value;
    }
}

/// Adds the gradients of the weights and of the inputs of a linear layer, given the gradient `dy`
/// of the outputs.
pub(super) fn linear_backward(
    (x, dy, from): (&[f32], &[f32], Shape),
    weight: &[f32],
    dweight: &mut [f32],
    dx: Option<&mut [f32]>,
    batch: usize,
    pool: &mut BufferPool,
) {
    let (outputs, inner) = (dy.len() / batch.max(1), from.len());
    let dy = Matrix::rows(dy, batch);
    let left = PackedLeft::pack(dy, outputs, batch, pool);
    let fill_panel = |first: usize, position: usize, columns: usize, packed: &mut [f32]| {
        for (row, to) in packed.chunks_exact_mut(columns).enumerate() {
            let count = columns.min(inner - first);
            let mut at = 0;
            while at < count {
                let elements = elements_from(x, from, (position + row, batch), first + at);
                let elements = &elements[..elements.len().min(count - at)];
                to[at..at + elements.len()].copy_from_slice(elements);
                at += elements.len();
            }
        }
    };
    add_product_with(&left, inner, fill_panel, (dweight, inner), pool);
    left.release(pool);
    let Some(dx) = dx else { return };
    // Position-major order, then back to channel-major order.
    let mut by_position = pool.take_zeroed(inner * batch);
    let factors = (dy.transposed(), Matrix::rows(weight, inner));
    add_product((batch, inner, outputs), factors, (&mut by_position, inner), pool);
    let cells = from.cells();
    dx.par_chunks_mut(batch * cells).enumerate().for_each(|(map, dx)| {
        for (position, dx) in dx.chunks_exact_mut(cells).enumerate() {
            let from = &by_position[position * inner + map * cells..];
            dx.iter_mut().zip(from).for_each(|(dx, from)| *dx += from);
        }
    });
    pool.release(by_position);
}
