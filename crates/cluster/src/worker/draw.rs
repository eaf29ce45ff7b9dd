//! Drawing a job from the queue, however often the server goes away meanwhile.

use super::{Bench, GLANCE};
use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::{Consumer, pull};
use futures_util::StreamExt;
use outflank_runs::stop_requested;
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

/// The server keeps a request for a job open for so long.
const OPEN: Duration = Duration::from_secs(3);

/// A request that the server has not ended by then is dead.
const DEAD: Duration = Duration::from_secs(5);

impl Bench<'_> {
    /// Waits a while for a job.
    pub(super) async fn next_job(
        &self,
        consumer: &mut Option<Consumer<pull::Config>>,
    ) -> Option<Message> {
        if !self.server.is_there() {
            sleep(Duration::from_millis(100)).await;
            return None;
        }
        if consumer.is_none() {
            match self.server.consumer().await {
                Ok(found) => *consumer = Some(found),
                Err(_) => {
                    // The stream may be gone with the server's disk.
                    let _ = self.server.set_up().await;
                    sleep(Duration::from_millis(500)).await;
                    return None;
                }
            }
        }
        let request = consumer.as_ref()?.batch().max_messages(1).expires(OPEN).messages().await;
        let (since, times) = (Instant::now(), self.server.times());
        let Ok(mut request) = request else {
            *consumer = None;
            return None;
        };
        while !stop_requested() && since.elapsed() < DEAD {
            match timeout(GLANCE, request.next()).await {
                Err(_) if self.server.is_there() && self.server.times() == times => {}
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
