//! A limit on the memory of all request bodies together.
//!
//! A request reserves the size of its body before the body is read, and holds the reservation until
//! its response begins. Requests that do not fit wait, and their bodies are not read meanwhile. Files
//! and JSON have separate limits, so that uploads do not delay the page.

use crate::error::ApiError;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// The unit of a reservation in bytes.
const UNIT: usize = 1 << 10;

/// The maximum time that a request waits for memory.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum size of the request body in bytes, stored as a request extension.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimit(pub usize);

/// Limits the total size of the request bodies of a group of routes.
#[derive(Clone, Debug)]
pub struct BodyMemoryLimit {
    units: Arc<Semaphore>,
    max_body: usize,
}

impl BodyMemoryLimit {
    /// Creates a limit of this many bodies of the maximum size.
    #[must_use]
    pub fn new(bodies: usize, max_body: usize) -> BodyMemoryLimit {
        let units = bodies.max(1) * max_body.div_ceil(UNIT);
        BodyMemoryLimit { units: Arc::new(Semaphore::new(units)), max_body }
    }

    /// Returns the number of units that a request reserves: its Content-Length, or the maximum for a
    /// body of unknown size.
    fn units(&self, headers: &HeaderMap) -> Result<u32, ApiError> {
        let bytes = match headers.get(header::CONTENT_LENGTH) {
            Some(length) => {
                let length = length.to_str().ok().and_then(|text| text.parse::<u64>().ok());
                length.ok_or_else(|| ApiError::BadRequest("invalid Content-Length".to_owned()))?
            }
            None if headers.contains_key(header::TRANSFER_ENCODING) => self.max_body as u64,
            None => 0,
        };
        if bytes > self.max_body as u64 {
            return Err(ApiError::TooLarge("the request is too large".to_owned()));
        }
        Ok(bytes.div_ceil(UNIT as u64) as u32)
    }
}

/// Reserves memory for the body of a request before it is read.
pub async fn reserve(
    State(memory): State<BodyMemoryLimit>,
    mut request: Request,
    next: Next,
) -> Response {
    let units = match memory.units(request.headers()) {
        Ok(units) => units,
        Err(error) => return error.into_response(),
    };
    let reservation = Arc::clone(&memory.units).acquire_many_owned(units);
    let Ok(Ok(_reservation)) = tokio::time::timeout(WAIT_TIMEOUT, reservation).await else {
        return ApiError::Busy.into_response();
    };
    request.extensions_mut().insert(BodyLimit(memory.max_body));
    next.run(request).await
}
