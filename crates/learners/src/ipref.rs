//! iPref: preference learning with board inversion (Runarsson & Lucas, 2014, section VI).
//!
//! For every choice of an expert, the value of the chosen afterstate must exceed the value of every
//! other afterstate by a margin of 1. Positions are seen with the mover as Black:
//!
//! ```text
//! w . (phi_chosen - phi_other) >= 1
//! ```
//!
//! Violations have a squared hinge loss with penalty parameter C, and 1/2 |w|^2 is the
//! regularizer; a larger C fits the games more closely. [`crate::pref`] is the same method with
//! output negation.
//!
//! Input: decisions and a set of features.

use crate::IterationState;
use crate::pref::learn_with_view;
use crate::svm::SvmError;
use outflank_games::othello::Othello;
use outflank_models::{Tuples, View};
use outflank_records::Decision;

pub use crate::pref::{PrefConfig, PrefOutcome, Solver};

/// Trains a network on decisions; see [`crate::pref::learn`].
pub fn learn(
    tuples: Tuples,
    decisions: &[Decision<Othello>],
    config: PrefConfig,
    on_iteration: impl FnMut(IterationState<'_>) -> bool,
) -> Result<PrefOutcome, SvmError> {
    learn_with_view(View::Invert, tuples, decisions, config, on_iteration)
}
