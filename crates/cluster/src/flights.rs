//! Which jobs are out, how large the next one should be, and how far ahead of the slowest one
//! others may be.
//!
//! A job should take about half a second: then messages cost little, a worker that dies takes
//! little with it, and threads that share the last jobs end at about the same time.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::time::Instant;

/// How long a job should take, in seconds.
const GOOD_SECONDS: f64 = 0.5;

/// An answer should not be larger than this; a message may have a megabyte.
const GOOD_BYTES: f64 = 256.0 * 1024.0;

/// The most pieces in a job, so that a wrong guess costs little.
const MOST_PIECES: usize = 64;

/// Jobs that are out at least, and for each thread that works.
const LEAST_OUT: usize = 64;
const OUT_A_THREAD: usize = 4;

/// A job that somebody is to do.
#[derive(Clone, Debug)]
pub(crate) struct Flight {
    pub(crate) range: Range<usize>,
    pub(crate) content: Vec<u8>,
    /// How often it was sent.
    pub(crate) sent: u32,
    /// Answers that were no answers.
    pub(crate) refused: u32,
    /// Workers who said that they cannot.
    pub(crate) failed: u32,
    /// When it was sent last.
    pub(crate) since: Instant,
    /// Whether it was neither queued nor answered when last looked for.
    pub(crate) missed: bool,
}

/// All jobs of one order.
#[derive(Debug)]
pub(crate) struct Flights {
    pieces: usize,
    next: usize,
    out: HashMap<String, Flight>,
    /// Jobs in the order of their pieces, from the first that is not done.
    order: VecDeque<String>,
    /// Where the answers of done jobs lie that wait for an earlier job.
    early: HashMap<String, u64>,
    /// Seconds and bytes that a piece took of late; nothing before the first answer.
    pace: Option<(f64, f64)>,
    largest: usize,
}

impl Flights {
    pub(crate) fn new(pieces: usize) -> Flights {
        Flights {
            pieces,
            next: 0,
            out: HashMap::new(),
            order: VecDeque::new(),
            early: HashMap::new(),
            pace: None,
            largest: 1,
        }
    }

    /// Whether every piece is done.
    pub(crate) fn all_done(&self) -> bool {
        self.next == self.pieces && self.out.is_empty()
    }

    /// The pieces of the next job, if another one should go out while so many threads work.
    pub(crate) fn next_range(&mut self, threads: usize) -> Option<Range<usize>> {
        let most_out = LEAST_OUT.max(OUT_A_THREAD * threads);
        let left = self.pieces - self.next;
        if left == 0 || self.order.len() >= most_out {
            return None;
        }
        // The last jobs are small, so that all threads have something to do until the end.
        let fair = left / (2 * threads.max(1));
        let size = self.largest.min(fair).clamp(1, left);
        let range = self.next..self.next + size;
        self.next += size;
        Some(range)
    }

    /// Notes a job that goes out.
    pub(crate) fn add(&mut self, job: &str, range: Range<usize>, content: Vec<u8>) {
        let flight = Flight {
            range,
            content,
            sent: 1,
            refused: 0,
            failed: 0,
            since: Instant::now(),
            missed: false,
        };
        self.out.insert(job.to_owned(), flight);
        self.order.push_back(job.to_owned());
    }

    /// A job that is out.
    pub(crate) fn get(&mut self, job: &str) -> Option<&mut Flight> {
        self.out.get_mut(job)
    }

    /// Notes that a job is done by the answer at a place in the stream.
    pub(crate) fn done(&mut self, job: &str, place: u64, seconds: f64, bytes: usize) {
        let Some(flight) = self.out.remove(job) else { return };
        self.early.insert(job.to_owned(), place);
        while let Some(first) = self.order.front().filter(|first| !self.out.contains_key(*first)) {
            self.early.remove(first);
            self.order.pop_front();
        }
        let pieces = flight.range.len().max(1) as f64;
        let (s, b) = (seconds.max(0.0) / pieces, bytes as f64 / pieces);
        let (seconds, bytes) = match self.pace {
            // Half of what was and half of what is: quick to learn, slow to be fooled.
            Some((old_s, old_b)) => ((old_s + s) / 2.0, (old_b + b) / 2.0),
            None => (s, b),
        };
        self.pace = Some((seconds, bytes));
        let fits = (GOOD_SECONDS / seconds.max(1e-9)).min(GOOD_BYTES / bytes.max(1.0));
        // It grows no faster than twofold, so that one odd piece changes little.
        self.largest = (fits as usize).clamp(1, (2 * self.largest).min(MOST_PIECES));
    }

    /// Answers before this place have been handed on, when all up to `last` have been looked at.
    pub(crate) fn settled(&self, last: u64) -> u64 {
        self.early.values().copied().min().unwrap_or(last + 1)
    }

    /// Whether a job has been out for long enough to wonder where it is.
    pub(crate) fn any_since(&self, before: Instant) -> bool {
        self.out.values().any(|flight| flight.since < before)
    }

    /// Jobs that are out but not queued, and were not when last looked for: their answers should
    /// have come in between. Jobs that were sent after `before` are left alone.
    pub(crate) fn lost(&mut self, queued: &HashSet<String>, before: Instant) -> Vec<String> {
        let mut lost = Vec::new();
        for (job, flight) in &mut self.out {
            if queued.contains(job) || flight.since >= before {
                flight.missed = false;
            } else if flight.missed {
                flight.missed = false;
                lost.push(job.clone());
            } else {
                flight.missed = true;
            }
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Sends jobs until no more may go out; returns their names.
    fn fill(flights: &mut Flights, threads: usize) -> Vec<String> {
        let mut names = Vec::new();
        while let Some(range) = flights.next_range(threads) {
            let name = format!("{}-{}", range.start, range.end);
            flights.add(&name, range, Vec::new());
            names.push(name);
        }
        names
    }

    #[test]
    fn every_piece_goes_out_once_and_jobs_grow_when_pieces_are_quick() {
        let mut flights = Flights::new(5000);
        let mut seen = vec![0; 5000];
        let mut largest = 0;
        while !flights.all_done() {
            for name in fill(&mut flights, 2) {
                let range = flights.get(&name).unwrap().range.clone();
                largest = largest.max(range.len());
                range.clone().for_each(|piece| seen[piece] += 1);
                flights.done(&name, 1, 0.001 * range.len() as f64, 10 * range.len());
            }
        }
        assert!(seen.iter().all(|&times| times == 1));
        assert_eq!(largest, MOST_PIECES);
        // Pieces that take long, or whose answers are large, go one by one.
        for (seconds, bytes) in [(3.0, 10), (0.001, 1 << 20)] {
            let mut flights = Flights::new(1000);
            while let Some(range) = flights.next_range(1) {
                assert_eq!(range.len(), 1);
                flights.add("job", range, Vec::new());
                flights.done("job", 1, seconds, bytes);
            }
        }
    }

    #[test]
    fn no_more_than_so_many_are_out_ahead_of_the_slowest() {
        let mut flights = Flights::new(5000);
        let names = fill(&mut flights, 50);
        assert_eq!(names.len(), 200);
        for (place, name) in names.iter().enumerate().skip(1) {
            flights.done(name, place as u64, 10.0, 1);
        }
        assert!(flights.next_range(50).is_none(), "the first one is still out");
        assert_eq!(flights.settled(199), 1, "answers wait for it");
        flights.done(&names[0], 200, 10.0, 1);
        assert_eq!(flights.settled(200), 201);
        assert_eq!(fill(&mut flights, 50).len(), 200);
    }

    #[test]
    fn a_job_is_lost_when_it_was_missed_twice() {
        let mut flights = Flights::new(2);
        fill(&mut flights, 1);
        let later = Instant::now() + Duration::from_secs(1);
        let queued = HashSet::from(["1-2".to_owned()]);
        assert!(flights.lost(&queued, later - Duration::from_secs(10)).is_empty());
        assert!(flights.lost(&queued, later).is_empty());
        assert_eq!(flights.lost(&queued, later), ["0-1"]);
        assert!(flights.lost(&queued, later).is_empty());
    }
}
