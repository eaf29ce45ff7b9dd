//! Methods that learn a player, one file or folder each, named as their papers name them.
//!
//! A learner takes decisions or games and gives back a model, or plays games itself under the loop
//! of [`training`]. It holds no paper's constants: who calls it says how long and how strongly.

pub mod ann;
pub mod classify;
pub mod cnn;
pub mod coevolution;
pub mod gp;
pub mod ipref;
pub mod lstd;
pub mod methods;
pub mod mm;
mod once;
pub mod online;
pub mod pref;
mod rows;
mod seen;
pub mod selfplay;
mod svm;
pub mod tdl;
pub mod training;

pub use once::Once;
pub use rows::{Rows, class_rows, preference_rows};
pub use seen::Seen;
pub use svm::{Fit, Loss, SvmError, solve_dual, solve_primal};
