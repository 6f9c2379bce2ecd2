//! The HTTP port over reqwest, for native edges. Time limits are the caller's, who
//! races against the clock port, so none is set here.

use async_trait::async_trait;
use bytes::Bytes;

use super::http::{HttpClient, HttpError};

/// A pooled reqwest client.
#[derive(Debug, Clone, Default)]
pub struct ReqwestClient(reqwest::Client);

impl ReqwestClient {
    /// A client with its own connection pool.
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl HttpClient for ReqwestClient {
    async fn send(
        &self,
        request: ::http::Request<Bytes>,
    ) -> Result<::http::Response<Bytes>, HttpError> {
        let request =
            reqwest::Request::try_from(request).map_err(|error| HttpError(Box::new(error)))?;
        let response = self
            .0
            .execute(request)
            .await
            .map_err(|error| HttpError(Box::new(error)))?;
        let mut out = ::http::Response::new(Bytes::new());
        *out.status_mut() = response.status();
        *out.headers_mut() = response.headers().clone();
        *out.body_mut() = response
            .bytes()
            .await
            .map_err(|error| HttpError(Box::new(error)))?;
        Ok(out)
    }
}
