//! Work that takes a processor: at most so many pieces at once, the others wait their turn, and
//! what nobody waits for any more stops.

use crate::error::ApiError;
use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::Response;
use outflank_players::SearchControl;
use serde::Serialize;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;

/// So many requests may wait for their turn; one more is told to come back later.
const WAITING: usize = 2000;

/// Nobody waits longer than this.
const PATIENCE: Duration = Duration::from_secs(60);

/// A reader who takes nothing for so long has left.
const SLOWEST_READER: Duration = Duration::from_secs(10);

/// Whether the work should stop, since whoever asked is gone.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<SearchControl>);

impl Stop {
    /// Whether to stop.
    #[must_use]
    pub fn requested(&self) -> bool {
        self.0.stopped()
    }

    /// As searches understand it.
    #[must_use]
    pub fn control(&self) -> &Arc<SearchControl> {
        &self.0
    }
}

/// Asks the work to stop when the one who waits for it goes away.
struct StopWhenDropped(Stop);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        self.0.0.stop();
    }
}

/// The places for work.
#[derive(Clone, Debug)]
pub struct Searches {
    running: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    given_up: Arc<AtomicU64>,
}

impl Searches {
    /// So many pieces of work at once.
    #[must_use]
    pub fn new(at_once: usize) -> Searches {
        Searches {
            running: Arc::new(Semaphore::new(at_once.max(1))),
            waiting: Arc::new(Semaphore::new(WAITING)),
            given_up: Arc::new(AtomicU64::new(0)),
        }
    }

    /// How many places are free now.
    #[must_use]
    pub fn free(&self) -> usize {
        self.running.available_permits()
    }

    /// How many pieces of work ended without a result, since nobody waited for it any more.
    #[must_use]
    pub fn given_up(&self) -> u64 {
        self.given_up.load(Relaxed)
    }

    async fn turn(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let _waiting = self.waiting.try_acquire().map_err(|_| ApiError::Busy)?;
        match tokio::time::timeout(PATIENCE, Arc::clone(&self.running).acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(ApiError::Busy),
        }
    }

    /// Does a piece of work and waits for what comes of it. When the caller is dropped, because
    /// the client has hung up, the work is asked to stop; its place is free when it has.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Stop) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let permit = self.turn().await?;
        let stop = Stop::default();
        let guard = StopWhenDropped(stop.clone());
        let given_up = Arc::clone(&self.given_up);
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let found = work(&stop);
            // Counted before the place is free.
            if stop.requested() && found.is_err() {
                given_up.fetch_add(1, Relaxed);
            }
            found
        })
        .await;
        drop(guard);
        done.map_err(|_| ApiError::Failed("the work ended in an internal error".to_owned()))?
    }

    /// Does a piece of work that says what it has found as it goes: one JSON value a line.
    pub async fn stream(
        &self,
        work: impl FnOnce(&mut Lines) -> Result<(), ApiError> + Send + 'static,
    ) -> Result<Response, ApiError> {
        let permit = self.turn().await?;
        let (sender, receiver) = mpsc::channel::<Bytes>(64);
        let stop = Stop::default();
        let guard = StopWhenDropped(stop.clone());
        let given_up = Arc::clone(&self.given_up);
        tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let mut lines = Lines { sender, stop };
            if let Err(error) = work(&mut lines) {
                lines.say(&serde_json::json!({ "error": error.to_string() }));
            }
            if lines.stop.requested() {
                given_up.fetch_add(1, Relaxed);
            }
        });
        let body = ReceiverStream::new(receiver).map(move |line| {
            // The guard lives as long as the body does.
            let _kept = &guard;
            Ok::<Bytes, Infallible>(line)
        });
        Response::builder()
            .header(header::CONTENT_TYPE, "application/x-ndjson")
            .body(Body::from_stream(body))
            .map_err(|error| ApiError::Failed(error.to_string()))
    }
}

/// Where work says what it has found.
pub struct Lines {
    sender: mpsc::Sender<Bytes>,
    stop: Stop,
}

impl Lines {
    /// Sends one line; a reader who takes nothing for long counts as gone.
    pub fn say(&mut self, value: &impl Serialize) {
        let Ok(mut line) = serde_json::to_vec(value) else { return };
        line.push(b'\n');
        let mut line = Bytes::from(line);
        let since = Instant::now();
        loop {
            match self.sender.try_send(line) {
                Ok(()) => return,
                Err(TrySendError::Full(back)) if since.elapsed() < SLOWEST_READER => {
                    line = back;
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(_) => {
                    self.stop.0.stop();
                    return;
                }
            }
        }
    }

    /// Whether nobody reads any more.
    #[must_use]
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }
}
