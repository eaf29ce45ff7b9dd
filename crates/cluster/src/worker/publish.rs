//! Publishes results in the background, while the next task is executed.

use super::POLL_INTERVAL;
use crate::LogFn;
use crate::connection::{error_chain, write_failed};
use async_nats::HeaderMap;
use async_nats::jetstream::Context;
use async_nats::jetstream::message::Acker;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// Time that a stopping worker waits for its last result to be stored.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// Waits until a result is stored. Once `is_stopping` returns true, gives up after a timeout: the
/// server still has the task and delivers it to another worker.
pub async fn wait_until_stored(mut storing: JoinHandle<()>, is_stopping: impl Fn() -> bool) {
    let mut left = SHUTDOWN_TIMEOUT;
    while !left.is_zero() && timeout(POLL_INTERVAL, &mut storing).await.is_err() {
        if is_stopping() {
            left = left.saturating_sub(POLL_INTERVAL);
        }
    }
}

/// A result that is not stored yet.
pub struct PendingResult {
    /// Where to publish it.
    pub context: Context,
    /// Receives a message if it cannot be stored.
    pub log: LogFn,
    /// Why it cannot be stored; part of the worker's heartbeats.
    pub problem: Arc<Mutex<String>>,
    /// Subject of the result.
    pub subject: String,
    /// Headers of the result.
    pub headers: HeaderMap,
    /// Content; empty if it is in the object store.
    pub payload: Vec<u8>,
    /// Acknowledges the task.
    pub acker: Arc<Acker>,
    /// Sends progress acknowledgements until the result is stored.
    pub progress: JoinHandle<()>,
}

impl PendingResult {
    /// Stores the result, retrying until the server accepts it, then acknowledges the task.
    pub async fn store(self) {
        let PendingResult { context, log, problem, subject, headers, payload, acker, progress } =
            self;
        let set_problem =
            |text: String| *problem.lock().unwrap_or_else(PoisonError::into_inner) = text;
        let mut failed = false;
        loop {
            let (headers, payload) = (headers.clone(), payload.clone().into());
            let stored = match context.publish_with_headers(subject.clone(), headers, payload).await
            {
                Ok(ack) => ack.await.map(|_| ()),
                Err(error) => Err(error),
            };
            let Err(error) = stored else { break };
            if !failed {
                let text = write_failed("store results", &error_chain(&error));
                log(&format!("{text}; retrying"));
                set_problem(text);
                failed = true;
            }
            sleep(Duration::from_secs(1)).await;
        }
        set_problem(String::new());
        let _ = acker.ack().await;
        progress.abort();
    }
}
