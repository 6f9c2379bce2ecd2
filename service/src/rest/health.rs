//! `GET /v1/health`: whether the process answers. It asks nothing of storage,
//! because anyone may call it and every storage request costs money; `ostraca
//! doctor` looks deeper.

use axum::response::Response;
use http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;

use super::answer;
use super::route::Route;

/// The service answers.
#[derive(Debug, Serialize, JsonSchema)]
struct HealthReply {
    /// Always `ok`.
    status: &'static str,
}

pub(super) fn route() -> Route {
    Route::get("/v1/health", "health", health)
        .summary("Whether the service answers")
        .answers::<HealthReply>(StatusCode::OK, "It does.")
}

async fn health() -> Response {
    answer::ok(&HealthReply { status: "ok" })
}
