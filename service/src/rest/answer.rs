//! Successful answers, and the refusal of a method: JSON that no cache keeps,
//! because it is one tenant's and may be stale the moment after.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, Method, StatusCode, header};
use serde::Serialize;

use super::precondition;
use crate::error::ErrorBody;

/// An answer with 200.
pub(super) fn ok<T: Serialize>(body: &T) -> Response {
    with_status(StatusCode::OK, body)
}

/// An answer with another status.
pub(super) fn with_status<T: Serialize>(status: StatusCode, body: &T) -> Response {
    let mut response = (status, Json(body)).into_response();
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// An answer about one version of one memory, with its tag.
pub(super) fn tagged<T: Serialize>(version: u64, body: &T) -> Response {
    let mut response = ok(body);
    if let Some(tag) = precondition::tag(version) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// The answer to a method that a path does not have; the router adds `Allow`.
pub(super) async fn method_not_allowed(method: Method) -> Response {
    let body = ErrorBody::new(
        "method_not_allowed",
        format!("{method} is not allowed here; the Allow header lists what is"),
    );
    (StatusCode::METHOD_NOT_ALLOWED, Json(body)).into_response()
}
