//! Who is at work, from what workers say of themselves.

use crate::Note;
use crate::wire::Beat;
use async_nats::connection::State;
use async_nats::{Client, Subscriber};
use futures_util::StreamExt;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// How often a worker says that it is there.
pub(crate) const BEAT: Duration = Duration::from_secs(2);

/// After so long without a word a worker counts as lost.
const SILENCE: Duration = Duration::from_secs(7);

/// How often silent workers are looked for.
const LOOK: Duration = Duration::from_secs(1);

/// The workers of all versions that were heard lately.
#[derive(Debug, Default)]
pub(crate) struct Roll {
    here: BTreeMap<String, (Beat, Instant)>,
    gained: u64,
    lost: u64,
    /// What keeps us from giving out work; nothing when all is well.
    pub(crate) trouble: String,
}

/// Keeps the roll for as long as the connection lives.
pub(crate) async fn listen(
    client: Client,
    mut beats: Subscriber,
    version: String,
    roll: Arc<Mutex<Roll>>,
    note: Note,
) {
    let lock = || roll.lock().unwrap_or_else(PoisonError::into_inner);
    let mut looked = Instant::now();
    loop {
        let heard = timeout(LOOK, beats.next()).await;
        let now = Instant::now();
        match heard {
            Ok(None) => return,
            Ok(Some(message)) => {
                let beat = serde_json::from_slice::<Beat>(&message.payload);
                let text = beat.ok().and_then(|beat| lock().hear(beat, &version, now));
                text.iter().for_each(|text| note(text));
            }
            Err(_) => {}
        }
        let passed = now.duration_since(looked);
        if client.connection_state() != State::Connected || passed > SILENCE {
            lock().excuse(now);
            looked = now;
        } else if passed >= LOOK {
            let lost = lock().look(&version, now);
            lost.iter().for_each(|text| note(text));
            looked = now;
        }
    }
}

impl Roll {
    /// Hears a worker of `version`; says so when it is new or goes.
    fn hear(&mut self, beat: Beat, version: &str, now: Instant) -> Option<String> {
        let ours = beat.version == version;
        let name = beat.worker.clone();
        if beat.leaving {
            let known = self.here.remove(&name).is_some();
            return (known && ours).then(|| format!("worker {name} has left"));
        }
        let (threads, other, trouble) = (beat.threads, beat.version.clone(), beat.trouble.clone());
        let before = self.here.insert(name.clone(), (beat, now));
        let was_well = before.as_ref().is_some_and(|(before, _)| before.trouble.is_empty());
        match (before.is_none(), ours) {
            (false, true) if was_well && !trouble.is_empty() => {
                Some(format!("worker {name}: {trouble}"))
            }
            (false, _) => None,
            (true, true) => {
                self.gained += 1;
                Some(format!("worker {name} has come, with {}", counted(threads, "thread")))
            }
            (true, false) => Some(format!(
                "worker {name} is of version {other} and gets no work from version {version}; \
                 start one of the same version"
            )),
        }
    }

    /// Drops those who have been silent for long; says who.
    fn look(&mut self, version: &str, now: Instant) -> Vec<String> {
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

    /// Nobody could be heard until now: the server was away, or this process was halted.
    fn excuse(&mut self, now: Instant) {
        self.here.values_mut().for_each(|(_, heard)| *heard = now);
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
            _ => format!("{}, {}", counted(workers, "worker"), counted(threads, "thread")),
        };
        if self.lost > 0 {
            text.push_str(&format!(" (gained {}, lost {})", self.gained, self.lost));
        }
        let ours = self.here.values().filter(|(beat, _)| beat.version == version);
        let mut troubles = ours.map(|(beat, _)| &beat.trouble).chain([&self.trouble]);
        if let Some(trouble) = troubles.find(|text| !text.is_empty()) {
            text.push_str(&format!("; {trouble}"));
        }
        text
    }
}

/// A number of things.
pub(crate) fn counted(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
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
            trouble: String::new(),
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
        // What is wrong is told once, and stands there until it is over.
        let troubled = Beat { trouble: "no room".to_owned(), ..beat("b", "1", false) };
        let told = roll.hear(troubled.clone(), "1", later(11));
        assert_eq!(told.as_deref(), Some("worker b: no room"));
        assert!(roll.hear(troubled, "1", later(11)).is_none());
        assert_eq!(roll.words("1"), "1 worker, 4 threads (gained 2, lost 1); no room");
        assert!(roll.hear(beat("b", "1", false), "1", later(11)).is_none());
        assert_eq!(roll.words("1"), "1 worker, 4 threads (gained 2, lost 1)");
        roll.excuse(later(60));
        assert!(roll.look("1", later(61)).is_empty(), "nobody could be heard");
        assert!(roll.hear(beat("b", "1", true), "1", later(61)).is_some());
        assert_eq!(roll.count("1"), (0, 0));
    }
}
