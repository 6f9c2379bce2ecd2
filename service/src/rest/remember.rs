//! `POST /v1/memories`: remember one memory or many.

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use ostraca_memory::RememberRequest;
use serde_json::Value;

use super::body::JsonBody;
use super::route::Route;
use super::{answer, idempotency};
use crate::auth::Authenticated;
use crate::error::ApiError;
use crate::wire::remember::Outcome;
use crate::wire::{Arguments, RememberArgs, RememberReply};

pub(super) fn route() -> Route {
    Route::post("/v1/memories", "remember", remember)
        .summary("Remember one memory, or many under `items`")
        .scope("memories:write")
        .header(idempotency::IDEMPOTENCY_KEY, idempotency::DESCRIPTION)
        .body::<RememberArgs>()
        .answers::<RememberReply>(
            StatusCode::CREATED,
            "At least one memory is new; `Location` names it if it is the only one.",
        )
        .answers::<RememberReply>(
            StatusCode::OK,
            "All were there already, or were replaced by key.",
        )
        .answers::<RememberReply>(
            StatusCode::MULTI_STATUS,
            "Some of many failed; the others are stored.",
        )
        .refuses(&[StatusCode::CONFLICT])
}

async fn remember(
    Authenticated(session): Authenticated,
    headers: HeaderMap,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    let mut args = RememberArgs::decode(Value::Object(body))?;
    idempotency::merge(&headers, &mut args.idempotency_key)?;
    let single = args.single;
    let mut reply = session.remember(RememberRequest::try_from(args)?).await?;
    if single && reply.items.first().is_some_and(Result::is_err) {
        // One memory fails as the whole call does; a list of one failure would hide it.
        if let Some(Err(error)) = reply.items.pop() {
            return Ok(ApiError(unprefixed(error)).into_response());
        }
    }
    let reply = RememberReply::from(reply);
    let created = reply
        .items
        .iter()
        .any(|item| item.outcome == Outcome::Created);
    let status = match (reply.failed, created) {
        (0, true) => StatusCode::CREATED,
        (0, false) => StatusCode::OK,
        _ => StatusCode::MULTI_STATUS,
    };
    let mut response = answer::with_status(status, &reply);
    if let [item] = reply.items.as_slice()
        && let Some(location) = item
            .id
            .as_ref()
            .and_then(|id| HeaderValue::try_from(format!("/v1/memories/{id}")).ok())
    {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

/// The error of a memory that was written flat, its field named as it was written.
fn unprefixed(error: ostraca_memory::Error) -> ostraca_memory::Error {
    match error
        .field()
        .and_then(|field| field.strip_prefix("items[0]."))
        .map(str::to_owned)
    {
        Some(field) => error.at(field),
        None => error,
    }
}
