//! Answers that come back: each is taken, or refused and the work done again.

use super::{Grid, Next, Work};
use crate::answers::Answer;
use crate::error::GridError;
use crate::wire::{self, header};
use outflank_runs::Ack;
use outflank_runs::files::checksum;
use std::ops::Range;

/// A job that so many workers cannot do cannot be done.
const MOST_FAILURES: u32 = 3;

/// A job with so many bad answers will not get a good one.
const MOST_REFUSALS: u32 = 20;

impl Grid {
    /// Takes an answer, or has the work done again.
    pub(super) fn judge(
        &self,
        work: &mut Work<'_>,
        answer: &Answer,
        take: &mut dyn FnMut(Range<usize>, &[u8]) -> Ack,
    ) -> Result<Next, GridError> {
        let headers = answer.message.headers.as_ref();
        let job = header(headers, wire::JOB).to_owned();
        // An answer to a job that is done, or to one of another process's making.
        let Some(flight) = work.flights.get(&job) else { return Ok(Next::GoOn) };
        let range = flight.range.clone();
        let worker = header(headers, wire::WORKER).to_owned();
        let version = header(headers, wire::VERSION);
        if version != self.version() {
            let reason = format!("it is of version {version}, not {}", self.version());
            return self.refuse(work, &job, &worker, &reason);
        }
        if !header(headers, wire::FAILED).is_empty() {
            flight.failed += 1;
            let text = String::from_utf8_lossy(&answer.message.payload).into_owned();
            if flight.failed >= MOST_FAILURES {
                return Err(GridError::Failed(text));
            }
            self.note(&format!("worker {worker} cannot do a job: {text}; another one may"));
            // Somebody with the same work may have removed what both had shared.
            self.share_again()?;
            self.send_again(work, &job);
            return Ok(Next::GoOn);
        }
        let sum = header(headers, wire::SUM);
        let aside = !header(headers, wire::ASIDE).is_empty();
        let fetched = aside.then(|| self.server.wait(self.server.get(sum)));
        let bytes = match &fetched {
            None => &answer.message.payload[..],
            Some(Ok(bytes)) => bytes,
            Some(Err(error)) => {
                let reason = format!("its content is not there: {error}");
                return self.refuse(work, &job, &worker, &reason);
            }
        };
        if checksum(bytes) != sum {
            return self.refuse(work, &job, &worker, "its content has another checksum");
        }
        let seconds = header(headers, wire::SECONDS).parse().unwrap_or(1.0);
        let taken = take(range, bytes);
        if let Ack::Rejected(reason) = taken {
            return self.refuse(work, &job, &worker, &reason);
        }
        work.flights.done(&job, answer.place, seconds, bytes.len());
        if aside {
            self.server.wait(self.server.remove(sum));
        }
        Ok(if taken == Ack::Stop { Next::Enough } else { Next::GoOn })
    }

    /// Has a job done again whose answer is none.
    pub(super) fn refuse(
        &self,
        work: &mut Work<'_>,
        job: &str,
        worker: &str,
        reason: &str,
    ) -> Result<Next, GridError> {
        let Some(flight) = work.flights.get(job) else { return Ok(Next::GoOn) };
        flight.refused += 1;
        self.note(&format!("refused an answer of worker {worker}: {reason}; asking again"));
        if flight.refused >= MOST_REFUSALS {
            let text = format!(
                "{MOST_REFUSALS} answers to the same job were refused, the last of worker {worker}: {reason}; stop that worker, then resume"
            );
            return Err(GridError::Failed(text));
        }
        self.send_again(work, job);
        Ok(Next::GoOn)
    }
}
