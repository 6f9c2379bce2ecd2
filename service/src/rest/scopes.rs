//! `GET /v1/scopes`: where memories lie.

use std::sync::LazyLock;

use axum::response::Response;
use http::{StatusCode, Uri};
use ostraca_memory::ScopesRequest;

use super::answer;
use super::query::QueryShape;
use super::route::Route;
use crate::auth::Authenticated;
use crate::error::ApiError;
use crate::wire::{ScopesArgs, ScopesReply};

static QUERY: LazyLock<QueryShape> = LazyLock::new(QueryShape::of::<ScopesArgs>);

pub(super) fn route() -> Route {
    Route::get("/v1/scopes", "scopes", scopes)
        .summary("List the scopes, with counts and guidance")
        .scope("memories:read")
        .query(&QUERY)
        .answers::<ScopesReply>(StatusCode::OK, "A page of scopes.")
}

async fn scopes(Authenticated(session): Authenticated, uri: Uri) -> Result<Response, ApiError> {
    let args: ScopesArgs = QUERY.arguments(&uri)?;
    let reply = session.scopes(ScopesRequest::try_from(args)?).await?;
    Ok(answer::ok(&ScopesReply::from(reply)))
}
