//! The HTTP rules of an MCP endpoint, in the one order in which they are decided:
//! method, size, host and origin, caller, media type, frame, revision, headers. What a
//! request then gets is decided behind `dispatch`.

use std::sync::Arc;

use axum::Json;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use rmcp::model::{ErrorCode, ErrorData};
use serde_json::Value;
use tracing::{Instrument as _, Span};

use crate::app::App;
use crate::auth;
use crate::auth::challenge::Refusal;
use crate::body_limit;
use crate::error::{ApiError, ErrorBody};
use crate::mcp::dispatch::{View, dispatch};
use crate::mcp::envelope::{Call, Failure, Message, answer, read};
use crate::mcp::era::{Announced, Era, judge};
use crate::mcp::selection::{Reachable, Selection};
use crate::mcp::server::MemoryServer;
use crate::mcp::standard_headers::{self, text};

/// Serves one HTTP request to an endpoint.
pub(crate) async fn serve(
    app: &App,
    server: &MemoryServer,
    reachable: Reachable,
    request: Request,
) -> Response {
    let limit = app.settings.max_body_bytes;
    let (parts, body) = request.into_parts();
    if parts.method != Method::POST {
        // Clients that hope for a stream stop asking once they read 405.
        let body = Json(ErrorBody::new(
            "method_not_allowed",
            "MCP is served by POST; there is no stream to GET",
        ));
        return (
            StatusCode::METHOD_NOT_ALLOWED,
            [(header::ALLOW, "POST, OPTIONS")],
            body,
        )
            .into_response();
    }
    if body_limit::declared_over(&parts.headers, limit) {
        // Heard out, or the client would see a broken connection instead of the refusal.
        drop(body_limit::read(body, limit).await);
        return ApiError(body_limit::too_large(limit)).into_response();
    }
    if let Err(refused) = app.settings.exposure.admit(&parts) {
        return refused.into_response();
    }
    let session = match auth::session(app, &parts.headers).await {
        Ok(session) => session,
        Err(refusal) => return refusal.respond(app, &parts),
    };
    if !is_json(&parts.headers) {
        let body = ErrorBody::new(
            "unsupported_media_type",
            "Content-Type must be application/json",
        );
        return (StatusCode::UNSUPPORTED_MEDIA_TYPE, Json(body)).into_response();
    }
    let body = match body_limit::read(body, limit).await {
        Ok(body) => body,
        Err(error) => return ApiError(error).into_response(),
    };
    let mut call = match read(&body) {
        Ok(Message::Request(call)) => call,
        Ok(Message::Notification) => return StatusCode::ACCEPTED.into_response(),
        Err(failure) => return refused(failure),
    };
    let era = match accept(&call, &parts) {
        Ok(era) => era,
        Err(failure) => return refused(failure),
    };
    let selection = match Selection::of_request(reachable, &parts.headers, server.tools()) {
        Ok(selection) => selection,
        Err(unknown) => {
            let error = ErrorData::invalid_params(unknown.to_string(), None);
            return refused(call.fail(StatusCode::BAD_REQUEST, error));
        }
    };
    let caller = session.caller();
    if !server
        .tools()
        .iter()
        .any(|tool| caller.may(tool.permission()))
    {
        let message =
            "this credential may neither read nor write memories; use one that has memories:read";
        return Refusal::Insufficient(message.to_owned()).respond(app, &parts);
    }
    let view = View {
        session: Arc::new(session),
        selection: Arc::new(selection),
    };
    let span = span(server, &call, &era);
    let outcome = dispatch(server, view, &era, &mut call)
        .instrument(span.clone())
        .await;
    let status = status(&era, &outcome);
    span.in_scope(|| tracing::debug!(status = status.as_u16(), "answered"));
    message(status, &answer(call.id, outcome))
}

/// What the log knows of a request: never what it says, nor who may say it.
fn span(server: &MemoryServer, call: &Call, era: &Era) -> Span {
    let method: String = call.method.chars().take(64).collect();
    let name = call.params.get("name").and_then(Value::as_str);
    let traceparent = call.meta("traceparent").and_then(Value::as_str);
    tracing::debug_span!(
        "mcp",
        method,
        tool = name.filter(|name| server.tools().find(name).is_some()),
        revision = era.version().as_str(),
        traceparent,
    )
}

/// The revision of the request, with its headers checked.
fn accept(call: &Call, parts: &Parts) -> Result<Era, Failure> {
    let era = judge(
        call,
        Announced::Header(text(&parts.headers, "mcp-protocol-version")),
    )?;
    if matches!(era, Era::Modern(_)) {
        standard_headers::check(call, &parts.headers)?;
    }
    Ok(era)
}

/// Modern clients read some errors from the status; legacy ones expect 200 throughout.
fn status(era: &Era, outcome: &Result<Value, ErrorData>) -> StatusCode {
    match (era, outcome) {
        (Era::Modern(_), Err(error)) => match error.code {
            ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
            ErrorCode::HEADER_MISMATCH
            | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
            | ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
            | ErrorCode::INVALID_REQUEST => StatusCode::BAD_REQUEST,
            _ => StatusCode::OK,
        },
        _ => StatusCode::OK,
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    text(headers, header::CONTENT_TYPE.as_str())
        .and_then(|value| value.split(';').next())
        .is_some_and(|media_type| media_type.trim().eq_ignore_ascii_case("application/json"))
}

fn refused(failure: Failure) -> Response {
    let status = failure.status;
    message(status, &failure.message())
}

fn message(status: StatusCode, message: &Value) -> Response {
    let mut response = (status, Json(message)).into_response();
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
