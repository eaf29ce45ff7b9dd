//! Fetches tasks from the queue.

use super::{POLL_INTERVAL, WorkerState};
use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::{Consumer, pull};
use futures_util::StreamExt;
use outflank_runs::stop_requested;
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

/// Time that the server keeps a pull request open.
const TASK_REQUEST_EXPIRY: Duration = Duration::from_secs(3);

/// Time after which a pull request that the server has not ended counts as lost.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

impl WorkerState<'_> {
    /// Fetches a task; `None` if none arrives within a few seconds or the request fails.
    pub(super) async fn fetch_task(
        &self,
        consumer: &mut Option<Consumer<pull::Config>>,
    ) -> Option<Message> {
        if !self.connection.is_connected() {
            sleep(Duration::from_millis(100)).await;
            return None;
        }
        if consumer.is_none() {
            match self.connection.consumer().await {
                Ok(opened) => *consumer = Some(opened),
                Err(_) => {
                    // The server may have lost the stream.
                    let _ = self.connection.set_up().await;
                    sleep(Duration::from_millis(500)).await;
                    return None;
                }
            }
        }
        let request = consumer
            .as_ref()?
            .batch()
            .max_messages(1)
            .expires(TASK_REQUEST_EXPIRY)
            .messages()
            .await;
        let (started, connection_count) = (Instant::now(), self.connection.connection_count());
        let Ok(mut request) = request else {
            *consumer = None;
            return None;
        };
        let is_same_connection = || {
            self.connection.is_connected() && self.connection.connection_count() == connection_count
        };
        while !stop_requested() && started.elapsed() < REQUEST_TIMEOUT {
            match timeout(POLL_INTERVAL, request.next()).await {
                Err(_) if is_same_connection() => {}
                Err(_) => break,
                Ok(Some(Ok(message))) => return Some(message),
                Ok(Some(Err(_))) => {
                    *consumer = None;
                    sleep(Duration::from_millis(200)).await;
                    return None;
                }
                Ok(None) => return None,
            }
        }
        None
    }
}
