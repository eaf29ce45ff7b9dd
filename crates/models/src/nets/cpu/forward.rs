//! What every node of a network gives for a batch.

use super::layers::{Conv, linear, pack_linear};
use super::places::{halved, is_stage, picked, shortcut_cells};
use super::winograd::Winograd;
use crate::nets::fold::line;
use crate::nets::gemm::{Left, Right};
use crate::nets::tile::Kernel;
use crate::nets::{EPSILON, Net, Node, Op, Role, STAGES, Weights};
use outflank_runs::Draw;
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
    /// Packs the weights of a node for many answers.
    pub(super) fn of(net: &Net, weights: &Weights, index: usize) -> Packed {
        let node = &net.nodes()[index];
        let from = node.inputs.first().map_or(node.shape, |&input| net.nodes()[input].shape);
        match (Conv::of(node, from, 1), net.params_of(index).next()) {
            (Some(conv), Some(weight)) if Winograd::pays(conv) => {
                let weight = weights.of(weight);
                Packed::Winograd(Winograd::pack(Kernel::here(), weight, from.channels))
            }
            (None, Some(weight)) if only_picked(net, index) => {
                let weight = weights.of(weight);
                let parts = weight.chunks(weight.len() / STAGES);
                Packed::Stages(parts.map(|part| pack_linear(part, from.len())).collect())
            }
            _ => Packed::plainly(net, weights, index),
        }
    }

    /// Packs the weights of a node as they are, for weights that change with every batch.
    fn plainly(net: &Net, weights: &Weights, index: usize) -> Packed {
        let node = &net.nodes()[index];
        let Some(weight) = net.params_of(index).next().map(|param| weights.of(param)) else {
            return Packed::None;
        };
        let from = node.inputs.first().map_or(node.shape, |&input| net.nodes()[input].shape);
        match node.op {
            Op::Linear { .. } => Packed::Linear(pack_linear(weight, from.len())),
            _ => {
                Conv::of(node, from, 1).map_or(Packed::None, |conv| Packed::Conv(conv.pack(weight)))
            }
        }
    }
}

/// Whether a node is read by those alone that pick the stage's part of it.
fn only_picked(net: &Net, index: usize) -> bool {
    let mut readers = net.nodes().iter().filter(|node| node.inputs.contains(&index)).peekable();
    readers.peek().is_some() && readers.all(|node| node.op == Op::Pick)
}

/// A pass over a batch.
pub(super) struct Pass {
    /// What every node gave; nothing where it is not needed any more.
    pub(super) values: Vec<Vec<f32>>,
    /// Each map's mean and variance at a normalisation, and what dropout multiplied by.
    pub(super) notes: Vec<Vec<f32>>,
    /// Room for what layers need while they work, whatever is in it.
    pub(super) space: Vec<f32>,
}

/// Runs a batch through a network; `space` may come from an earlier pass.
pub(super) fn forward(
    net: &Net,
    weights: &Weights,
    words: &[u64],
    mode: &Mode<'_>,
    space: Vec<f32>,
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
    let mut pass = Pass {
        values: Vec::with_capacity(nodes.len()),
        notes: vec![Vec::new(); nodes.len()],
        space,
    };
    for (index, node) in nodes.iter().enumerate() {
        let value = match node.op {
            Op::Input => decoded(words, planes, batch),
            Op::Relu if spent(node.inputs[0], index) => {
                let mut value = std::mem::take(&mut pass.values[node.inputs[0]]);
                value.iter_mut().for_each(|x| *x = rectified(*x));
                value
            }
            _ => value(net, weights, (index, node), &mut pass, batch, mode),
        };
        pass.values.push(value);
        for &input in node.inputs.iter().filter(|&&input| spent(input, index)) {
            pass.values[input] = Vec::new();
        }
    }
    pass
}

/// The planes of a batch as numbers.
fn decoded(words: &[u64], planes: usize, batch: usize) -> Vec<f32> {
    let mut values = Vec::with_capacity(words.len() * 64);
    for plane in 0..planes {
        for word in words.iter().skip(plane).step_by(planes).take(batch) {
            values.extend((0..64).map(|square| (word >> square & 1) as f32));
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
) -> Vec<f32> {
    let from = net.nodes()[node.inputs[0]].shape;
    let cells = node.shape.cells();
    let of = |role: Role| {
        let found = net.params_of(index).find(|&param| net.params()[param].role == role);
        found.map_or(&[][..], |param| weights.of(param))
    };
    let x = &pass.values[node.inputs[0]];
    // Each output begins as its offset.
    let begun = || -> Vec<f32> {
        let mut y = vec![0.0; node.shape.len() * batch];
        for (map, &bias) in y.chunks_mut((batch * cells).max(1)).zip(of(Role::Bias)) {
            map.fill(bias);
        }
        y
    };
    match node.op {
        Op::Input => Vec::new(),
        Op::Conv { .. } | Op::Linear { .. } => {
            let mut y = begun();
            let here;
            let packed = match mode {
                Mode::Answer(packed) => &packed[index],
                Mode::Learn { .. } => {
                    here = Packed::plainly(net, weights, index);
                    &here
                }
            };
            match (packed, Conv::of(node, from, batch)) {
                (Packed::Conv(weight), Some(conv)) => conv.forward(x, weight, &mut y),
                (Packed::Winograd(weight), Some(_)) => {
                    weight.forward(x, &mut y, batch, &mut pass.space)
                }
                (Packed::Linear(weight), None) => {
                    let all: Vec<usize> = (0..batch).collect();
                    linear((x, from), weight, &mut y, &all, batch);
                }
                (Packed::Stages(parts), None) => {
                    let planes = &pass.values[0];
                    let each = parts.iter().zip(y.chunks_mut(node.shape.len() / STAGES * batch));
                    for (stage, (weight, y)) in each.enumerate() {
                        let is_here = |&at: &usize| is_stage(planes, stage, (at, batch));
                        let here: Vec<usize> = (0..batch).filter(is_here).collect();
                        if !here.is_empty() {
                            linear((x, from), weight, y, &here, batch);
                        }
                    }
                }
                _ => {}
            }
            y
        }
        Op::Norm => {
            let (a, b) = match mode {
                Mode::Answer(_) => line(net, weights, index),
                Mode::Learn { .. } => {
                    let notes = moments(x, node.shape.channels);
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
            let x = &pass.values[node.inputs[0]];
            let mut y = x.clone();
            for (map, (a, b)) in y.chunks_mut(batch * cells).zip(a.iter().zip(&b)) {
                map.iter_mut().for_each(|y| *y = a.mul_add(*y, *b));
            }
            y
        }
        Op::Relu => x.iter().map(|&x| rectified(x)).collect(),
        Op::Dropout { share } => match mode {
            Mode::Answer(_) => x.clone(),
            Mode::Learn { seed, step } => {
                let name = [step.to_string(), index.to_string()];
                let mut rng = stream(*seed, &["net", "dropout", &name[0], &name[1]]);
                let keep = 1.0 / (1.0 - share);
                let mut draw = || if rng.chance(f64::from(share)) { 0.0 } else { keep };
                let mask: Vec<f32> = x.iter().map(|_| draw()).collect();
                let y = x.iter().zip(&mask).map(|(x, mask)| x * mask).collect();
                pass.notes[index] = mask;
                y
            }
        },
        Op::Add => x.iter().zip(&pass.values[node.inputs[1]]).map(|(a, b)| a + b).collect(),
        Op::Concat => node.inputs.iter().flat_map(|&i| pass.values[i].iter().copied()).collect(),
        Op::Shortcut { stride } => {
            let mut y = vec![0.0; node.shape.len() * batch];
            for (to, from) in shortcut_cells(from.side, node.shape.side, stride, x.len()) {
                y[to] = x[from];
            }
            y
        }
        Op::Halve => {
            let mut y = vec![0.0; node.shape.len() * batch];
            for (at, x) in x.iter().enumerate() {
                y[halved(at, from.side)] += 0.25 * x;
            }
            y
        }
        Op::Mean => {
            let share = 1.0 / from.cells() as f32;
            x.chunks(from.cells()).map(|map| map.iter().sum::<f32>() * share).collect()
        }
        Op::Gate => {
            let z = &pass.values[node.inputs[1]];
            let maps = node.shape.channels * batch;
            let gated = x.chunks(cells).enumerate().flat_map(|(at, map)| {
                let (gate, shift) = (logistic(z[at]), z[maps + at]);
                map.iter().map(move |x| gate.mul_add(*x, shift))
            });
            gated.collect()
        }
        Op::Pick => {
            let mut y = vec![0.0; node.shape.len() * batch];
            for (to, from) in picked(&pass.values[node.inputs[1]], x.len(), batch) {
                y[to] += x[from];
            }
            y
        }
    }
}

/// Each map's mean, then each map's variance, over all positions and cells.
fn moments(x: &[f32], channels: usize) -> Vec<f32> {
    let per_map = x.len() / channels.max(1);
    let mut pairs = vec![(0.0f32, 0.0f32); channels];
    pairs.par_iter_mut().zip(x.par_chunks(per_map.max(1))).for_each(|(pair, map)| {
        let n = map.len() as f64;
        let mean = map.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
        let square =
            map.iter().map(|&x| (f64::from(x) - mean) * (f64::from(x) - mean)).sum::<f64>();
        *pair = (mean as f32, (square / n) as f32);
    });
    pairs.iter().map(|pair| pair.0).chain(pairs.iter().map(|pair| pair.1)).collect()
}

/// The larger of a number and nought; what is not a number stays so, and is seen in the answer.
fn rectified(x: f32) -> f32 {
    if x < 0.0 { 0.0 } else { x }
}

/// The logistic function, the same on every machine.
pub(super) fn logistic(z: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-z))
}
