//! Ending a search from outside, or at a limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// What a search may spend. It is shared: whoever holds it may stop the search, and the threads of
/// one search spend from the same purse.
#[derive(Debug)]
pub struct SearchControl {
    whole: Option<Arc<SearchControl>>,
    stop: AtomicBool,
    deadline: Option<Instant>,
    nodes: AtomicU64,
    most_nodes: u64,
}

impl Default for SearchControl {
    fn default() -> SearchControl {
        SearchControl::unlimited()
    }
}

impl SearchControl {
    /// No limit; it can still be stopped.
    #[must_use]
    pub fn unlimited() -> SearchControl {
        SearchControl {
            whole: None,
            stop: AtomicBool::new(false),
            deadline: None,
            nodes: AtomicU64::new(0),
            most_nodes: u64::MAX,
        }
    }

    /// The same with a limit on the time from now on.
    #[must_use]
    pub fn with_time(mut self, time: Duration) -> SearchControl {
        self.deadline = Instant::now().checked_add(time);
        self
    }

    /// The same with a limit on the number of positions visited.
    #[must_use]
    pub fn with_nodes(mut self, nodes: u64) -> SearchControl {
        self.most_nodes = nodes;
        self
    }

    /// A part that may end before the whole, spends from the whole and ends with it.
    #[must_use]
    pub fn part(self: &Arc<SearchControl>) -> SearchControl {
        SearchControl { whole: Some(Arc::clone(self)), ..SearchControl::unlimited() }
    }

    /// Ends the search as soon as its threads notice.
    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// Whether the search is to end.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.stop.load(Relaxed) || self.whole.as_ref().is_some_and(|whole| whole.stopped())
    }

    /// Notes that so many positions were visited; says whether the search is to end.
    pub fn spend(&self, nodes: u64) -> bool {
        let spent = self.nodes.fetch_add(nodes, Relaxed).saturating_add(nodes);
        if spent >= self.most_nodes || self.deadline.is_some_and(|end| Instant::now() >= end) {
            self.stop();
        }
        if let Some(whole) = &self.whole {
            whole.spend(nodes);
        }
        self.stopped()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_stop_and_so_does_anyone() {
        let control = SearchControl::unlimited().with_nodes(100);
        assert!(!control.spend(99) && !control.stopped());
        assert!(control.spend(1) && control.stopped());
        assert!(SearchControl::unlimited().with_time(Duration::ZERO).spend(0));
        let free = SearchControl::unlimited();
        assert!(!free.spend(u64::MAX - 1));
        let free = Arc::new(free);
        let (done, other) = (free.part(), free.part());
        done.stop();
        assert!(done.stopped() && !free.stopped() && !other.stopped());
        free.stop();
        assert!(free.spend(0) && other.spend(0));
    }
}
