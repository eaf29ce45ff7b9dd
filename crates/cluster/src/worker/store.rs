//! An answer on its way to the server, beside the work on the next job.

use super::GLANCE;
use crate::Note;
use crate::server::{causes, no_room};
use async_nats::HeaderMap;
use async_nats::jetstream::Context;
use async_nats::jetstream::message::Acker;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// A worker that goes waits so long for its last answer to be stored.
const GOING: Duration = Duration::from_secs(10);

/// Waits until an answer is stored, and not for ever once the worker is going: a server that cannot
/// store it has the job still, and gives it to another.
pub async fn stored(mut storing: JoinHandle<()>, going: impl Fn() -> bool) {
    let mut left = GOING;
    while !left.is_zero() && timeout(GLANCE, &mut storing).await.is_err() {
        if going() {
            left = left.saturating_sub(GLANCE);
        }
    }
}

/// An answer and all that is needed to store it.
pub struct Store {
    /// Where it goes.
    pub context: Context,
    /// Told when it cannot be stored.
    pub note: Note,
    /// Why it cannot be stored; the worker's beats say so.
    pub trouble: Arc<Mutex<String>>,
    /// Its name there.
    pub subject: String,
    /// What it says of itself.
    pub headers: HeaderMap,
    /// The answer; empty where it lies in the object store.
    pub payload: Vec<u8>,
    /// Acknowledges the job.
    pub acker: Arc<Acker>,
    /// Says that the job is in good hands.
    pub holding: JoinHandle<()>,
}

impl Store {
    /// Stores the answer, trying until the server takes it, then acknowledges the job.
    pub async fn run(self) {
        let Store { context, note, trouble, subject, headers, payload, acker, holding } = self;
        let is = |text: String| *trouble.lock().unwrap_or_else(PoisonError::into_inner) = text;
        let mut told = false;
        loop {
            let (headers, payload) = (headers.clone(), payload.clone().into());
            let stored = match context.publish_with_headers(subject.clone(), headers, payload).await
            {
                Ok(ack) => ack.await.map(|_| ()),
                Err(error) => Err(error),
            };
            let Err(error) = stored else { break };
            if !told {
                let text = no_room("stores no answers", &causes(&error));
                note(&format!("{text}; trying on"));
                is(text);
                told = true;
            }
            sleep(Duration::from_secs(1)).await;
        }
        is(String::new());
        let _ = acker.ack().await;
        holding.abort();
    }
}
