//! What a benchmark asks of the server itself, beside S3.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde_json::Value;

use crate::pace::Asked;
use crate::request::Server;

pub(crate) async fn stats(State(server): State<Arc<Server>>) -> Json<Value> {
    Json(server.stats.read())
}

pub(crate) async fn log(State(server): State<Arc<Server>>) -> Json<Value> {
    Json(server.records.read())
}

pub(crate) async fn reset(State(server): State<Arc<Server>>) -> StatusCode {
    server.stats.reset();
    server.records.clear();
    StatusCode::NO_CONTENT
}

pub(crate) async fn pace(
    State(server): State<Arc<Server>>,
    Query(asked): Query<Asked>,
) -> StatusCode {
    server.pace.change(asked);
    StatusCode::NO_CONTENT
}
