//! `PATCH /v1/memories/{id}`, and the same by key. The path names the memory; the
//! body says what changes.

use std::sync::LazyLock;

use axum::response::Response;
use http::{HeaderMap, StatusCode, Uri};
use ostraca_memory::{Error, Session, UpdateRequest};
use serde_json::{Map, Value};

use super::body::JsonBody;
use super::path::Segment;
use super::precondition::{IF_MATCH, Precondition};
use super::query::QueryShape;
use super::route::Route;
use super::{answer, idempotency};
use crate::auth::Authenticated;
use crate::error::ApiError;
use crate::wire::{Arguments, UpdateArgs, UpdateReply};

static BY_ID: LazyLock<QueryShape> = LazyLock::new(|| QueryShape::only::<UpdateArgs>(&[]));
static BY_KEY: LazyLock<QueryShape> = LazyLock::new(|| QueryShape::only::<UpdateArgs>(&["scope"]));

pub(super) fn route() -> Route {
    described(Route::patch("/v1/memories/{id}", "update", update))
        .summary("Change a memory: absent stays, null removes")
        .path_parameter("id", "The id of the memory.")
        .query(&BY_ID)
}

pub(super) fn by_key_route() -> Route {
    described(Route::patch(
        "/v1/memories/by-key/{key}",
        "updateByKey",
        update_by_key,
    ))
    .summary("Change a memory, named by its key in a scope")
    .path_parameter("key", "The key of the memory, percent-encoded.")
    .query(&BY_KEY)
}

fn described(route: Route) -> Route {
    route
        .scope("memories:write")
        .header("If-Match", IF_MATCH)
        .header(idempotency::IDEMPOTENCY_KEY, idempotency::DESCRIPTION)
        .body::<UpdateArgs>()
        .answers::<UpdateReply>(
            StatusCode::OK,
            "The memory as it is now; `ETag` is its version.",
        )
        .refuses(&[StatusCode::CONFLICT, StatusCode::PRECONDITION_FAILED])
}

async fn update(
    Authenticated(session): Authenticated,
    Segment(id): Segment,
    uri: Uri,
    headers: HeaderMap,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    let mut target = BY_ID.members(&uri)?;
    target.insert("id".to_owned(), Value::String(id));
    change(&session, target, &headers, body).await
}

async fn update_by_key(
    Authenticated(session): Authenticated,
    Segment(key): Segment,
    uri: Uri,
    headers: HeaderMap,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    let mut target = BY_KEY.members(&uri)?;
    target.insert("key".to_owned(), Value::String(key));
    change(&session, target, &headers, body).await
}

async fn change(
    session: &Session,
    target: Map<String, Value>,
    headers: &HeaderMap,
    mut body: Map<String, Value>,
) -> Result<Response, ApiError> {
    for (name, way_out) in [
        ("id", "leave it out"),
        ("key", "new_key renames it"),
        ("scope", "new_scope moves it"),
    ] {
        if body.contains_key(name) {
            return Err(
                Error::invalid(name, format!("the URL names the memory; {way_out}")).into(),
            );
        }
    }
    body.extend(target);
    let mut args = UpdateArgs::decode(Value::Object(body))?;
    let precondition = Precondition::of(headers)?;
    precondition.merge(&mut args.expected_version)?;
    idempotency::merge(headers, &mut args.idempotency_key)?;
    match session.update(UpdateRequest::try_from(args)?).await {
        Ok(reply) => {
            let reply = UpdateReply::from(reply);
            Ok(answer::tagged(reply.memory.version, &reply))
        }
        Err(error) => Ok(precondition.refuse(error)),
    }
}
