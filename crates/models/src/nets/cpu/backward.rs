//! The backward pass of a batch.
//!
//! The loss is the cross-entropy of the softmax, averaged over the batch (Liskowski, Jaśkowski &
//! Krawiec, 2018, section IV-A). Nodes are processed in reverse order; each adds to the gradients
//! of its inputs.

use super::forward::{ForwardPass, Mode, forward, par_zip, sigmoid, sum_pairs};
use super::index_maps::{pooled_index, selected_slices, shortcut_cells};
use super::layers::{Conv, linear_backward};
use crate::nets::{BufferPool, CLASSES, EPSILON, NetGraph, Node, Op, Role, Weights};
use rayon::prelude::*;

/// The gradients of all parameters, in the order of [`NetGraph::params`]. In place of a gradient,
/// running means and variances have the statistics of the batch, from which the caller updates
/// them.
pub type Gradient = Vec<Vec<f32>>;

/// The loss of a batch and its gradient.
#[derive(Clone, Debug)]
pub struct LossGradient {
    /// The mean loss.
    pub loss: f64,
    /// Number of positions whose move has the highest logit (top-1 hits).
    pub hits: usize,
    /// The gradient of the mean loss.
    pub gradient: Gradient,
}

/// Returns a lower bound of the memory that [`forward_backward`] needs for a batch, in bytes: the
/// outputs of all nodes, dropout masks, and the gradients of the largest node and its input.
#[must_use]
pub fn training_memory_bytes(net: &NetGraph, batch: usize) -> u64 {
    let has_mask = |node: &&Node| matches!(node.op, Op::Dropout { .. });
    let size = |node: &Node| node.shape.len() as u64;
    let nodes = net.nodes().iter();
    let outputs: u64 = nodes.clone().map(size).sum();
    let masks: u64 = nodes.clone().filter(has_mask).map(size).sum();
    let gradients = 2 * nodes.map(size).max().unwrap_or(0);
    (outputs + masks + gradients).saturating_mul(4).saturating_mul(batch as u64)
}

/// Computes the loss of a batch and its gradient.
///
/// `words` are the encoded input planes, `targets` the classes of the moves played. Dropout draws
/// from the RNG stream of the seed and step. `smoothing` is the label smoothing. Buffers are taken
/// from `pool` and returned to it, except for the gradient, which the caller should
/// [release](BufferPool::release).
#[must_use]
pub fn forward_backward(
    net: &NetGraph,
    weights: &Weights,
    (words, targets): (&[u64], &[u8]),
    (seed, step): (u64, u64),
    smoothing: f32,
    pool: &mut BufferPool,
) -> LossGradient {
    let batch = targets.len();
    let pass = forward(net, weights, words, &Mode::Training { seed, step }, pool);
    let mut gradient: Gradient =
        net.params().iter().map(|param| pool.take_zeroed(param.len())).collect();
    let mut node_grads: Vec<Vec<f32>> = vec![Vec::new(); net.nodes().len()];
    let last = net.nodes().len() - 1;
    let mut grad = pool.take(pass.outputs[last].len());
    let (loss, hits) = cross_entropy(&pass.outputs[last], targets, smoothing, &mut grad);
    node_grads[last] = grad;
    for index in (1..net.nodes().len()).rev() {
        let grad = std::mem::take(&mut node_grads[index]);
        // A node without consumers does not affect the loss.
        if !grad.is_empty() {
            let nodes = (&mut node_grads[..], &mut gradient);
            backward_node(net, weights, (index, grad), (&pass, batch), nodes, pool);
        }
    }
    let buffers = pass.outputs.into_iter().chain(pass.saved).chain(node_grads);
    buffers.for_each(|buffer| pool.release(buffer));
    LossGradient { loss, hits, gradient }
}

/// Returns the mean loss and the number of hits. Writes the gradient of the logits, class by class.
fn cross_entropy(logits: &[f32], targets: &[u8], smoothing: f32, grad: &mut [f32]) -> (f64, usize) {
    let batch = targets.len();
    let (mut loss, mut hits) = (0.0, 0);
    let uniform = smoothing / CLASSES as f32;
    for (position, &target) in targets.iter().enumerate() {
        let logit = |class: usize| logits[class * batch + position];
        let top = (0..CLASSES).map(logit).fold(f32::MIN, f32::max);
        let powers: [f32; CLASSES] = std::array::from_fn(|class| libm::expf(logit(class) - top));
        let sum: f32 = powers.iter().sum();
        let log_sum = top + libm::logf(sum);
        for (class, power) in powers.iter().enumerate() {
            let label = uniform + if class == usize::from(target) { 1.0 - smoothing } else { 0.0 };
            loss += f64::from(label * (log_sum - logit(class)));
            grad[class * batch + position] = (power / sum - label) / batch as f32;
        }
        hits += usize::from(logit(usize::from(target)) == top);
    }
    (loss / batch as f64, hits)
}

/// Adds the gradients of a node's inputs and parameters.
fn backward_node(
    net: &NetGraph,
    weights: &Weights,
    (index, mut grad): (usize, Vec<f32>),
    (pass, batch): (&ForwardPass, usize),
    (node_grads, gradient): (&mut [Vec<f32>], &mut Gradient),
    pool: &mut BufferPool,
) {
    let node = &net.nodes()[index];
    let input = node.inputs[0];
    let input_shape = net.nodes()[input].shape;
    let cells = node.shape.cells();
    let x = &pass.outputs[input];
    let param = |role: Role| net.params_of(index).find(|&param| net.params()[param].role == role);
    if let Some(bias) = param(Role::Bias) {
        let maps = gradient[bias].par_iter_mut().zip(grad.par_chunks(batch * cells));
        maps.for_each(|(sum, map)| *sum = sum_pairs(map, map, |x, _| f64::from(x)) as f32);
    }
    // The gradient of the input planes is not needed.
    if let Some(&second) = node.inputs.get(1).filter(|&&second| second > 0) {
        let z = &pass.outputs[second];
        let mut dz = take_or_zero(&mut node_grads[second], z.len(), pool);
        second_input_gradient(node, (x, z), &grad, batch, &mut dz);
        node_grads[second] = dz;
    }
    if backward_in_place(node.op, (index, pass), &mut grad) && node_grads[input].is_empty() {
        node_grads[input] = grad;
        return;
    }
    let mut dx = take_or_zero(&mut node_grads[input], x.len(), pool);
    match node.op {
        Op::Input => {}
        Op::Conv { .. } => {
            if let (Some(conv), Some(at)) =
                (Conv::from_node(node, input_shape, batch), param(Role::Weight))
            {
                let dx = (input > 0).then_some(&mut dx[..]);
                let weight = weights.param(at);
                conv.backward((x, &grad), weight, &mut gradient[at], dx, pool);
            }
        }
        Op::Linear { .. } => {
            if let Some(at) = param(Role::Weight) {
                let dx = (input > 0).then_some(&mut dx[..]);
                let weight = weights.param(at);
                let tensors = (&x[..], &grad[..], input_shape);
                linear_backward(tensors, weight, &mut gradient[at], dx, batch, pool);
            }
        }
        Op::BatchNorm => {
            let at =
                [Role::Scale, Role::Shift, Role::RunningMean, Role::RunningVariance].map(param);
            if let [Some(scale), Some(shift), Some(mean), Some(variance)] = at {
                let statistics = &pass.saved[index];
                let grads =
                    batch_norm_backward(weights.param(scale), (x, &grad), statistics, &mut dx);
                for (channel, (dscale, dshift)) in grads.into_iter().enumerate() {
                    (gradient[scale][channel], gradient[shift][channel]) = (dscale, dshift);
                }
                let (means, variances) = pass.saved[index].split_at(node.shape.channels);
                gradient[mean].copy_from_slice(means);
                gradient[variance].copy_from_slice(variances);
            }
        }
        Op::Relu | Op::Dropout { .. } | Op::Add => add(&mut dx, &grad),
        Op::Concat => add(&mut dx, &grad[..x.len()]),
        Op::Shortcut { stride } => {
            for (to, at) in shortcut_cells(input_shape.side, node.shape.side, stride, x.len()) {
                dx[at] += grad[to];
            }
        }
        Op::AvgPool => {
            for (at, dx) in dx.iter_mut().enumerate() {
                *dx += 0.25 * grad[pooled_index(at, input_shape.side)];
            }
        }
        Op::GlobalAvgPool => {
            let factor = 1.0 / input_shape.cells() as f32;
            for (map, grad) in dx.chunks_mut(input_shape.cells()).zip(&grad) {
                map.iter_mut().for_each(|dx| *dx += factor * grad);
            }
        }
        Op::ScaleAndShift => {
            let z = &pass.outputs[node.inputs[1]];
            for (at, (dx, grad)) in dx.chunks_mut(cells).zip(grad.chunks(cells)).enumerate() {
                let gate = sigmoid(z[at]);
                dx.iter_mut().zip(grad).for_each(|(dx, grad)| *dx += gate * grad);
            }
        }
        Op::SelectStage => {
            for (to, at) in selected_slices(&pass.outputs[node.inputs[1]], x.len(), batch) {
                dx[at] += grad[to];
            }
        }
    }
    node_grads[input] = dx;
    pool.release(grad);
}

/// Computes the input gradient of an elementwise operation in place. Returns `false` for other
/// operations.
fn backward_in_place(op: Op, (index, pass): (usize, &ForwardPass), grad: &mut [f32]) -> bool {
    match op {
        Op::Relu => par_zip(grad, &pass.outputs[index], |grad, y| {
            *grad = if y > 0.0 { *grad } else { 0.0 };
        }),
        Op::Dropout { .. } => par_zip(grad, &pass.saved[index], |grad, mask| *grad *= mask),
        Op::Add => {}
        _ => return false,
    }
    true
}

/// Takes the gradient accumulated so far, or zeros.
fn take_or_zero(grad: &mut Vec<f32>, count: usize, pool: &mut BufferPool) -> Vec<f32> {
    if grad.is_empty() { pool.take_zeroed(count) } else { std::mem::take(grad) }
}

fn add(to: &mut [f32], from: &[f32]) {
    par_zip(to, from, |to, from| *to += from);
}

/// Adds the gradient of the second input of a node.
fn second_input_gradient(
    node: &Node,
    (x, z): (&[f32], &[f32]),
    grad: &[f32],
    batch: usize,
    dz: &mut [f32],
) {
    match node.op {
        Op::Add => add(dz, grad),
        Op::Concat => add(dz, &grad[x.len()..]),
        Op::ScaleAndShift => {
            let (cells, maps) = (node.shape.cells(), node.shape.channels * batch);
            for (at, (x, grad)) in x.chunks(cells).zip(grad.chunks(cells)).enumerate() {
                let gate = sigmoid(z[at]);
                let sum: f32 = x.iter().zip(grad).map(|(x, grad)| x * grad).sum();
                dz[at] += gate * (1.0 - gate) * sum;
                dz[maps + at] += grad.iter().sum::<f32>();
            }
        }
        _ => {}
    }
}

/// Adds the gradient of the inputs of batch normalization, whose mean and variance depend on the
/// inputs too. Returns the gradients of scale and shift per channel.
fn batch_norm_backward(
    scales: &[f32],
    (x, grad): (&[f32], &[f32]),
    statistics: &[f32],
    dx: &mut [f32],
) -> Vec<(f32, f32)> {
    let (means, variances) = statistics.split_at(scales.len());
    let map = x.len() / scales.len().max(1);
    let maps = dx.par_chunks_mut(map).zip(x.par_chunks(map)).zip(grad.par_chunks(map));
    let maps = maps.zip(scales).zip(means).zip(variances);
    maps.map(|(((((dx, x), grad), scale), mean), variance)| {
        let inverse = 1.0 / (variance + EPSILON).sqrt();
        let dshift = sum_pairs(grad, grad, |grad, _| f64::from(grad));
        let dscale = sum_pairs(x, grad, |x, grad| f64::from((x - mean) * inverse * grad));
        let n = x.len() as f64;
        let (dshift_mean, dscale_mean) = ((dshift / n) as f32, (dscale / n) as f32);
        for ((dx, x), grad) in dx.iter_mut().zip(x).zip(grad) {
            let normalized = (x - mean) * inverse;
            *dx += scale * inverse * (grad - dshift_mean - normalized * dscale_mean);
        }
        (dscale as f32, dshift as f32)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nets::{Input, net_by_name};

    /// Every operation returns its buffers, so that memory does not grow from step to step.
    #[test]
    fn memory_does_not_grow_between_batches() {
        let input = Input { stage_planes: true, ..Input::PIECES };
        for name in ["conv4-dropout", "conv4-stages", "res2x8-se", "resnet-32", "densenet-40"] {
            let net = net_by_name(name, input).unwrap();
            let weights = Weights::init(&net, 1);
            let words: Vec<u64> = (1..=3 * net.input().planes() as u64).collect();
            let mut pool = BufferPool::default();
            let mut capacities = Vec::new();
            for step in 0..4 {
                let batch = (&words[..], &[1, 2, 3][..]);
                let result = forward_backward(&net, &weights, batch, (1, step), 0.0, &mut pool);
                result.gradient.into_iter().for_each(|block| pool.release(block));
                capacities.push(pool.capacity());
            }
            assert!(capacities[1] > 0 && capacities[1] == capacities[3], "{name}: {capacities:?}");
        }
    }
}
