//! Jobs on their way into the queue.

use super::{GLANCE, Grid, Work};
use crate::server::{causes, no_room};
use crate::wire;
use async_nats::HeaderMap;
use outflank_runs::stop_requested;
use std::time::Instant;

impl Grid {
    /// Sends jobs until the server has stored them, however long it is away.
    pub(super) fn send(&self, work: &mut Work<'_>, jobs: &[String]) {
        let mut left: Vec<(String, String)> =
            jobs.iter().map(|job| (job.clone(), job.clone())).collect();
        left.retain(|(job, _)| !work.queued.contains(job));
        let mut told = false;
        while !left.is_empty() && !stop_requested() {
            let mut again = Vec::new();
            let stored = self.server.wait(self.publish(work, &left));
            for ((job, id), stored) in left.into_iter().zip(stored) {
                match stored {
                    Ok(false) => {}
                    // The server knows this job from a while ago, and has it no longer: it was
                    // done for, or withdrawn by, somebody else.
                    Ok(true) if id == job => again.push((job.clone(), self.another_id(&job, 0))),
                    Ok(true) => {}
                    Err(reason) => {
                        if !told {
                            let text = no_room("takes no jobs", &reason);
                            self.note(&format!("{text}; trying on"));
                            self.roll().trouble = text;
                            told = true;
                        }
                        again.push((job, id));
                    }
                }
            }
            left = again;
            if told && !left.is_empty() {
                std::thread::sleep(GLANCE);
                if self.server.is_there() {
                    let _ = self.server.wait(self.server.set_up());
                }
            }
        }
        if told {
            self.roll().trouble.clear();
        }
    }

    /// The id of a message that must not be taken for an earlier one.
    pub(super) fn another_id(&self, job: &str, time: u32) -> String {
        format!("{job}/{}/{time}", self.own)
    }

    /// Publishes jobs under message ids; says for each whether the server knew it before.
    pub(super) async fn publish(
        &self,
        work: &mut Work<'_>,
        jobs: &[(String, String)],
    ) -> Vec<Result<bool, String>> {
        let mut waiting = Vec::with_capacity(jobs.len());
        for (job, id) in jobs {
            let content =
                work.flights.get(job).map(|flight| flight.content.clone()).unwrap_or_default();
            let mut headers = HeaderMap::new();
            headers.insert(wire::MESSAGE_ID, id.as_str());
            headers.insert(wire::VERSION, self.version());
            headers.insert(wire::KIND, work.batch.kind);
            headers.insert(wire::RUN, work.run.as_str());
            headers.insert(wire::JOB, job.as_str());
            let subject = self.server.names.job(&work.run, job);
            let context = &self.server.context;
            waiting.push(context.publish_with_headers(subject, headers, content.into()).await);
        }
        let mut stored = Vec::with_capacity(jobs.len());
        for one in waiting {
            stored.push(match one {
                Ok(ack) => ack.await.map(|ack| ack.duplicate).map_err(|error| causes(&error)),
                Err(error) => Err(causes(&error)),
            });
        }
        stored
    }

    /// Sends a job again, whatever became of it before.
    pub(super) fn send_again(&self, work: &mut Work<'_>, job: &str) {
        let Some(flight) = work.flights.get(job) else { return };
        flight.sent += 1;
        flight.since = Instant::now();
        let id = self.another_id(job, flight.sent);
        let jobs = [(job.to_owned(), id)];
        // If this fails, the job is missed again.
        self.server.wait(self.publish(work, &jobs));
    }
}
