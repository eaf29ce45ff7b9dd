//! Who is at work, from what workers say of themselves.

use crate::wire::Beat;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How often a worker says that it is there.
pub(crate) const BEAT: Duration = Duration::from_secs(2);

/// After so long without a word a worker counts as lost.
const SILENCE: Duration = Duration::from_secs(7);

/// The workers of all versions that were heard lately.
#[derive(Debug, Default)]
pub(crate) struct Roll {
    here: BTreeMap<String, (Beat, Instant)>,
    gained: u64,
    lost: u64,
}

impl Roll {
    /// Hears a worker of `version`; says so when it is new or goes.
    pub(crate) fn hear(&mut self, beat: Beat, version: &str, now: Instant) -> Option<String> {
        let ours = beat.version == version;
        let name = beat.worker.clone();
        if beat.leaving {
            let known = self.here.remove(&name).is_some();
            return (known && ours).then(|| format!("worker {name} has left"));
        }
        let (threads, other) = (beat.threads, beat.version.clone());
        let new = self.here.insert(name.clone(), (beat, now)).is_none();
        match (new, ours) {
            (false, _) => None,
            (true, true) => {
                self.gained += 1;
                let s = if threads == 1 { "" } else { "s" };
                Some(format!("worker {name} has come, with {threads} thread{s}"))
            }
            (true, false) => Some(format!(
                "worker {name} is of version {other} and gets no work from version {version}; \
                 start one of the same version"
            )),
        }
    }

    /// Drops those who have been silent for long; says who.
    pub(crate) fn look(&mut self, version: &str, now: Instant) -> Vec<String> {
        let silent: Vec<String> = self
            .here
            .iter()
            .filter(|(_, (_, heard))| now.duration_since(*heard) > SILENCE)
            .map(|(name, _)| name.clone())
            .collect();
        let mut notes = Vec::new();
        for name in silent {
            if self.here.remove(&name).is_some_and(|(beat, _)| beat.version == version) {
                self.lost += 1;
                notes.push(format!("worker {name} is lost; its work goes to others"));
            }
        }
        notes
    }

    /// How many workers of a version there are, and their threads.
    pub(crate) fn count(&self, version: &str) -> (usize, usize) {
        let ours = self.here.values().filter(|(beat, _)| beat.version == version);
        ours.fold((0, 0), |(workers, threads), (beat, _)| (workers + 1, threads + beat.threads))
    }

    /// Who is at work, in a few words.
    pub(crate) fn words(&self, version: &str) -> String {
        let (workers, threads) = self.count(version);
        let mut text = match workers {
            0 => "no worker".to_owned(),
            1 => format!("1 worker, {threads} threads"),
            _ => format!("{workers} workers, {threads} threads"),
        };
        if self.lost > 0 {
            text.push_str(&format!(" (gained {}, lost {})", self.gained, self.lost));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_come_are_lost_and_leave() {
        let beat = |worker: &str, version: &str, leaving| Beat {
            worker: worker.to_owned(),
            version: version.to_owned(),
            threads: 4,
            leaving,
        };
        let mut roll = Roll::default();
        let start = Instant::now();
        let later = |seconds| start + Duration::from_secs(seconds);
        assert!(roll.hear(beat("a", "1", false), "1", start).is_some());
        assert!(roll.hear(beat("a", "1", false), "1", later(2)).is_none());
        assert!(roll.hear(beat("b", "1", false), "1", later(2)).is_some());
        let other = roll.hear(beat("c", "2", false), "1", later(5)).unwrap();
        assert!(other.contains("version 2"), "{other}");
        assert_eq!(roll.count("1"), (2, 8));
        assert!(roll.look("1", later(6)).is_empty());
        assert!(roll.hear(beat("b", "1", false), "1", later(8)).is_none());
        assert_eq!(roll.look("1", later(11)), ["worker a is lost; its work goes to others"]);
        assert_eq!(roll.words("1"), "1 worker, 4 threads (gained 2, lost 1)");
        assert!(roll.hear(beat("b", "1", true), "1", later(11)).is_some());
        assert_eq!(roll.count("1"), (0, 0));
    }
}
