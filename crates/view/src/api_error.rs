//! The error type of requests: an HTTP status, a sentence and a remedy for people.

use serde::Serialize;

/// A request without an answer: its HTTP status, one sentence, and what the user can do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct ApiError {
    /// HTTP status: 4xx or 5xx, or 202 while the run loads.
    pub state: u16,
    /// One sentence.
    pub error: String,
    /// What the user can do, one sentence.
    pub remedy: Option<String>,
    /// It will be there later: the run is still loading.
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
    /// An error with HTTP status `state`.
    pub fn new(state: u16, error: impl Into<String>) -> ApiError {
        ApiError {
            state,
            error: error.into(),
            remedy: None,
            loading: false,
        }
    }

    /// The request makes no sense (400).
    pub fn bad_request(error: impl Into<String>) -> ApiError {
        ApiError::new(400, error)
    }

    /// There is no such thing (404).
    pub fn not_found(error: impl Into<String>) -> ApiError {
        ApiError::new(404, error)
    }

    /// Not yet (202): the run is loading. It is no error: browsers print those in their console,
    /// each time that a page asks.
    pub fn loading(error: impl Into<String>) -> ApiError {
        ApiError {
            loading: true,
            ..ApiError::new(202, error)
        }
    }

    /// Adds what the user can do.
    pub fn remedy(mut self, remedy: impl Into<String>) -> ApiError {
        self.remedy = Some(remedy.into());
        self
    }

    /// As JSON.
    pub fn body(&self) -> Vec<u8> {
        let body = Body {
            error: &self.error,
            remedy: self.remedy.as_deref(),
            loading: self.loading,
        };
        // Strings only: nothing in it can fail to be written.
        serde_json::to_vec(&body).unwrap_or_default()
    }
}
