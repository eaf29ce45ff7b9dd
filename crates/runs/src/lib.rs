#![doc = include_str!("../README.md")]

mod cpu_time;
pub mod files;
mod journal;
mod memory;
mod parallel;
mod progress;
pub mod rng;
mod run_folder;
pub mod shards;
mod stop;
mod suggestions;
pub mod tensorboard;
mod text_position;
mod work_queue;

pub use cpu_time::thread_cpu_seconds;
pub use journal::{Journal, JournalError};
pub use memory::available_memory;
pub use parallel::parallel_in_order;
pub use progress::{Progress, ProgressLog};
pub use rng::{Rng, RngExt};
pub use run_folder::{DataFile, RunConfig, RunFolder, RunFolderError};
pub use stop::{install_stop_handler, stop_requested};
pub use suggestions::did_you_mean;
pub use text_position::{line_and_column, toml_error_message};
pub use work_queue::{
    Ack, BlobStore, JobBatch, JobHandler, WorkQueue, WorkQueueError, run_in_order,
};
