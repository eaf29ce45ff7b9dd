//! Errors of requests, sent as a status and `{"error": "..."}`.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// The reason why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The request is invalid.
    #[error("{0}")]
    BadRequest(String),
    /// The requested object does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The request is not allowed.
    #[error("{0}")]
    Forbidden(String),
    /// The request conflicts with the current state of the server.
    #[error("{0}")]
    Conflict(String),
    /// The request is too large.
    #[error("{0}")]
    TooLarge(String),
    /// Too many requests wait for a slot.
    #[error("the server is busy: too many searches are waiting. Try again in a moment.")]
    Busy,
    /// An internal error.
    #[error("{0}")]
    Internal(String),
}

impl ApiError {
    /// Creates a [`ApiError::BadRequest`] from another error.
    pub fn bad_request(error: impl std::fmt::Display) -> ApiError {
        ApiError::BadRequest(error.to_string())
    }

    fn status(&self) -> StatusCode {
        match self {
            ApiError::BadRequest(_) => StatusCode::BAD_REQUEST,
            ApiError::NotFound(_) => StatusCode::NOT_FOUND,
            ApiError::Forbidden(_) => StatusCode::FORBIDDEN,
            ApiError::Conflict(_) => StatusCode::CONFLICT,
            ApiError::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            ApiError::Busy => StatusCode::SERVICE_UNAVAILABLE,
            ApiError::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status(), Json(json!({ "error": self.to_string() }))).into_response()
    }
}
