//! Backpropagation.
//!
//! Layers after the first are processed position by position. The first layer has most of the
//! weights, but few squares change between consecutive positions. Its errors are therefore added to
//! a running sum over the positions. The row of a square is updated only when its disc changes, by
//! the part of the running sum that was added while the disc was there. With weight sharing the
//! gradient of a weight is the sum over its symmetric units.

use super::inference::{Inference, add_row, dot, subtract_row};
use super::weight_layout::{LANES, WeightLayout};
use outflank_games::othello::{Board, Squares};

/// The accumulated weight updates.
#[derive(Clone, Debug)]
pub(super) struct Gradient {
    /// Updates of the layers after the first, in the layout of the weights; the part of the first
    /// layer is unused.
    pub weights: Vec<f32>,
    /// For each square, the errors of the first layer summed over positions with an own disc there.
    pub own: Vec<f32>,
    /// The same for positions with an opponent's disc on the square.
    pub other: Vec<f32>,
    /// Errors of the first layer summed over all positions.
    pub total: Vec<f32>,
    /// Errors of the first layer in one position.
    pub errors: Vec<f32>,
    /// Buffers for the errors of two consecutive later layers.
    later_errors: [Vec<f32>; 2],
    /// Running sum of `errors`.
    pub running: Vec<f32>,
}

impl Gradient {
    pub fn new(layout: &WeightLayout) -> Gradient {
        let widest = layout.layers.iter().map(|layer| layer.inputs).max().unwrap_or(LANES);
        let units = vec![0.0; layout.width];
        Gradient {
            weights: vec![0.0; layout.length],
            own: vec![0.0; 64 * layout.width],
            other: vec![0.0; 64 * layout.width],
            total: units.clone(),
            errors: units.clone(),
            later_errors: [vec![0.0; widest], vec![0.0; widest]],
            running: units,
        }
    }

    /// Sets all updates to zero.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.weights.fill(0.0);
        self.own.fill(0.0);
        self.other.fill(0.0);
        self.total.fill(0.0);
    }

    /// Adds the running sum to the rows of removed discs and subtracts it from those of new ones.
    #[inline(always)]
    pub fn flush_changes(&mut self, width: usize, from: Board, to: Board) {
        let Gradient { own, other, running, .. } = self;
        for (table, from, to) in [(own, from.own, to.own), (other, from.other, to.other)] {
            for square in Squares(from & !to) {
                add_row(&mut table[square.index() * width..][..width], running);
            }
            for square in Squares(to & !from) {
                subtract_row(&mut table[square.index() * width..][..width], running);
            }
        }
    }

    /// Backpropagates `error`, the error of the output before tanh, for one position. Stores the
    /// errors of the first layer in `errors`.
    #[inline(always)]
    pub fn backward(&mut self, inference: &Inference, activations: &[f32], error: f32) {
        let layout = &*inference.layout;
        let Some((last, hidden)) = layout.layers.split_last() else {
            self.errors.fill(0.0);
            self.errors[0] = error;
            return;
        };
        let [mut next, mut here] = self.later_errors.each_mut().map(Vec::as_mut_slice);
        // The inputs of the last layer are at the end of the activations.
        let mut end = activations.len();
        let units = &activations[end - last.inputs..end];
        scale_add(&mut self.weights[last.weights..][..last.inputs], units, error);
        self.weights[last.biases] += error;
        let weights = &inference.weights[last.weights..][..last.inputs];
        for ((next, weight), unit) in next.iter_mut().zip(weights).zip(units) {
            *next = weight * error * if hidden.is_empty() { 1.0 } else { 1.0 - unit * unit };
        }
        for (number, layer) in hidden.iter().enumerate().rev() {
            end -= layer.outputs;
            let inputs = &activations[end - layer.inputs..end];
            let errors = &next[..layer.outputs];
            let reads_sums = number == 0;
            let size = layer.inputs * layer.outputs;
            let rows = inference.weights[layer.weights..][..size].chunks_exact(layer.outputs);
            let gradients = self.weights[layer.weights..][..size].chunks_exact_mut(layer.outputs);
            for (((here, row), gradient), &input) in
                here.iter_mut().zip(rows).zip(gradients).zip(inputs)
            {
                scale_add(gradient, errors, input);
                // The sums over symmetries have no activation function.
                let derivative = if reads_sums { 1.0 } else { 1.0 - input * input };
                *here = dot(row, errors) * derivative;
            }
            add_row(&mut self.weights[layer.biases..][..layer.outputs], errors);
            (next, here) = (here, next);
        }
        let (units, errors) = (&activations[..layout.width], &mut self.errors);
        for (errors, units) in
            errors.chunks_exact_mut(layout.row).zip(units.chunks_exact(layout.row))
        {
            for ((error, unit), sum) in errors.iter_mut().zip(units).zip(next.iter()) {
                *error = sum * (1.0 - unit * unit);
            }
        }
    }

    /// Updates the weights of the first layer, `N` units at a time. Converts the errors per disc,
    /// summed over the symmetries, to gradients of the inputs' weights.
    #[inline(always)]
    pub fn update_first_layer<const N: usize>(&self, inference: &mut Inference) {
        let Inference { layout, weights, .. } = inference;
        let (row, inputs) = (layout.row, layout.architecture.inputs_per_square());
        let chunks = row / N;
        let [own, other, total] =
            [&self.own, &self.other, &self.total].map(|table| table.as_chunks::<N>().0);
        for chunk in 0..chunks {
            let all = sum(total, layout.symmetries, |symmetry| symmetry * chunks + chunk);
            for square in 0..64 {
                let at = |symmetry: usize| {
                    let target = usize::from(layout.target_square[symmetry][square]);
                    (target * layout.symmetries + symmetry) * chunks + chunk
                };
                let own = sum(own, layout.symmetries, at);
                let other = sum(other, layout.symmetries, at);
                for input in 0..inputs {
                    let start = (square * inputs + input) * row + chunk * N;
                    let weights = &mut weights[start..start + N];
                    let connected = &layout.connected;
                    for lane in 0..N {
                        // An input is 1 if the square has its state and -1 otherwise.
                        let step = match (inputs, input) {
                            (1, _) => own[lane] - other[lane],
                            (_, 0) => 2.0 * own[lane] - all[lane],
                            (_, 1) => 2.0 * other[lane] - all[lane],
                            _ => all[lane] - 2.0 * (own[lane] + other[lane]),
                        };
                        // Missing connections are not updated.
                        if connected.is_empty() || connected[square * row + chunk * N + lane] {
                            weights[lane] += step;
                        }
                    }
                }
            }
            let start = layout.first_biases() + chunk * N;
            for (bias, step) in weights[start..start + N].iter_mut().zip(all) {
                *bias += step;
            }
        }
    }
}

/// Adds `factor` times a row.
#[inline(always)]
fn scale_add(to: &mut [f32], row: &[f32], factor: f32) {
    for (to, row) in to.as_chunks_mut::<LANES>().0.iter_mut().zip(row.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            to[lane] += factor * row[lane];
        }
    }
}

/// Sums the chunks of all symmetries.
#[inline(always)]
fn sum<const N: usize>(
    table: &[[f32; N]],
    symmetries: usize,
    at: impl Fn(usize) -> usize,
) -> [f32; N] {
    let mut sum = table[at(0)];
    for symmetry in 1..symmetries {
        let chunk = &table[at(symmetry)];
        for lane in 0..N {
            sum[lane] += chunk[lane];
        }
    }
    sum
}
