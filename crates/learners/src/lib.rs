#![doc = include_str!("../README.md")]

pub mod ann;
mod binary_features;
pub mod classify;
pub mod cnn;
pub mod coevolution;
pub mod contract;
pub mod gp;
pub mod ipref;
mod iteration_state;
pub mod labels;
pub mod lstd;
pub mod methods;
pub mod mm;
pub mod online;
pub mod pref;
mod rows;
pub mod self_play;
mod svm;
pub mod tdl;
pub mod training;

pub use binary_features::BinaryFeatures;
pub use iteration_state::IterationState;
pub use rows::{SparseRows, class_rows, preference_rows};
pub use svm::{HingeLoss, SvmConfig, SvmError, SvmFit, SvmLearner, solve_dual, solve_primal};
