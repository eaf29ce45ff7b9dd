//! The body of a request as a value: JSON of a bounded size, or a sentence that says why not.

use crate::error::ApiError;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use serde::de::DeserializeOwned;
use std::time::Duration;

/// What was asked, read from JSON.
pub struct Asked<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Asked<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Asked<T>, ApiError> {
        let bytes = body(request, state).await?;
        // Whatever the content type says: a page elsewhere cannot send this without our consent
        // anyway, since the origin is checked before.
        let value = serde_json::from_slice(&bytes)
            .map_err(|error| ApiError::Bad(format!("the request is not as expected: {error}")))?;
        Ok(Asked(value))
    }
}

/// Whoever sends something has this long for it.
const WITHIN: Duration = Duration::from_secs(30);

/// The bytes of a body, as many as its route allows.
pub async fn body<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, ApiError> {
    let slow = |_| ApiError::Bad("the request did not come to its end in time".to_owned());
    let read = tokio::time::timeout(WITHIN, Bytes::from_request(request, state));
    read.await.map_err(slow)?.map_err(|rejection| match rejection.into_response().status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            ApiError::TooLarge("that is more than is accepted at once".to_owned())
        }
        _ => ApiError::Bad("the body of the request could not be read".to_owned()),
    })
}
