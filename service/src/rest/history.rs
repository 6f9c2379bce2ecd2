//! `GET /v1/memories/{id}/history`: the versions of one memory.

use std::sync::LazyLock;

use axum::response::Response;
use http::{StatusCode, Uri};
use ostraca_memory::HistoryRequest;
use serde_json::Value;

use super::answer;
use super::path::Segment;
use super::query::QueryShape;
use super::route::Route;
use crate::auth::Authenticated;
use crate::error::ApiError;
use crate::wire::{Arguments, HistoryArgs, HistoryReply};

static QUERY: LazyLock<QueryShape> =
    LazyLock::new(|| QueryShape::only::<HistoryArgs>(&["limit", "cursor"]));

pub(super) fn route() -> Route {
    Route::get("/v1/memories/{id}/history", "history", history)
        .summary("Get the versions of a memory, the newest first")
        .scope("memories:read")
        .path_parameter("id", "The id of the memory.")
        .query(&QUERY)
        .answers::<HistoryReply>(StatusCode::OK, "A page of versions.")
}

async fn history(
    Authenticated(session): Authenticated,
    Segment(id): Segment,
    uri: Uri,
) -> Result<Response, ApiError> {
    let mut members = QUERY.members(&uri)?;
    members.insert("id".to_owned(), Value::String(id));
    let args = HistoryArgs::decode(Value::Object(members))?;
    let reply = session.history(HistoryRequest::try_from(args)?).await?;
    Ok(answer::ok(&HistoryReply::from(reply)))
}
