//! A step recorded once and replayed: the device gets a hundred operations by one call, and is not kept
//! waiting by the processor that names them one by one.

use crate::shim;
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use tch::TchError;

/// So many steps are taken one operation at a time before one is recorded: libraries choose their
/// kernels and set aside their memory in the first.
const WARM: u32 = 3;

enum Stage {
    Warming(u32),
    Recorded,
    Refused,
}

/// A recording, and the stream of the device on which it was made and runs.
pub(crate) struct Graph {
    raw: NonNull<c_void>,
    stage: Stage,
}

// SAFETY: the other side keeps no thing of a thread; whatever it changes of the thread that enters, the
// same call of `within` changes back.
unsafe impl Send for Graph {}

impl Graph {
    pub(crate) fn new() -> Result<Graph, TchError> {
        let mut raw = null_mut();
        // SAFETY: the pointer is written to, and read only after success.
        shim::call(|why, room| unsafe { shim::outflank_graph_new(&mut raw, why, room) })?;
        let raw = NonNull::new(raw).ok_or_else(|| TchError::Torch("no graph".to_owned()))?;
        Ok(Graph { raw, stage: Stage::Warming(0) })
    }

    /// Does this work on the graph's stream, after all that the device was given before and before all
    /// that it is given afterwards.
    pub(crate) fn within(
        &mut self,
        work: impl FnOnce(&mut Graph) -> Result<(), TchError>,
    ) -> Result<(), TchError> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` lives as long as `self`.
        shim::call(|why, room| unsafe { shim::outflank_graph_enter(raw, why, room) })?;
        let done = work(self);
        // SAFETY: as above.
        let left = shim::call(|why, room| unsafe { shim::outflank_graph_leave(raw, why, room) });
        done.and(left)
    }

    /// Takes a step: the first few as they are, then one recorded, then by the recording. Where that
    /// cannot be had steps are taken as they are for good, and `say` hears why.
    pub(crate) fn step(
        &mut self,
        mut step: impl FnMut() -> Result<(), TchError>,
        say: fn(&str),
    ) -> Result<(), TchError> {
        match self.stage {
            Stage::Recorded => self.replay(),
            Stage::Warming(WARM) => match self.record(&mut step) {
                Ok(()) => {
                    self.stage = Stage::Recorded;
                    self.replay()
                }
                Err(error) => {
                    self.stage = Stage::Refused;
                    let text = error.to_string();
                    let first = text.lines().next().unwrap_or_default();
                    say(&format!(
                        "a step could not be recorded ({first}); the device gets one operation at a \
                         time, which is slower with small batches"
                    ));
                    step()
                }
            },
            Stage::Warming(taken) => {
                self.stage = Stage::Warming(taken + 1);
                step()
            }
            Stage::Refused => step(),
        }
    }

    fn record(&self, step: impl FnOnce() -> Result<(), TchError>) -> Result<(), TchError> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` lives as long as `self`.
        let begun = shim::call(|why, room| unsafe { shim::outflank_graph_begin(raw, why, room) });
        let recorded = begun.and_then(|()| step());
        let keep = recorded.is_ok();
        // SAFETY: as above; it is ended also where it failed to begin.
        let ended =
            shim::call(|why, room| unsafe { shim::outflank_graph_end(raw, keep, why, room) });
        recorded.and(ended)
    }

    fn replay(&self) -> Result<(), TchError> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` lives as long as `self`, and holds a recording in the stage that comes here.
        shim::call(|why, room| unsafe { shim::outflank_graph_replay(raw, why, room) })
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: nobody has the pointer any longer.
        unsafe { shim::outflank_graph_free(self.raw.as_ptr()) }
    }
}
