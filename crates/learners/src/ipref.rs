//! iPref: preference learning with board inversion (Runarsson and Lucas, 2014, section VI).
//!
//! For every choice of an expert, the position it leads to should be worth at least 1 more than
//! each position it could have led to, all seen with the mover as Black:
//!
//! ```text
//! w . (phi_chosen - phi_other) >= 1
//! ```
//!
//! Violations are charged by their square, with C, against 1/2 |w|^2. Needs decisions and a set of
//! features; a larger C follows the games more closely. [`crate::pref`] is the same with the board
//! as it is and White taking the negative.

use crate::Seen;
use crate::pref::learn_seen;
use crate::svm::SvmError;
use outflank_games::othello::Othello;
use outflank_models::{Tuples, View};
use outflank_records::Decision;

pub use crate::pref::{Learned, Settings, Solver};

/// Learns a network from decisions; see [`crate::pref::learn`].
pub fn learn(
    tuples: Tuples,
    decisions: &[Decision<Othello>],
    settings: Settings,
    watch: impl FnMut(Seen<'_>) -> bool,
) -> Result<Learned, SvmError> {
    learn_seen(View::Invert, tuples, decisions, settings, watch)
}
