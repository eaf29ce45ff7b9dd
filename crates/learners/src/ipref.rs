//! iPref: preference learning with board inversion (Runarsson & Lucas, 2014, section VI).
//!
//! For every choice of an expert, the value of the chosen afterstate should exceed the value of
//! every other afterstate by a margin of 1. All positions are inverted so that the mover is Black:
//!
//! ```text
//! w . (phi_chosen - phi_other) >= 1
//! ```
//!
//! The weights minimize the regularized squared hinge loss of the violations:
//!
//! ```text
//! 1/2 |w|^2 + C sum max(0, 1 - w . (phi_chosen - phi_other))^2
//! ```
//!
//! A larger C fits the games more closely. [`crate::pref`] is the same method with output negation.
//!
//! Input: decisions and a set of features.
//!
//! Departures from the paper:
//! 1. The default solver is Newton's method in the primal. The paper uses LIBLINEAR's dual
//!    coordinate descent, which is available as [`Solver::Dual`] and has the same optimum.

use crate::IterationState;
use crate::pref::learn_with_view;
use crate::svm::SvmError;
use outflank_games::othello::Othello;
use outflank_models::{Tuples, View};
use outflank_records::Decision;

pub use crate::pref::{PrefConfig, PrefOutcome, Solver};

/// Trains a network on decisions; see [`crate::pref::train`].
pub fn train(
    tuples: Tuples,
    decisions: &[Decision<Othello>],
    config: PrefConfig,
    on_iteration: impl FnMut(IterationState<'_>) -> bool,
) -> Result<PrefOutcome, SvmError> {
    learn_with_view(View::Invert, tuples, decisions, config, on_iteration)
}
