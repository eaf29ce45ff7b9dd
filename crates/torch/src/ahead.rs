//! What the next steps need, laid out on the device: which examples they see and how large they are.
//!
//! A step finds its own row by a counter that lies there too, so that all steps are the same operations
//! on the same memory.

use tch::{Device, Kind, TchError, Tensor};

pub(crate) struct Ahead {
    /// A row of places for each step.
    places: Tensor,
    /// A row for each step: its rate, and its number.
    terms: Tensor,
    /// The row of the next step.
    row: Tensor,
    batch: usize,
    rows: usize,
}

impl Ahead {
    /// Room for so many steps of so many examples.
    pub(crate) fn new(rows: usize, batch: usize, device: Device) -> Result<Ahead, TchError> {
        let (long, wide) = (rows as i64, batch as i64);
        Ok(Ahead {
            places: Tensor::f_zeros([long, wide], (Kind::Int64, device))?,
            terms: Tensor::f_zeros([long, 2], (Kind::Float, device))?,
            row: Tensor::f_zeros([1], (Kind::Int64, device))?,
            batch,
            rows,
        })
    }

    /// How many steps there is room for.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Lays out steps, at most as many as there is room for, the first of them `step`, counted from 1.
    pub(crate) fn lay_out(
        &mut self,
        places: &[u32],
        rates: &[f64],
        step: u64,
    ) -> Result<(), TchError> {
        let long = rates.len() as i64;
        let places: Vec<i64> = places.iter().map(|&place| i64::from(place)).collect();
        let places = Tensor::f_from_slice(&places)?.f_view([long, self.batch as i64])?;
        let terms: Vec<f32> =
            rates.iter().zip(step..).flat_map(|(&rate, step)| [rate as f32, step as f32]).collect();
        let terms = Tensor::f_from_slice(&terms)?.f_view([long, 2])?;
        self.places.f_narrow(0, 0, long)?.f_copy_(&places)?;
        self.terms.f_narrow(0, 0, long)?.f_copy_(&terms)?;
        self.row.f_zero_().map(|_| ())
    }

    /// The places of the next step, its rate and its number.
    pub(crate) fn next(&mut self) -> Result<(Tensor, [Tensor; 2]), TchError> {
        let places = self.places.f_index_select(0, &self.row)?.f_view([-1])?;
        let terms = self.terms.f_index_select(0, &self.row)?.f_view([2])?;
        let _ = self.row.f_add_scalar_(1)?;
        Ok((places, [terms.f_select(0, 0)?, terms.f_select(0, 1)?]))
    }
}
