//! `DELETE /v1/memories/{id}`, the same by key, and many at once by `POST`.

use std::sync::LazyLock;

use axum::response::Response;
use http::{HeaderMap, StatusCode, Uri};
use ostraca_memory::{Error, ForgetRequest, Session};
use serde_json::{Map, Value};

use super::body::JsonBody;
use super::path::Segment;
use super::precondition::{IF_MATCH, Precondition};
use super::query::QueryShape;
use super::route::Route;
use super::{answer, idempotency};
use crate::auth::Authenticated;
use crate::error::ApiError;
use crate::wire::forget::Outcome;
use crate::wire::{Arguments, ForgetArgs, ForgetReply};

static BY_ID: LazyLock<QueryShape> =
    LazyLock::new(|| QueryShape::only::<ForgetArgs>(&["purge", "expected_version", "reason"]));
static BY_KEY: LazyLock<QueryShape> = LazyLock::new(|| {
    QueryShape::only::<ForgetArgs>(&["scope", "purge", "expected_version", "reason"])
});

pub(super) fn route() -> Route {
    described(Route::delete("/v1/memories/{id}", "forget", forget))
        .summary("Forget a memory; `purge` erases it")
        .path_parameter("id", "The id of the memory.")
        .query(&BY_ID)
        .header("If-Match", IF_MATCH)
        .refuses(&[StatusCode::PRECONDITION_FAILED])
}

pub(super) fn by_key_route() -> Route {
    described(Route::delete(
        "/v1/memories/by-key/{key}",
        "forgetByKey",
        forget_by_key,
    ))
    .summary("Forget a memory, named by its key in a scope")
    .path_parameter("key", "The key of the memory, percent-encoded.")
    .query(&BY_KEY)
    .header("If-Match", IF_MATCH)
    .refuses(&[StatusCode::PRECONDITION_FAILED])
}

pub(super) fn many_route() -> Route {
    described(Route::post(
        "/v1/memories/forget",
        "forgetMany",
        forget_many,
    ))
    .summary("Forget several memories")
    .body::<ForgetArgs>()
}

fn described(route: Route) -> Route {
    route
        .scope("memories:delete")
        .header(idempotency::IDEMPOTENCY_KEY, idempotency::DESCRIPTION)
        .answers::<ForgetReply>(StatusCode::OK, "What became of each.")
        .refuses(&[StatusCode::CONFLICT])
}

async fn forget(
    Authenticated(session): Authenticated,
    Segment(id): Segment,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    one(&session, "id", id, BY_ID.members(&uri)?, &headers).await
}

async fn forget_by_key(
    Authenticated(session): Authenticated,
    Segment(key): Segment,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    one(&session, "key", key, BY_KEY.members(&uri)?, &headers).await
}

async fn one(
    session: &Session,
    name: &str,
    value: String,
    mut members: Map<String, Value>,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    members.insert(name.to_owned(), Value::String(value));
    let mut args = ForgetArgs::decode(Value::Object(members))?;
    let precondition = Precondition::of(headers)?;
    precondition.merge(&mut args.expected_version)?;
    idempotency::merge(headers, &mut args.idempotency_key)?;
    let reply = match session.forget(ForgetRequest::try_from(args)?).await {
        Ok(reply) => ForgetReply::from(reply),
        Err(error) => return Ok(precondition.refuse(error)),
    };
    if reply
        .items
        .iter()
        .all(|item| item.outcome == Outcome::Missing)
    {
        return Err(Error::not_found(format!("there is no memory with this {name}")).into());
    }
    Ok(answer::ok(&reply))
}

async fn forget_many(
    Authenticated(session): Authenticated,
    headers: HeaderMap,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    let mut args = ForgetArgs::decode(Value::Object(body))?;
    idempotency::merge(&headers, &mut args.idempotency_key)?;
    let reply = session.forget(ForgetRequest::try_from(args)?).await?;
    Ok(answer::ok(&ForgetReply::from(reply)))
}
