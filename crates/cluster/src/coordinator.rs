//! The one who has work for others: sends jobs, takes answers, notices what is lost.

mod judging;
mod sending;

use crate::Note;
use crate::answers::Answers;
use crate::error::GridError;
use crate::flights::Flights;
use crate::options::Options;
use crate::roll::{self, Roll};
use crate::server::Server;
use crate::wire::{self, job_name};
use futures_util::StreamExt;
use outflank_runs::{WorkQueue, WorkQueueError, BlobStore, JobBatch, Ack, stop_requested};
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long to wait for an answer before looking at everything else.
const GLANCE: Duration = Duration::from_millis(200);

/// How often lost jobs are looked for, and answers that were taken are removed.
const LOOK: Duration = Duration::from_secs(3);

/// How often a user is told that nobody works.
const NAG: Duration = Duration::from_secs(30);

/// The most jobs that are sent before answers are looked at again.
const AT_ONCE: usize = 64;

/// Workers that are reached through a server.
pub struct Grid {
    server: Server,
    /// Kept by a task of its own, so that it is right between two orders as well.
    roll: Arc<Mutex<Roll>>,
    /// What was shared, in case the server loses it.
    shared: Mutex<BTreeMap<String, Vec<u8>>>,
    /// Tells the messages of this process from those of another with the same work.
    own: String,
}

impl fmt::Debug for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grid").field("at", &self.server.options.shown()).finish_non_exhaustive()
    }
}

/// What is known while an order is worked on.
struct Work<'a> {
    batch: JobBatch<'a>,
    /// The run's name in subjects.
    run: String,
    flights: Flights,
    answers: Answers,
    /// Jobs that were queued when this process came.
    queued: HashSet<String>,
    looked: Instant,
    nagged: Instant,
}

/// Why work goes on or ends.
enum Next {
    GoOn,
    Enough,
}

impl Grid {
    /// Connects to a queue. `note` is told what a user wants to know.
    pub fn connect(options: &Options, note: Note) -> Result<Grid, GridError> {
        let server = Server::connect(options, note, true)?;
        let (roll, client, names) = (Arc::default(), server.client.clone(), &server.names);
        let beats = server.wait(async {
            let beats = client.subscribe(names.beats()).await;
            let _ = client.publish(names.calls(), "".into()).await;
            beats
        });
        let beats = beats.map_err(server.failed("say who works"))?;
        let (version, tell) = (options.version.clone(), server.note.clone());
        server.runtime.spawn(roll::listen(client, beats, version, Arc::clone(&roll), tell));
        Ok(Grid { server, roll, shared: Mutex::default(), own: wire::own_name() })
    }

    fn roll(&self) -> MutexGuard<'_, Roll> {
        self.roll.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn version(&self) -> &str {
        &self.server.options.version
    }

    fn note(&self, text: &str) {
        (self.server.note)(text);
    }

    fn drive(
        &self,
        batch: JobBatch<'_>,
        describe: &dyn Fn(Range<usize>) -> Vec<u8>,
        take: &mut dyn FnMut(Range<usize>, &[u8]) -> Ack,
    ) -> Result<(), GridError> {
        if batch.jobs == 0 {
            return Ok(());
        }
        let names = &self.server.names;
        let run = wire::short(batch.run.as_bytes());
        let now = Instant::now();
        let mut work = Work {
            flights: Flights::new(batch.jobs),
            answers: Answers::new(names.results_of(&run)),
            queued: self.queued(&run)?,
            looked: now,
            // The first complaint comes soon, but not before anybody had the time to say a word.
            nagged: now - NAG + LOOK,
            order,
            run,
        };
        let mut end = Ok(());
        while !work.flights.all_done() && !stop_requested() {
            match self.step(&mut work, describe, take) {
                Ok(Next::GoOn) => {}
                Ok(Next::Enough) => break,
                Err(error) => {
                    end = Err(error);
                    break;
                }
            }
        }
        // Nobody should go on with what is not needed. Answers to a run that was stopped are kept
        // for whoever resumes it.
        let keep = end.is_err() || stop_requested();
        self.server.wait(self.clear(&work.run, keep));
        end
    }

    fn step(
        &self,
        work: &mut Work<'_>,
        describe: &dyn Fn(Range<usize>) -> Vec<u8>,
        take: &mut dyn FnMut(Range<usize>, &[u8]) -> Ack,
    ) -> Result<Next, GridError> {
        let threads = self.roll().count(self.version()).1;
        let mut new = Vec::new();
        while new.len() < AT_ONCE
            && let Some(range) = work.flights.next_range(threads)
        {
            let content = describe(range.clone());
            let job = job_name(work.batch.kind, self.version(), &content);
            work.flights.add(&job, range, content);
            new.push(job);
        }
        self.send(work, &new);
        if let Some(answer) = self.server.wait(work.answers.next(&self.server, GLANCE))
            && matches!(self.judge(work, &answer, take)?, Next::Enough)
        {
            return Ok(Next::Enough);
        }
        if work.looked.elapsed() >= LOOK {
            self.look(work)?;
            work.looked = Instant::now();
        }
        Ok(Next::GoOn)
    }

    /// Looks for lost jobs, and removes answers that were handed on.
    fn look(&self, work: &mut Work<'_>) -> Result<(), GridError> {
        if self.roll().count(self.version()).0 == 0 && work.nagged.elapsed() >= NAG {
            work.nagged = Instant::now();
            let (at, queue) = (self.server.options.shown(), &self.server.options.queue);
            self.note(&format!(
                "waiting: no worker is there; start some with: outflank worker --on {at} --queue {queue}"
            ));
        }
        if !self.server.is_there() {
            return Ok(());
        }
        let before = Instant::now() - LOOK;
        if work.flights.any_since(before) && !work.answers.behind() {
            // A server that does not answer now is asked again next time.
            if let Ok(queued) = self.queued(&work.run) {
                let lost = work.flights.lost(&queued, before);
                if !lost.is_empty() {
                    // A server that lost jobs may have lost everything.
                    self.note(&format!("{} jobs are lost; sending them again", lost.len()));
                    self.share_again()?;
                }
                lost.iter().for_each(|job| self.send_again(work, job));
            }
        }
        let settled = work.flights.settled(work.answers.last());
        let subject = self.server.names.results_of(&work.run);
        self.server.wait(async {
            if let Ok(stream) = self.server.results().await {
                let _ = stream.purge().filter(subject).sequence(settled).await;
            }
        });
        Ok(())
    }

    /// Makes sure that everything that was shared is there.
    fn share_again(&self) -> Result<(), GridError> {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        for bytes in shared.values() {
            self.server.wait(self.server.put(bytes))?;
        }
        Ok(())
    }

    /// The jobs of a run that are queued or being done.
    fn queued(&self, run: &str) -> Result<HashSet<String>, GridError> {
        self.server.wait(async {
            let stream = self.server.jobs().await?;
            let subject = self.server.names.jobs_of(run);
            let info = stream.info_with_subjects(subject).await;
            let mut subjects = info.map_err(self.server.failed("list jobs"))?;
            let mut queued = HashSet::new();
            while let Some(found) = subjects.next().await {
                let (subject, _) = found.map_err(self.server.failed("list jobs"))?;
                queued.extend(subject.rsplit('.').next().map(str::to_owned));
            }
            Ok(queued)
        })
    }

    /// Withdraws the jobs of a run, and removes its answers unless they are to be kept.
    async fn clear(&self, run: &str, keep: bool) {
        if !self.server.is_there() {
            return;
        }
        if let Ok(stream) = self.server.jobs().await {
            let _ = stream.purge().filter(self.server.names.jobs_of(run)).await;
        }
        if !keep && let Ok(stream) = self.server.results().await {
            let _ = stream.purge().filter(self.server.names.results_of(run)).await;
        }
    }
}

impl BlobStore for Grid {
    fn put(&self, bytes: &[u8]) -> Result<String, WorkQueueError> {
        let name = BlobStore::put(&self.server, bytes)?;
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.entry(name.clone()).or_insert_with(|| bytes.to_vec());
        Ok(name)
    }

    fn get(&self, sha256: &str) -> Result<Vec<u8>, WorkQueueError> {
        BlobStore::get(&self.server, sha256)
    }
}

impl WorkQueue for Grid {
    fn work(
        &self,
        batch: JobBatch<'_>,
        describe: &dyn Fn(Range<usize>) -> Vec<u8>,
        take: &mut dyn FnMut(Range<usize>, &[u8]) -> Ack,
    ) -> Result<(), WorkQueueError> {
        Ok(self.drive(batch, describe, take)?)
    }

    fn delete(&self, sha256: &str) {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).remove(sha256);
        if self.server.is_there() {
            self.server.wait(self.server.remove(sha256));
        }
    }

    fn words(&self) -> String {
        self.roll().words(self.version())
    }
}
