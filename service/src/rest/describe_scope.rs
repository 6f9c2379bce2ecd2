//! `PUT /v1/scopes`: the guidance of a scope.

use axum::response::Response;
use http::StatusCode;
use ostraca_memory::DescribeScopeRequest;
use serde_json::Value;

use super::answer;
use super::body::JsonBody;
use super::route::Route;
use crate::auth::Authenticated;
use crate::error::ApiError;
use crate::wire::{Arguments, DescribeScopeArgs, DescribeScopeReply};

pub(super) fn route() -> Route {
    Route::put("/v1/scopes", "describeScope", describe_scope)
        .summary("Say what belongs in a scope")
        .scope("memories:write")
        .body::<DescribeScopeArgs>()
        .answers::<DescribeScopeReply>(StatusCode::OK, "It is kept.")
}

async fn describe_scope(
    Authenticated(session): Authenticated,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    let args = DescribeScopeArgs::decode(Value::Object(body))?;
    let reply = session
        .describe_scope(DescribeScopeRequest::try_from(args)?)
        .await?;
    Ok(answer::ok(&DescribeScopeReply::from(reply)))
}
