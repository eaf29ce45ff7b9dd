//! Normalisation folded into the convolution or matrix before it.
//!
//! After learning, a normalisation is y = a x + b for each map, with a = scale / sqrt(variance + ε)
//! and b = shift - a mean. Where it alone reads a layer, a goes into the layer's weights and b becomes
//! its offset. Where it does not (networks that normalise first), it stays.

use super::{EPSILON, Net, Node, Op, Role, Weights};

/// The same function with as few normalisations as possible; dropout, which does nothing after
/// learning, is left out too.
#[must_use]
pub fn folded(net: &Net, weights: &Weights) -> (Net, Weights) {
    let nodes = net.nodes();
    let mut readers = vec![0; nodes.len()];
    for &input in nodes.iter().flat_map(|node| &node.inputs) {
        readers[input] += 1;
    }
    let (mut kept, mut values): (Vec<Node>, Vec<Vec<f32>>) = (Vec::new(), Vec::new());
    // Where each old node's output is found, and where the new node's values begin.
    let mut place = vec![0; nodes.len()];
    let mut first_value = vec![0; nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        let before = node.inputs.first().copied().unwrap_or(0);
        if matches!(node.op, Op::Dropout { .. }) {
            place[index] = place[before];
            continue;
        }
        let layer = matches!(nodes[before].op, Op::Conv { .. } | Op::Linear { .. });
        if node.op == Op::BatchNorm && layer && readers[before] == 1 {
            let (a, b) = line(net, weights, index);
            let at = first_value[before];
            if give_bias(&mut kept[place[before]], &mut values, at) {
                first_value.iter_mut().filter(|first| **first > at).for_each(|first| *first += 1);
            }
            scale_layer(&mut values[at..at + 2], &a, &b);
            place[index] = place[before];
            continue;
        }
        place[index] = kept.len();
        first_value[index] = values.len();
        let inputs = node.inputs.iter().map(|&input| place[input]).collect();
        kept.push(Node { inputs, ..node.clone() });
        values.extend(net.params_of(index).map(|param| weights.of(param).to_vec()));
    }
    let net = Net::new(net.name(), net.input(), kept);
    debug_assert!(
        net.params().iter().zip(&values).all(|(param, block)| param.len() == block.len())
    );
    (net, Weights::computed(values))
}

/// What a normalisation multiplies by and adds, for each map.
pub(super) fn line(net: &Net, weights: &Weights, norm: usize) -> (Vec<f32>, Vec<f32>) {
    let of = |role: Role| {
        let found = net.params_of(norm).find(|&param| net.params()[param].role == role);
        found.map_or(&[][..], |param| weights.of(param))
    };
    let variance = of(Role::RunningVariance).iter();
    let a: Vec<f32> =
        of(Role::Scale).iter().zip(variance).map(|(s, v)| s / (v + EPSILON).sqrt()).collect();
    let rest = of(Role::Shift).iter().zip(of(Role::RunningMean));
    let b = a.iter().zip(rest).map(|(a, (shift, mean))| shift - a * mean).collect();
    (a, b)
}

/// Makes sure that a layer has offsets; whether it had none.
fn give_bias(node: &mut Node, values: &mut Vec<Vec<f32>>, at: usize) -> bool {
    let (Op::Conv { bias, .. } | Op::Linear { bias }) = &mut node.op else { return false };
    let had_none = !std::mem::replace(bias, true);
    if had_none {
        values.insert(at + 1, vec![0.0; node.shape.channels]);
    }
    had_none
}

fn scale_layer(layer: &mut [Vec<f32>], a: &[f32], b: &[f32]) {
    let [weight, bias] = layer else { return };
    let row = weight.len() / a.len().max(1);
    for (output, &a) in weight.chunks_mut(row.max(1)).zip(a) {
        output.iter_mut().for_each(|w| *w *= a);
    }
    for (bias, (a, b)) in bias.iter_mut().zip(a.iter().zip(b)) {
        *bias = a * *bias + b;
    }
}
