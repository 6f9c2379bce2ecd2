//! The embedder port: texts in, vectors out, bounded in time. The domain depends
//! on this trait alone; what is behind it may be an endpoint or a local model.

pub mod chunk;
pub mod http;
pub mod openai;
#[cfg(feature = "reqwest")]
mod reqwest_client;
pub mod vectors;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;

pub use http::{HttpClient, HttpError};
pub use openai::{EmbedderSettings, OpenAiEmbedder};
#[cfg(feature = "reqwest")]
pub use reqwest_client::ReqwestClient;

/// Turns texts into vectors.
#[async_trait]
pub trait Embedder: Send + Sync + fmt::Debug {
    /// The name of the model, part of the embedding profile of a collection.
    fn model(&self) -> &str;

    /// The most bytes of one text that the model reads; longer content is chunked.
    fn window_bytes(&self) -> usize;

    /// One vector for each text, in order, all finite and of one length.
    ///
    /// # Errors
    /// See [`EmbedError`]. The call returns within the embedder's time limit.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError>;
}

/// Why there are no vectors. The text of each is fit for a receipt.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// No answer within the time limit.
    #[error("the embedding endpoint did not answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// The endpoint could not be reached.
    #[error("the embedding endpoint could not be reached")]
    Unreachable(#[source] HttpError),
    /// The endpoint answered with an error status, after the retries that it allows.
    #[error("the embedding endpoint answered HTTP {0}")]
    Status(u16),
    /// The answer was not what the protocol promises.
    #[error("the embedding endpoint's answer is malformed: {0}")]
    Malformed(String),
    /// A vector with a value that is not a finite number.
    #[error("the embedding endpoint returned a value that is not a finite number in vector {0}")]
    NotFinite(usize),
    /// A vector of another length than the profile says.
    #[error("the embedding endpoint returned {got} dimensions where {expected} are expected")]
    Dimensions {
        /// What the profile says.
        expected: usize,
        /// What came.
        got: usize,
    },
}
