//! `POST /v1/memories/recall`, and the same by `GET` for what fits a URL.

use std::sync::LazyLock;

use axum::response::Response;
use http::{StatusCode, Uri};
use ostraca_memory::{Error, RecallRequest};
use serde_json::Value;

use super::answer;
use super::body::JsonBody;
use super::query::QueryShape;
use super::route::Route;
use crate::auth::Authenticated;
use crate::error::ApiError;
use crate::wire::{Arguments, RecallArgs, RecallReply};

static QUERY: LazyLock<QueryShape> = LazyLock::new(QueryShape::of::<RecallArgs>);

pub(super) fn route() -> Route {
    Route::post("/v1/memories/recall", "recall", recall)
        .summary("Recall by words, by meaning, or both")
        .scope("memories:read")
        .body::<RecallArgs>()
        .answers::<RecallReply>(StatusCode::OK, "The hits, the best first.")
}

pub(super) fn get_route() -> Route {
    Route::get("/v1/memories/recall", "recallByQuery", recall_by_query)
        .summary("Recall, with the arguments in the URL")
        .scope("memories:read")
        .query(&QUERY)
        .answers::<RecallReply>(StatusCode::OK, "The hits, the best first.")
}

async fn recall(
    Authenticated(session): Authenticated,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    answer_recall(&session, RecallArgs::decode(Value::Object(body))).await
}

async fn recall_by_query(
    Authenticated(session): Authenticated,
    uri: Uri,
) -> Result<Response, ApiError> {
    answer_recall(&session, QUERY.arguments(&uri)).await
}

async fn answer_recall(
    session: &ostraca_memory::Session,
    args: Result<RecallArgs, Error>,
) -> Result<Response, ApiError> {
    let reply = session.recall(RecallRequest::try_from(args?)?).await?;
    Ok(answer::ok(&RecallReply::from(reply)))
}
