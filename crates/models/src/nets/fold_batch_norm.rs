//! Folding of batch normalization into the preceding convolution or linear layer.
//!
//! In inference, batch normalization is y = a x + b per channel, where b = shift - a mean and
//! a = scale / sqrt(variance + ε). If it is the only consumer of a layer, a is multiplied into the
//! weights and b is added to the bias. Otherwise (in pre-activation networks) it stays.

use super::{EPSILON, NetGraph, Node, Op, Role, Weights};

/// Returns an equivalent network for inference: batch normalization is folded where possible and
/// dropout is removed.
#[must_use]
pub(crate) fn fold_batch_norm(net: &NetGraph, weights: &Weights) -> (NetGraph, Weights) {
    let nodes = net.nodes();
    let mut consumers = vec![0; nodes.len()];
    for &input in nodes.iter().flat_map(|node| &node.inputs) {
        consumers[input] += 1;
    }
    let (mut new_nodes, mut values): (Vec<Node>, Vec<Vec<f32>>) = (Vec::new(), Vec::new());
    // For each old node, the new node with its output and the index of its first parameter.
    let mut new_index = vec![0; nodes.len()];
    let mut first_value = vec![0; nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        let before = node.inputs.first().copied().unwrap_or(0);
        if matches!(node.op, Op::Dropout { .. }) {
            new_index[index] = new_index[before];
            continue;
        }
        let layer = matches!(nodes[before].op, Op::Conv { .. } | Op::Linear { .. });
        if node.op == Op::BatchNorm && layer && consumers[before] == 1 {
            let (a, b) = affine(net, weights, index);
            let at = first_value[before];
            if ensure_bias(&mut new_nodes[new_index[before]], &mut values, at) {
                first_value.iter_mut().filter(|first| **first > at).for_each(|first| *first += 1);
            }
            scale_layer(&mut values[at..at + 2], &a, &b);
            new_index[index] = new_index[before];
            continue;
        }
        new_index[index] = new_nodes.len();
        first_value[index] = values.len();
        let inputs = node.inputs.iter().map(|&input| new_index[input]).collect();
        new_nodes.push(Node { inputs, ..node.clone() });
        values.extend(net.params_of(index).map(|param| weights.param(param).to_vec()));
    }
    let net = NetGraph::new(net.name(), net.input(), new_nodes);
    debug_assert!(
        net.params().iter().zip(&values).all(|(param, block)| param.len() == block.len())
    );
    (net, Weights::unchecked(values))
}

/// Returns the factor a and summand b of batch normalization in inference, per channel.
pub(super) fn affine(net: &NetGraph, weights: &Weights, norm: usize) -> (Vec<f32>, Vec<f32>) {
    let param = |role: Role| {
        let found = net.params_of(norm).find(|&param| net.params()[param].role == role);
        found.map_or(&[][..], |at| weights.param(at))
    };
    let variance = param(Role::RunningVariance).iter();
    let a: Vec<f32> =
        param(Role::Scale).iter().zip(variance).map(|(s, v)| s / (v + EPSILON).sqrt()).collect();
    let rest = param(Role::Shift).iter().zip(param(Role::RunningMean));
    let b = a.iter().zip(rest).map(|(a, (shift, mean))| shift - a * mean).collect();
    (a, b)
}

/// Adds a zero bias to a layer without one. Returns whether it was added.
fn ensure_bias(node: &mut Node, values: &mut Vec<Vec<f32>>, at: usize) -> bool {
    let (Op::Conv { bias, .. } | Op::Linear { bias }) = &mut node.op else { return false };
    let added = !std::mem::replace(bias, true);
    if added {
        values.insert(at + 1, vec![0.0; node.shape.channels]);
    }
    added
}

/// Multiplies the outputs of a layer by `a` and adds `b`.
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
