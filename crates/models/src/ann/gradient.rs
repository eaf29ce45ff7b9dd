//! The gradient of a network's prediction, by back-propagation.
//!
//! Layers behind the first are done position by position. The first layer has most of the weights,
//! but from one position to the next few squares change. So the errors of its nodes are added up over
//! the positions, and a square's row takes in the sum when its disc changes: what was added since it
//! last changed belongs to the disc that lay there. Where weights are shared, a weight's gradient is
//! the sum over its images.

use super::core::{Core, add_row, dot, take_row};
use super::plan::{LANES, Plan};
use outflank_games::othello::{Board, Squares};

/// What the weights are to be moved by.
#[derive(Clone, Debug)]
pub(super) struct Gradient {
    /// Layers behind the first, as the weights lie; the first layer's part is not used.
    pub weights: Vec<f32>,
    /// The errors of the first layer's nodes, summed over positions: for each square those in which
    /// it held an own disc, or the opponent's, and over all positions.
    pub own: Vec<f32>,
    pub other: Vec<f32>,
    pub total: Vec<f32>,
    /// Room for the errors of one position, and for their running sum.
    pub errors: Vec<f32>,
    behind: [Vec<f32>; 2],
    pub running: Vec<f32>,
}

impl Gradient {
    pub fn new(plan: &Plan) -> Gradient {
        let widest = plan.layers.iter().map(|layer| layer.inputs).max().unwrap_or(LANES);
        let nodes = vec![0.0; plan.width];
        Gradient {
            weights: vec![0.0; plan.length],
            own: vec![0.0; 64 * plan.width],
            other: vec![0.0; 64 * plan.width],
            total: nodes.clone(),
            errors: nodes.clone(),
            behind: [vec![0.0; widest], vec![0.0; widest]],
            running: nodes,
        }
    }

    /// Forgets everything.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.weights.fill(0.0);
        self.own.fill(0.0);
        self.other.fill(0.0);
        self.total.fill(0.0);
    }

    /// Gives the running sum to the discs that leave their squares, and notes it for those that
    /// come.
    #[inline(always)]
    pub fn hand_in(&mut self, width: usize, from: Board, to: Board) {
        let Gradient { own, other, running, .. } = self;
        for (table, from, to) in [(own, from.own, to.own), (other, from.other, to.other)] {
            for square in Squares(from & !to) {
                add_row(&mut table[square.index() * width..][..width], running);
            }
            for square in Squares(to & !from) {
                take_row(&mut table[square.index() * width..][..width], running);
            }
        }
    }

    /// Back-propagation of one position: `error` is what its z is to be moved by. Leaves the errors
    /// of the first layer's nodes.
    #[inline(always)]
    pub fn back(&mut self, core: &Core, room: &[f32], error: f32) {
        let plan = &*core.plan;
        let Some((last, hidden)) = plan.layers.split_last() else {
            self.errors.fill(0.0);
            self.errors[0] = error;
            return;
        };
        let [mut next, mut here] = self.behind.each_mut().map(Vec::as_mut_slice);
        // The nodes before the last layer lie at the end of the room.
        let mut end = room.len();
        let nodes = &room[end - last.inputs..end];
        scale_add(&mut self.weights[last.weights..][..last.inputs], nodes, error);
        self.weights[last.biases] += error;
        let weights = &core.weights[last.weights..][..last.inputs];
        for ((next, weight), node) in next.iter_mut().zip(weights).zip(nodes) {
            *next = weight * error * if hidden.is_empty() { 1.0 } else { 1.0 - node * node };
        }
        for (number, layer) in hidden.iter().enumerate().rev() {
            end -= layer.outputs;
            let inputs = &room[end - layer.inputs..end];
            let errors = &next[..layer.outputs];
            let behind_sums = number == 0;
            let size = layer.inputs * layer.outputs;
            let rows = core.weights[layer.weights..][..size].chunks_exact(layer.outputs);
            let slopes = self.weights[layer.weights..][..size].chunks_exact_mut(layer.outputs);
            for (((here, row), slope), &input) in here.iter_mut().zip(rows).zip(slopes).zip(inputs)
            {
                scale_add(slope, errors, input);
                // The first layer's sums over images have no tangent of their own.
                let bend = if behind_sums { 1.0 } else { 1.0 - input * input };
                *here = dot(row, errors) * bend;
            }
            add_row(&mut self.weights[layer.biases..][..layer.outputs], errors);
            (next, here) = (here, next);
        }
        let (nodes, errors) = (&room[..plan.width], &mut self.errors);
        for (errors, nodes) in errors.chunks_exact_mut(plan.row).zip(nodes.chunks_exact(plan.row)) {
            for ((error, node), sum) in errors.iter_mut().zip(nodes).zip(next.iter()) {
                *error = sum * (1.0 - node * node);
            }
        }
    }

    /// Moves the weights of the first layer, `N` nodes at a time: the errors of a square by what lay
    /// on it, summed over images, become those of its inputs.
    #[inline(always)]
    pub fn step_first<const N: usize>(&self, core: &mut Core) {
        let Core { plan, weights, .. } = core;
        let (row, inputs) = (plan.row, plan.architecture.per_square());
        let chunks = row / N;
        let [own, other, total] =
            [&self.own, &self.other, &self.total].map(|table| table.as_chunks::<N>().0);
        for place in 0..chunks {
            let all = sum(total, plan.images, |image| image * chunks + place);
            for square in 0..64 {
                let at = |image: usize| {
                    let shown = usize::from(plan.shown[image][square]);
                    (shown * plan.images + image) * chunks + place
                };
                let own = sum(own, plan.images, at);
                let other = sum(other, plan.images, at);
                for input in 0..inputs {
                    let start = (square * inputs + input) * row + place * N;
                    let weights = &mut weights[start..start + N];
                    let connected = &plan.connected;
                    for lane in 0..N {
                        // An input is 1 where its kind of square holds and -1 elsewhere.
                        let step = match (inputs, input) {
                            (1, _) => own[lane] - other[lane],
                            (_, 0) => 2.0 * own[lane] - all[lane],
                            (_, 1) => 2.0 * other[lane] - all[lane],
                            _ => all[lane] - 2.0 * (own[lane] + other[lane]),
                        };
                        // What is not connected learns nothing.
                        if connected.is_empty() || connected[square * row + place * N + lane] {
                            weights[lane] += step;
                        }
                    }
                }
            }
            let start = plan.first_biases() + place * N;
            for (bias, step) in weights[start..start + N].iter_mut().zip(all) {
                *bias += step;
            }
        }
    }
}

/// Adds a multiple of a row.
#[inline(always)]
fn scale_add(to: &mut [f32], row: &[f32], factor: f32) {
    for (to, row) in to.as_chunks_mut::<LANES>().0.iter_mut().zip(row.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            to[lane] += factor * row[lane];
        }
    }
}

/// The sum of the chunks that belong together, one for each image.
#[inline(always)]
fn sum<const N: usize>(
    table: &[[f32; N]],
    images: usize,
    place: impl Fn(usize) -> usize,
) -> [f32; N] {
    let mut sum = table[place(0)];
    for image in 1..images {
        let chunk = &table[place(image)];
        for lane in 0..N {
            sum[lane] += chunk[lane];
        }
    }
    sum
}
