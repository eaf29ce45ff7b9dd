//! Limits and cancellation of searches.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// A cancellation token with limits on time and nodes, shared by the threads of a search.
#[derive(Debug)]
pub struct SearchControl {
    parent: Option<Arc<SearchControl>>,
    stop: AtomicBool,
    deadline: Option<Instant>,
    nodes: AtomicU64,
    max_nodes: u64,
}

impl Default for SearchControl {
    fn default() -> SearchControl {
        SearchControl::unlimited()
    }
}

impl SearchControl {
    /// Creates a control without limits. It can still be stopped.
    #[must_use]
    pub fn unlimited() -> SearchControl {
        SearchControl {
            parent: None,
            stop: AtomicBool::new(false),
            deadline: None,
            nodes: AtomicU64::new(0),
            max_nodes: u64::MAX,
        }
    }

    /// Sets a time limit, counted from now.
    #[must_use]
    pub fn with_time(mut self, time: Duration) -> SearchControl {
        self.deadline = Instant::now().checked_add(time);
        self
    }

    /// Sets the maximum number of nodes.
    #[must_use]
    pub fn with_nodes(mut self, nodes: u64) -> SearchControl {
        self.max_nodes = nodes;
        self
    }

    /// Creates a child that can stop earlier. Its nodes also count for the parent, and it stops
    /// with the parent.
    #[must_use]
    pub fn child(self: &Arc<SearchControl>) -> SearchControl {
        SearchControl { parent: Some(Arc::clone(self)), ..SearchControl::unlimited() }
    }

    /// Requests that the search stops.
    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// Returns whether the search must stop.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.stop.load(Relaxed) || self.parent.as_ref().is_some_and(|parent| parent.stopped())
    }

    /// Adds searched nodes and checks the limits. Returns whether the search must stop.
    pub fn add_nodes(&self, nodes: u64) -> bool {
        let total = self.nodes.fetch_add(nodes, Relaxed).saturating_add(nodes);
        if total >= self.max_nodes || self.deadline.is_some_and(|end| Instant::now() >= end) {
            self.stop();
        }
        if let Some(parent) = &self.parent {
            parent.add_nodes(nodes);
        }
        self.stopped()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_parents_stop_a_search() {
        let control = SearchControl::unlimited().with_nodes(100);
        assert!(!control.add_nodes(99) && !control.stopped());
        assert!(control.add_nodes(1) && control.stopped());
        assert!(SearchControl::unlimited().with_time(Duration::ZERO).add_nodes(0));
        let parent = SearchControl::unlimited();
        assert!(!parent.add_nodes(u64::MAX - 1));
        let parent = Arc::new(parent);
        let (stopped, other) = (parent.child(), parent.child());
        stopped.stop();
        assert!(stopped.stopped() && !parent.stopped() && !other.stopped());
        parent.stop();
        assert!(parent.add_nodes(0) && other.add_nodes(0));
    }
}
