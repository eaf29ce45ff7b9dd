//! Stopping when the user asks: the first request lets the work save itself, the second ends it.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// When the user first asked.
static ASKED: OnceLock<Instant> = OnceLock::new();

/// What is asked again within this time is still the first request: `timeout` and schedulers signal a
/// program and its whole group, so that it hears of one wish twice.
const SAME_REQUEST: Duration = Duration::from_millis(500);

/// From now on an interrupt (Ctrl-C) or a request to terminate is noted instead of ending the
/// program at once; a second one ends it.
pub fn install_stop_handler() {
    // Without a handler the program is simply ended, and the journal still holds what was done.
    let _ = ctrlc::set_handler(|| {
        let now = Instant::now();
        let first = *ASKED.get_or_init(|| now);
        if now.duration_since(first) >= SAME_REQUEST {
            end_at_once();
        }
    });
}

/// Ends the program without tidying up: other threads are still at work with what would be taken
/// apart.
fn end_at_once() -> ! {
    #[cfg(unix)]
    // SAFETY: it does not return, and touches nothing of this process before it ends it.
    unsafe {
        nix::libc::_exit(INTERRUPTED)
    }
    #[cfg(not(unix))]
    std::process::exit(INTERRUPTED)
}

/// What a program that was interrupted answers.
const INTERRUPTED: i32 = 130;

/// Whether the user has asked to stop.
#[must_use]
pub fn stop_requested() -> bool {
    ASKED.get().is_some()
}
