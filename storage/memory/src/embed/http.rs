//! The port to an HTTP client, one request at a time. Native edges bring reqwest,
//! the Worker brings its own fetch; nothing else below the edges speaks HTTP.

use std::fmt;

use async_trait::async_trait;
use bytes::Bytes;

/// Sends one HTTP request.
#[async_trait]
pub trait HttpClient: Send + Sync + fmt::Debug {
    /// The response with its whole body, whatever its status.
    ///
    /// # Errors
    /// [`HttpError`] if no response came.
    async fn send(
        &self,
        request: ::http::Request<Bytes>,
    ) -> Result<::http::Response<Bytes>, HttpError>;
}

/// No response: the host could not be reached, or the connection broke.
#[derive(Debug, thiserror::Error)]
#[error("the request could not be sent")]
pub struct HttpError(#[source] pub Box<dyn std::error::Error + Send + Sync>);
