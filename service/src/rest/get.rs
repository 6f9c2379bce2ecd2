//! `GET /v1/memories/{id}`, the same by key, and many at once by `POST`.

use std::sync::LazyLock;

use axum::response::Response;
use http::{StatusCode, Uri};
use ostraca_memory::{Error, GetRequest, Session};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::answer;
use super::body::JsonBody;
use super::path::Segment;
use super::query::QueryShape;
use super::route::Route;
use crate::auth::Authenticated;
use crate::error::ApiError;
use crate::wire::{Arguments, GetArgs, GetReply, Memory, Receipt};

static BY_ID: LazyLock<QueryShape> =
    LazyLock::new(|| QueryShape::only::<GetArgs>(&["as_of", "content_offset"]));
static BY_KEY: LazyLock<QueryShape> =
    LazyLock::new(|| QueryShape::only::<GetArgs>(&["scope", "as_of", "content_offset"]));

/// One memory.
#[derive(Debug, Serialize, JsonSchema)]
struct GetOneReply {
    /// The memory.
    memory: Memory,
    /// What it took.
    receipt: Receipt,
}

pub(super) fn route() -> Route {
    Route::get("/v1/memories/{id}", "get", get)
        .summary("Get a memory by id")
        .scope("memories:read")
        .path_parameter("id", "The id of the memory.")
        .query(&BY_ID)
        .answers::<GetOneReply>(StatusCode::OK, "The memory; `ETag` is its version.")
}

pub(super) fn by_key_route() -> Route {
    Route::get("/v1/memories/by-key/{key}", "getByKey", get_by_key)
        .summary("Get a memory by its key in a scope")
        .scope("memories:read")
        .path_parameter("key", "The key of the memory, percent-encoded.")
        .query(&BY_KEY)
        .answers::<GetOneReply>(StatusCode::OK, "The memory; `ETag` is its version.")
}

pub(super) fn many_route() -> Route {
    Route::post("/v1/memories/get", "getMany", get_many)
        .summary("Get several memories by id or key")
        .scope("memories:read")
        .body::<GetArgs>()
        .answers::<GetReply>(
            StatusCode::OK,
            "Those that exist, and the names of those that do not.",
        )
}

async fn get(
    Authenticated(session): Authenticated,
    Segment(id): Segment,
    uri: Uri,
) -> Result<Response, ApiError> {
    one(&session, "id", id, BY_ID.members(&uri)?).await
}

async fn get_by_key(
    Authenticated(session): Authenticated,
    Segment(key): Segment,
    uri: Uri,
) -> Result<Response, ApiError> {
    one(&session, "key", key, BY_KEY.members(&uri)?).await
}

async fn one(
    session: &Session,
    name: &str,
    value: String,
    mut members: Map<String, Value>,
) -> Result<Response, ApiError> {
    members.insert(name.to_owned(), Value::String(value));
    let args = GetArgs::decode(Value::Object(members))?;
    let GetReply {
        mut memories,
        receipt,
        ..
    } = session.get(GetRequest::try_from(args)?).await?.into();
    let memory = memories
        .pop()
        .ok_or_else(|| Error::not_found(format!("there is no memory with this {name}")))?;
    Ok(answer::tagged(
        memory.version,
        &GetOneReply { memory, receipt },
    ))
}

async fn get_many(
    Authenticated(session): Authenticated,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    let args = GetArgs::decode(Value::Object(body))?;
    let reply = session.get(GetRequest::try_from(args)?).await?;
    Ok(answer::ok(&GetReply::from(reply)))
}
