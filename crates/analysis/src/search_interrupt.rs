//! A handle that stops searches from another thread.

use outflank_players::SearchControl;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A handle that stops searches. While a newer command waits, every new search stops at once.
///
/// Clones share their state: one thread searches, and another thread reads commands and stops the
/// search.
#[derive(Clone, Default)]
pub struct SearchInterrupt(Arc<Mutex<InterruptState>>);

#[derive(Default)]
struct InterruptState {
    /// The running search.
    control: Option<Arc<SearchControl>>,
    /// The number of commands that wait for earlier searches to end.
    waiting: usize,
    /// Whether all searches stop from now on.
    closed: bool,
}

impl InterruptState {
    fn stop(&self) {
        if let Some(control) = &self.control {
            control.stop();
        }
    }

    fn is_requested(&self) -> bool {
        self.closed || self.waiting > 0
    }
}

impl SearchInterrupt {
    fn state(&self) -> MutexGuard<'_, InterruptState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops the running search, if any.
    pub fn stop(&self) {
        self.state().stop();
    }

    /// Stops the running search and every search that starts before [`Self::resume`].
    pub fn preempt(&self) {
        let mut state = self.state();
        state.waiting += 1;
        state.stop();
    }

    /// Ends the effect of one [`Self::preempt`]. Called when the waiting command is executed.
    pub fn resume(&self) {
        let mut state = self.state();
        state.waiting = state.waiting.saturating_sub(1);
    }

    /// Stops the running search and all later ones.
    pub fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.stop();
    }

    /// Returns whether searches should end now.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.state().is_requested()
    }

    /// Sets the running search, or none.
    pub fn set_search(&self, control: Option<Arc<SearchControl>>) {
        let mut state = self.state();
        state.control = control;
        if state.is_requested() {
            state.stop();
        }
    }
}
