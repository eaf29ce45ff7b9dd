//! Stopping when the user asks: the first request lets the work save itself, the second ends it.

use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);

/// From now on an interrupt (Ctrl-C) or a request to terminate is noted instead of ending the
/// program at once; a second one ends it.
pub fn stop_when_asked() {
    // Without a handler the program is simply ended, and the journal still holds what was done.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
}

/// Whether the user has asked to stop.
#[must_use]
pub fn stop_requested() -> bool {
    STOP.load(Ordering::Relaxed)
}
