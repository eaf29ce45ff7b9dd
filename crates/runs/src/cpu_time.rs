//! CPU time of the current thread.

use std::fs;
use std::sync::OnceLock;
use std::time::Instant;

/// Returns the CPU time used by the current thread, in seconds.
///
/// Only differences between two calls are meaningful. Linux reports it in `/proc`; on other systems
/// the function falls back to wall-clock time, which includes time spent in other processes.
#[must_use]
pub fn thread_cpu_seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let schedstat = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = schedstat.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    match nanoseconds {
        Some(nanoseconds) => 1e-9 * nanoseconds,
        None => START.get_or_init(Instant::now).elapsed().as_secs_f64(),
    }
}
