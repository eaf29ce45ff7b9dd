//! What can be wrong with a request, as a status and one sentence in JSON.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// Why a request gets no answer.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// What was sent makes no sense; the sentence says what and where.
    #[error("{0}")]
    Bad(String),
    /// There is no such thing.
    #[error("{0}")]
    Missing(String),
    /// It may not be done.
    #[error("{0}")]
    Forbidden(String),
    /// It cannot be done as things are now.
    #[error("{0}")]
    Conflict(String),
    /// More than may be sent at once.
    #[error("{0}")]
    TooLarge(String),
    /// Everything is busy.
    #[error("too many searches are waiting; try again in a moment")]
    Busy,
    /// Ours.
    #[error("{0}")]
    Failed(String),
}

impl ApiError {
    /// What was sent is wrong in the words of an error.
    pub fn bad(error: impl std::fmt::Display) -> ApiError {
        ApiError::Bad(error.to_string())
    }

    /// The status of the answer.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            ApiError::Bad(_) => StatusCode::BAD_REQUEST,
            ApiError::Missing(_) => StatusCode::NOT_FOUND,
            ApiError::Forbidden(_) => StatusCode::FORBIDDEN,
            ApiError::Conflict(_) => StatusCode::CONFLICT,
            ApiError::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            ApiError::Busy => StatusCode::SERVICE_UNAVAILABLE,
            ApiError::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status(), Json(json!({ "error": self.to_string() }))).into_response()
    }
}
