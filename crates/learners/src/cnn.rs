//! Convolutional networks that predict expert moves (Liskowski, Jaśkowski & Krawiec, 2018).
//!
//! A network maps a position to 60 logits, one per square that can be played. It is trained on
//! (position, expert move) pairs by stochastic gradient descent on the cross-entropy
//!
//! `L(w) = -1/B Σ_b Σ_c q_c(b) log softmax(f_w(x_b))_c`,
//!
//! where `q(b)` is one-hot at the move that was played, or smoothed (section IV). Architectures are
//! described in [`outflank_models::nets`]. An [`Engine`] executes one network and its optimizer, on
//! the CPU ([`CpuEngine`]) or on another [`Device`]. Everything else is common to all engines:
//!
//! - [`Dataset`]: examples and their train/test splits (section III);
//! - [`EpochOrder`]: the order in which an epoch visits the examples;
//! - [`CnnConfig`]: optimizer, learning-rate schedule and regularization (section IV);
//! - [`CnnLearner`]: training under a [`Trainer`](crate::training::Trainer);
//! - [`Evaluation`], [`TestMetrics`], [`TrainReport`]: accuracy on the tests (section V);
//! - [`EnsemblePolicy`]: one network, or a bagged ensemble, as a policy (section V-B3).
//!
//! Departures from the paper:
//!
//! 1. Tests are split by game as well as by example. A split by example leaves symmetric positions
//!    and other positions of the same game in the training set.
//! 2. Top-1 accuracy is also reported among legal moves only, and symmetric moves share the credit
//!    (see [`measure`]).
//! 3. Besides momentum with a step-wise schedule there are Nesterov momentum, AdamW, label
//!    smoothing, and cosine, linear and constant schedules.

mod config;
mod cpu;
mod dataset;
mod device;
mod engine;
mod ensemble;
mod epoch_order;
mod evaluation;
mod learner;
mod metrics;
mod old_checkpoint;
mod validation;

pub use config::{CnnConfig, LrSchedule, Optimizer};
pub use cpu::CpuEngine;
pub use dataset::{Dataset, Split, SplitBy, TestSet};
pub use device::{CachedOnly, CpuDevice, Device, load_engine};
pub use engine::{BatchStats, Engine, EngineError, TrainState, TrainingSet};
pub use ensemble::EnsemblePolicy;
pub use epoch_order::EpochOrder;
pub use evaluation::{Evaluation, TestMetrics, TrainReport, sample_evenly, sample_training_set};
pub use learner::{CnnBudget, CnnError, CnnLearner, CnnModel};
pub use metrics::{PredictionCounts, for_each_prediction, measure, rank};
pub use old_checkpoint::{OldCheckpoint, OldCheckpointError};
pub use validation::CnnValidation;
