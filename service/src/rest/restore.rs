//! `POST /v1/memories/{id}/restore`: back from forgetting, or to an old version.

use axum::response::Response;
use http::{HeaderMap, StatusCode};
use ostraca_memory::{Error, RestoreRequest};
use serde_json::Value;

use super::body::OptionalJsonBody;
use super::path::Segment;
use super::precondition::{IF_MATCH, Precondition};
use super::route::Route;
use super::{answer, idempotency};
use crate::auth::Authenticated;
use crate::error::ApiError;
use crate::wire::{Arguments, RestoreArgs, RestoreReply};

pub(super) fn route() -> Route {
    Route::post("/v1/memories/{id}/restore", "restore", restore)
        .summary("Bring a memory back, or go back to an earlier version")
        .scope("memories:write")
        .path_parameter("id", "The id of the memory.")
        .header("If-Match", IF_MATCH)
        .header(idempotency::IDEMPOTENCY_KEY, idempotency::DESCRIPTION)
        .body::<RestoreArgs>()
        .answers::<RestoreReply>(
            StatusCode::OK,
            "The memory as it is now; `ETag` is its version.",
        )
        .refuses(&[StatusCode::CONFLICT, StatusCode::PRECONDITION_FAILED])
}

async fn restore(
    Authenticated(session): Authenticated,
    Segment(id): Segment,
    headers: HeaderMap,
    OptionalJsonBody(mut body): OptionalJsonBody,
) -> Result<Response, ApiError> {
    if let Some(name) = ["id", "key", "scope"]
        .into_iter()
        .find(|name| body.contains_key(*name))
    {
        return Err(Error::invalid(name, "the URL names the memory; leave it out").into());
    }
    body.insert("id".to_owned(), Value::String(id));
    let mut args = RestoreArgs::decode(Value::Object(body))?;
    let precondition = Precondition::of(&headers)?;
    precondition.merge(&mut args.expected_version)?;
    idempotency::merge(&headers, &mut args.idempotency_key)?;
    match session.restore(RestoreRequest::try_from(args)?).await {
        Ok(reply) => {
            let reply = RestoreReply::from(reply);
            Ok(answer::tagged(reply.memory.version, &reply))
        }
        Err(error) => Ok(precondition.refuse(error)),
    }
}
