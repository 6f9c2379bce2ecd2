//! Cross-origin access for browser clients. Callers present bearer tokens and never
//! cookies, so any origin may read any answer, the refusals included; which origins
//! may call at all is the business of `exposure`.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW,
};
use http::{HeaderValue, Method, StatusCode};

const ALLOWED_HEADERS: &str = "Authorization, Content-Type, Accept, If-Match, If-None-Match, Idempotency-Key, \
    MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID, \
    X-MCP-Readonly, X-MCP-Tools, X-MCP-Exclude-Tools";
const EXPOSED_HEADERS: &str =
    "WWW-Authenticate, Mcp-Session-Id, Retry-After, ETag, Location, X-Next-Cursor";
const METHODS: &str = "GET, POST, PUT, PATCH, DELETE, OPTIONS";

/// Answers preflights without asking for a token, and opens every answer to browsers.
pub(crate) async fn allow(request: Request, next: Next) -> Response {
    let mut response = if request.method() == Method::OPTIONS {
        preflight(request.uri().path())
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static(EXPOSED_HEADERS),
    );
    response
}

fn preflight(path: &str) -> Response {
    let methods = if path.starts_with("/mcp") {
        "POST, OPTIONS"
    } else {
        METHODS
    };
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(ALLOW, HeaderValue::from_static(methods));
    headers.insert(
        ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static(methods),
    );
    headers.insert(
        ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static(ALLOWED_HEADERS),
    );
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    response
}
