//! Doing a job: what it comes to, and the answer that is sent.

use super::Bench;
use super::store::Store;
use crate::wire::{self, header};
use async_nats::HeaderMap;
use async_nats::jetstream::{AckKind, Message};
use outflank_runs::files::checksum;
use outflank_runs::stop_requested;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// How often the server hears that a job is being done.
const IN_PROGRESS: Duration = Duration::from_secs(1);

/// A job that was given out so often ends whoever does it.
const MOST_TIMES: i64 = 20;

/// An answer larger than this goes through the object store; a message may have a megabyte.
const LARGE: usize = 512 * 1024;

impl Bench<'_> {
    /// Does a job; the handle is of what stores the answer.
    pub(super) fn do_job(&self, message: Message) -> Option<JoinHandle<()>> {
        let info = message.info();
        let (times, place) = info.map_or((1, 0), |info| (info.delivered, info.stream_sequence));
        let (message, acker) = message.split();
        let acker = Arc::new(acker);
        let holding = self.server.runtime.spawn({
            let acker = acker.clone();
            async move {
                loop {
                    sleep(IN_PROGRESS).await;
                    let _ = acker.ack_with(AckKind::Progress).await;
                }
            }
        });
        let headers = message.headers.as_ref();
        let of = |name| header(headers, name);
        let began = Instant::now();
        let result = match times > MOST_TIMES {
            true => Err(format!("a job was given out {times} times and ended every worker")),
            false => self.result(of(wire::KIND), of(wire::VERSION), &message.payload),
        };
        if stop_requested() {
            // Whatever there is may be half of it.
            holding.abort();
            let _ = self.server.wait(acker.ack_with(AckKind::Nak(None)));
            return None;
        }
        let mut answer = HeaderMap::new();
        let payload = match result {
            Ok(bytes) => {
                self.jobs.fetch_add(1, Ordering::Relaxed);
                bytes
            }
            Err(reason) => {
                self.failed.fetch_add(1, Ordering::Relaxed);
                (self.server.note)(&format!("cannot do a job: {reason}"));
                answer.insert(wire::FAILED, "yes");
                reason.into_bytes()
            }
        };
        answer.insert(wire::VERSION, self.server.options.version.as_str());
        answer.insert(wire::WORKER, self.own);
        answer.insert(wire::JOB, of(wire::JOB));
        answer.insert(wire::SUM, checksum(&payload).as_str());
        answer.insert(wire::SECONDS, format!("{:.6}", began.elapsed().as_secs_f64()).as_str());
        // Storing it twice is storing it once; but every time that a job is given out there may be
        // another answer, since the one before may have been refused or removed.
        let id = format!("{}/{}/{place}/{times}", of(wire::JOB), self.own);
        answer.insert(wire::MESSAGE_ID, id.as_str());
        let payload = match payload.len() > LARGE {
            false => payload,
            true => match self.server.wait(self.server.put(&payload)) {
                Ok(_) => {
                    answer.insert(wire::ASIDE, "yes");
                    Vec::new()
                }
                Err(error) => {
                    (self.server.note)(&format!("cannot store an answer: {error}"));
                    holding.abort();
                    return None;
                }
            },
        };
        let subject = self.server.names.result(of(wire::RUN), of(wire::JOB));
        let store = Store {
            context: self.server.context.clone(),
            note: self.server.note.clone(),
            trouble: self.trouble.clone(),
            subject,
            headers: answer,
            payload,
            acker,
            holding,
        };
        Some(self.server.runtime.spawn(store.run()))
    }

    /// What a job comes to. A panic is a failure of this job, not of the worker.
    fn result(&self, kind: &str, version: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        let own = &self.server.options.version;
        if version != own {
            return Err(format!("the job is of version {version}, this worker of {own}"));
        }
        let trade = self.trades.iter().find(|trade| trade.kind() == kind);
        let trade = trade.ok_or_else(|| format!("this worker knows no work called '{kind}'"))?;
        let done = catch_unwind(AssertUnwindSafe(|| trade.handle(payload, self.server)));
        done.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(format!("internal error: {}", text.unwrap_or("a panic")))
        })
    }
}
