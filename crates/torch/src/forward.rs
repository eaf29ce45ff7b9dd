//! A network's nodes as libtorch's operations.

use crate::norm_relu::NormRelu;
use outflank_models::nets::{EPSILON, NetGraph, Op, Role, STAGES};
use tch::{Kind, TchError, Tensor};

/// How far running means and variances follow those of a batch.
const FOLLOW: f64 = 0.1;

/// The logarithms of the classes' odds, in single precision. With `fused` a normalisation that only a ReLU
/// reads is one operation with it, where it can be.
pub(crate) fn forward(
    net: &NetGraph,
    params: &[Tensor],
    planes: Tensor,
    learning: bool,
    fused: Option<&NormRelu>,
) -> Result<Tensor, TchError> {
    let nodes = net.nodes();
    let mut readers = vec![0; nodes.len()];
    nodes.iter().flat_map(|node| &node.inputs).for_each(|&input| readers[input] += 1);
    // The normalisations that nobody but a ReLU reads.
    let mut rectified = vec![false; nodes.len()];
    for node in nodes.iter().filter(|node| node.op == Op::Relu) {
        let before = node.inputs[0];
        rectified[before] = nodes[before].op == Op::BatchNorm && readers[before] == 1;
    }
    // Those of them whose value is rectified already.
    let mut done = vec![false; nodes.len()];
    let mut left = readers.clone();
    let mut values: Vec<Option<Tensor>> = vec![];
    let mut planes = Some(planes);
    for (index, node) in nodes.iter().enumerate() {
        let of = |role: Role| {
            net.params_of(index).find(|&at| net.params()[at].role == role).map(|at| &params[at])
        };
        let input = |at: usize| -> Result<&Tensor, TchError> {
            let found = node.inputs.get(at).and_then(|&input| values[input].as_ref());
            found.ok_or_else(|| TchError::Torch(format!("node {index} reads nothing")))
        };
        let need = |role: Role| {
            of(role).ok_or_else(|| TchError::Torch(format!("node {index} has no {role:?}")))
        };
        let value = match node.op {
            Op::Input => planes.take().unwrap_or_default(),
            Op::Conv { size, stride, .. } => {
                let x = input(0)?;
                let weight = need(Role::Weight)?.f_permute([0, 3, 1, 2])?;
                let bias = match of(Role::Bias) {
                    Some(bias) => Some(bias.f_to_kind(x.kind())?),
                    None => None,
                };
                let (stride, reach) = (stride as i64, size as i64 / 2);
                x.f_conv2d(&weight, bias, [stride, stride], [reach, reach], [1, 1], 1)?
            }
            Op::Linear { .. } => {
                let mut x = input(0)?.shallow_clone();
                if x.dim() == 4 {
                    // Maps lie innermost already, so this moves nothing.
                    x = x.f_permute([0, 2, 3, 1])?.f_flatten(1, -1)?;
                }
                let weight = need(Role::Weight)?;
                // The last layer stays in single precision.
                let x = x.f_to_kind(weight.kind())?;
                let bias = match of(Role::Bias) {
                    Some(bias) => Some(bias.f_to_kind(weight.kind())?),
                    None => None,
                };
                x.f_linear(weight, bias)?
            }
            Op::BatchNorm => {
                let (scale, shift) = (need(Role::Scale)?, need(Role::Shift)?);
                let (mean, variance) = (need(Role::RunningMean)?, need(Role::RunningVariance)?);
                let (x, epsilon) = (input(0)?, f64::from(EPSILON));
                match fused.filter(|fused| learning && rectified[index] && fused.takes(x)) {
                    Some(fused) => {
                        done[index] = true;
                        fused.of(x, [scale, shift, mean, variance], FOLLOW, epsilon)?
                    }
                    None => {
                        let [scale, shift] = [scale, shift].map(Some);
                        let [mean, variance] = [mean, variance].map(Some);
                        x.f_batch_norm(
                            scale, shift, mean, variance, learning, FOLLOW, epsilon, true,
                        )?
                    }
                }
            }
            Op::Relu if done[node.inputs[0]] => input(0)?.shallow_clone(),
            Op::Relu if readers[node.inputs[0]] == 1 && node.inputs[0] > 0 => {
                // Nobody else reads it, and no gradient before it needs it as it was.
                input(0)?.shallow_clone().f_relu_()?
            }
            Op::Relu => input(0)?.f_relu()?,
            Op::Dropout { rate } => input(0)?.f_dropout(f64::from(rate), learning)?,
            Op::Add => input(0)?.f_add(input(1)?)?,
            Op::Concat => Tensor::f_cat(&[input(0)?, input(1)?], 1)?,
            Op::Shortcut { stride } => {
                let mut x = input(0)?.shallow_clone();
                if stride > 1 {
                    x = x.f_slice(2, None::<i64>, None::<i64>, stride as i64)?;
                    x = x.f_slice(3, None::<i64>, None::<i64>, stride as i64)?;
                }
                let more = node.shape.channels as i64 - x.size()[1];
                x.f_constant_pad_nd([0, 0, 0, 0, 0, more])?
            }
            Op::AvgPool => {
                input(0)?.f_avg_pool2d([2, 2], [2, 2], [0, 0], false, true, None::<i64>)?
            }
            Op::GlobalAvgPool => input(0)?.f_mean_dim(&[2i64, 3][..], false, None::<Kind>)?,
            Op::Gate => {
                let parts = input(1)?.f_chunk(2, 1)?;
                let [gate, shift] = &parts[..] else {
                    return Err(TchError::Torch("a gate has two halves".to_owned()));
                };
                let wide = |x: Tensor| x.f_unsqueeze(-1)?.f_unsqueeze(-1);
                let gate = wide(gate.f_sigmoid()?)?;
                input(0)?.f_mul(&gate)?.f_add(&wide(shift.shallow_clone())?)?
            }
            Op::Select => {
                // A product rather than a choice by number, which the device would be asked for.
                let (x, planes, stages) = (input(0)?, input(1)?, STAGES as i64);
                let mask = planes.f_narrow(1, planes.size()[1] - stages, stages)?;
                let mask = mask.f_select(3, 0)?.f_select(2, 0)?.f_to_kind(x.kind())?;
                let parts = x.f_view([-1, stages, node.shape.channels as i64])?;
                parts.f_mul(&mask.f_unsqueeze(2)?)?.f_sum_dim_intlist(1, false, None::<Kind>)?
            }
        };
        for &input in &node.inputs {
            left[input] -= 1;
            if left[input] == 0 {
                values[input] = None;
            }
        }
        values.push(Some(value));
    }
    let last = values.pop().flatten().unwrap_or_default();
    last.f_to_kind(Kind::Float)
}
