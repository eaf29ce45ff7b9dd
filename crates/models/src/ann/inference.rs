//! Inference: incremental computation of the first layer, and the layers after it.
//!
//! A square is empty or has an own disc or an opponent's disc, and contributes one of three sums to
//! a unit of the first layer. (The inputs follow Binkley, Seehart & Hagiwara (2007), section 3.2: a
//! single input is 0, 1 or -1; each of two or three inputs is 1 if the square has its state and -1
//! otherwise.) The pre-activation of a unit is therefore that of the empty board plus one number
//! per disc. These numbers are stored in tables with one row of all units per square, and a move
//! adds a few rows. With weight sharing, the second layer has one weight for the eight symmetric
//! units of a set, so it reads their sum.
//!
//! Sums are in single precision, in a fixed order, without fused multiply-add. The code paths for
//! AVX2 and for the baseline are bit-identical.

use super::architecture::Architecture;
use super::tanh::{tanh, tanh_all};
use super::weight_layout::{LANES, Layer, WeightLayout};
use outflank_games::othello::{Board, Square, Squares, Symmetry};
use std::sync::Arc;

/// The weights of a network and the derived tables of the first layer.
#[derive(Clone, Debug)]
pub(super) struct Inference {
    pub layout: Arc<WeightLayout>,
    /// All weights, in the order of [`WeightLayout`].
    pub weights: Vec<f32>,
    /// Pre-activations of the first layer on the empty board, bias included.
    base: Vec<f32>,
    /// For each square the contribution of an own disc.
    own: Vec<f32>,
    /// For each square the contribution of an opponent's disc.
    other: Vec<f32>,
    /// For each square the contribution of flipping an opponent's disc.
    flip: Vec<f32>,
}

impl Inference {
    pub fn new(architecture: &Architecture, weights: &[f32]) -> Inference {
        let layout = WeightLayout::new(architecture);
        let rows = vec![0.0; 64 * layout.width];
        let weights = layout.pad(weights);
        let base = vec![0.0; layout.width];
        let mut inference = Inference {
            layout: Arc::new(layout),
            weights,
            base,
            own: rows.clone(),
            other: rows.clone(),
            flip: rows,
        };
        inference.rebuild_tables();
        inference
    }

    /// Recomputes the tables from the weights.
    #[inline(always)]
    pub fn rebuild_tables(&mut self) {
        if self.layout.row.is_multiple_of(LANES) {
            self.rebuild_tables_by::<LANES>();
        } else {
            self.rebuild_tables_by::<{ LANES / 2 }>();
        }
    }

    /// Recomputes the tables, `N` units at a time.
    #[inline(always)]
    fn rebuild_tables_by<const N: usize>(&mut self) {
        let layout = &*self.layout;
        let (row, width) = (layout.row, layout.width);
        let inputs = layout.architecture.inputs_per_square();
        let biases = &self.weights[layout.first_biases()..][..row];
        for base in self.base.chunks_exact_mut(row) {
            base.copy_from_slice(biases);
        }
        for square in 0..64 {
            for (symmetry, source) in layout.source_square.iter().enumerate() {
                let from = usize::from(source[square]) * inputs * row;
                let weights = &self.weights[from..][..inputs * row];
                let of_input = |input: usize| weights[input * row..][..row].as_chunks::<N>().0;
                let to = square * width + symmetry * row;
                let own = self.own[to..][..row].as_chunks_mut::<N>().0;
                let other = self.other[to..][..row].as_chunks_mut::<N>().0;
                let flip = self.flip[to..][..row].as_chunks_mut::<N>().0;
                let base = self.base[symmetry * row..][..row].as_chunks_mut::<N>().0;
                for (chunk, a) in of_input(0).iter().enumerate() {
                    let (own, other) = (&mut own[chunk], &mut other[chunk]);
                    // The weights of the inputs for an own disc (a), an opponent's disc (b) and an
                    // empty square (c). Missing inputs have weight zero. A single input is 0 for an
                    // empty square and -1 for an opponent's disc.
                    let zero = [0.0; N];
                    let b = if inputs > 1 { &of_input(1)[chunk] } else { &zero };
                    let c = if inputs > 2 { &of_input(2)[chunk] } else { &zero };
                    let base = &mut base[chunk];
                    for lane in 0..N {
                        (own[lane], other[lane]) = if inputs == 1 {
                            (a[lane], -a[lane])
                        } else {
                            base[lane] += c[lane] - (a[lane] + b[lane]);
                            (2.0 * (a[lane] - c[lane]), 2.0 * (b[lane] - c[lane]))
                        };
                        flip[chunk][lane] = own[lane] - other[lane];
                    }
                }
            }
        }
    }

    /// Returns the contribution of flipping an opponent's disc on `square` to a unit.
    pub fn flip_effect(&self, square: usize, unit: usize) -> f32 {
        self.flip[square * self.layout.width + unit]
    }

    /// Returns the board in the orientation that the network reads: the canonical one with symmetry
    /// removal.
    #[inline(always)]
    pub fn canonical(&self, board: Board) -> Board {
        if self.layout.architecture.removes_symmetry() {
            canonical(board, self.layout.architecture.inputs_per_square() == 1)
        } else {
            board
        }
    }

    /// Computes the pre-activations of the first layer.
    #[inline(always)]
    pub fn accumulate(&self, board: Board, sums: &mut [f32]) {
        sums.copy_from_slice(&self.base);
        self.add(&self.own, board.own, sums);
        self.add(&self.other, board.other, sums);
    }

    /// Updates the pre-activations of the first layer from one board to another.
    #[inline(always)]
    pub fn update(&self, from: Board, to: Board, sums: &mut [f32]) {
        self.add(&self.flip, from.other & to.own, sums);
        self.subtract(&self.flip, from.own & to.other, sums);
        self.add(&self.own, from.empty() & to.own, sums);
        self.add(&self.other, from.empty() & to.other, sums);
        self.subtract(&self.own, from.own & to.empty(), sums);
        self.subtract(&self.other, from.other & to.empty(), sums);
    }

    #[inline(always)]
    fn add(&self, table: &[f32], squares: u64, sums: &mut [f32]) {
        for square in Squares(squares) {
            add_row(sums, self.row(table, square));
        }
    }

    #[inline(always)]
    fn subtract(&self, table: &[f32], squares: u64, sums: &mut [f32]) {
        for square in Squares(squares) {
            subtract_row(sums, self.row(table, square));
        }
    }

    #[inline(always)]
    fn row<'a>(&self, table: &'a [f32], square: Square) -> &'a [f32] {
        &table[square.index() * self.layout.width..][..self.layout.width]
    }

    /// Returns the value after a move, given the pre-activations of the first layer before the
    /// move. Stores the activations of all layers in `activations`.
    #[inline(always)]
    pub fn value_after(
        &self,
        sums: &[f32],
        square: Square,
        flips: u64,
        activations: &mut [f32],
    ) -> f32 {
        // Wide chunks stay in registers while rows are added.
        if self.layout.width.is_multiple_of(4 * LANES) {
            self.first_layer_after::<{ 4 * LANES }>(sums, square, flips, activations);
        } else {
            self.first_layer_after::<LANES>(sums, square, flips, activations);
        }
        self.later_layers(activations)
    }

    #[inline(always)]
    fn first_layer_after<const N: usize>(
        &self,
        sums: &[f32],
        square: Square,
        flips: u64,
        activations: &mut [f32],
    ) {
        let width = self.layout.width;
        let placed = self.row(&self.own, square).as_chunks::<N>().0;
        let sums = sums[..width].as_chunks::<N>().0;
        let is_linear = self.layout.layers.is_empty();
        for (number, out) in activations[..width].as_chunks_mut::<N>().0.iter_mut().enumerate() {
            let (mut chunk, placed) = (sums[number], &placed[number]);
            for lane in 0..N {
                chunk[lane] += placed[lane];
            }
            for flip in Squares(flips) {
                let flipped = &self.row(&self.flip, flip).as_chunks::<N>().0[number];
                for lane in 0..N {
                    chunk[lane] += flipped[lane];
                }
            }
            if !is_linear {
                for unit in &mut chunk {
                    *unit = tanh(*unit);
                }
            }
            *out = chunk;
        }
    }

    /// Returns the value given the pre-activations of the first layer. Stores the activations of
    /// all layers in `activations`.
    #[inline(always)]
    pub fn forward(&self, sums: &[f32], activations: &mut [f32]) -> f32 {
        activations[..self.layout.width].copy_from_slice(sums);
        self.forward_in_place(activations)
    }

    /// Like [`Inference::forward`], with the pre-activations at the start of `activations`.
    #[inline(always)]
    pub fn forward_in_place(&self, activations: &mut [f32]) -> f32 {
        if !self.layout.layers.is_empty() {
            tanh_all(&mut activations[..self.layout.width]);
        }
        self.later_layers(activations)
    }

    /// Computes the layers after the first, given the activations of the first at the start of
    /// `activations`.
    #[inline(always)]
    fn later_layers(&self, activations: &mut [f32]) -> f32 {
        let layout = &*self.layout;
        let Some((last, hidden)) = layout.layers.split_last() else { return activations[0] };
        let (units, rest) = activations.split_at_mut(layout.width);
        let (mut before, mut rest) = rest.split_at_mut(layout.pooled);
        match (layout.symmetries, layout.row.is_multiple_of(LANES)) {
            (1, _) => before[..layout.row].copy_from_slice(units),
            (_, true) => sum_symmetries::<LANES>(units, before, layout.row),
            (_, false) => sum_symmetries::<{ LANES / 2 }>(units, before, layout.row),
        }
        for layer in hidden {
            let (units, following) = rest.split_at_mut(layer.outputs);
            self.dense(*layer, before, units);
            tanh_all(units);
            (before, rest) = (units, following);
        }
        dot(&self.weights[last.weights..][..last.inputs], before) + self.weights[last.biases]
    }

    #[inline(always)]
    fn dense(&self, layer: Layer, inputs: &[f32], units: &mut [f32]) {
        let weights = &self.weights[layer.weights..][..layer.inputs * layer.outputs];
        let biases = self.weights[layer.biases..][..layer.outputs].as_chunks::<LANES>().0;
        let stride = layer.outputs / LANES;
        let rows = weights.as_chunks::<LANES>().0;
        for (chunk, out) in units.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            // Two independent sums hide the latency of the additions.
            let mut sums = [biases[chunk], [0.0; LANES]];
            for (pair, inputs) in inputs.as_chunks::<2>().0.iter().enumerate() {
                for (half, sum) in sums.iter_mut().enumerate() {
                    let row = &rows[(2 * pair + half) * stride + chunk];
                    for lane in 0..LANES {
                        sum[lane] += row[lane] * inputs[half];
                    }
                }
            }
            for lane in 0..LANES {
                out[lane] = sums[0][lane] + sums[1][lane];
            }
        }
    }
}

/// Sums the eight symmetric rows, `N` lanes at a time.
#[inline(always)]
fn sum_symmetries<const N: usize>(units: &[f32], sums: &mut [f32], row: usize) {
    let chunks = row / N;
    let units = units.as_chunks::<N>().0;
    for (chunk, out) in sums[..row].as_chunks_mut::<N>().0.iter_mut().enumerate() {
        let mut sum = units[chunk];
        for symmetry in 1..8 {
            let other = &units[symmetry * chunks + chunk];
            for lane in 0..N {
                sum[lane] += other[lane];
            }
        }
        *out = sum;
    }
}

/// Returns the dot product of two padded rows, summed in a fixed order.
#[inline(always)]
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; LANES];
    for (a, b) in a.as_chunks::<LANES>().0.iter().zip(b.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))
}

#[inline(always)]
pub(super) fn add_row(to: &mut [f32], row: &[f32]) {
    for (to, row) in to.as_chunks_mut::<LANES>().0.iter_mut().zip(row.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            to[lane] += row[lane];
        }
    }
}

#[inline(always)]
pub(super) fn subtract_row(from: &mut [f32], row: &[f32]) {
    for (from, row) in from.as_chunks_mut::<LANES>().0.iter_mut().zip(row.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            from[lane] -= row[lane];
        }
    }
}

/// Returns the symmetric board whose inputs are lexicographically smallest (section 3.3). With
/// one input per square an opponent's disc is the smallest, otherwise an empty square.
fn canonical(board: Board, single_input: bool) -> Board {
    let mut smallest = board;
    for symmetry in &Symmetry::ALL[1..] {
        let other = board.transform(*symmetry);
        let differ = (other.own ^ smallest.own) | (other.other ^ smallest.other);
        let square = differ & differ.wrapping_neg();
        let rank = |board: Board| match (board.own & square != 0, board.other & square != 0) {
            (true, _) => 2,
            (_, true) => u8::from(!single_input),
            _ => u8::from(single_input),
        };
        if rank(other) < rank(smallest) {
            smallest = other;
        }
    }
    smallest
}
