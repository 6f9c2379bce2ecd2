//! `GET /v1/memories`: memories in order of time, page by page.

use std::sync::LazyLock;

use axum::response::Response;
use http::{StatusCode, Uri};
use ostraca_memory::ListRequest;

use super::answer;
use super::query::QueryShape;
use super::route::Route;
use crate::auth::Authenticated;
use crate::error::ApiError;
use crate::wire::{ListArgs, ListReply};

static QUERY: LazyLock<QueryShape> = LazyLock::new(QueryShape::of::<ListArgs>);

pub(super) fn route() -> Route {
    Route::get("/v1/memories", "list", list)
        .summary("List memories in order of time")
        .scope("memories:read")
        .query(&QUERY)
        .answers::<ListReply>(StatusCode::OK, "A page.")
}

async fn list(Authenticated(session): Authenticated, uri: Uri) -> Result<Response, ApiError> {
    let args: ListArgs = QUERY.arguments(&uri)?;
    let reply = session.list(ListRequest::try_from(args)?).await?;
    Ok(answer::ok(&ListReply::from(reply)))
}
