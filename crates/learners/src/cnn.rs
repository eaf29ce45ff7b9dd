//! Deep networks that predict experts' moves, after Liskowski, Jaśkowski and Krawiec (2018).
//!
//! A network is a description ([`outflank_models::nets`]); an [`Engine`] runs it and follows the
//! gradient, on the CPU ([`CpuEngine`]) or another [`Device`]. What is the same for all of them is here: the
//! examples and their two splits ([`Dataset`]), the order in which they are seen ([`Order`]), the
//! steps' sizes ([`Plan`]), checkpoints, and what is measured in the end ([`Evaluation`], [`TrainReport`]).

mod checkpoint;
mod cpu;
mod device;
mod engine;
mod lessons;
mod measure;
mod order;
mod plan;
mod predictor;
mod taught;
mod train;

pub use checkpoint::{Checkpoint, CheckpointError};
pub use cpu::CpuEngine;
pub use device::{Device, CachedOnly, CpuDevice, ready};
pub use engine::{Engine, EngineError, Seen, State, TrainingSet};
pub use lessons::{Dataset, Split, Test};
pub use measure::{Figures, for_each_prediction, measure, rank};
pub use order::Order;
pub use plan::{Optimizer, Plan, LrSchedule};
pub use predictor::EnsemblePolicy;
pub use taught::{Evaluation, TrainReport, TestMetrics, sample_training_set, spread};
pub use train::{Budget, Point, TrainError, Trained, train};
