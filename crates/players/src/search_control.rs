//! Limits and cancellation of searches.

use outflank_runs::thread_cpu_seconds;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// What a time limit measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockKind {
    /// Elapsed time.
    #[default]
    Wall,
    /// CPU time of the thread that searches, for fair comparisons on a busy machine. With several
    /// threads it is the time of the first.
    Cpu,
}

impl ClockKind {
    /// Returns the time of this clock in seconds. Only differences between two calls on one thread
    /// are meaningful.
    #[must_use]
    pub fn now(self) -> f64 {
        static START: OnceLock<Instant> = OnceLock::new();
        match self {
            ClockKind::Wall => START.get_or_init(Instant::now).elapsed().as_secs_f64(),
            ClockKind::Cpu => thread_cpu_seconds(),
        }
    }
}

/// A limit on the CPU time of a thread.
#[derive(Debug)]
struct CpuLimit {
    thread: std::thread::ThreadId,
    end: f64,
}

/// A stop flag with limits on time and nodes, shared by the threads of a search.
#[derive(Debug)]
pub struct SearchControl {
    parent: Option<Arc<SearchControl>>,
    stop: AtomicBool,
    deadline: Option<Instant>,
    cpu_limit: Option<CpuLimit>,
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
            cpu_limit: None,
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

    /// Sets a time limit on a clock, counted from now. A limit on CPU time applies to the calling
    /// thread.
    #[must_use]
    pub fn with_clock(mut self, clock: ClockKind, time: Duration) -> SearchControl {
        match clock {
            ClockKind::Wall => self.with_time(time),
            ClockKind::Cpu => {
                let end = clock.now() + time.as_secs_f64();
                self.cpu_limit = Some(CpuLimit { thread: std::thread::current().id(), end });
                self
            }
        }
    }

    /// Sets the maximum number of nodes.
    #[must_use]
    pub fn with_nodes(mut self, nodes: u64) -> SearchControl {
        self.max_nodes = nodes;
        self
    }

    /// Returns whether this control or a parent has a limit on time or nodes.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        self.deadline.is_some()
            || self.cpu_limit.is_some()
            || self.max_nodes < u64::MAX
            || self.parent.as_ref().is_some_and(|parent| parent.is_limited())
    }

    /// Creates a control that stops when this one stops, and can also stop alone. Its nodes count
    /// for both.
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

    fn cpu_time_is_over(&self) -> bool {
        self.cpu_limit.as_ref().is_some_and(|limit| {
            std::thread::current().id() == limit.thread && ClockKind::Cpu.now() >= limit.end
        })
    }

    /// Adds searched nodes and checks the limits. Returns whether the search must stop.
    pub fn add_nodes(&self, nodes: u64) -> bool {
        let total = self.nodes.fetch_add(nodes, Relaxed).saturating_add(nodes);
        let late = self.deadline.is_some_and(|end| Instant::now() >= end);
        if total >= self.max_nodes || late || self.cpu_time_is_over() {
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
    fn a_limit_or_the_parent_stops_a_search() {
        let control = SearchControl::unlimited().with_nodes(100);
        assert!(control.is_limited() && !SearchControl::unlimited().is_limited());
        assert!(!control.add_nodes(99) && !control.stopped());
        assert!(control.add_nodes(1) && control.stopped());
        assert!(SearchControl::unlimited().with_time(Duration::ZERO).add_nodes(0));
        let parent = SearchControl::unlimited();
        assert!(!parent.add_nodes(u64::MAX - 1));
        let parent = Arc::new(parent);
        let limited = SearchControl::unlimited().with_nodes(1);
        assert!(Arc::new(limited).child().is_limited() && !parent.child().is_limited());
        let (stopped, other) = (parent.child(), parent.child());
        stopped.stop();
        assert!(stopped.stopped() && !parent.stopped() && !other.stopped());
        parent.stop();
        assert!(parent.add_nodes(0) && other.add_nodes(0));
    }
}
