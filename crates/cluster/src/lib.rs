//! Work spread over many machines by NATS JetStream.
//!
//! The coordinator is a [`Grid`], which does what `outflank_runs::WorkQueue` asks: it puts pieces of work
//! as messages into a work queue and takes their answers. A worker calls [`work()`] with the trades
//! it knows. Neither knows what the bytes mean, and nobody outside this crate sees a type of NATS
//! or anything asynchronous: a small runtime lives inside each connection.
//!
//! # What is on the server
//! For a queue called Q:
//! - the stream `Q-jobs`, a work queue with subjects `Q.jobs.VERSION.RUN.JOB`. A job's name is a
//!   checksum of its kind, the program's version and its content, and also the message's
//!   `Nats-Msg-Id`, so that sending it twice adds it once. Workers of a version share one durable
//!   consumer; a job goes to one of them at a time and is gone when it acknowledges, which it does
//!   after its answer is stored.
//! - the stream `Q-results`, with subjects `Q.results.RUN.JOB`. An answer names the version and
//!   the checksum of its content. The coordinator takes the first good answer to each job and
//!   ignores the others; what it has taken it removes.
//! - the object store `Q-models`: content by its SHA-256 checksum.
//! - the plain subjects `Q.beats`, on which workers say that they are there, and `Q.calls`, on which
//!   a coordinator asks them to.
//!
//! # Why nothing is lost
//! A job leaves the queue only after its answer is stored, and an answer is removed only after it
//! was taken. A worker that dies is silent, and its job is given to another. A coordinator that
//! dies knows from its own journal what is missing; whoever goes on asks for just that. A server
//! that dies has both streams on its disk. If that disk is lost as well, the coordinator finds that
//! its jobs are neither queued nor answered and asks again. All of that may do work twice and never
//! counts it twice.

mod answers;
mod coordinator;
mod error;
mod flights;
mod options;
mod roll;
mod server;
mod wire;
mod worker;

pub use coordinator::Grid;
pub use error::GridError;
pub use options::Options;
pub use worker::{Worked, work};

/// Told of things that a user wants to know: workers that come and go, answers that were refused,
/// a server that is away.
pub type Note = std::sync::Arc<dyn Fn(&str) + Send + Sync>;
