#![doc = include_str!("../README.md")]

mod connection;
mod coordinator;
mod error;
mod in_flight;
mod options;
mod result_cursor;
mod results;
#[cfg(test)]
mod simulation;
mod text;
mod wire;
mod worker;
mod worker_registry;

pub use coordinator::NatsQueue;
pub use error::ClusterError;
pub use options::ClusterOptions;
pub use worker::{WorkerSummary, run_worker};

/// A callback for status messages to the user: workers that join or leave, rejected results, a lost
/// connection.
pub type LogFn = std::sync::Arc<dyn Fn(&str) + Send + Sync>;
