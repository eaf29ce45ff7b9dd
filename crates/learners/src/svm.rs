//! The linear support vector machine of paper 0: minimise over w
//!
//! ```text
//! 1/2 |w|^2 + C * sum_i c_i loss(1 - y_i w.x_i),   loss(t) = max(0, t)^2 (L2) or max(0, t) (L1)
//! ```
//!
//! where c_i is how many times row i counts: 1, unless [`crate::Rows::with_weights`] said
//! otherwise.
//!
//! Two solvers reach the same optimum: [`solve_primal`], a Newton method, which is
//! the default because it is quicker and uses all cores; and [`solve_dual`], the coordinate
//! descent that LIBLINEAR runs with its default settings, for fidelity to the paper.

mod dual;
mod memory;
mod primal;

pub use dual::{Loss, solve_dual};
pub use primal::solve_primal;

/// A solution and how good it is.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The weights.
    pub weights: Vec<f64>,
    /// The value of the objective.
    pub objective: f64,
    /// No solution is better than this one by more: the distance to a lower bound.
    pub gap: f64,
    /// Passes over the rows, or Newton steps.
    pub steps: u32,
    /// Whether the tolerance was reached.
    pub settled: bool,
}

/// Why there is nothing to solve.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SvmError {
    /// No rows.
    #[error("there are no preferences to learn from: the games hold no move that was a choice")]
    NoRows,
    /// The solution has a weight that is no number.
    #[error("the solution is not finite; try a smaller C")]
    NotFinite,
    /// A setting that makes no sense.
    #[error("C must be a positive number and the tolerance too, not {0} and {1}")]
    Setting(f64, f64),
}

/// Refuses what cannot be solved.
fn check(rows: &crate::Rows, c: f64, tolerance: f64) -> Result<(), SvmError> {
    if rows.is_empty() {
        return Err(SvmError::NoRows);
    }
    if !(c > 0.0 && c.is_finite() && tolerance > 0.0 && tolerance.is_finite()) {
        return Err(SvmError::Setting(c, tolerance));
    }
    Ok(())
}
