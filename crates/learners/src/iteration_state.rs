//! The state that an iterative solver passes to its progress callback.

/// The state of a solver after an iteration.
#[derive(Clone, Copy, Debug)]
pub struct IterationState<'a> {
    /// The iteration, from 1.
    pub iteration: u32,
    /// The value of the objective; NaN if the solver does not compute it.
    pub objective: f64,
    /// The quantity that the solver compares with its tolerance.
    pub residual: f64,
    /// The current weights, one per feature.
    pub weights: &'a [f64],
}
