//! What every node of a network gives for a batch.

use super::layers::{Conv, linear, pack_linear};
use super::places::{halved, is_stage, picked, shortcut_cells};
use super::winograd::Winograd;
use crate::nets::fold::line;
use crate::nets::gemm::{Left, Right};
use crate::nets::tile::Kernel;
use crate::nets::{EPSILON, Net, Node, Op, Role, STAGES, Shape, Space, Weights};
use outflank_runs::RngExt;
use outflank_runs::rng::stream;
use rayon::prelude::*;

/// What a pass is for.
pub(super) enum Mode<'a> {
    /// The answer: means and variances are the running ones, and only the last node is kept. The
    /// weights of each node were packed before.
    Answer(&'a [Packed]),
    /// Learning: means and variances are the batch's, and dropout draws from the stream of this seed
    /// and step.
    Learn { seed: u64, step: u64 },
}

/// A node's weights as products want them.
#[derive(Clone, Debug)]
pub(super) enum Packed {
    None,
    Conv(Left),
    Winograd(Winograd),
    Linear(Right),
    /// A matrix in parts, of which each position needs that of its stage.
    Stages(Vec<Right>),
}

impl Packed {
    /// Packs the weights of a node.
    pub(super) fn of(net: &Net, weights: &Weights, index: usize, space: &mut Space) -> Packed {
        let node = &net.nodes()[index];
        let Some(weight) = net.params_of(index).next().map(|param| weights.of(param)) else {
            return Packed::None;
        };
        let from = node.inputs.first().map_or(node.shape, |&input| net.nodes()[input].shape);
        match (node.op, Conv::of(node, from, 1)) {
            (_, Some(conv)) if Winograd::pays(conv) => {
                Packed::Winograd(Winograd::pack(Kernel::here(), weight, from.channels, space))
            }
            (_, Some(conv)) => Packed::Conv(conv.pack(weight, space)),
            (Op::Linear { .. }, None) if only_picked(net, index) => {
                let parts = weight.chunks(weight.len() / STAGES);
                Packed::Stages(parts.map(|part| pack_linear(part, from.len(), space)).collect())
            }
            (Op::Linear { .. }, None) => Packed::Linear(pack_linear(weight, from.len(), space)),
            _ => Packed::None,
        }
    }

    /// Gives its room back.
    fn done(self, space: &mut Space) {
        match self {
            Packed::None => {}
            Packed::Conv(left) => left.done(space),
            Packed::Winograd(winograd) => winograd.done(space),
            Packed::Linear(right) => right.done(space),
            Packed::Stages(parts) => parts.into_iter().for_each(|part| part.done(space)),
        }
    }
}

/// Whether a node is read by those alone that pick the stage's part of it.
fn only_picked(net: &Net, index: usize) -> bool {
    let mut readers = net.nodes().iter().filter(|node| node.inputs.contains(&index)).peekable();
    readers.peek().is_some() && readers.all(|node| node.op == Op::Select)
}

/// A pass over a batch.
pub(super) struct Pass {
    /// What every node gave; nothing where it is not needed any more.
    pub(super) values: Vec<Vec<f32>>,
    /// Each map's mean and variance at a normalisation, and what dropout multiplied by.
    pub(super) notes: Vec<Vec<f32>>,
}

/// So many numbers are a thread's at a time where each is on its own.
const PART: usize = 1 << 13;

/// Does something to all numbers with those of others in the same places, on all threads.
pub(super) fn in_parts(to: &mut [f32], from: &[f32], of: impl Fn(&mut f32, f32) + Sync) {
    to.par_chunks_mut(PART).zip(from.par_chunks(PART)).for_each(|(to, from)| {
        to.iter_mut().zip(from).for_each(|(to, &from)| of(to, from));
    });
}

/// Runs a batch through a network.
pub(super) fn forward(
    net: &Net,
    weights: &Weights,
    words: &[u64],
    mode: &Mode<'_>,
    space: &mut Space,
) -> Pass {
    let planes = net.input().planes();
    let batch = words.len() / planes;
    let nodes = net.nodes();
    let mut last_reader = vec![nodes.len(); nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        node.inputs.iter().for_each(|&input| last_reader[input] = index);
    }
    // Whether nobody asks any more for what a node gave once this one has read it.
    let spent =
        |input: usize, index: usize| matches!(mode, Mode::Answer(_)) && last_reader[input] == index;
    let mut pass =
        Pass { values: Vec::with_capacity(nodes.len()), notes: vec![Vec::new(); nodes.len()] };
    for (index, node) in nodes.iter().enumerate() {
        let value = match node.op {
            Op::Input => decoded(words, planes, space),
            Op::Relu if spent(node.inputs[0], index) => {
                let mut value = std::mem::take(&mut pass.values[node.inputs[0]]);
                value.iter_mut().for_each(|x| *x = rectified(*x));
                value
            }
            _ => value(net, weights, (index, node), &mut pass, batch, mode, space),
        };
        pass.values.push(value);
        for &input in node.inputs.iter().filter(|&&input| spent(input, index)) {
            space.release(std::mem::take(&mut pass.values[input]));
        }
    }
    pass
}

/// The planes of a batch as numbers.
fn decoded(words: &[u64], planes: usize, space: &mut Space) -> Vec<f32> {
    let mut values = space.any(words.len() * 64);
    let ordered = (0..planes).flat_map(|plane| words.iter().skip(plane).step_by(planes));
    for (board, word) in values.chunks_exact_mut(64).zip(ordered) {
        for (square, value) in board.iter_mut().enumerate() {
            *value = (word >> square & 1) as f32;
        }
    }
    values
}

fn value(
    net: &Net,
    weights: &Weights,
    (index, node): (usize, &Node),
    pass: &mut Pass,
    batch: usize,
    mode: &Mode<'_>,
    space: &mut Space,
) -> Vec<f32> {
    let from = net.nodes()[node.inputs[0]].shape;
    let cells = node.shape.cells();
    let of = |role: Role| {
        let found = net.params_of(index).find(|&param| net.params()[param].role == role);
        found.map_or(&[][..], |param| weights.of(param))
    };
    let x = &pass.values[node.inputs[0]];
    let mut y = space.any(node.shape.len() * batch);
    match node.op {
        Op::Input => {}
        Op::Conv { .. } | Op::Linear { .. } => {
            // Each output begins as its offset.
            match of(Role::Bias) {
                [] => y.fill(0.0),
                biases => {
                    let maps = y.chunks_mut((batch * cells).max(1)).zip(biases);
                    maps.for_each(|(map, &bias)| map.fill(bias));
                }
            }
            match mode {
                Mode::Answer(packed) => {
                    layer((node, from), &packed[index], (x, &pass.values[0]), &mut y, batch, space);
                }
                Mode::Learn { .. } => {
                    let packed = Packed::of(net, weights, index, space);
                    layer((node, from), &packed, (x, &pass.values[0]), &mut y, batch, space);
                    packed.done(space);
                }
            }
        }
        Op::BatchNorm => {
            let (a, b) = match mode {
                Mode::Answer(_) => line(net, weights, index),
                Mode::Learn { .. } => {
                    let notes = moments(x, node.shape.channels, space);
                    let (means, variances) = notes.split_at(node.shape.channels);
                    let a: Vec<f32> = of(Role::Scale)
                        .iter()
                        .zip(variances)
                        .map(|(scale, variance)| scale / (variance + EPSILON).sqrt())
                        .collect();
                    let shifts = a.iter().zip(of(Role::Shift)).zip(means);
                    let b = shifts.map(|((a, shift), mean)| shift - a * mean).collect();
                    pass.notes[index] = notes;
                    (a, b)
                }
            };
            let map = batch * cells;
            let maps = y.par_chunks_mut(map).zip(x.par_chunks(map)).zip(&a).zip(&b);
            maps.for_each(|(((y, x), a), b)| {
                y.iter_mut().zip(x).for_each(|(y, x)| *y = a.mul_add(*x, *b));
            });
        }
        Op::Relu => in_parts(&mut y, x, |y, x| *y = rectified(x)),
        Op::Dropout { rate } => match mode {
            Mode::Answer(_) => y.copy_from_slice(x),
            Mode::Learn { seed, step } => {
                let name = [step.to_string(), index.to_string()];
                let mut rng = stream(*seed, &["net", "dropout", &name[0], &name[1]]);
                let keep = 1.0 / (1.0 - share);
                let mut mask = space.any(x.len());
                for mask in &mut mask {
                    *mask = if rng.chance(f64::from(share)) { 0.0 } else { keep };
                }
                y.iter_mut().zip(x).zip(&mask).for_each(|((y, x), mask)| *y = x * mask);
                pass.notes[index] = mask;
            }
        },
        Op::Add => {
            y.copy_from_slice(x);
            in_parts(&mut y, &pass.values[node.inputs[1]], |y, x| *y += x);
        }
        Op::Concat => {
            let mut rest = &mut y[..];
            for &input in &node.inputs {
                let (part, others) = rest.split_at_mut(pass.values[input].len());
                part.copy_from_slice(&pass.values[input]);
                rest = others;
            }
        }
        Op::Shortcut { stride } => {
            y.fill(0.0);
            for (to, from) in shortcut_cells(from.side, node.shape.side, stride, x.len()) {
                y[to] = x[from];
            }
        }
        Op::AvgPool => {
            y.fill(0.0);
            for (at, x) in x.iter().enumerate() {
                y[halved(at, from.side)] += 0.25 * x;
            }
        }
        Op::GlobalAvgPool => {
            let share = 1.0 / from.cells() as f32;
            for (y, map) in y.iter_mut().zip(x.chunks(from.cells())) {
                *y = map.iter().sum::<f32>() * share;
            }
        }
        Op::Gate => {
            let z = &pass.values[node.inputs[1]];
            let maps = node.shape.channels * batch;
            for (at, (y, x)) in y.chunks_mut(cells).zip(x.chunks(cells)).enumerate() {
                let (gate, shift) = (logistic(z[at]), z[maps + at]);
                y.iter_mut().zip(x).for_each(|(y, x)| *y = gate.mul_add(*x, shift));
            }
        }
        Op::Select => {
            y.fill(0.0);
            for (to, from) in picked(&pass.values[node.inputs[1]], x.len(), batch) {
                y[to] += x[from];
            }
        }
    }
    y
}

/// Adds what a layer with weights makes of `x` to `y`.
fn layer(
    (node, from): (&Node, Shape),
    packed: &Packed,
    (x, planes): (&[f32], &[f32]),
    y: &mut [f32],
    batch: usize,
    space: &mut Space,
) {
    match (packed, Conv::of(node, from, batch)) {
        (Packed::Conv(weight), Some(conv)) => conv.forward(x, weight, y, space),
        (Packed::Winograd(weight), Some(_)) => weight.forward(x, y, batch, space),
        (Packed::Linear(weight), None) => {
            let all: Vec<usize> = (0..batch).collect();
            linear((x, from), weight, y, (&all, batch), space);
        }
        (Packed::Stages(parts), None) => {
            let each = parts.iter().zip(y.chunks_mut(node.shape.len() / STAGES * batch));
            for (stage, (weight, y)) in each.enumerate() {
                let is_here = |&at: &usize| is_stage(planes, stage, (at, batch));
                let here: Vec<usize> = (0..batch).filter(is_here).collect();
                if !here.is_empty() {
                    linear((x, from), weight, y, (&here, batch), space);
                }
            }
        }
        _ => {}
    }
}

/// Each map's mean, then each map's variance, over all positions and cells.
fn moments(x: &[f32], channels: usize, space: &mut Space) -> Vec<f32> {
    let per_map = x.len() / channels.max(1);
    let mut moments = space.any(2 * channels);
    let (means, variances) = moments.split_at_mut(channels);
    let maps = means.par_iter_mut().zip(variances).zip(x.par_chunks(per_map.max(1)));
    maps.for_each(|((to_mean, to_variance), map)| {
        let n = map.len() as f64;
        let mean = summed(map, map, |x, _| f64::from(x)) / n;
        let square = summed(map, map, |x, _| (f64::from(x) - mean) * (f64::from(x) - mean));
        *to_mean = mean as f32;
        *to_variance = (square / n) as f32;
    });
    moments
}

/// The sum of something of two lists' numbers, eight sums side by side: always in the same order, and no
/// addition waits for the one before.
pub(super) fn summed(a: &[f32], b: &[f32], of: impl Fn(f32, f32) -> f64) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for ((sum, &a), &b) in sums.iter_mut().zip(a).zip(b) {
            *sum += of(a, b);
        }
    }
    let rest = a_rest.iter().zip(b_rest).map(|(&a, &b)| of(a, b));
    sums.into_iter().chain(rest).sum()
}

/// The larger of a number and nought; what is not a number stays so, and is seen in the answer.
fn rectified(x: f32) -> f32 {
    if x < 0.0 { 0.0 } else { x }
}

/// The logistic function, the same on every machine.
pub(super) fn logistic(z: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-z))
}
