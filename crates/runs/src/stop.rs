//! Graceful stop on Ctrl-C or SIGTERM: after the first request a run saves its state and stops; a
//! second request ends the process at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Whether a stop was requested.
static REQUESTED: AtomicBool = AtomicBool::new(false);

/// The time of the first signal.
static FIRST_SIGNAL: Mutex<Option<Instant>> = Mutex::new(None);

/// Signals within this time count as one request. `timeout` and job schedulers signal both the
/// process and its process group, so one request may arrive twice.
const SAME_REQUEST: Duration = Duration::from_millis(500);

/// Installs a handler for Ctrl-C and termination signals.
///
/// The first request makes [`stop_requested`] return true; a second one ends the process at once.
pub fn install_stop_handler() {
    // Without a handler the signal ends the process, and the journal still holds all finished work.
    let _ = ctrlc::set_handler(|| {
        let now = Instant::now();
        let mut signaled = FIRST_SIGNAL.lock().unwrap_or_else(PoisonError::into_inner);
        request_stop();
        if now.duration_since(*signaled.get_or_insert(now)) >= SAME_REQUEST {
            exit_immediately();
        }
    });
}

/// Requests a stop of all work in this process. A program that embeds the library calls it from its
/// own signal handler.
pub fn request_stop() {
    REQUESTED.store(true, Ordering::Relaxed);
}

/// Withdraws a stop request, after the work has stopped.
pub fn clear_stop_request() {
    REQUESTED.store(false, Ordering::Relaxed);
}

/// Ends the process without running destructors or exit handlers, because other threads may still
/// use the memory that these would free.
fn exit_immediately() -> ! {
    #[cfg(unix)]
    // SAFETY: `_exit` does not return and accesses no memory of this process.
    unsafe {
        nix::libc::_exit(INTERRUPTED)
    }
    #[cfg(not(unix))]
    std::process::exit(INTERRUPTED)
}

/// The exit status of an interrupted program: 128 + SIGINT.
const INTERRUPTED: i32 = 130;

/// Returns whether the user requested a stop.
#[must_use]
pub fn stop_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
