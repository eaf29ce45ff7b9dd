//! Training steps captured as a CUDA graph and replayed.
//!
//! One launch replaces about a hundred, so the GPU does not wait for the CPU to issue operations.

use crate::shim;
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use tch::TchError;

/// Eager steps before the capture, in which libraries choose kernels and allocate memory.
const WARMUP_STEPS: u32 = 3;

/// The stage of the capture.
enum Stage {
    Warmup(u32),
    Captured,
    Disabled,
}

/// A CUDA graph and the stream on which it is captured and replayed.
pub(crate) struct CudaGraph {
    raw: NonNull<c_void>,
    stage: Stage,
}

// SAFETY: the C++ side holds no thread-local state; `on_stream` restores the current stream of the
// calling thread before it returns.
unsafe impl Send for CudaGraph {}

impl CudaGraph {
    pub(crate) fn new() -> Result<CudaGraph, TchError> {
        let mut raw = null_mut();
        // SAFETY: the pointer is written to, and read only after success.
        shim::call(|error, len| unsafe { shim::outflank_graph_new(&mut raw, error, len) })?;
        let raw = NonNull::new(raw)
            .ok_or_else(|| TchError::Torch("no CUDA graph was created".to_owned()))?;
        Ok(CudaGraph { raw, stage: Stage::Warmup(0) })
    }

    /// Runs `work` on the stream of the graph, synchronized with the current stream before and
    /// after.
    pub(crate) fn on_stream(
        &mut self,
        work: impl FnOnce(&mut CudaGraph) -> Result<(), TchError>,
    ) -> Result<(), TchError> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` lives as long as `self`.
        shim::call(|error, len| unsafe { shim::outflank_graph_enter(raw, error, len) })?;
        let done = work(self);
        // SAFETY: as above.
        let left = shim::call(|error, len| unsafe { shim::outflank_graph_leave(raw, error, len) });
        done.and(left)
    }

    /// Executes one step: eagerly during warmup, then by capture and replay.
    ///
    /// If the capture fails, warns and runs all further steps eagerly.
    pub(crate) fn step(
        &mut self,
        mut step: impl FnMut() -> Result<(), TchError>,
        warn: fn(&str),
    ) -> Result<(), TchError> {
        match self.stage {
            Stage::Captured => self.replay(),
            Stage::Warmup(WARMUP_STEPS) => match self.capture(&mut step) {
                Ok(()) => {
                    self.stage = Stage::Captured;
                    self.replay()
                }
                Err(error) => {
                    self.stage = Stage::Disabled;
                    let text = error.to_string();
                    let first = text.lines().next().unwrap_or_default();
                    warn(&format!(
                        "CUDA graph capture failed ({first}); training continues without a graph, \
                         which is slower with small batches"
                    ));
                    step()
                }
            },
            Stage::Warmup(taken) => {
                self.stage = Stage::Warmup(taken + 1);
                step()
            }
            Stage::Disabled => step(),
        }
    }

    fn capture(&self, step: impl FnOnce() -> Result<(), TchError>) -> Result<(), TchError> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` lives as long as `self`.
        let begun = shim::call(|error, len| unsafe { shim::outflank_graph_begin(raw, error, len) });
        let captured = begun.and_then(|()| step());
        let keep = captured.is_ok();
        // SAFETY: as above; a capture must be ended even if it failed to begin.
        let ended =
            shim::call(|error, len| unsafe { shim::outflank_graph_end(raw, keep, error, len) });
        captured.and(ended)
    }

    fn replay(&self) -> Result<(), TchError> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` lives as long as `self`, and the stage is `Captured`.
        shim::call(|error, len| unsafe { shim::outflank_graph_replay(raw, error, len) })
    }
}

impl Drop for CudaGraph {
    fn drop(&mut self) {
        // SAFETY: `self` owns the pointer.
        unsafe { shim::outflank_graph_free(self.raw.as_ptr()) }
    }
}
