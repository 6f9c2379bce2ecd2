//! `GET /v1/watch`: changes after a cursor, as a long poll.

use std::sync::LazyLock;

use axum::response::Response;
use http::{StatusCode, Uri};
use ostraca_memory::WatchRequest;

use super::answer;
use super::query::QueryShape;
use super::route::Route;
use crate::auth::Authenticated;
use crate::error::ApiError;
use crate::wire::{WatchArgs, WatchReply};

static QUERY: LazyLock<QueryShape> = LazyLock::new(QueryShape::of::<WatchArgs>);

pub(super) fn route() -> Route {
    Route::get("/v1/watch", "watch", watch)
        .summary("Wait for changes after a cursor")
        .scope("memories:read")
        .query(&QUERY)
        .answers::<WatchReply>(StatusCode::OK, "The changes, the oldest first.")
}

async fn watch(Authenticated(session): Authenticated, uri: Uri) -> Result<Response, ApiError> {
    let args: WatchArgs = QUERY.arguments(&uri)?;
    let reply = session.watch(WatchRequest::try_from(args)?).await?;
    Ok(answer::ok(&WatchReply::from(reply)))
}
