//! Batch normalization and ReLU as one operation.
//!
//! libtorch transfers the activations five times: it reads x for the statistics, reads x and writes
//! the normalized values, and reads and writes those again for the ReLU. Its backward pass
//! transfers them eight times. The fused kernels need three and five transfers, since the backward
//! pass recomputes the input of the ReLU from x.

use crate::shim::{self, pointer};
use std::ffi::CString;
use std::ptr::null_mut;
use tch::{Device, Kind, TchError, Tensor};

/// Number of block counters; a slice of 64 channels uses one.
const BLOCK_COUNTERS: i64 = 64;

/// Upper limit for the elements of an activation.
const MAX_ELEMENTS: usize = 1 << 32;

/// The compiled kernels.
pub(crate) struct NormRelu {
    /// Counters of the finished thread blocks of each slice, which identify the last one; zero
    /// between kernels.
    block_counters: Tensor,
}

impl NormRelu {
    /// Compiles the kernels, once per process.
    pub(crate) fn new(device: Device) -> Result<NormRelu, TchError> {
        let text =
            CString::new(concat!(include_str!("channel_rows.cu"), include_str!("norm_relu.cu")))
                .map_err(|_| TchError::Torch("the kernel source contains a NUL byte".to_owned()))?;
        // SAFETY: the text is NUL-terminated and lives until the call returns.
        shim::call(|error, len| unsafe {
            shim::outflank_norm_relu_prepare(text.as_ptr(), error, len)
        })?;
        Ok(NormRelu { block_counters: Tensor::f_zeros([BLOCK_COUNTERS], (Kind::Int, device))? })
    }

    /// Returns whether the kernels support this activation.
    pub(crate) fn supports(&self, x: &Tensor) -> bool {
        let size = x.size();
        let channels = size.get(1).copied().unwrap_or_default();
        size.len() == 4
            && x.kind() == Kind::BFloat16
            && x.device() == self.block_counters.device()
            && channels > 0
            && channels % 8 == 0
            && channels <= 64 * BLOCK_COUNTERS
            && (channels as usize + 1..MAX_ELEMENTS).contains(&x.numel())
    }

    /// Normalizes with the batch statistics, applies the ReLU and updates the running statistics.
    pub(crate) fn apply(
        &self,
        x: &Tensor,
        [scale, shift, mean, variance]: [&Tensor; 4],
        momentum: f64,
        epsilon: f64,
    ) -> Result<Tensor, TchError> {
        let [x, scale, shift, mean] = [x, scale, shift, mean].map(pointer);
        let [variance, block_counters] = [variance, &self.block_counters].map(pointer);
        let mut y = null_mut();
        // SAFETY: the pointers are those of tensors that live until the call returns; `y` is written
        // to.
        shim::call(|error, len| unsafe {
            shim::outflank_norm_relu(
                x,
                scale,
                shift,
                mean,
                variance,
                block_counters,
                momentum,
                epsilon,
                &mut y,
                error,
                len,
            )
        })?;
        // SAFETY: after success `y` is an owned tensor allocated with `new`, like those of `tch`.
        Ok(unsafe { Tensor::from_ptr(y.cast()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::Cuda;

    /// Returns the output, the gradients of x, scale and shift, and the running mean and variance.
    fn run(inputs: &[Tensor; 6], fused: Option<&NormRelu>) -> Result<Vec<Tensor>, TchError> {
        let [x, scale, shift, mean, variance, output_gradient] =
            inputs.each_ref().map(Tensor::copy);
        let [x, scale, shift] = [x, scale, shift].map(|leaf| leaf.set_requires_grad(true));
        let (momentum, epsilon) = (0.1, 1e-5);
        let y = match fused {
            Some(fused) => {
                fused.apply(&x, [&scale, &shift, &mean, &variance], momentum, epsilon)?
            }
            None => {
                let [scale, shift, mean, variance] = [&scale, &shift, &mean, &variance].map(Some);
                x.f_batch_norm(scale, shift, mean, variance, true, momentum, epsilon, false)?
                    .f_relu()?
            }
        };
        let gradients = Tensor::f_run_backward(
            &[&y.f_mul(&output_gradient)?.f_sum(None)?],
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

    /// Returns the largest difference relative to `|b| + floor`.
    fn relative_difference(a: &Tensor, b: &Tensor, floor: f64) -> f64 {
        ((a - b).abs() / (b.abs() + floor)).max().double_value(&[])
    }

    #[test]
    fn fused_kernels_agree_with_libtorch_in_double_precision() {
        if !Cuda::is_available() {
            return eprintln!("skipped: no CUDA GPU");
        }
        let cuda = Device::Cuda(0);
        let fused = NormRelu::new(cuda).unwrap();
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
        for (size, offset) in shapes {
            let normal = |size: &[i64]| Tensor::randn(size, (Kind::Float, Device::Cpu));
            let channels = [size[1]];
            let inputs = [
                (normal(&size) + offset).to_kind(Kind::BFloat16),
                normal(&channels),
                normal(&channels),
                normal(&channels),
                normal(&channels).abs(),
                normal(&size).to_kind(Kind::BFloat16),
            ];
            let exact =
                run(&inputs.each_ref().map(|tensor| tensor.to_kind(Kind::Double)), None).unwrap();
            let inputs = inputs.map(|tensor| tensor.to_device(cuda));
            for _ in 0..2 {
                let ours = run(&inputs, Some(&fused)).unwrap();
                // Outputs have the precision of bfloat16, sums that of single precision.
                let root = ((size[0] * size[2] * size[3]) as f64).sqrt();
                for (at, tolerance, floor) in [
                    (0, 5e-3, 1e-2),
                    (2, 1e-4, root),
                    (3, 1e-4, root),
                    (4, 1e-5, 1.0),
                    (5, 1e-5, 1e-2),
                ] {
                    let difference = relative_difference(&ours[at], &exact[at], floor);
                    assert!(difference < tolerance, "{size:?} {offset}, tensor {at}: {difference}");
                }
                // Values next to the threshold of the ReLU may fall on either side.
                let largest = exact[1].abs().max().double_value(&[]);
                let off = (&ours[1] - &exact[1]).abs().gt(0.01 * largest).to_kind(Kind::Double);
                let off = off.mean(None).double_value(&[]);
                assert!(off < 1e-4, "{size:?} {offset}: {off} of the gradient is off");
                // Rounding to bfloat16 alone causes less than half of this error; leaving out a
                // term of the gradient would cause more than twice as much.
                let error = (&ours[1] - &exact[1]).norm() / exact[1].norm();
                let error = error.double_value(&[]);
                assert!(error < 3e-3, "{size:?} {offset}: relative error {error} of the gradient");
                assert_eq!(fused.block_counters.abs().sum(None).int64_value(&[]), 0);
            }
        }
    }
}
