//! HTTP through the runtime's `fetch`, for the two that need it: the S3 store and the
//! embedder. It is one function and two thin adapters; it must not retry or time out,
//! for both callers do that on their clock. A dropped request is aborted.

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HOST, HeaderName, HeaderValue};
use http::{Method, Request, Response};
use http_body_util::BodyExt;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient as StoreClient, HttpConnector, HttpError as StoreHttpError, HttpErrorKind,
    HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use ostraca_memory::embed::{HttpClient, HttpError};
use worker::js_sys::Uint8Array;
use worker::send::SendFuture;
use worker::{AbortController, CacheMode, Fetch, Headers, RequestInit, RequestRedirect};

/// Why no answer came.
#[derive(Debug, thiserror::Error)]
#[error("fetch failed: {0}")]
struct FetchFailed(String);

impl From<worker::Error> for FetchFailed {
    fn from(error: worker::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<http::Error> for FetchFailed {
    fn from(error: http::Error) -> Self {
        Self(error.to_string())
    }
}

/// Ends the request if its future is dropped before the answer is complete.
struct AbortOnDrop(Option<AbortController>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        if let Some(controller) = self.0.take() {
            controller.abort();
        }
    }
}

async fn send(request: Request<Bytes>) -> Result<Response<Bytes>, FetchFailed> {
    let (parts, body) = request.into_parts();
    let headers = Headers::new();
    for (name, value) in &parts.headers {
        // The runtime sets these two from the URL and the body.
        if name != HOST && name != CONTENT_LENGTH {
            let value = value.to_str().map_err(|e| FetchFailed(e.to_string()))?;
            headers.append(name.as_str(), value)?;
        }
    }
    let mut init = RequestInit::new();
    init.with_method(parts.method.as_str().to_owned().into())
        .with_headers(headers)
        // A signature and a key are for the host they were made for, and no answer of a
        // store may come from a cache.
        .with_redirect(RequestRedirect::Manual)
        .with_cache(CacheMode::NoStore);
    if !body.is_empty() || parts.method == Method::PUT || parts.method == Method::POST {
        init.with_body(Some(Uint8Array::from(body.as_ref()).into()));
    }
    let request = worker::Request::new_with_init(&parts.uri.to_string(), &init)?;
    let controller = AbortController::default();
    let signal = controller.signal();
    let mut guard = AbortOnDrop(Some(controller));
    let mut answer = Fetch::Request(request).send_with_signal(&signal).await?;
    let mut response = Response::builder().status(answer.status_code());
    for (name, value) in answer.headers() {
        if let (Ok(name), Ok(value)) = (
            HeaderName::from_bytes(name.as_bytes()),
            HeaderValue::from_str(&value),
        ) {
            response = response.header(name, value);
        }
    }
    let body = answer.bytes().await?;
    guard.0 = None;
    Ok(response.body(Bytes::from(body))?)
}

/// `fetch` for whoever asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkerFetch;

#[async_trait]
impl HttpClient for WorkerFetch {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        SendFuture::new(send(request))
            .await
            .map_err(|failure| HttpError(Box::new(failure)))
    }
}

#[async_trait]
impl HttpService for WorkerFetch {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, StoreHttpError> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let answer = SendFuture::new(send(Request::from_parts(parts, body)))
            .await
            .map_err(|failure| StoreHttpError::new(HttpErrorKind::Unknown, failure))?;
        Ok(answer.map(HttpResponseBody::from))
    }
}

impl HttpConnector for WorkerFetch {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<StoreClient> {
        Ok(StoreClient::new(*self))
    }
}
