//! A limited number of slots for CPU-bound work. Further requests wait in a queue, and work stops
//! when its client disconnects.

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

/// The maximum number of waiting requests; further ones are rejected.
const MAX_WAITING: usize = 2000;

/// The maximum time that a request waits for a slot.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

/// A client that reads nothing for this long counts as disconnected.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// The number of lines that are buffered for a slow client.
const BUFFERED_LINES: usize = 64;

/// Tells running work to stop because its client disconnected.
#[derive(Clone, Debug, Default)]
pub struct StopSignal(Arc<SearchControl>);

impl StopSignal {
    /// Returns whether the work should stop.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.stopped()
    }

    /// Returns the signal as the control of a search.
    #[must_use]
    pub fn control(&self) -> &Arc<SearchControl> {
        &self.0
    }
}

/// Sets the signal when the request is dropped.
struct StopOnDrop(StopSignal);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.0.stop();
    }
}

/// A pool of slots for blocking work.
#[derive(Clone, Debug)]
pub struct WorkSlots {
    slots: Arc<Semaphore>,
    queue: Arc<Semaphore>,
    cancelled: Arc<AtomicU64>,
}

impl WorkSlots {
    /// Creates a pool with `count` slots, at least one.
    #[must_use]
    pub fn new(count: usize) -> WorkSlots {
        WorkSlots {
            slots: Arc::new(Semaphore::new(count.max(1))),
            queue: Arc::new(Semaphore::new(MAX_WAITING)),
            cancelled: Arc::new(AtomicU64::new(0)),
        }
    }

    /// Returns the number of free slots.
    #[must_use]
    pub fn free(&self) -> usize {
        self.slots.available_permits()
    }

    /// Returns the number of jobs whose client disconnected before the end of the response.
    #[must_use]
    pub fn cancelled(&self) -> u64 {
        self.cancelled.load(Relaxed)
    }

    async fn acquire(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let _waiting = self.queue.try_acquire().map_err(|_| ApiError::Busy)?;
        match tokio::time::timeout(WAIT_TIMEOUT, Arc::clone(&self.slots).acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(ApiError::Busy),
        }
    }

    /// Runs `work` in a slot and returns its result.
    ///
    /// If the client disconnects, the returned future is dropped and the stop signal is set. The
    /// slot is freed when the work returns.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&StopSignal) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let permit = self.acquire().await?;
        let stop = StopSignal::default();
        let guard = StopOnDrop(stop.clone());
        let cancelled = Arc::clone(&self.cancelled);
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let result = work(&stop);
            // Count before `_permit` is dropped, which frees the slot.
            if stop.is_set() && result.is_err() {
                cancelled.fetch_add(1, Relaxed);
            }
            result
        })
        .await;
        drop(guard);
        done.map_err(|_| ApiError::Internal("internal error".to_owned()))?
    }

    /// Runs `work` in a slot and streams the JSON lines that it sends.
    pub async fn stream(
        &self,
        work: impl FnOnce(&mut LineSender) -> Result<(), ApiError> + Send + 'static,
    ) -> Result<Response, ApiError> {
        let permit = self.acquire().await?;
        let (sender, receiver) = mpsc::channel::<Bytes>(BUFFERED_LINES);
        let stop = StopSignal::default();
        let guard = StopOnDrop(stop.clone());
        let cancelled = Arc::clone(&self.cancelled);
        tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let mut lines = LineSender { sender, stop };
            if let Err(error) = work(&mut lines) {
                lines.send(&serde_json::json!({ "error": error.to_string() }));
            }
            if lines.stop.is_set() {
                cancelled.fetch_add(1, Relaxed);
            }
        });
        let body = ReceiverStream::new(receiver).map(move |line| {
            // The closure owns the guard, so dropping the response body sets the stop signal.
            let _guard = &guard;
            Ok::<Bytes, Infallible>(line)
        });
        Response::builder()
            .header(header::CONTENT_TYPE, "application/x-ndjson")
            .body(Body::from_stream(body))
            .map_err(|error| ApiError::Internal(error.to_string()))
    }
}

/// The sending side of a stream of JSON lines.
pub struct LineSender {
    sender: mpsc::Sender<Bytes>,
    stop: StopSignal,
}

impl LineSender {
    /// Sends a value as one line; sets the stop signal if the client reads nothing for too long.
    pub fn send(&mut self, value: &impl Serialize) {
        let Ok(mut line) = serde_json::to_vec(value) else { return };
        line.push(b'\n');
        let mut line = Bytes::from(line);
        let start = Instant::now();
        loop {
            match self.sender.try_send(line) {
                Ok(()) => return,
                Err(TrySendError::Full(rejected)) if start.elapsed() < WRITE_TIMEOUT => {
                    line = rejected;
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(_) => {
                    self.stop.0.stop();
                    return;
                }
            }
        }
    }

    /// Returns the stop signal of the work.
    #[must_use]
    pub fn stop_signal(&self) -> StopSignal {
        self.stop.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::{accept, listen};
    use tokio::io::AsyncWriteExt;
    use tokio::net::TcpStream;

    async fn wait_until(condition: impl Fn() -> bool) {
        for _ in 0..400 {
            if condition() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("timeout");
    }

    /// Three clients wait for one slot; after all have disconnected, the slot is free.
    #[test]
    fn work_stops_when_its_client_disconnects() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let slots = WorkSlots::new(1);
            let shared = slots.clone();
            let work = |stop: &StopSignal| -> Result<String, ApiError> {
                while !stop.is_set() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(ApiError::Conflict("stopped".to_owned()))
            };
            let route = axum::routing::get(move || async move { shared.run(work).await });
            let listener = listen("127.0.0.1", 0).await.unwrap();
            let address = listener.local_addr().unwrap();
            tokio::spawn(accept(listener, axum::Router::new().route("/", route)));
            let mut streams = Vec::new();
            for _ in 0..3 {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
                streams.push(stream);
            }
            wait_until(|| slots.free() == 0).await;
            drop(streams);
            wait_until(|| slots.free() == 1 && slots.cancelled() >= 1).await;
        });
    }
}
