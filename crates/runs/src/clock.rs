//! How long work takes the processor.

use std::fs;
use std::sync::OnceLock;
use std::time::Instant;

/// The processor time of this thread so far, in seconds, where the system tells; elsewhere the clock
/// on the wall. On a machine that others use too, that clock says little. Only differences have a
/// meaning.
#[must_use]
pub fn thread_cpu_seconds() -> f64 {
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    match nanoseconds {
        Some(nanoseconds) => 1e-9 * nanoseconds,
        None => BEGAN.get_or_init(Instant::now).elapsed().as_secs_f64(),
    }
}
