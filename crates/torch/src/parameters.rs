//! The parameters on the device: one flat vector in single precision, and views of it.
//!
//! The vector holds matrices and convolution kernels first, then the last layer, then biases and
//! the scales and shifts of normalizations. On a GPU, matrices and kernels are used in half
//! precision (bfloat16). One copy operation refreshes the half-precision weights after each step,
//! so the optimizer and the checkpoint handle one vector instead of dozens of tensors.
//!
//! On the device, input channels are the innermost dimension (channels-last); in files, the
//! outermost.

use outflank_models::nets::{NetError, NetGraph, Op, Param, Role, Weights};
use tch::{Device, Kind, TchError, Tensor};

/// The range of a trainable parameter in the flat vector.
#[derive(Clone, Copy)]
struct ParamRange {
    start: i64,
    length: i64,
    /// Whether it is used in half precision.
    half: bool,
    /// Number of cells of the kernel, or of a feature map that a matrix reads. The device layout
    /// swaps cells and channels.
    cells: usize,
}

/// The parameters of a network on the device.
pub(crate) struct ParameterStore {
    /// All trainable parameters in single precision.
    pub(crate) flat: Tensor,
    /// The gradient, laid out like `flat`.
    pub(crate) gradient: Tensor,
    /// The half-precision copy of the prefix of `flat` that is used in half precision.
    half: Tensor,
    /// The range of each parameter in the flat vector; `None` for running means and variances.
    ranges: Vec<Option<ParamRange>>,
    /// Each parameter as used in training: the leaf tensors of autograd, and the running means and
    /// variances.
    pub(crate) leaves: Vec<Tensor>,
    /// Each parameter in single precision, for inference; cuDNN may round factors to TF32.
    pub(crate) full: Vec<Tensor>,
    /// Indices of the trainable parameters in the order of the flat vector.
    order: Vec<usize>,
    /// Number of parameters in half precision, which come first.
    half_count: usize,
    /// Length of the prefix of the flat vector that has weight decay.
    pub(crate) decayed: i64,
}

impl ParameterStore {
    /// Allocates the parameters of a network.
    pub(crate) fn new(
        net: &NetGraph,
        device: Device,
        kind: Kind,
    ) -> Result<ParameterStore, TchError> {
        let params = net.params();
        let last = params.iter().rfind(|param| param.role == Role::Weight).map(|param| param.node);
        let rank = |param: &Param| match (param.role, Some(param.node) == last) {
            (Role::Weight, false) => 0,
            (Role::Weight, true) => 1,
            _ => 2,
        };
        let mut order: Vec<usize> =
            (0..params.len()).filter(|&at| params[at].role.is_trainable()).collect();
        order.sort_by_key(|&at| rank(&params[at]));
        let mut ranges = vec![None; params.len()];
        let (mut end, mut half_end, mut decayed) = (0, 0, 0);
        for &at in &order {
            let param = &params[at];
            let (half, length) = (rank(param) == 0, param.len() as i64);
            ranges[at] =
                Some(ParamRange { start: end, length, half, cells: swapped_cells(net, param) });
            end += length;
            if half {
                half_end = end;
            }
            if param.role == Role::Weight {
                decayed = end;
            }
        }
        let half_count = order.iter().filter(|&&at| rank(&params[at]) == 0).count();
        let flat = Tensor::f_zeros([end], (Kind::Float, device))?;
        let gradient = flat.f_zeros_like()?;
        let half = Tensor::f_zeros([half_end], (kind, device))?;
        let (mut leaves, mut full) = (Vec::new(), Vec::new());
        for (param, range) in params.iter().zip(&ranges) {
            match range {
                Some(range) => {
                    let view = |whole: &Tensor| -> Result<Tensor, TchError> {
                        whole
                            .f_narrow(0, range.start, range.length)?
                            .f_view(&device_shape(param, range.cells)[..])?
                            .f_detach()
                    };
                    full.push(view(&flat)?);
                    let leaf = view(if range.half { &half } else { &flat })?;
                    leaves.push(leaf.f_set_requires_grad(true)?);
                }
                None => {
                    let running = Tensor::f_zeros([param.len() as i64], (Kind::Float, device))?;
                    full.push(running.shallow_clone());
                    leaves.push(running);
                }
            }
        }
        Ok(ParameterStore {
            flat,
            gradient,
            half,
            ranges,
            leaves,
            full,
            order,
            half_count,
            decayed,
        })
    }

    /// Copies the flat vector to the half-precision weights.
    pub(crate) fn refresh(&mut self) -> Result<(), TchError> {
        let length = self.half.size()[0];
        self.half.f_copy_(&self.flat.f_narrow(0, 0, length)?)
    }

    /// Returns the trainable leaves in the order of the flat vector.
    pub(crate) fn trainable(&self) -> Vec<&Tensor> {
        self.order.iter().map(|&at| &self.leaves[at]).collect()
    }

    /// Copies the gradients of the leaves into the flat gradient.
    pub(crate) fn gather(&mut self, gradients: &[Tensor]) -> Result<(), TchError> {
        let (half, rest) = gradients.split_at(self.half_count);
        let (first, all) = (self.half.size()[0], self.flat.size()[0]);
        for (tensors, from, to) in [(half, 0, first), (rest, first, all)] {
            if tensors.is_empty() {
                continue;
            }
            let flat: Result<Vec<Tensor>, TchError> =
                tensors.iter().map(|gradient| gradient.f_reshape([-1])).collect();
            let joined = Tensor::f_cat(&flat?, 0)?;
            self.gradient.f_narrow(0, from, to - from)?.f_copy_(&joined)?;
        }
        Ok(())
    }

    /// Copies weights or moments from file layout into a flat vector. With `running` the running
    /// means and variances are copied too.
    pub(crate) fn load(
        &self,
        values: &[Vec<f32>],
        to: &mut Tensor,
        running: bool,
    ) -> Result<(), TchError> {
        let mut flat = vec![0.0; to.size()[0] as usize];
        for ((values, range), leaf) in values.iter().zip(&self.ranges).zip(&self.full) {
            match range {
                Some(range) => {
                    let from = range.start as usize;
                    let to = &mut flat[from..from + values.len()];
                    transpose(values, leaf.size()[0] as usize, range.cells, to);
                }
                None if running => {
                    leaf.shallow_clone().f_copy_(&Tensor::f_from_slice(values)?)?;
                }
                None => {}
            }
        }
        to.f_copy_(&Tensor::f_from_slice(&flat)?)
    }

    /// Returns the values of a flat vector in file layout.
    pub(crate) fn save(&self, from: &Tensor, running: bool) -> Result<Vec<Vec<f32>>, TchError> {
        let mut flat = vec![0.0f32; from.size()[0] as usize];
        let count = flat.len();
        from.f_to_device(Device::Cpu)?.f_copy_data(&mut flat, count)?;
        let read = |(range, leaf): (&Option<ParamRange>, &Tensor)| -> Result<Vec<f32>, TchError> {
            let mut values = vec![0.0f32; leaf.numel()];
            match range {
                Some(range) => {
                    let from = &flat[range.start as usize..][..values.len()];
                    let outputs = leaf.size()[0] as usize;
                    let inner = values.len() / outputs.max(1) / range.cells.max(1);
                    // The inverse transposition exchanges the roles of channels and cells.
                    transpose(from, outputs, inner, &mut values);
                }
                None if running => {
                    let count = values.len();
                    leaf.f_to_device(Device::Cpu)?.f_copy_data(&mut values, count)?;
                }
                None => {}
            }
            Ok(values)
        };
        self.ranges.iter().zip(&self.full).map(read).collect()
    }

    /// Returns the weights in file layout.
    pub(crate) fn weights(&self, net: &NetGraph) -> Result<Result<Weights, NetError>, TchError> {
        Ok(Weights::new(net, self.save(&self.flat, true)?))
    }
}

/// Returns the number of cells that the device layout swaps with the channels; 1 if there are none.
fn swapped_cells(net: &NetGraph, param: &Param) -> usize {
    match (param.role, net.nodes()[param.node].op) {
        (Role::Weight, Op::Conv { size, .. }) => size * size,
        (Role::Weight, Op::Linear { .. }) => {
            let node = &net.nodes()[param.node];
            net.nodes()[node.inputs[0]].shape.cells()
        }
        _ => 1,
    }
}

/// Returns the shape of a parameter on the device.
fn device_shape(param: &Param, cells: usize) -> Vec<i64> {
    match param.shape[..] {
        [outputs, inputs, rows, columns] => {
            vec![outputs as i64, rows as i64, columns as i64, inputs as i64]
        }
        [outputs, inputs] => vec![outputs as i64, (cells * (inputs / cells)) as i64],
        _ => vec![param.len() as i64],
    }
}

/// Transposes each output from channels x cells to cells x channels.
fn transpose(values: &[f32], outputs: usize, cells: usize, to: &mut [f32]) {
    let inner = values.len() / outputs.max(1);
    let channels = inner / cells.max(1);
    for (from, to) in values.chunks(inner.max(1)).zip(to.chunks_mut(inner.max(1))) {
        for (at, to) in to.iter_mut().enumerate() {
            *to = from[at % channels * cells + at / channels];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposing_twice_is_the_identity() {
        // Two outputs, three channels of four cells.
        let values: Vec<f32> = (0..24u8).map(f32::from).collect();
        let (mut there, mut back) = (vec![0.0; 24], vec![0.0; 24]);
        transpose(&values, 2, 4, &mut there);
        assert_eq!(there[..6], [0.0, 4.0, 8.0, 1.0, 5.0, 9.0]);
        transpose(&there, 2, 3, &mut back);
        assert_eq!(back, values);
    }
}
