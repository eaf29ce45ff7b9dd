//! Pref: preference learning with output negation (Runarsson & Lucas, 2014, section VI).
//!
//! One function returns the value of a position for Black. For every choice of Black, the value of
//! the chosen afterstate should exceed that of every other afterstate by a margin of 1; for every
//! choice of White it should be lower by 1:
//!
//! ```text
//! w . (phi_chosen - phi_other) >= 1 for Black,  <= -1 for White
//! ```
//!
//! The weights minimize the regularized squared hinge loss of the violations, where y is +1 for
//! Black and -1 for White:
//!
//! ```text
//! 1/2 |w|^2 + C sum max(0, 1 - y w . (phi_chosen - phi_other))^2
//! ```
//!
//! [`crate::ipref`] is the same method with board inversion.
//!
//! Input: decisions and a set of features.
//!
//! Departures from the paper:
//! 1. The default solver is Newton's method in the primal. The paper uses LIBLINEAR's dual
//!    coordinate descent, which is available as [`Solver::Dual`] and has the same optimum.

use crate::svm::{SvmConfig, SvmError, SvmFit, SvmLearner, solve_primal};
use crate::{BinaryFeatures, IterationState, SparseRows, preference_rows};
use outflank_games::othello::Othello;
use outflank_models::{
    NTupleNetwork, PieceCounter, PieceFeatures, Tuples, View, from_piece_counter,
};
use outflank_records::Decision;

/// The solver; both reach the same optimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// Newton's method with line search; uses all cores.
    Primal,
    /// LIBLINEAR's dual coordinate descent, in a random order.
    Dual {
        /// The seed of the order.
        seed: u64,
    },
}

/// Configuration of preference learning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrefConfig {
    /// Penalty parameter C of the squared hinge loss.
    pub c: f64,
    /// Stopping tolerance: of the relative gradient norm (primal) or of the range of projected
    /// gradients (dual).
    pub tolerance: f64,
    /// Maximum number of iterations.
    pub max_iterations: u32,
    /// The solver.
    pub solver: Solver,
    /// Whether features are binary (present or absent) instead of counted.
    pub binary: bool,
}

/// A trained network with the solution of the SVM.
#[derive(Clone, Debug)]
pub struct PrefOutcome {
    /// The network.
    pub network: NTupleNetwork,
    /// The solution.
    pub fit: SvmFit,
    /// Number of rows of the problem.
    pub rows: usize,
    /// Number of nonzero entries of all rows.
    pub entries: usize,
}

/// Trains a network on decisions. `on_iteration` returns whether to continue.
pub fn train(
    tuples: Tuples,
    decisions: &[Decision<Othello>],
    config: PrefConfig,
    on_iteration: impl FnMut(IterationState<'_>) -> bool,
) -> Result<PrefOutcome, SvmError> {
    learn_with_view(View::Negate, tuples, decisions, config, on_iteration)
}

/// Trains a network with output negation or board inversion.
pub(crate) fn learn_with_view(
    view: View,
    tuples: Tuples,
    decisions: &[Decision<Othello>],
    config: PrefConfig,
    on_iteration: impl FnMut(IterationState<'_>) -> bool,
) -> Result<PrefOutcome, SvmError> {
    learner(view, tuples, decisions, config)?.solve(config.max_iterations, on_iteration)
}

/// Creates the learner of pref ([`View::Negate`]) or ipref ([`View::Invert`]).
pub fn learner(
    view: View,
    tuples: Tuples,
    decisions: &[Decision<Othello>],
    config: PrefConfig,
) -> Result<SvmLearner, SvmError> {
    let PrefConfig { c, tolerance, solver, binary, .. } = config;
    let rows: SparseRows = if binary {
        preference_rows(&BinaryFeatures(&tuples), view, decisions)
    } else {
        preference_rows(&tuples, view, decisions)
    };
    let config = SvmConfig { c, tolerance, solver };
    SvmLearner::new(rows, decisions.len(), (tuples, view, binary), config)
}

/// Trains the 64 weights of a piece counter. Inverting the board negates its features, so output
/// negation and board inversion are the same.
pub fn learn_piece_counter(
    decisions: &[Decision<Othello>],
    config: PrefConfig,
    on_iteration: impl FnMut(IterationState<'_>) -> bool,
) -> Result<NTupleNetwork, SvmError> {
    let PrefConfig { c, tolerance, max_iterations, .. } = config;
    let rows = preference_rows(&PieceFeatures, View::Invert, decisions);
    let fit = solve_primal(&rows, c, tolerance, max_iterations, on_iteration)?;
    let mut pieces: PieceCounter = [0.0; 64];
    pieces.iter_mut().zip(&fit.weights).for_each(|(piece, &weight)| *piece = weight as f32);
    Ok(from_piece_counter(&pieces))
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_records::{DecisionFilter, decisions};

    #[test]
    fn a_piece_counter_is_the_same_in_both_views() {
        let records = outflank_records::embedded::games();
        let choices = decisions(&records[..20], &DecisionFilter::CHOICES);
        let inverted = preference_rows(&PieceFeatures, View::Invert, choices.items());
        let negated = preference_rows(&PieceFeatures, View::Negate, choices.items());
        for row in 0..inverted.len() {
            let ((i, a, sign), (j, b, other)) = (inverted.row(row), negated.row(row));
            assert_eq!((sign, i), (1.0, j));
            assert!(a.iter().zip(&b).all(|(a, b)| f64::from(*a) == other * f64::from(*b)));
        }
        let config = PrefConfig {
            c: 1.0,
            tolerance: 1e-4,
            max_iterations: 100,
            solver: Solver::Primal,
            binary: false,
        };
        let counter = learn_piece_counter(choices.items(), config, |_| true).unwrap();
        let pieces = counter.piece_counter().unwrap();
        // Corners have high values.
        let corners = [0, 7, 56, 63].map(|corner: usize| pieces[corner]);
        assert!(corners.iter().sum::<f32>() > pieces.iter().sum::<f32>() / 16.0, "{corners:?}");
    }
}
