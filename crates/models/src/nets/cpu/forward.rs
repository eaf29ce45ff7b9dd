//! The forward pass of a batch.

use super::index_maps::{is_in_stage, pooled_index, selected_slices, shortcut_cells};
use super::layers::{Conv, linear, pack_linear};
use super::winograd::Winograd;
use crate::nets::fold_batch_norm::affine;
use crate::nets::gemm::{PackedLeft, PackedRight};
use crate::nets::gemm_kernel::GemmKernel;
use crate::nets::{BufferPool, EPSILON, NET_STAGES, NetGraph, Node, Op, Role, Shape, Weights};
use outflank_runs::RngExt;
use outflank_runs::rng::stream;
use rayon::prelude::*;

/// The mode of a forward pass.
pub(super) enum Mode<'a> {
    /// Inference: batch normalization uses the running statistics, and only the output of the last
    /// node is kept. Contains the packed weights of each node.
    Inference(&'a [PackedWeights]),
    /// Training: batch normalization uses the statistics of the batch, and dropout draws from the
    /// RNG stream of this seed and step.
    Training { seed: u64, step: u64 },
}

/// The weights of a node, packed for matrix multiplication.
#[derive(Clone, Debug)]
pub(super) enum PackedWeights {
    None,
    Conv(PackedLeft),
    Winograd(Winograd),
    Linear(PackedRight),
    /// One matrix per stage; each position uses that of its stage.
    Stages(Vec<PackedRight>),
}

impl PackedWeights {
    /// Packs the weights of a node.
    pub(super) fn pack(
        net: &NetGraph,
        weights: &Weights,
        index: usize,
        pool: &mut BufferPool,
    ) -> PackedWeights {
        let node = &net.nodes()[index];
        let Some(weight) = net.params_of(index).next().map(|at| weights.param(at)) else {
            return PackedWeights::None;
        };
        let input_shape = node.inputs.first().map_or(node.shape, |&input| net.nodes()[input].shape);
        match (node.op, Conv::from_node(node, input_shape, 1)) {
            (_, Some(conv)) if Winograd::is_faster(conv) => PackedWeights::Winograd(
                Winograd::pack(GemmKernel::detect(), weight, input_shape.channels, pool),
            ),
            (_, Some(conv)) => PackedWeights::Conv(conv.pack(weight, pool)),
            (Op::Linear { .. }, None) if feeds_only_stage_selection(net, index) => {
                let slices = weight.chunks(weight.len() / NET_STAGES);
                PackedWeights::Stages(
                    slices.map(|slice| pack_linear(slice, input_shape.len(), pool)).collect(),
                )
            }
            (Op::Linear { .. }, None) => {
                PackedWeights::Linear(pack_linear(weight, input_shape.len(), pool))
            }
            _ => PackedWeights::None,
        }
    }

    /// Returns its buffers to the pool.
    fn release(self, pool: &mut BufferPool) {
        match self {
            PackedWeights::None => {}
            PackedWeights::Conv(left) => left.release(pool),
            PackedWeights::Winograd(winograd) => winograd.release(pool),
            PackedWeights::Linear(right) => right.release(pool),
            PackedWeights::Stages(slices) => {
                slices.into_iter().for_each(|slice| slice.release(pool));
            }
        }
    }
}

/// Returns whether all consumers of a node select the slice of a stage.
fn feeds_only_stage_selection(net: &NetGraph, index: usize) -> bool {
    let mut consumers = net.nodes().iter().filter(|node| node.inputs.contains(&index)).peekable();
    consumers.peek().is_some() && consumers.all(|node| node.op == Op::SelectStage)
}

/// The results of a forward pass.
pub(super) struct ForwardPass {
    /// The output of each node; empty if no longer needed.
    pub(super) outputs: Vec<Vec<f32>>,
    /// Data saved for the backward pass: means and variances of batch normalization, dropout masks.
    pub(super) saved: Vec<Vec<f32>>,
}

/// Chunk size of elementwise operations per thread.
const CHUNK: usize = 1 << 13;

/// Applies `f` to corresponding elements on all threads.
pub(super) fn par_zip(to: &mut [f32], from: &[f32], f: impl Fn(&mut f32, f32) + Sync) {
    to.par_chunks_mut(CHUNK).zip(from.par_chunks(CHUNK)).for_each(|(to, from)| {
        to.iter_mut().zip(from).for_each(|(to, &from)| f(to, from));
    });
}

/// Runs the forward pass of a batch.
pub(super) fn forward(
    net: &NetGraph,
    weights: &Weights,
    words: &[u64],
    mode: &Mode<'_>,
    pool: &mut BufferPool,
) -> ForwardPass {
    let planes = net.input().planes();
    let batch = words.len() / planes;
    let nodes = net.nodes();
    let mut last_consumer = vec![nodes.len(); nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        node.inputs.iter().for_each(|&input| last_consumer[input] = index);
    }
    // Whether the output of a node is not needed after this node.
    let is_last_use = |input: usize, index: usize| {
        matches!(mode, Mode::Inference(_)) && last_consumer[input] == index
    };
    let mut pass = ForwardPass {
        outputs: Vec::with_capacity(nodes.len()),
        saved: vec![Vec::new(); nodes.len()],
    };
    for (index, node) in nodes.iter().enumerate() {
        let output = match node.op {
            Op::Input => decode_planes(words, planes, pool),
            Op::Relu if is_last_use(node.inputs[0], index) => {
                let mut output = std::mem::take(&mut pass.outputs[node.inputs[0]]);
                output.iter_mut().for_each(|x| *x = relu(*x));
                output
            }
            _ => node_output(net, weights, (index, node), &mut pass, batch, mode, pool),
        };
        pass.outputs.push(output);
        for &input in node.inputs.iter().filter(|&&input| is_last_use(input, index)) {
            pool.release(std::mem::take(&mut pass.outputs[input]));
        }
    }
    pass
}

/// Expands the input planes of a batch to floats.
fn decode_planes(words: &[u64], planes: usize, pool: &mut BufferPool) -> Vec<f32> {
    let mut values = pool.take(words.len() * 64);
    let ordered = (0..planes).flat_map(|plane| words.iter().skip(plane).step_by(planes));
    for (board, word) in values.chunks_exact_mut(64).zip(ordered) {
        for (square, value) in board.iter_mut().enumerate() {
            *value = (word >> square & 1) as f32;
        }
    }
    values
}

/// Computes the output of a node.
fn node_output(
    net: &NetGraph,
    weights: &Weights,
    (index, node): (usize, &Node),
    pass: &mut ForwardPass,
    batch: usize,
    mode: &Mode<'_>,
    pool: &mut BufferPool,
) -> Vec<f32> {
    let input_shape = net.nodes()[node.inputs[0]].shape;
    let cells = node.shape.cells();
    let param = |role: Role| {
        let found = net.params_of(index).find(|&param| net.params()[param].role == role);
        found.map_or(&[][..], |at| weights.param(at))
    };
    let x = &pass.outputs[node.inputs[0]];
    let mut y = pool.take(node.shape.len() * batch);
    match node.op {
        Op::Input => {}
        Op::Conv { .. } | Op::Linear { .. } => {
            fill_biases(&mut y, param(Role::Bias), batch * cells);
            match mode {
                Mode::Inference(packed) => {
                    add_layer_output(
                        (node, input_shape),
                        &packed[index],
                        (x, &pass.outputs[0]),
                        &mut y,
                        batch,
                        pool,
                    );
                }
                Mode::Training { .. } => {
                    let packed = PackedWeights::pack(net, weights, index, pool);
                    add_layer_output(
                        (node, input_shape),
                        &packed,
                        (x, &pass.outputs[0]),
                        &mut y,
                        batch,
                        pool,
                    );
                    packed.release(pool);
                }
            }
        }
        Op::BatchNorm => {
            let (a, b) = match mode {
                Mode::Inference(_) => affine(net, weights, index),
                Mode::Training { .. } => {
                    let statistics = mean_and_variance(x, node.shape.channels, pool);
                    let parameters = (param(Role::Scale), param(Role::Shift));
                    let affine = batch_affine(parameters, &statistics);
                    pass.saved[index] = statistics;
                    affine
                }
            };
            apply_affine(&mut y, x, (&a, &b), batch * cells);
        }
        Op::Relu => par_zip(&mut y, x, |y, x| *y = relu(x)),
        Op::Dropout { rate } => match mode {
            Mode::Inference(_) => y.copy_from_slice(x),
            Mode::Training { seed, step } => {
                let mut mask = pool.take(x.len());
                fill_dropout_mask(&mut mask, rate, (*seed, *step, index));
                y.iter_mut().zip(x).zip(&mask).for_each(|((y, x), mask)| *y = x * mask);
                pass.saved[index] = mask;
            }
        },
        Op::Add => {
            y.copy_from_slice(x);
            par_zip(&mut y, &pass.outputs[node.inputs[1]], |y, x| *y += x);
        }
        Op::Concat => {
            let mut rest = &mut y[..];
            for &input in &node.inputs {
                let (block, following) = rest.split_at_mut(pass.outputs[input].len());
                block.copy_from_slice(&pass.outputs[input]);
                rest = following;
            }
        }
        Op::Shortcut { stride } => {
            y.fill(0.0);
            for (to, from) in shortcut_cells(input_shape.side, node.shape.side, stride, x.len()) {
                y[to] = x[from];
            }
        }
        Op::AvgPool => {
            y.fill(0.0);
            for (at, x) in x.iter().enumerate() {
                y[pooled_index(at, input_shape.side)] += 0.25 * x;
            }
        }
        Op::GlobalAvgPool => {
            let factor = 1.0 / input_shape.cells() as f32;
            for (y, map) in y.iter_mut().zip(x.chunks(input_shape.cells())) {
                *y = map.iter().sum::<f32>() * factor;
            }
        }
        Op::ScaleAndShift => {
            let z = &pass.outputs[node.inputs[1]];
            let maps = node.shape.channels * batch;
            for (at, (y, x)) in y.chunks_mut(cells).zip(x.chunks(cells)).enumerate() {
                let (gate, shift) = (sigmoid(z[at]), z[maps + at]);
                y.iter_mut().zip(x).for_each(|(y, x)| *y = gate.mul_add(*x, shift));
            }
        }
        Op::SelectStage => {
            y.fill(0.0);
            for (to, from) in selected_slices(&pass.outputs[node.inputs[1]], x.len(), batch) {
                y[to] += x[from];
            }
        }
    }
    y
}

/// Fills each channel, of `map` elements, with its bias, or with zeros if there are no biases.
fn fill_biases(y: &mut [f32], biases: &[f32], map: usize) {
    if biases.is_empty() {
        return y.fill(0.0);
    }
    y.chunks_mut(map.max(1)).zip(biases).for_each(|(map, &bias)| map.fill(bias));
}

/// Computes y = a x + b for each channel, of `map` elements.
fn apply_affine(y: &mut [f32], x: &[f32], (a, b): (&[f32], &[f32]), map: usize) {
    let maps = y.par_chunks_mut(map).zip(x.par_chunks(map)).zip(a).zip(b);
    maps.for_each(|(((y, x), a), b)| {
        y.iter_mut().zip(x).for_each(|(y, x)| *y = a.mul_add(*x, *b));
    });
}

/// Adds the outputs of a convolution or linear layer to `y`.
fn add_layer_output(
    (node, input_shape): (&Node, Shape),
    packed: &PackedWeights,
    (x, planes): (&[f32], &[f32]),
    y: &mut [f32],
    batch: usize,
    pool: &mut BufferPool,
) {
    match (packed, Conv::from_node(node, input_shape, batch)) {
        (PackedWeights::Conv(weight), Some(conv)) => conv.forward(x, weight, y, pool),
        (PackedWeights::Winograd(weight), Some(_)) => weight.forward(x, y, batch, pool),
        (PackedWeights::Linear(weight), None) => {
            let all: Vec<usize> = (0..batch).collect();
            linear((x, input_shape), weight, y, (&all, batch), pool);
        }
        (PackedWeights::Stages(slices), None) => {
            let each = slices.iter().zip(y.chunks_mut(node.shape.len() / NET_STAGES * batch));
            for (stage, (weight, y)) in each.enumerate() {
                let in_stage = |&at: &usize| is_in_stage(planes, stage, (at, batch));
                let positions: Vec<usize> = (0..batch).filter(in_stage).collect();
                if !positions.is_empty() {
                    linear((x, input_shape), weight, y, (&positions, batch), pool);
                }
            }
        }
        _ => {}
    }
}

/// Computes the factors and summands of batch normalization from the statistics of the batch.
fn batch_affine((scales, shifts): (&[f32], &[f32]), statistics: &[f32]) -> (Vec<f32>, Vec<f32>) {
    let (means, variances) = statistics.split_at(scales.len());
    let a: Vec<f32> = scales
        .iter()
        .zip(variances)
        .map(|(scale, variance)| scale / (variance + EPSILON).sqrt())
        .collect();
    let summands = a.iter().zip(shifts).zip(means);
    let b = summands.map(|((a, shift), mean)| shift - a * mean).collect();
    (a, b)
}

/// Draws a dropout mask from the RNG stream of a seed, step and node. Retained elements are scaled
/// up.
fn fill_dropout_mask(mask: &mut [f32], rate: f32, (seed, step, node): (u64, u64, usize)) {
    let name = [step.to_string(), node.to_string()];
    let mut rng = stream(seed, &["net", "dropout", &name[0], &name[1]]);
    let scale = 1.0 / (1.0 - rate);
    for mask in mask {
        *mask = if rng.chance(f64::from(rate)) { 0.0 } else { scale };
    }
}

/// Computes the mean of each channel, then the variance of each channel, over all positions and
/// cells.
fn mean_and_variance(x: &[f32], channels: usize, pool: &mut BufferPool) -> Vec<f32> {
    let per_map = x.len() / channels.max(1);
    let mut statistics = pool.take(2 * channels);
    let (means, variances) = statistics.split_at_mut(channels);
    let maps = means.par_iter_mut().zip(variances).zip(x.par_chunks(per_map.max(1)));
    maps.for_each(|((to_mean, to_variance), map)| {
        let n = map.len() as f64;
        let mean = sum_pairs(map, map, |x, _| f64::from(x)) / n;
        let square = sum_pairs(map, map, |x, _| (f64::from(x) - mean) * (f64::from(x) - mean));
        *to_mean = mean as f32;
        *to_variance = (square / n) as f32;
    });
    statistics
}

/// Sums `f` over pairs of elements in a fixed order. Eight partial sums hide the latency of the
/// additions.
pub(super) fn sum_pairs(a: &[f32], b: &[f32], f: impl Fn(f32, f32) -> f64) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for ((sum, &a), &b) in sums.iter_mut().zip(a).zip(b) {
            *sum += f(a, b);
        }
    }
    let rest = a_rest.iter().zip(b_rest).map(|(&a, &b)| f(a, b));
    sums.into_iter().chain(rest).sum()
}

/// ReLU. NaN is propagated.
fn relu(x: f32) -> f32 {
    if x < 0.0 { 0.0 } else { x }
}

/// The logistic function, bit-identical on every machine.
pub(super) fn sigmoid(z: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-z))
}
