//! The error type of requests: an HTTP status, a sentence and a remedy for the user.

use serde::Serialize;

/// A request without an answer: its HTTP status, one sentence, and what the user can do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct ApiError {
    /// HTTP status: 4xx or 5xx, or 202 while the run loads.
    pub status: u16,
    /// What is wrong, in one sentence.
    pub error: String,
    /// What the user can do, in one sentence.
    pub remedy: Option<String>,
    /// The run is still loading, so the same request may succeed later.
    pub loading: bool,
}

/// The contract's `Failure`.
#[derive(Serialize)]
struct Body<'a> {
    error: &'a str,
    remedy: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    loading: bool,
}

impl ApiError {
    /// An error with HTTP status `status`.
    pub fn new(status: u16, error: impl Into<String>) -> ApiError {
        ApiError {
            status,
            error: error.into(),
            remedy: None,
            loading: false,
        }
    }

    /// The request is malformed (400).
    pub fn bad_request(error: impl Into<String>) -> ApiError {
        ApiError::new(400, error)
    }

    /// The requested object does not exist (404).
    pub fn not_found(error: impl Into<String>) -> ApiError {
        ApiError::new(404, error)
    }

    /// The run is still loading (202). This is not an HTTP error, because browsers print those to
    /// their console each time a page asks.
    pub fn loading(error: impl Into<String>) -> ApiError {
        ApiError {
            loading: true,
            ..ApiError::new(202, error)
        }
    }

    /// Adds a sentence on what the user can do.
    pub fn remedy(mut self, remedy: impl Into<String>) -> ApiError {
        self.remedy = Some(remedy.into());
        self
    }

    /// The error as JSON.
    pub fn body(&self) -> Vec<u8> {
        let body = Body {
            error: &self.error,
            remedy: self.remedy.as_deref(),
            loading: self.loading,
        };
        // All values are strings, so serialization can't fail.
        serde_json::to_vec(&body).unwrap_or_default()
    }
}
