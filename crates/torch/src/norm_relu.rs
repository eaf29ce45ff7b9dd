//! Normalisation and the ReLU after it in one operation.
//!
//! libtorch reads x for its mean and variance, reads it and writes it normalised, reads and writes that once
//! more to rectify it; its gradient takes eight passes more. Here it is three and five: what the rectifier
//! was given is computed again from x rather than kept.

use crate::shim::{self, pointer};
use std::ffi::CString;
use std::ptr::null_mut;
use tch::{Device, Kind, TchError, Tensor};

/// A slice of 64 maps takes one.
const TICKETS: i64 = 64;

/// No more numbers than these are addressed.
const MOST: usize = 1 << 32;

pub(crate) struct NormRelu {
    /// By these the blocks of a kernel find out which of them is the last; all zero between kernels.
    tickets: Tensor,
}

impl NormRelu {
    /// Compiles the kernels for the device if nobody has yet.
    pub(crate) fn new(device: Device) -> Result<NormRelu, TchError> {
        let text = CString::new(concat!(include_str!("rows.cu"), include_str!("norm_relu.cu")))
            .map_err(|_| TchError::Torch("the kernels' text has a zero in it".to_owned()))?;
        // SAFETY: the text ends in a zero and lives until the call returns.
        shim::call(|why, room| unsafe {
            shim::outflank_norm_relu_prepare(text.as_ptr(), why, room)
        })?;
        Ok(NormRelu { tickets: Tensor::f_zeros([TICKETS], (Kind::Int, device))? })
    }

    /// Whether these maps can be had this way.
    pub(crate) fn takes(&self, x: &Tensor) -> bool {
        let size = x.size();
        let maps = size.get(1).copied().unwrap_or_default();
        size.len() == 4
            && x.kind() == Kind::BFloat16
            && x.device() == self.tickets.device()
            && maps > 0
            && maps % 8 == 0
            && maps <= 64 * TICKETS
            && (maps as usize + 1..MOST).contains(&x.numel())
    }

    /// What comes out, by the batch's own mean and variance, which the running ones follow.
    pub(crate) fn of(
        &self,
        x: &Tensor,
        [scale, shift, mean, variance]: [&Tensor; 4],
        follow: f64,
        epsilon: f64,
    ) -> Result<Tensor, TchError> {
        let [x, scale, shift, mean] = [x, scale, shift, mean].map(pointer);
        let [variance, tickets] = [variance, &self.tickets].map(pointer);
        let mut y = null_mut();
        // SAFETY: the pointers are those of tensors that live until the call returns; `y` is written to.
        shim::call(|why, room| unsafe {
            shim::outflank_norm_relu(
                x, scale, shift, mean, variance, tickets, follow, epsilon, &mut y, why, room,
            )
        })?;
        // SAFETY: after success `y` is a tensor made with `new`, as the binding's own are, and nobody
        // else's.
        Ok(unsafe { Tensor::from_ptr(y.cast()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::Cuda;

    /// What comes out, the gradients of x, scale and shift, and the running mean and variance.
    fn run(given: &[Tensor; 6], fused: Option<&NormRelu>) -> Result<Vec<Tensor>, TchError> {
        let [x, scale, shift, mean, variance, wanted] = given.each_ref().map(Tensor::copy);
        let [x, scale, shift] = [x, scale, shift].map(|leaf| leaf.set_requires_grad(true));
        let (follow, epsilon) = (0.1, 1e-5);
        let y = match fused {
            Some(fused) => fused.of(&x, [&scale, &shift, &mean, &variance], follow, epsilon)?,
            None => {
                let [scale, shift, mean, variance] = [&scale, &shift, &mean, &variance].map(Some);
                x.f_batch_norm(scale, shift, mean, variance, true, follow, epsilon, false)?
                    .f_relu()?
            }
        };
        let gradients = Tensor::f_run_backward(
            &[&y.f_mul(&wanted)?.f_sum(None)?],
            &[&x, &scale, &shift],
            false,
            false,
        )?;
        let mut all = vec![y.detach()];
        all.extend(gradients);
        all.extend([mean, variance]);
        Ok(all
            .into_iter()
            .map(|tensor| tensor.to_device(Device::Cpu).to_kind(Kind::Double))
            .collect())
    }

    /// The largest difference, by the size of what it is the difference of.
    fn apart(a: &Tensor, b: &Tensor, least: f64) -> f64 {
        ((a - b).abs() / (b.abs() + least)).max().double_value(&[])
    }

    #[test]
    fn it_is_what_libtorch_does_in_double_precision() {
        if !Cuda::is_available() {
            return eprintln!("skipped: no graphics processor");
        }
        let gpu = Device::Cuda(0);
        let fused = NormRelu::new(gpu).unwrap();
        tch::manual_seed(1);
        let shapes = [
            ([3, 16, 2, 2], 0.0),
            ([3, 24, 7, 5], 0.5),
            ([61, 40, 8, 8], -1.0),
            ([64, 72, 3, 3], 20.0),
            ([512, 64, 8, 8], 100.0),
            ([512, 256, 8, 8], 0.3),
            ([37, 1024, 2, 2], 0.0),
            ([2048, 16, 8, 8], 3.0),
        ];
        for (size, middle) in shapes {
            let normal = |size: &[i64]| Tensor::randn(size, (Kind::Float, Device::Cpu));
            let maps = [size[1]];
            let given = [
                (normal(&size) + middle).to_kind(Kind::BFloat16),
                normal(&maps),
                normal(&maps),
                normal(&maps),
                normal(&maps).abs(),
                normal(&size).to_kind(Kind::BFloat16),
            ];
            let exact = run(&given.each_ref().map(|it| it.to_kind(Kind::Double)), None).unwrap();
            let given = given.map(|it| it.to_device(gpu));
            for _ in 0..2 {
                let ours = run(&given, Some(&fused)).unwrap();
                // Numbers that come out have eight bits, sums as many as single precision keeps of them.
                let root = ((size[0] * size[2] * size[3]) as f64).sqrt();
                for (at, within, least) in [
                    (0, 5e-3, 1e-2),
                    (2, 1e-4, root),
                    (3, 1e-4, root),
                    (4, 1e-5, 1.0),
                    (5, 1e-5, 1e-2),
                ] {
                    let apart = apart(&ours[at], &exact[at], least);
                    assert!(apart < within, "{size:?} {middle}, number {at}: {apart}");
                }
                // A number at the very edge of the rectifier may fall on either side of it.
                let slack = exact[1].abs().max().double_value(&[]);
                let off = (&ours[1] - &exact[1]).abs().gt(0.01 * slack).to_kind(Kind::Double);
                let off = off.mean(None).double_value(&[]);
                assert!(off < 1e-4, "{size:?} {middle}: {off} of the gradient is off");
                // Rounding to eight bits alone leaves less than half of this; without the part of the mean or of
                // the tilt the gradient is off by more than twice as much.
                let strays = (&ours[1] - &exact[1]).norm() / exact[1].norm();
                let strays = strays.double_value(&[]);
                assert!(strays < 3e-3, "{size:?} {middle}: the gradient strays by {strays}");
                assert_eq!(fused.tickets.abs().sum(None).int64_value(&[]), 0);
            }
        }
    }
}
