//! Request bodies: JSON of limited size that must arrive in time.

use crate::error::ApiError;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use serde::de::DeserializeOwned;
use std::time::Duration;

/// The maximum time to receive a body.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// An extractor for a JSON body.
pub struct JsonBody<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<JsonBody<T>, ApiError> {
        let bytes = read_body(request, state).await?;
        // The content type need not be checked: requests of other sites are rejected by their
        // origin.
        let value = serde_json::from_slice(&bytes)
            .map_err(|error| ApiError::BadRequest(format!("invalid request: {error}")))?;
        Ok(JsonBody(value))
    }
}

/// Reads a body up to the size limit of its route.
pub async fn read_body<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, ApiError> {
    let timeout = |_| ApiError::BadRequest("the request body did not arrive in time".to_owned());
    let read = tokio::time::timeout(READ_TIMEOUT, Bytes::from_request(request, state));
    read.await.map_err(timeout)?.map_err(|rejection| match rejection.into_response().status() {
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::TooLarge("the request is too large".to_owned()),
        _ => ApiError::BadRequest("the request body could not be read".to_owned()),
    })
}
