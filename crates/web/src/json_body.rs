//! Request bodies: JSON of limited size that must arrive in time.

use crate::body_memory::BodyLimit;
use crate::error::ApiError;
use axum::body::{Body, HttpBody};
use axum::extract::{FromRequest, Request};
use serde::de::DeserializeOwned;
use std::time::Duration;
use tokio_stream::StreamExt;

/// The maximum time to receive a body.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// The maximum time between two parts of a body. A stalled client holds memory that other requests wait for.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);

/// An extractor for a JSON body.
pub struct JsonBody<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<JsonBody<T>, ApiError> {
        let bytes = read_body(request).await?;
        // The content type need not be checked: requests of other sites are rejected by their
        // origin.
        let value = serde_json::from_slice(&bytes)
            .map_err(|error| ApiError::BadRequest(format!("invalid request: {error}")))?;
        Ok(JsonBody(value))
    }
}

/// Reads a body up to the size limit of its route, into one buffer.
pub async fn read_body(request: Request) -> Result<Vec<u8>, ApiError> {
    let limit = request.extensions().get::<BodyLimit>().map_or(0, |limit| limit.0);
    let late = |_| ApiError::BadRequest("the request body did not arrive in time".to_owned());
    tokio::time::timeout(READ_TIMEOUT, collect(request.into_body(), limit)).await.map_err(late)?
}

async fn collect(body: Body, limit: usize) -> Result<Vec<u8>, ApiError> {
    let announced = body.size_hint().lower().min(limit as u64);
    // The operating system allocates pages only when they are written.
    let mut bytes = Vec::with_capacity(announced as usize);
    let mut parts = body.into_data_stream();
    let late = |_| ApiError::BadRequest("the request body did not arrive in time".to_owned());
    while let Some(part) = tokio::time::timeout(IDLE_TIMEOUT, parts.next()).await.map_err(late)? {
        let unreadable = |_| ApiError::BadRequest("the request body could not be read".to_owned());
        let part = part.map_err(unreadable)?;
        if part.len() > limit - bytes.len() {
            return Err(ApiError::TooLarge("the request is too large".to_owned()));
        }
        bytes.extend_from_slice(&part);
    }
    Ok(bytes)
}
