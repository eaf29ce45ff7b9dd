//! The inputs of the next training steps on the device: example indices and learning rates.
//!
//! A counter on the device selects the row of the next step. All steps are therefore the same
//! operations on the same memory, and can be captured in a CUDA graph.

use tch::{Device, Kind, TchError, Tensor};

/// A queue of training steps in device memory.
pub(crate) struct StepQueue {
    /// One row of example indices per step.
    indices: Tensor,
    /// One row per step: its learning rate and its number.
    scalars: Tensor,
    /// The row of the next step.
    row: Tensor,
    batch_size: usize,
    capacity: usize,
}

impl StepQueue {
    /// Allocates memory for `capacity` steps.
    pub(crate) fn new(
        capacity: usize,
        batch_size: usize,
        device: Device,
    ) -> Result<StepQueue, TchError> {
        let (rows, columns) = (capacity as i64, batch_size as i64);
        Ok(StepQueue {
            indices: Tensor::f_zeros([rows, columns], (Kind::Int64, device))?,
            scalars: Tensor::f_zeros([rows, 2], (Kind::Float, device))?,
            row: Tensor::f_zeros([1], (Kind::Int64, device))?,
            batch_size,
            capacity,
        })
    }

    /// Returns the maximum number of steps.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Fills the queue with at most `capacity` steps. `first_step` is the number of the first, from
    /// 1.
    pub(crate) fn fill(
        &mut self,
        indices: &[u32],
        learning_rates: &[f64],
        first_step: u64,
    ) -> Result<(), TchError> {
        let rows = learning_rates.len() as i64;
        let indices: Vec<i64> = indices.iter().map(|&index| i64::from(index)).collect();
        let indices = Tensor::f_from_slice(&indices)?.f_view([rows, self.batch_size as i64])?;
        let scalars: Vec<f32> = learning_rates
            .iter()
            .zip(first_step..)
            .flat_map(|(&learning_rate, step)| [learning_rate as f32, step as f32])
            .collect();
        let scalars = Tensor::f_from_slice(&scalars)?.f_view([rows, 2])?;
        self.indices.f_narrow(0, 0, rows)?.f_copy_(&indices)?;
        self.scalars.f_narrow(0, 0, rows)?.f_copy_(&scalars)?;
        self.row.f_zero_().map(|_| ())
    }

    /// Returns the example indices of the next step, its learning rate and its number.
    pub(crate) fn next(&mut self) -> Result<(Tensor, [Tensor; 2]), TchError> {
        let indices = self.indices.f_index_select(0, &self.row)?.f_view([-1])?;
        let scalars = self.scalars.f_index_select(0, &self.row)?.f_view([2])?;
        let _ = self.row.f_add_scalar_(1)?;
        Ok((indices, [scalars.f_select(0, 0)?, scalars.f_select(0, 1)?]))
    }
}
