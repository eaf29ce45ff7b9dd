#![doc = include_str!("../README.md")]

mod cpu_time;
mod fault;
pub mod files;
mod journal;
mod lock;
mod memory;
mod parallel;
mod progress;
pub mod rng;
mod run_folder;
pub mod sections;
mod stop;
mod suggestions;
pub mod tensorboard;
mod text_position;
mod verification;
mod work_queue;

pub use cpu_time::thread_cpu_seconds;
pub use journal::{Journal, JournalError};
pub use lock::{LOCK, LockError, RunLock};
pub use memory::available_memory;
pub use parallel::parallel_in_order;
pub use progress::{Progress, ProgressLog};
pub use rng::{Rng, RngExt};
pub use run_folder::{DataFile, RunConfig, RunFolder, RunFolderError};
pub use stop::{clear_stop_request, install_stop_handler, request_stop, stop_requested};
pub use suggestions::did_you_mean;
pub use text_position::{line_and_column, toml_error_message};
pub use verification::{Verification, Verifier, run_in_order, run_verified};
pub use work_queue::{AcceptFn, Ack, BlobStore, JobBatch, JobHandler, WorkQueue, WorkQueueError};
