//! How the loss of a batch changes with every weight.
//!
//! The loss is the cross-entropy of the softmax, averaged over the batch (section IV-A); the gradient
//! goes back through the nodes in reverse, each adding its part to the nodes that it read.

use super::forward::{Mode, Pass, forward, in_parts, logistic, summed};
use super::layers::{Conv, linear_backward};
use super::places::{halved, picked, shortcut_cells};
use crate::nets::{CLASSES, EPSILON, Net, Node, Op, Role, Space, Weights};
use rayon::prelude::*;

/// The gradient of every parameter, in the order of the network's; that of running means and
/// variances holds the batch's own, for whoever keeps the running ones.
pub type Gradient = Vec<Vec<f32>>;

/// What a batch teaches.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The mean loss.
    pub loss: f64,
    /// How many positions had their move on top.
    pub hits: usize,
    /// The gradient of the loss.
    pub gradient: Gradient,
}

/// The bytes that [`forward_backward`] needs at least for a batch: what every node gives, what dropout notes,
/// and the gradient at the largest node and the one it reads.
#[must_use]
pub fn training_memory_bytes(net: &Net, batch: usize) -> u64 {
    let noted = |node: &&Node| matches!(node.op, Op::Dropout { .. });
    let size = |node: &Node| node.shape.len() as u64;
    let nodes = net.nodes().iter();
    let kept: u64 = nodes.clone().map(size).sum();
    let notes: u64 = nodes.clone().filter(noted).map(size).sum();
    let flows = 2 * nodes.map(size).max().unwrap_or(0);
    (kept + notes + flows).saturating_mul(4).saturating_mul(batch as u64)
}

/// The loss of a batch and its gradient. `words` are planes as for an answer, `targets` the classes
/// of the moves played; dropout draws from the stream of the seed and the step. With `smoothing` s,
/// a share s of each target is spread over all classes. What it needs is taken from `space` and kept
/// there for the next batch, but for the gradient, which is to be [kept](Space::keep) when it was used.
#[must_use]
pub fn forward_backward(
    net: &Net,
    weights: &Weights,
    (words, targets): (&[u64], &[u8]),
    (seed, step): (u64, u64),
    smoothing: f32,
    space: &mut Space,
) -> Learned {
    let batch = targets.len();
    let pass = forward(net, weights, words, &Mode::Learn { seed, step }, space);
    let mut gradient: Gradient =
        net.params().iter().map(|param| space.noughts(param.len())).collect();
    let mut flows: Vec<Vec<f32>> = vec![Vec::new(); net.nodes().len()];
    let last = net.nodes().len() - 1;
    let mut flow = space.any(pass.values[last].len());
    let (loss, hits) = softmax(&pass.values[last], targets, smoothing, &mut flow);
    flows[last] = flow;
    for index in (1..net.nodes().len()).rev() {
        let flow = std::mem::take(&mut flows[index]);
        // A node that nothing reads has no part in the loss.
        if !flow.is_empty() {
            back(net, weights, (index, flow), &pass, batch, &mut flows, &mut gradient, space);
        }
    }
    let room = pass.values.into_iter().chain(pass.notes).chain(flows);
    room.for_each(|room| space.release(room));
    Learned { loss, hits, gradient }
}

/// The mean loss and the hits; writes the gradient at the last node, which lies class by class.
fn softmax(logits: &[f32], targets: &[u8], smoothing: f32, flow: &mut [f32]) -> (f64, usize) {
    let batch = targets.len();
    let (mut loss, mut hits) = (0.0, 0);
    let spread = smoothing / CLASSES as f32;
    for (position, &target) in targets.iter().enumerate() {
        let of = |class: usize| logits[class * batch + position];
        let top = (0..CLASSES).map(of).fold(f32::MIN, f32::max);
        let powers: [f32; CLASSES] = std::array::from_fn(|class| libm::expf(of(class) - top));
        let sum: f32 = powers.iter().sum();
        let level = top + libm::logf(sum);
        for (class, power) in powers.iter().enumerate() {
            let wanted = spread + if class == usize::from(target) { 1.0 - smoothing } else { 0.0 };
            loss += f64::from(wanted * (level - of(class)));
            flow[class * batch + position] = (power / sum - wanted) / batch as f32;
        }
        hits += usize::from(of(usize::from(target)) == top);
    }
    (loss / batch as f64, hits)
}

/// Adds a node's part to the nodes that it read and to its parameters.
#[expect(clippy::too_many_arguments)]
fn back(
    net: &Net,
    weights: &Weights,
    (index, mut flow): (usize, Vec<f32>),
    pass: &Pass,
    batch: usize,
    flows: &mut [Vec<f32>],
    gradient: &mut Gradient,
    space: &mut Space,
) {
    let node = &net.nodes()[index];
    let input = node.inputs[0];
    let from = net.nodes()[input].shape;
    let cells = node.shape.cells();
    let x = &pass.values[input];
    let param = |role: Role| net.params_of(index).find(|&param| net.params()[param].role == role);
    if let Some(bias) = param(Role::Bias) {
        let maps = gradient[bias].par_iter_mut().zip(flow.par_chunks(batch * cells));
        maps.for_each(|(sum, map)| *sum = summed(map, map, |x, _| f64::from(x)) as f32);
    }
    // Nobody asks what the planes should have been.
    if let Some(&second) = node.inputs.get(1).filter(|&&second| second > 0) {
        let z = &pass.values[second];
        let mut dz = begun(&mut flows[second], z.len(), space);
        second_input(node, (x, z), &flow, batch, &mut dz);
        flows[second] = dz;
    }
    // Some have as many numbers as what they read, each with a part in its own place alone.
    let alone = match node.op {
        Op::Relu => {
            in_parts(&mut flow, &pass.values[index], |flow, y| {
                *flow = if y > 0.0 { *flow } else { 0.0 };
            });
            true
        }
        Op::Dropout { .. } => {
            in_parts(&mut flow, &pass.notes[index], |flow, mask| *flow *= mask);
            true
        }
        Op::Add => true,
        _ => false,
    };
    if alone && flows[input].is_empty() {
        flows[input] = flow;
        return;
    }
    let mut dx = begun(&mut flows[input], x.len(), space);
    match node.op {
        Op::Input => {}
        Op::Conv { .. } => {
            if let (Some(conv), Some(at)) = (Conv::of(node, from, batch), param(Role::Weight)) {
                // Nor here.
                let wanted = (input > 0).then_some(&mut dx[..]);
                let weight = weights.of(at);
                conv.backward((x, &flow), weight, &mut gradient[at], wanted, space);
            }
        }
        Op::Linear { .. } => {
            if let Some(at) = param(Role::Weight) {
                let wanted = (input > 0).then_some(&mut dx[..]);
                let weight = weights.of(at);
                let lists = (&x[..], &flow[..], from);
                linear_backward(lists, weight, &mut gradient[at], wanted, batch, space);
            }
        }
        Op::BatchNorm => {
            let at =
                [Role::Scale, Role::Shift, Role::RunningMean, Role::RunningVariance].map(param);
            if let [Some(scale), Some(shift), Some(mean), Some(variance)] = at {
                let parts = norm(weights.of(scale), (x, &flow), &pass.notes[index], &mut dx);
                for (at, (along, sum)) in parts.into_iter().enumerate() {
                    (gradient[scale][at], gradient[shift][at]) = (along, sum);
                }
                let (means, variances) = pass.notes[index].split_at(node.shape.channels);
                gradient[mean].copy_from_slice(means);
                gradient[variance].copy_from_slice(variances);
            }
        }
        Op::Relu | Op::Dropout { .. } | Op::Add => add(&mut dx, &flow),
        Op::Concat => add(&mut dx, &flow[..x.len()]),
        Op::Shortcut { stride } => {
            for (to, at) in shortcut_cells(from.side, node.shape.side, stride, x.len()) {
                dx[at] += flow[to];
            }
        }
        Op::AvgPool => {
            for (at, dx) in dx.iter_mut().enumerate() {
                *dx += 0.25 * flow[halved(at, from.side)];
            }
        }
        Op::GlobalAvgPool => {
            let share = 1.0 / from.cells() as f32;
            for (map, flow) in dx.chunks_mut(from.cells()).zip(&flow) {
                map.iter_mut().for_each(|dx| *dx += share * flow);
            }
        }
        Op::Gate => {
            let z = &pass.values[node.inputs[1]];
            for (at, (dx, flow)) in dx.chunks_mut(cells).zip(flow.chunks(cells)).enumerate() {
                let gate = logistic(z[at]);
                dx.iter_mut().zip(flow).for_each(|(dx, flow)| *dx += gate * flow);
            }
        }
        Op::Select => {
            for (to, at) in picked(&pass.values[node.inputs[1]], x.len(), batch) {
                dx[at] += flow[to];
            }
        }
    }
    flows[input] = dx;
    space.release(flow);
}

/// What nodes behind have added so far; noughts if this is the first.
fn begun(flow: &mut Vec<f32>, count: usize, space: &mut Space) -> Vec<f32> {
    if flow.is_empty() { space.noughts(count) } else { std::mem::take(flow) }
}

fn add(to: &mut [f32], from: &[f32]) {
    in_parts(to, from, |to, from| *to += from);
}

/// A node's part for the second node that it read.
fn second_input(node: &Node, (x, z): (&[f32], &[f32]), flow: &[f32], batch: usize, dz: &mut [f32]) {
    match node.op {
        Op::Add => add(dz, flow),
        Op::Concat => add(dz, &flow[x.len()..]),
        Op::Gate => {
            let (cells, maps) = (node.shape.cells(), node.shape.channels * batch);
            for (at, (x, flow)) in x.chunks(cells).zip(flow.chunks(cells)).enumerate() {
                let gate = logistic(z[at]);
                let sum: f32 = x.iter().zip(flow).map(|(x, flow)| x * flow).sum();
                dz[at] += gate * (1.0 - gate) * sum;
                dz[maps + at] += flow.iter().sum::<f32>();
            }
        }
        _ => {}
    }
}

/// Normalisation's part, with the batch's own mean and variance depending on its inputs too; the
/// gradients of each map's scale and shift.
fn norm(
    scales: &[f32],
    (x, flow): (&[f32], &[f32]),
    notes: &[f32],
    dx: &mut [f32],
) -> Vec<(f32, f32)> {
    let (means, variances) = notes.split_at(scales.len());
    let map = x.len() / scales.len().max(1);
    let maps = dx.par_chunks_mut(map).zip(x.par_chunks(map)).zip(flow.par_chunks(map));
    let maps = maps.zip(scales).zip(means).zip(variances);
    maps.map(|(((((dx, x), flow), scale), mean), variance)| {
        let inverse = 1.0 / (variance + EPSILON).sqrt();
        let shift = summed(flow, flow, |flow, _| f64::from(flow));
        let along = summed(x, flow, |x, flow| f64::from((x - mean) * inverse * flow));
        let n = x.len() as f64;
        let (shift_mean, along_mean) = ((shift / n) as f32, (along / n) as f32);
        for ((dx, x), flow) in dx.iter_mut().zip(x).zip(flow) {
            let unit = (x - mean) * inverse;
            *dx += scale * inverse * (flow - shift_mean - unit * along_mean);
        }
        (along as f32, shift as f32)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nets::{Input, named};

    /// Every operation takes its room from the space and gives it back, so that a long run needs no more
    /// than its first steps.
    #[test]
    fn a_batch_needs_no_more_room_than_the_one_before() {
        let input = Input { stage: true, ..Input::PIECES };
        for name in ["conv4-dropout", "conv4-stages", "res2x8-se", "resnet-32", "densenet-40"] {
            let net = named(name, input).unwrap();
            let weights = Weights::init(&net, 1);
            let words: Vec<u64> = (1..=3 * net.input().planes() as u64).collect();
            let mut space = Space::default();
            let mut kept = Vec::new();
            for step in 0..4 {
                let batch = (&words[..], &[1, 2, 3][..]);
                let learned = forward_backward(&net, &weights, batch, (1, step), 0.0, &mut space);
                learned.gradient.into_iter().for_each(|block| space.release(block));
                kept.push(space.numbers());
            }
            assert!(kept[1] > 0 && kept[1] == kept[3], "{name}: {kept:?}");
        }
    }
}
