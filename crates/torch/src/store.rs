//! The weights on the device: one long vector in single precision, and what is computed with.
//!
//! The vector holds matrices and convolutions first, then the last layer, then offsets, scales and
//! shifts. Matrices and convolutions are computed with in half precision where the device is fast at
//! it; their copy is refreshed after each step by one operation, and so the optimizer and a checkpoint
//! deal with one vector rather than with dozens of tensors.
//!
//! Weights lie with the inputs' maps innermost, as the device wants them; files have them outermost.

use outflank_models::nets::{NetGraph, NetError, Op, Param, Role, Weights};
use tch::{Device, Kind, TchError, Tensor};

/// Where a learned parameter lies.
#[derive(Clone, Copy)]
struct Place {
    from: i64,
    length: i64,
    /// Whether it is computed with in half precision.
    half: bool,
    /// The cells of a field or of the maps that a matrix reads, which trade places with the maps.
    cells: usize,
}

pub(crate) struct Store {
    pub(crate) flat: Tensor,
    /// The gradient, as long.
    pub(crate) gradient: Tensor,
    half: Tensor,
    places: Vec<Option<Place>>,
    /// Of each parameter what is computed with while learning: the leaves of the gradient, and the
    /// running means and variances.
    pub(crate) leaves: Vec<Tensor>,
    /// The same in single precision, for answers; cuDNN keeps ten bits of each factor (TF32).
    pub(crate) full: Vec<Tensor>,
    /// The learned parameters, those in half precision first, in the order of the vector.
    order: Vec<usize>,
    halves: usize,
    /// How much of the vector is pulled toward zero.
    pub(crate) decaying: i64,
}

impl Store {
    pub(crate) fn new(net: &NetGraph, device: Device, kind: Kind) -> Result<Store, TchError> {
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
        let mut places = vec![None; params.len()];
        let (mut end, mut half_end, mut decaying) = (0, 0, 0);
        for &at in &order {
            let param = &params[at];
            let (half, length) = (rank(param) == 0, param.len() as i64);
            places[at] = Some(Place { from: end, length, half, cells: cells(net, param) });
            end += length;
            if half {
                half_end = end;
            }
            if param.role == Role::Weight {
                decaying = end;
            }
        }
        let halves = order.iter().filter(|&&at| rank(&params[at]) == 0).count();
        let flat = Tensor::f_zeros([end], (Kind::Float, device))?;
        let gradient = flat.f_zeros_like()?;
        let half = Tensor::f_zeros([half_end], (kind, device))?;
        let (mut leaves, mut full) = (Vec::new(), Vec::new());
        for (param, place) in params.iter().zip(&places) {
            match place {
                Some(place) => {
                    let view = |whole: &Tensor| -> Result<Tensor, TchError> {
                        whole
                            .f_narrow(0, place.from, place.length)?
                            .f_view(&shape(param, place.cells)[..])?
                            .f_detach()
                    };
                    full.push(view(&flat)?);
                    let leaf = view(if place.half { &half } else { &flat })?;
                    leaves.push(leaf.f_set_requires_grad(true)?);
                }
                None => {
                    let running = Tensor::f_zeros([param.len() as i64], (Kind::Float, device))?;
                    full.push(running.shallow_clone());
                    leaves.push(running);
                }
            }
        }
        Ok(Store { flat, gradient, half, places, leaves, full, order, halves, decaying })
    }

    /// After the long vector has changed.
    pub(crate) fn refresh(&mut self) -> Result<(), TchError> {
        let length = self.half.size()[0];
        self.half.f_copy_(&self.flat.f_narrow(0, 0, length)?)
    }

    /// The leaves in the order of the long vector.
    pub(crate) fn learned(&self) -> Vec<&Tensor> {
        self.order.iter().map(|&at| &self.leaves[at]).collect()
    }

    /// Lays the gradients of the leaves into the long vector of the gradient.
    pub(crate) fn gather(&mut self, gradients: &[Tensor]) -> Result<(), TchError> {
        let (half, rest) = gradients.split_at(self.halves);
        let (first, all) = (self.half.size()[0], self.flat.size()[0]);
        for (part, from, to) in [(half, 0, first), (rest, first, all)] {
            if part.is_empty() {
                continue;
            }
            let flat: Result<Vec<Tensor>, TchError> =
                part.iter().map(|gradient| gradient.f_reshape([-1])).collect();
            let long = Tensor::f_cat(&flat?, 0)?;
            self.gradient.f_narrow(0, from, to - from)?.f_copy_(&long)?;
        }
        Ok(())
    }

    /// Takes weights, or what an optimizer remembers of them, from files' order into a long vector;
    /// running means and variances go to `running`.
    pub(crate) fn load(
        &self,
        values: &[Vec<f32>],
        to: &mut Tensor,
        running: bool,
    ) -> Result<(), TchError> {
        let mut long = vec![0.0; to.size()[0] as usize];
        for ((values, place), leaf) in values.iter().zip(&self.places).zip(&self.full) {
            match place {
                Some(place) => {
                    let from = place.from as usize;
                    let to = &mut long[from..from + values.len()];
                    turned(values, leaf.size()[0] as usize, place.cells, to);
                }
                None if running => {
                    leaf.shallow_clone().f_copy_(&Tensor::f_from_slice(values)?)?;
                }
                None => {}
            }
        }
        to.f_copy_(&Tensor::f_from_slice(&long)?)
    }

    /// The numbers of a long vector in files' order.
    pub(crate) fn save(&self, from: &Tensor, running: bool) -> Result<Vec<Vec<f32>>, TchError> {
        let mut long = vec![0.0f32; from.size()[0] as usize];
        let count = long.len();
        from.f_to_device(Device::Cpu)?.f_copy_data(&mut long, count)?;
        let read = |(place, leaf): (&Option<Place>, &Tensor)| -> Result<Vec<f32>, TchError> {
            let mut values = vec![0.0f32; leaf.numel()];
            match place {
                Some(place) => {
                    let from = &long[place.from as usize..][..values.len()];
                    let outputs = leaf.size()[0] as usize;
                    let inner = values.len() / outputs.max(1) / place.cells.max(1);
                    // Turning the other way is turning with maps and cells exchanged.
                    turned(from, outputs, inner, &mut values);
                }
                None if running => {
                    let count = values.len();
                    leaf.f_to_device(Device::Cpu)?.f_copy_data(&mut values, count)?;
                }
                None => {}
            }
            Ok(values)
        };
        self.places.iter().zip(&self.full).map(read).collect()
    }

    /// The weights.
    pub(crate) fn weights(&self, net: &NetGraph) -> Result<Result<Weights, NetError>, TchError> {
        Ok(Weights::new(net, self.save(&self.flat, true)?))
    }
}

/// The cells that trade places with the maps.
fn cells(net: &NetGraph, param: &Param) -> usize {
    match (param.role, net.nodes()[param.node].op) {
        (Role::Weight, Op::Conv { size, .. }) => size * size,
        (Role::Weight, Op::Linear { .. }) => {
            let node = &net.nodes()[param.node];
            net.nodes()[node.inputs[0]].shape.cells()
        }
        _ => 1,
    }
}

/// A parameter's shape on the device.
fn shape(param: &Param, cells: usize) -> Vec<i64> {
    match param.shape[..] {
        [outputs, inputs, rows, columns] => {
            vec![outputs as i64, rows as i64, columns as i64, inputs as i64]
        }
        [outputs, inputs] => vec![outputs as i64, (cells * (inputs / cells)) as i64],
        _ => vec![param.len() as i64],
    }
}

/// Exchanges maps and cells of each output: from maps of cells to cells of maps.
fn turned(values: &[f32], outputs: usize, cells: usize, to: &mut [f32]) {
    let inner = values.len() / outputs.max(1);
    let maps = inner / cells.max(1);
    for (from, to) in values.chunks(inner.max(1)).zip(to.chunks_mut(inner.max(1))) {
        for (at, to) in to.iter_mut().enumerate() {
            *to = from[at % maps * cells + at / maps];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turning_twice_changes_nothing() {
        // Two outputs, three maps of four cells.
        let values: Vec<f32> = (0..24u8).map(f32::from).collect();
        let (mut there, mut back) = (vec![0.0; 24], vec![0.0; 24]);
        turned(&values, 2, 4, &mut there);
        assert_eq!(there[..6], [0.0, 4.0, 8.0, 1.0, 5.0, 9.0]);
        turned(&there, 2, 3, &mut back);
        assert_eq!(back, values);
    }
}
