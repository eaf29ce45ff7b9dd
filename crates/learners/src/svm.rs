//! Linear support vector machines (Runarsson & Lucas, 2014, section VI): minimize over w
//!
//! ```text
//! 1/2 |w|^2 + C * sum_i c_i loss(1 - y_i w.x_i),   loss(t) = max(0, t)^2 (L2) or max(0, t) (L1)
//! ```
//!
//! where c_i is the weight of row i ([`crate::SparseRows::weight`]).
//!
//! Two solvers reach the same optimum. [`solve_primal`], a Newton method, is the default because it
//! is faster and uses all cores. [`solve_dual`] is LIBLINEAR's coordinate descent, which the paper
//! uses with default settings.

mod dual;
mod lbfgs;
mod learner;
mod primal;

pub use dual::{HingeLoss, solve_dual};
pub use learner::{SvmConfig, SvmLearner};
pub use primal::solve_primal;

/// A solution of a linear SVM.
#[derive(Clone, Debug)]
pub struct SvmFit {
    /// The weights.
    pub weights: Vec<f64>,
    /// The value of the objective.
    pub objective: f64,
    /// An upper bound of the distance to the optimal objective.
    pub gap: f64,
    /// Number of iterations: Newton steps (primal) or epochs (dual).
    pub iterations: u32,
    /// Whether the tolerance was reached.
    pub converged: bool,
}

/// An error of an SVM solver.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SvmError {
    /// There are no rows.
    #[error("the games contain no choice to learn from (a move with an alternative)")]
    NoRows,
    /// The solution has a weight that is not finite.
    #[error("the solution is not finite; try a smaller C")]
    NotFinite,
    /// A parameter is out of range.
    #[error("C and the tolerance must be positive numbers, not {0} and {1}")]
    Parameter(f64, f64),
}

/// Checks the input of a solver.
fn check(rows: &crate::SparseRows, c: f64, tolerance: f64) -> Result<(), SvmError> {
    if rows.is_empty() {
        return Err(SvmError::NoRows);
    }
    if !(c > 0.0 && c.is_finite() && tolerance > 0.0 && tolerance.is_finite()) {
        return Err(SvmError::Parameter(c, tolerance));
    }
    Ok(())
}
