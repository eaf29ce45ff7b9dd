//! What every long piece of work needs, written once: random streams that do not depend on the
//! number of threads, files that are written whole or not at all, run folders with a journal to
//! resume from, progress on a terminal, and stopping when asked.
//!
//! This layer knows no game.

mod clock;
mod crew;
pub mod events;
pub mod files;
mod folder;
mod journal;
mod memory;
mod nearest;
mod ordered;
pub mod parts;
mod places;
mod progress;
pub mod rng;
mod stop;

pub use clock::thread_cpu_seconds;
pub use crew::{WorkQueue, WorkQueueError, BlobStore, JobBatch, Ack, JobHandler, run_in_order};
pub use folder::{RunConfig, DataFile, RunFolderError, RunFolder};
pub use journal::{Journal, JournalError};
pub use memory::available_memory;
pub use nearest::{did_you_mean, nearest};
pub use ordered::parallel_in_order;
pub use places::{place, toml_error_message};
pub use progress::{Notes, Progress};
pub use rng::{RngExt, Rng};
pub use stop::{stop_requested, install_stop_handler};
