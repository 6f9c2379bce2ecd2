//! `GET /v1/export`: every live memory in full, as a JSON page or as lines of JSON.

use std::sync::LazyLock;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use ostraca_memory::{Error, ErrorKind, ExportRequest};

use super::answer;
use super::query::QueryShape;
use super::route::Route;
use crate::auth::Authenticated;
use crate::error::ApiError;
use crate::wire::{ExportArgs, ExportReply, Memory};

const NDJSON: &str = "application/x-ndjson";
/// Lines have no room for a cursor, so it travels as a header.
const NEXT_CURSOR: &str = "x-next-cursor";

static QUERY: LazyLock<QueryShape> = LazyLock::new(QueryShape::of::<ExportArgs>);

pub(super) fn route() -> Route {
    Route::get("/v1/export", "export", export)
        .summary("Export every memory, page by page")
        .scope("memories:export")
        .query(&QUERY)
        .header("Accept", "`application/x-ndjson` for one memory per line, the cursor being the header X-Next-Cursor.")
        .answers::<ExportReply>(StatusCode::OK, "A page.")
        .answers_as::<Memory>(StatusCode::OK, NDJSON, "A page.")
}

async fn export(
    Authenticated(session): Authenticated,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let args: ExportArgs = QUERY.arguments(&uri)?;
    let reply = ExportReply::from(session.export(ExportRequest::try_from(args)?).await?);
    if wants_lines(&headers) {
        lines(&reply)
    } else {
        Ok(answer::ok(&reply))
    }
}

fn wants_lines(headers: &HeaderMap) -> bool {
    headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|accepted| accepted.contains("ndjson") || accepted.contains("jsonl"))
}

fn lines(reply: &ExportReply) -> Result<Response, ApiError> {
    let mut text = Vec::new();
    for memory in &reply.memories {
        serde_json::to_writer(&mut text, memory).map_err(|error| {
            Error::new(ErrorKind::Internal, "a memory could not be written as JSON")
                .with_source(error)
        })?;
        text.push(b'\n');
    }
    let mut response = Body::from(text).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(NDJSON));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(cursor) = reply
        .next_cursor
        .as_deref()
        .and_then(|cursor| HeaderValue::try_from(cursor).ok())
    {
        headers.insert(NEXT_CURSOR, cursor);
    }
    Ok(response)
}
